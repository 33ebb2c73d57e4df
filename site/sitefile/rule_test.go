package sitefile

import (
	"bytes"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

const ruledFile = `
site: {name: House, timeZone: Europe/Zurich, latitude: 47.4, longitude: -8.5}
buses: [{name: b, driver: modbus, port: /dev/x}]
nodes: [{id: 3, name: Meter, bus: b, address: 1, profile: p}]
shades: [{id: 5001, name: Roller, node: 3, output: 1}]
clusters: [{id: 1, name: Study, nodes: [3], shades: [Roller]}]
scenes:
  - name: Evening
    cluster: Study
    actions:
      - {do: light-level, cluster: Study, level: 30}
      - {do: light-rgbw, node: Meter, rgbw: [255, 0, 0, 10]}
      - {do: shade-move-to, shade: Roller, position: 0}
      - {do: light-off}
rules:
  - name: Dusk
    when: {kind: sunset, offset: -15, days: [mon, sun]}
    actions: [{scene: Evening}]
    yields: 1h
  - name: Load
    disabled: true
    when: {kind: value, node: Meter, quantity: power, above: 3000, for: 5m}
    actions: [{do: light-kelvin, kelvin: 3000, cluster: 1}]
  - {name: Morning, when: {kind: time, time: "07:30"}, actions: [{do: shade-open, cluster: 1}, {do: light-level, level: 80, over: 30m}]}
`

func TestRulesSurviveBeingWrittenAndRead(t *testing.T) {
	first, err := Parse("site.yaml", []byte(ruledFile))
	if err != nil {
		t.Fatal(err)
	}
	if r := first.Rules[0]; r.When.Days != 65 || r.When.Minute != -15 || r.Actions[0].Scene != first.Scenes[0].ID || r.Yields.Hours() != 1 {
		t.Errorf("rule %+v", r)
	}
	if a := first.Rules[2].Actions[1]; a.Over.Minutes() != 30 || first.Rules[2].Actions[0].Over != 0 {
		t.Errorf("action %+v", a)
	}
	if a := first.Scenes[0].Actions[1]; !a.KeepLevel || a.RGBW.R != 255 {
		t.Errorf("action %+v", a)
	}
	// As a store would have it.
	number := func(u byte) appliance.UUID { return appliance.UUID{0: 7, 15: u} }
	first.Buses[0].UUID, first.Nodes[0].Bus = number(1), number(1)
	first.Nodes[0].UUID, first.Shades[0].UUID, first.Clusters[0].UUID, first.Scenes[0].UUID = number(2), number(3), number(4), number(5)
	first.Scenes[0].ID = 1
	first.Rules[0].Actions[0].Scene = 1
	for i := range first.Rules {
		first.Rules[i].ID, first.Rules[i].UUID = appliance.ID(i+1), number(byte(10+i))
	}
	first.Highest = appliance.Highest{Node: 3, Shade: 5001, Cluster: 1, Scene: 4, Rule: 3}
	first.Retired = []appliance.Retired{{Scene: 4, UUID: number(20), Name: "Gone"}}
	var one, two bytes.Buffer
	if err := Write(&one, first); err != nil {
		t.Fatal(err)
	}
	second, err := Parse("again.yaml", one.Bytes())
	if err != nil {
		t.Fatalf("%v in\n%s", err, one.String())
	}
	if err := Write(&two, second); err != nil || one.String() != two.String() {
		t.Errorf("%v: another file:\n%s\n%s", err, one.String(), two.String())
	}
	if second.Highest != first.Highest || len(second.Retired) != 1 || second.Retired[0] != first.Retired[0] {
		t.Errorf("IDs that are never used again: %+v %+v", second.Highest, second.Retired)
	}
	if got := second.Rules[2].Actions[1].Over; got.Minutes() != 30 || strings.Count(one.String(), "over:") != 1 {
		t.Errorf("it fades over %v in\n%s", got, one.String())
	}
	// What a rule acts on is gone: the file can still be read.
	second.Clusters = nil
	one.Reset()
	if err := Write(&one, second); err != nil {
		t.Fatal(err)
	}
	if third, err := Parse("third.yaml", one.Bytes()); err != nil || len(third.Rules) != 3 || len(third.Rules[1].Actions) != 0 || len(third.Scenes[0].Actions) != 3 {
		t.Errorf("%v in\n%s", err, one.String())
	}
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	for was, is := range map[string][2]string{
		"kind: sunset":            {"kind: moon", "kind"},
		`time: "07:30"`:           {`time: "27:30"`, "time"},
		"above: 3000":             {"above: 3000, below: 1", "one of above and below"},
		"{scene: Evening}":        {"{scene: Morning}", "no scene called"},
		"cluster: Study, level":   {"shade: Roller, level", "not for a shade"},
		"level: 30}":              {"position: 30}", "needs level"},
		"{do: light-off}":         {"{do: light-off, kelvin: 3000}", "no use for kelvin"},
		"shade: Roller, position": {"shade: Roller, node: 3, position", "not for a node"},
		", longitude: -8.5":       {"", "go together"},
	} {
		_, err := Parse("site.yaml", []byte(strings.Replace(ruledFile, was, is[0], 1)))
		if err == nil || !strings.Contains(err.Error(), is[1]) {
			t.Errorf("%s: %v, want %q", is[0], err, is[1])
		}
	}
}
