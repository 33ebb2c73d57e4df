package sitefile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// undecided is a draft with relays of which nobody knows what hangs off them, beside
// devices that are certain.
func undecided(certain bool) *Draft {
	d := &Draft{Bus: appliance.Bus{Name: "line", Driver: "modbus", Port: "/dev/ttyUSB0"}, NewBus: true}
	if certain {
		d.Add(DraftNode{Node: appliance.Node{Name: "Dimmer", Address: "1", Profile: "dimmer"}, Said: "says so", Usable: true})
		d.Add(DraftNode{Node: appliance.Node{Name: "Motor", Address: "2", Profile: "motor"}, Said: "says so", Usable: true, Shades: []DraftShade{{Name: "South", Output: 1}}})
	}
	for _, address := range []string{"3", "4"} {
		relays := DraftNode{Node: appliance.Node{Name: "line " + address, Address: address, Profile: "relays"}, Usable: true}
		var lights []DraftNode
		for i := range 2 {
			one := relays
			one.Node.Name, one.Node.Outputs = fmt.Sprintf("line %s output %d", address, i+1), []int{i + 1}
			lights = append(lights, one)
		}
		relays.Shades = []DraftShade{{Name: "line " + address + " shade: 1", Output: 1}}
		d.AddChoice(address+": relays", Variant{"2 lights", lights}, Variant{"1 shade", []DraftNode{relays}})
	}
	return d
}

// chosen takes the comment marks away from the lines that are headed so.
func chosen(draft string, heads ...string) string {
	var out strings.Builder
	taken := false
	for line := range strings.Lines(draft) {
		entry := strings.HasPrefix(line, "#  ")
		if !entry {
			taken = false
			for _, head := range heads {
				taken = taken || line == "## "+head+":\n"
			}
		}
		if entry && taken {
			line = strings.TrimPrefix(line, "# ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// TestChoicesOfADraftAreTakenWhereTheyStand uncomments each choice, alone and with others.
func TestChoicesOfADraftAreTakenWhereTheyStand(t *testing.T) {
	for _, tc := range []struct {
		heads         []string
		nodes, shades int
	}{
		{nil, 0, 0},
		{[]string{"3 as 2 lights"}, 2, 0},
		{[]string{"3 as 1 shade"}, 1, 1},
		{[]string{"4 as 1 shade"}, 1, 1},
		{[]string{"3 as 2 lights", "4 as 1 shade"}, 3, 1},
		{[]string{"3 as 1 shade", "4 as 2 lights"}, 3, 1},
		{[]string{"3 as 1 shade", "4 as 1 shade"}, 2, 2},
		{[]string{"3 as 2 lights", "4 as 2 lights"}, 4, 0},
	} {
		for _, certain := range []bool{false, true} {
			var out bytes.Buffer
			if err := undecided(certain).Write(&out); err != nil {
				t.Fatal(err)
			}
			text, nodes, shades := chosen(out.String(), tc.heads...), tc.nodes, tc.shades
			if certain {
				nodes, shades = nodes+2, shades+1
			}
			site, err := Parse("draft.yaml", []byte(text))
			if err != nil || len(site.Nodes) != nodes || len(site.Shades) != shades {
				t.Errorf("%v: %d nodes and %d shades, want %d and %d; %v\n%s", tc.heads, len(site.Nodes), len(site.Shades), nodes, shades, err, text)
			}
		}
	}
}
