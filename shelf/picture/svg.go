package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a drawing, beside its bytes.
const depthMost, elementsMost = 64, 40_000

// dropped are the elements of an SVG that make a document of it, or fetch something, with all that is in them.
var dropped = []string{"script", "foreignobject", "iframe", "object", "embed", "audio", "video", "canvas", "handler", "listener", "metadata", "image", "feimage",
	"animate", "animatetransform", "animatemotion", "set", "discard"}

// outside is what a style may not say: something from elsewhere.
var outside = regexp.MustCompile(`(?i)@import|url\s*\(\s*["']?\s*[^"'#\s]|expression\s*\(|\\`)

// harmless writes an SVG anew with what a drawing is made of, and tells its size.
func harmless(data []byte) (out []byte, width, height float64, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	w := writer{}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if !w.drawing {
				return nil, 0, 0, ErrUnknown
			}
			return nil, 0, 0, fmt.Errorf("the SVG cannot be read: %w", err)
		}
		if err := w.take(token); err != nil {
			return nil, 0, 0, err
		}
	}
	switch {
	case !w.drawing:
		return nil, 0, 0, ErrUnknown
	case len(w.open) > 0:
		return nil, 0, 0, errors.New("the SVG ends before its drawing does")
	case w.out.Len() > Most:
		return nil, 0, 0, ErrLarge
	}
	width, height = w.size[0], w.size[1]
	if ratio := width / height; !(ratio >= 1./20 && ratio <= 20) {
		return nil, 0, 0, errors.New("the SVG does not say how large it is: it needs width and height, or a viewBox, and no side may be 20 times as long as the other")
	}
	return w.out.Bytes(), width, height, nil
}

// writer takes a drawing token by token.
type writer struct {
	out      bytes.Buffer
	open     []string // the elements that are open, as written
	skip     int      // so many of them are left out
	style    int      // so many of them are style sheets
	drawing  bool     // the root was there
	elements int
	size     [2]float64
}

func (w *writer) take(token xml.Token) error {
	switch v := token.(type) {
	case xml.StartElement:
		return w.start(v)
	case xml.EndElement:
		name := written(v.Name)
		if len(w.open) == 0 || w.open[len(w.open)-1] != name {
			return fmt.Errorf("the SVG closes <%.40s>, which is not open", name)
		}
		w.open = w.open[:len(w.open)-1]
		if w.skip > 0 {
			w.skip--
			return nil
		}
		if local(name) == "style" {
			w.style--
		}
		w.out.WriteString("</" + name + ">")
	case xml.CharData:
		if w.skip > 0 || len(w.open) == 0 || w.style > 0 && outside.Match(v) {
			return nil
		}
		return xml.EscapeText(&w.out, v)
	}
	return nil // comments, directives, and instructions for programs
}

func (w *writer) start(v xml.StartElement) error {
	name := written(v.Name)
	if w.elements++; w.elements > elementsMost || len(w.open) >= depthMost {
		return fmt.Errorf("the SVG has more than %d elements, or more than %d within one another", elementsMost, depthMost)
	}
	if len(w.open) == 0 {
		if w.drawing || local(name) != "svg" {
			return ErrUnknown
		}
		w.drawing, w.size = true, sizeOf(v.Attr)
	}
	w.open = append(w.open, name)
	if w.skip > 0 || slices.Contains(dropped, local(name)) {
		w.skip++
		return nil
	}
	if local(name) == "style" {
		w.style++
	}
	w.out.WriteString("<" + name)
	for _, a := range v.Attr {
		if !drawn(a) {
			continue
		}
		w.out.WriteString(" " + written(a.Name) + `="`)
		if err := xml.EscapeText(&w.out, []byte(a.Value)); err != nil {
			return err
		}
		w.out.WriteString(`"`)
	}
	w.out.WriteString(">")
	return nil
}

// drawn reports whether an attribute may stay: it does nothing, and points at nothing outside the drawing.
func drawn(a xml.Attr) bool {
	name := strings.ToLower(a.Name.Local)
	switch {
	case strings.HasPrefix(name, "on"), a.Name.Space == "xml" && name == "base":
		return false
	case name == "href", name == "src":
		return strings.HasPrefix(a.Value, "#")
	}
	return a.Name.Space == "xmlns" || name == "xmlns" || !outside.MatchString(a.Value)
}

func written(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func local(name string) string { return strings.ToLower(name[strings.LastIndexByte(name, ':')+1:]) }

var length = regexp.MustCompile(`^\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*$`)

// sizeOf is how large a drawing says it is: its width and height, if both have the same unit, else its viewBox.
func sizeOf(attrs []xml.Attr) (size [2]float64) {
	var units [2]string
	for _, a := range attrs {
		for i, name := range []string{"width", "height"} {
			if m := length.FindStringSubmatch(a.Value); a.Name.Space == "" && a.Name.Local == name && m != nil {
				size[i], _ = strconv.ParseFloat(m[1], 64)
				units[i] = "of " + m[2]
			}
		}
	}
	if units[0] != "" && units[0] == units[1] {
		return size
	}
	size = [2]float64{}
	for _, a := range attrs {
		if a.Name.Space != "" || a.Name.Local != "viewBox" {
			continue
		}
		parts := strings.FieldsFunc(a.Value, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
		if len(parts) != 4 {
			continue
		}
		for i := range size {
			if v, err := strconv.ParseFloat(parts[2+i], 64); err == nil && !math.IsInf(v, 0) {
				size[i] = v
			}
		}
	}
	return size
}
