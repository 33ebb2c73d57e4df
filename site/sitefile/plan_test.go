package sitefile

import (
	"bytes"
	"image"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/picture"
)

const planned = `
site:
  name: House
  floors:
    - name: Ground floor
      clusters: [Lobby]
      plan:
        picture: |
          <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300">
            <script>bad()</script>
            <path d="M0 0h400v300h-400z"/>
          </svg>
        spots:
          - {node: Lamp, x: 0.25, y: 1}
          - {cluster: Lobby, x: 0.5, y: 0.5}
          - {shade: 5001, x: 0, y: 0.125}
    - name: Attic
      plan: {picture: "@PNG@"}
nodes:
  - {id: 7, name: Lamp}
shades:
  - {id: 5001, name: South, output: 1}
clusters:
  - {id: 1, name: Lobby}
`

func TestPlansAreReadAndComeBack(t *testing.T) {
	var p bytes.Buffer
	if err := png.Encode(&p, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(planned, "@PNG@", picture.Text(picture.PNG, p.Bytes()), 1)
	site, err := Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ground, attic := site.Division.Floors[0].Plan, site.Division.Floors[1].Plan
	if ground.Type != picture.SVG || ground.Width != 400 || attic.Width != 30 || attic.Type != picture.PNG || len(site.Pictures) != 2 {
		t.Fatalf("got %+v and %+v with %d pictures", ground, attic, len(site.Pictures))
	}
	want := []appliance.Spot{{Cluster: 1, X: .5, Y: .5}, {Shade: 5001, X: 0, Y: .125}, {Node: 7, X: .25, Y: 1}}
	if !reflect.DeepEqual(ground.Spots, want) || bytes.Contains(site.Pictures[ground.Picture], []byte("bad")) || !bytes.Equal(site.Pictures[attic.Picture], p.Bytes()) {
		t.Errorf("got %+v", ground.Spots)
	}
	site.Nodes[0].UUID, site.Shades[0].UUID, site.Clusters[0].UUID = appliance.NewUUID(), appliance.NewUUID(), appliance.NewUUID()
	var file bytes.Buffer
	if err := Write(&file, site); err != nil {
		t.Fatal(err)
	}
	again, err := Parse("y", file.Bytes())
	if err != nil || !reflect.DeepEqual(again.Division, site.Division) || !reflect.DeepEqual(again.Pictures, site.Pictures) {
		t.Errorf("came back as %+v, %v\n%s", again.Division, err, file.String())
	}
}

func TestWrongPlansAreNamed(t *testing.T) {
	for change, want := range map[string][2]string{
		"node: Lamp, x: 0.25":          {"node: Lamp, shade: 5001, x: 0.25", "spots[0]: say which one"},
		"{node: Lamp, ":                {"{", "spots[0]: say which one"},
		"cluster: Lobby, x":            {"node: Lamp, x", "spots[1]: it stands on a plan already"},
		"shade: 5001, x":               {"shade: 5002, x", "spots[2].shade: there is no shade with the ID 5002"},
		"x: 0.25":                      {"x: 1.25", "spots[0].x"},
		`viewBox="0 0 400 300"`:        {"", "does not say how large it is"},
		`picture: "@PNG@"`:             {`picture: "data:text/html,x"`, "is no picture"},
		"{shade: 5001, x: 0, y: 0.125": {"{shade: 5001, x: 0", "spots[2]"},
	} {
		text := strings.Replace(strings.Replace(planned, change, want[0], 1), `{picture: "@PNG@"}`, `{picture: "<svg viewBox='0 0 1 1'/>"}`, 1)
		if _, err := Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s for %s: %v, want %q", want[0], change, err, want[1])
		}
	}
}
