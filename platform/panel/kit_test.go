package panel

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"svc.internal/controller/platform"
)

// hostile are names of rooms and devices that mean something to whoever reads the files.
var hostile = []string{
	`"quoted" and 'quoted'`, "</script><script>alert(1)</script>", "two\nlines\r\nand\u2028more\u2029", "${code} `${platform}`", `back\slash \u0022`, "const code = 'PANEL-CODE';",
	"]]></Name><Panel>&amp;", "Raum Zürich 🙂", "PANEL-CODE", `*/ // -->`,
}

func kitOf(t *testing.T, id, workspace string) Kit {
	t.Helper()
	k, err := NewKit(platform.RoomDevice{ID: id, Workspace: workspace, Controller: "c", Clusters: []int64{1}, Deployed: true, Code: "SECRET"}, "https://platform.example:8443/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNamesInABundleAreNamesAndNothingElse(t *testing.T) {
	for _, name := range hostile {
		k := kitOf(t, name, name)
		filled := strings.Split(k.Macro(), "\n")
		plain := strings.Split(Macro, "\n")
		if len(filled) != len(plain) {
			t.Errorf("%q makes %d lines of %d", name, len(filled), len(plain))
			continue
		}
		changed := map[string]string{"platform": "https://platform.example:8443", "deviceId": name, "code": "SECRET"}
		for i, line := range filled {
			if line == plain[i] {
				continue
			}
			parts := regexp.MustCompile(`^const (\w+) = (".*");$`).FindStringSubmatch(line)
			var got string
			if parts == nil || json.Unmarshal([]byte(parts[2]), &got) != nil || got != changed[parts[1]] {
				t.Errorf("%q makes the line %s", name, line)
				continue
			}
			delete(changed, parts[1])
			if strings.ContainsAny(line, "<>\u2028\u2029") {
				t.Errorf("%q stands in the line as it is: %s", name, line)
			}
		}
		if len(changed) > 0 {
			t.Errorf("%q: not filled in: %v", name, changed)
		}
		title, panels := titleOf(t, k.Panel())
		if title != name || panels != 1 {
			t.Errorf("%q makes %d panels, with the title %q", name, panels, title)
		}
		if strings.Count(k.readme(), "\n") != strings.Count(kitOf(t, "d", "w").readme(), "\n") {
			t.Errorf("%q makes other lines in the README", name)
		}
	}
}

// titleOf is the title of the panel's page as an XML reader has it, which must find the description whole.
func titleOf(t *testing.T, description string) (title string, panels int) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(description)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return title, panels
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case ok && start.Name.Local == "Panel":
			panels++
		case ok && start.Name.Local == "Page":
			var page struct {
				Name string
			}
			if err := d.DecodeElement(&page, &start); err != nil {
				t.Fatal(err)
			}
			title = page.Name
		}
	}
}

func TestTheBundleHoldsWhatIsNeeded(t *testing.T) {
	k := kitOf(t, "lobby", "")
	if k.Panel() != Description {
		t.Error("a room without a name has another panel")
	}
	var b bytes.Buffer
	if err := k.Zip(&b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "README.txt platformControls.js platformControls.xml" {
		t.Errorf("the bundle holds %s", got)
	}
	if strings.Contains(k.readme(), "SECRET") {
		t.Error("the README tells the code")
	}
}

func TestTheMacroTellsItsVersion(t *testing.T) {
	said := regexp.MustCompile(`(?m)^const version = (\d+);`).FindStringSubmatch(Macro)
	if said == nil || said[1] != strconv.Itoa(MacroVersion) {
		t.Errorf("the macro says %v, and MacroVersion is %d", said, MacroVersion)
	}
}
