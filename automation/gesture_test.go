package automation

import (
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

func TestGesturesOfEveryWidget(t *testing.T) {
	const nothing, wrong = "nothing", "wrong"
	percent := func(p int) *int { return &p }
	for _, c := range []struct {
		widget  string
		action  wire.Gesture
		value   string
		percent *int
		want    any
	}{
		{wire.LightPower, wire.Changed, "on", nil, appliance.Command{Kind: appliance.LightOn}},
		{wire.LightPower, wire.Changed, "off", nil, appliance.Command{Kind: appliance.LightOff}},
		{wire.LightPower, wire.Changed, "toggle", nil, wrong},
		{wire.LightPower, wire.Pressed, "", nil, nothing},
		{wire.LightPower, wire.Clicked, "", nil, wrong},
		{wire.LightBrightness, wire.Pressed, "10", nil, nothing},
		{wire.LightBrightness, wire.Changed, "128", nil, appliance.Command{Kind: appliance.LightLevel, Level: 50}},
		{wire.LightBrightness, wire.Released, "255", nil, appliance.Command{Kind: appliance.LightLevel, Level: 100}},
		{wire.LightBrightness, wire.Released, "0", nil, appliance.Command{Kind: appliance.LightOff}},
		{wire.LightBrightness, wire.Released, "128", percent(10), appliance.Command{Kind: appliance.LightLevel, Level: 50}},
		{wire.LightBrightness, wire.Released, "", percent(10), appliance.Command{Kind: appliance.LightLevel, Level: 10}},
		{wire.LightBrightness, wire.Released, "", percent(101), wrong},
		{wire.LightBrightness, wire.Released, "", nil, wrong},
		{wire.LightBrightness, wire.Released, "256", nil, wrong},
		{wire.LightBrightness, wire.Released, "-1", percent(10), wrong},
		{wire.ShadePosition, wire.Released, "255", nil, appliance.Command{Kind: appliance.ShadeOpen}},
		{wire.ShadePosition, wire.Released, "0", nil, appliance.Command{Kind: appliance.ShadeClose}},
		{wire.ShadePosition, wire.Released, "64", nil, appliance.Command{Kind: appliance.ShadeMoveTo, Position: 25}},
		{wire.ShadePreset, wire.Pressed, "one_third", nil, nothing},
		{wire.ShadePreset, wire.Released, "one_third", nil, appliance.Command{Kind: appliance.ShadeMoveTo, Position: 33}},
		{wire.ShadePreset, wire.Released, "two_thirds", nil, appliance.Command{Kind: appliance.ShadeMoveTo, Position: 67}},
		{wire.ShadePreset, wire.Released, "half", nil, wrong},
		{wire.ShadeStop, wire.Pressed, "", nil, nothing},
		{wire.ShadeStop, wire.Clicked, "", nil, appliance.Command{Kind: appliance.ShadeStop}},
		{wire.SceneRecall, wire.Pressed, "7", nil, nothing},
		{wire.SceneRecall, wire.Clicked, "talk", nil, wrong},
		{"fan", wire.Clicked, "", nil, wrong},
	} {
		o, acts, err := read(wire.WidgetAction{PanelID: wire.ControlsPanel, WidgetID: c.widget, Action: c.action, Value: c.value, Percent: c.percent})
		got := any(o.command)
		switch {
		case err != nil:
			got = wrong
		case !acts:
			got = nothing
		}
		if got != c.want {
			t.Errorf("%s %s %q: got %+v (%v), want %+v", c.widget, c.action, c.value, got, err, c.want)
		}
	}
	if _, _, err := read(wire.WidgetAction{PanelID: "coffee", WidgetID: wire.LightPower, Action: wire.Changed, Value: "on"}); err == nil {
		t.Error("an action of another panel was taken")
	}
}
