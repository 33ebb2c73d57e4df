package dali

import (
	"math"
	"testing"

	"svc.internal/controller/appliance"
)

func TestStandardCurveMeetsThePublishedPoints(t *testing.T) {
	t.Parallel()
	for p, want := range map[appliance.Level]byte{0: 0, 1: 85, 3: 126, 5: 144, 10: 170, 25: 203, 50: 229, 75: 243, 100: 254} {
		if got := curves["standard"].arcOf(p); got != want {
			t.Errorf("%d %%: level %d, want %d", p, got, want)
		}
	}
}

func TestPercentComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for name, c := range curves {
		before := byte(0)
		for p := appliance.Level(0); p <= 100; p++ {
			n := c.arcOf(p)
			if n < before || p > 0 && n == 0 || n > MaxArc {
				t.Errorf("%s: %d %% is level %d after %d: want it to rise from above 0", name, p, n, before)
			}
			before = n
			g := &gear{profile: profiles["dali-dt6"], curve: c}
			g.told(p, testTime)
			if got := g.levelOf(n); got != p {
				t.Errorf("%s: %d %% is sent as %d and comes back as %d %%", name, p, n, got)
			}
			// Somebody who does not remember writes what he read, and nothing moves.
			if again := c.arcOf(c.levelOf(n)); again != n {
				t.Errorf("%s: level %d reads as %d %%, which is sent as %d", name, n, c.levelOf(n), again)
			}
			if off := c.levelOf(n) - p; off < -1 || off > 1 {
				t.Errorf("%s: %d %% reads as %d %% without memory", name, p, c.levelOf(n))
			}
		}
		for n := 1; n <= MaxArc; n++ {
			if l := c.levelOf(byte(n)); l < 1 || l > 100 {
				t.Errorf("%s: level %d reads as %d %%: a lamp that is on is 1 to 100 %%", name, n, l)
			}
		}
	}
}

func TestColourComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, v := range load(t).Sequences {
		if v.Kelvin != 0 && int(mirek(appliance.Kelvin(v.Kelvin))) != v.Mirek {
			t.Errorf("%d K is %d mirek, want %d", v.Kelvin, mirek(appliance.Kelvin(v.Kelvin)), v.Mirek)
		}
	}
	for k := appliance.Kelvin(1000); k <= 20000; k++ {
		back := kelvin(mirek(k))
		if mirek(back) != mirek(k) || math.Abs(float64(back-k)) > float64(k)*float64(k)/1e6 {
			t.Errorf("%d K is %d mirek and comes back as %d K", k, mirek(k), back)
		}
	}
	if kelvin(0) != 0 || kelvin(0xFFFF) != 0 {
		t.Error("values that mean nothing have a colour temperature")
	}
	for v := 0; v <= 255; v++ {
		raw := component(uint8(v))
		if raw == Mask || component(componentOf(raw)) != raw || math.Abs(float64(componentOf(raw))-float64(v)) > 1 {
			t.Errorf("component %d is sent as %d and comes back as %d", v, raw, componentOf(raw))
		}
	}
}

func TestColourSequencesGoOutByteExact(t *testing.T) {
	t.Parallel()
	for _, v := range load(t).Sequences {
		to := parseTarget(t, v.Address)
		var got []Send
		switch {
		case v.Mirek != 0:
			got = ColourTemperature(to, uint16(v.Mirek))
		case len(v.RGBW) == 4:
			got = ColourRGBW(to, [4]byte{byte(v.RGBW[0]), byte(v.RGBW[1]), byte(v.RGBW[2]), byte(v.RGBW[3])})
		default:
			got = QueryColour16(int(to.n), selectTc)
			answers := make([]Answer, 0, len(v.Frames))
			given := v.Answers
			for _, s := range got {
				a := Answer{}
				if s.Asks {
					if given[0] != nil {
						a = Answer{AnswerValue, byte(*given[0])}
					}
					given = given[1:]
				}
				answers = append(answers, a)
			}
			value, ok := value16(answers)
			if ok != (v.Value != nil) || ok && int(value) != *v.Value {
				t.Errorf("%s: value %d %v", v.Name, value, ok)
			}
		}
		if len(got) != len(v.Frames) {
			t.Errorf("%s: %d frames, want %d", v.Name, len(got), len(v.Frames))
			continue
		}
		for i, f := range v.Frames {
			raw := unhex(t, f.Frame)
			if got[i].Frame != NewFrame(raw[0], raw[1]) || got[i].Twice != f.SendTwice {
				t.Errorf("%s: frame %d is %v, want %s", v.Name, i, got[i], f.Frame)
			}
		}
	}
}

func TestAnswersMeanWhatTheVectorsSay(t *testing.T) {
	t.Parallel()
	bits := map[string]byte{"lamp failure": StatusLampFailure, "arc power on": StatusLampOn, "missing short address": StatusNoShort}
	for _, v := range load(t).Answers {
		a := Answer{}
		if v.Backward != nil {
			a = Answer{AnswerValue, unhex(t, *v.Backward)[0]}
		}
		switch v.Command {
		case "QueryStatus":
			var want byte
			for _, b := range v.BitsSet {
				want |= bits[b]
			}
			if a.Value != want {
				t.Errorf("%s: bits %08b, want %08b", v.Name, a.Value, want)
			}
		case "QueryControlGearPresent", "QueryLampFailure":
			if a.Yes() != v.Value.(bool) {
				t.Errorf("%s: %v", v.Name, a.Yes())
			}
		}
	}
	if kind, _ := kindOf(Answer{AnswerValue, 8}, Answer{AnswerValue, 2}); kind != "dali-dt8-tc" {
		t.Errorf("device type 8 with Tc is taken for %s", kind)
	}
}
