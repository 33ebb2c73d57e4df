package picture

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

func TestPicturesOfEachKindAreTaken(t *testing.T) {
	var p, j bytes.Buffer
	if err := errors.Join(png.Encode(&p, image.NewGray(image.Rect(0, 0, 30, 20))), jpeg.Encode(&j, image.NewGray(image.Rect(0, 0, 40, 10)), nil)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data          string
		kind          string
		width, height float64
	}{
		{p.String(), PNG, 30, 20},
		{j.String(), JPEG, 40, 10},
		{`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"/>`, SVG, 400, 300},
		{`<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "y"><svg width="20mm" height="10mm" viewBox="0 0 4 3"></svg>`, SVG, 20, 10},
		{`<svg width="100%" height="100%" viewBox="0,0,4,3"></svg>`, SVG, 4, 3},
		{`<svg viewBox="0 0 4 3"><text>` + strings.Repeat("x,", readable) + `</text></svg>`, SVG, 4, 3},
	} {
		got, err := Take([]byte(c.data))
		if err != nil {
			t.Errorf("%.60q: %v", c.data, err)
			continue
		}
		if got.Type != c.kind || got.Width != c.width || got.Height != c.height || len(got.Sum) != 64 {
			t.Errorf("%.60q: got %s, %v × %v, %q", c.data, got.Type, got.Width, got.Height, got.Sum)
		}
		again, err := OfText(Text(got.Type, got.Data))
		if err != nil || again.Sum != got.Sum || again.Type != got.Type {
			t.Errorf("%.60q came back as %s %s, %v", c.data, again.Type, again.Sum, err)
		}
	}
}

// What a drawing needs stays, and what makes a document of it goes.
func TestAnSVGIsMadeHarmless(t *testing.T) {
	got, err := Take([]byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10" onload="bad()">
		<!-- bad --><?bad?><script>bad()</script><g><foreignObject><p>bad</p><b/></foreignObject><path d="M1 1" fill="url(#g)" stroke="url(http://bad/)"/></g>
		<use xlink:href="#p"/><use href="http://bad/#p"/><a xlink:href="javascript:bad()"><text>A &amp; B &lt;</text></a>
		<image href="http://bad/x.png"/><style>@import url(http://bad/);</style><style>.w{fill:none} @media (prefers-color-scheme: dark){.w{stroke:#fff}}</style>
		<rect style="fill:url( 'http://bad/')" width="1"/><svg:rect xmlns:svg="http://www.w3.org/2000/svg" onclick="bad()"/><set attributeName="href" to="javascript:bad()"/></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	text := string(got.Data)
	for _, gone := range []string{"bad", "script", "foreign", "onload", "onclick", "import"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is there still: %s", gone, text)
		}
	}
	for _, there := range []string{`fill="url(#g)"`, `xlink:href="#p"`, "A &amp; B &lt;", ".w{stroke:#fff}", `viewBox="0 0 10 10"`, `xmlns:xlink="http://www.w3.org/1999/xlink"`} {
		if !strings.Contains(text, there) {
			t.Errorf("%q is gone: %s", there, text)
		}
	}
	if again, err := Take(got.Data); err != nil || !bytes.Equal(again.Data, got.Data) {
		t.Errorf("made harmless again it is another: %v\n%s", err, again.Data)
	}
}

func TestWhatIsNoPictureIsRefused(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":           "",
		"a page":            "<html><body><svg viewBox='0 0 1 1'/></body></html>",
		"a PDF":             "%PDF-1.7",
		"half a PNG":        "\x89PNG\r\n\x1a\n\x00\x00",
		"an open SVG":       `<svg viewBox="0 0 1 1"><g>`,
		"crossed":           `<svg viewBox="0 0 1 1"><g><a></g></a></svg>`,
		"two":               `<svg viewBox="0 0 1 1"/><svg viewBox="0 0 1 1"/>`,
		"of no size":        `<svg width="100%"/>`,
		"of negative size":  `<svg viewBox="0 0 -1 1"/>`,
		"a strip":           `<svg viewBox="0 0 10000 1"/>`,
		"made of itself":    `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg viewBox="0 0 1 1"><text>&b;</text></svg>`,
		"too deep":          `<svg viewBox="0 0 1 1">` + strings.Repeat("<g>", 100) + strings.Repeat("</g>", 100) + `</svg>`,
		"too large":         `<svg viewBox="0 0 1 1"><text>` + strings.Repeat("x", Most) + `</text></svg>`,
		"larger afterwards": `<svg viewBox="0 0 1 1"><text>` + strings.Repeat(">", Most/2) + `</text></svg>`,
	} {
		if got, err := Take([]byte(data)); err == nil {
			t.Errorf("%s was taken as %s, %v × %v", name, got.Type, got.Width, got.Height)
		}
	}
	if _, err := OfText("data:text/html,x"); err == nil {
		t.Error("a data URL of text was taken")
	}
}

func FuzzTake(f *testing.F) {
	f.Add([]byte(`<svg viewBox="0 0 1 1"><g x:y="1">&amp;</g></svg>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Take(data)
		if err != nil {
			return
		}
		again, err := Take(got.Data)
		if err != nil || again.Sum != got.Sum {
			t.Fatalf("taken again it is another: %v\n%q\n%q", err, got.Data, again.Data)
		}
	})
}
