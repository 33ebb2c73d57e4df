package appliance

import (
	"slices"
	"testing"
)

func TestWordsAreThereAndMeanTheSameBack(t *testing.T) {
	for k := LightOn; k <= ShadeMoveTo; k++ {
		if got, ok := KindOf(k.Word()); got != k || !ok {
			t.Errorf("kind %d is %q, which is %d, %v", k, k.Word(), got, ok)
		}
	}
	for s := StageAccepted; s <= StageFailed; s++ {
		if got, ok := StageOf(s.Word()); got != s || !ok {
			t.Errorf("stage %d is %q, which is %d, %v", s, s.Word(), got, ok)
		}
	}
	for _, no := range []string{"", "Light-On", "accepted "} {
		_, kind := KindOf(no)
		if _, stage := StageOf(no); kind || stage {
			t.Errorf("%q means something", no)
		}
	}
	if words := Kind(0).Word() + (ShadeMoveTo + 1).Word() + (StageFailed + 1).Word() + (Sent + 1).Word() + Kind(200).Word() + Source(0).Word() + Stage(200).Word(); words != "" {
		t.Errorf("what there is not is called %q", words)
	}
	if got := (CanSwitch | CanTune | CanPosition).Words(); !slices.Equal(got, []string{"switch", "tune", "position"}) {
		t.Errorf("abilities %q", got)
	}
	if got := Ability(0).Words(); got == nil || len(got) > 0 {
		t.Errorf("no abilities are %#v", got)
	}
}

func TestMotionsHaveNames(t *testing.T) {
	names := map[Motion]string{MotionUnknown: "unknown", Open: "open", Stop: "stop", Stopped: "stopped", Opening: "opening", Moving: "moving", Moving + 1: "unknown", 255: "unknown"}
	for m, name := range names {
		if m.String() != name {
			t.Errorf("motion %d is called %q, want %q", m, m, name)
		}
	}
}
