package dmxsim

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

type golden struct {
	Frames []struct {
		Name  string `json:"name"`
		Label int    `json:"label"`
		Frame string `json:"frame"`
		Slots int    `json:"slots"`
	} `json:"frames"`
	Replies []struct {
		Name  string `json:"name"`
		Label int    `json:"label"`
		Frame string `json:"frame"`
	} `json:"replies"`
}

func readGolden(t testing.TB) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/enttec.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Frames) < 30 || len(g.Replies) < 4 {
		t.Fatal("vectors are missing")
	}
	return g
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustNew(t testing.TB, cfg Config) *Widget {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// talk feeds bytes to a widget and returns everything it says.
func talk(t testing.TB, w *Widget, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	rest, err := w.eat(t.Context(), b, &out)
	if err != nil {
		t.Fatal(err)
	}
	if len(rest) > 0 {
		t.Errorf("%x was left over", rest)
	}
	return out.Bytes()
}

func reply(t testing.TB, name string) []byte {
	t.Helper()
	for _, r := range readGolden(t).Replies {
		if strings.HasPrefix(r.Name, name) {
			return unhex(t, r.Frame)
		}
	}
	t.Fatalf("no reply named %s", name)
	return nil
}

func TestWidgetAnswersTheVectorsByteExact(t *testing.T) {
	w := mustNew(t, Config{Responders: []Responder{{UID: 0x7a7000012345, Start: 1, Footprint: 4, Model: 1}}})
	silent := map[int]bool{77: true, 78: true, 14: true, 6: true}
	asked := 0
	for _, f := range readGolden(t).Frames {
		got := talk(t, w, unhex(t, f.Frame))
		switch {
		case silent[f.Label]:
			if len(got) > 0 {
				t.Errorf("%s: %x, want silence", f.Name, got)
			}
		case f.Label == 10:
			asked++
			if want := reply(t, "widget serial number"); !bytes.Equal(got, want) {
				t.Errorf("%s: %x, want %x", f.Name, got, want)
			}
		case f.Label == 3:
			asked++
			if want := reply(t, "widget parameters"); !bytes.Equal(got, want) {
				t.Errorf("%s: %x, want %x", f.Name, got, want)
			}
		case strings.Contains(f.Name, "DISC_UN_MUTE"):
			asked++
			if want := reply(t, "RDM time-out"); !bytes.Equal(got, want) {
				t.Errorf("%s: %x, want %x", f.Name, got, want)
			}
		case f.Label == 11:
			asked++
			want := reply(t, "RDM time-out")
			if !w.Responders()[0].Muted {
				want = append(reply(t, "RDM discovery answer"), want...)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %x, want %x", f.Name, got, want)
			}
		default:
			if len(got) == 0 || got[1] != 5 {
				t.Errorf("%s: %x, want an RDM answer", f.Name, got)
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d answers were compared", asked)
	}
	r := w.Responders()[0]
	if r.Start != 101 || r.Label != "North wing" || r.Identifying {
		t.Errorf("after the vectors the device is %+v", r)
	}
}

func TestUniverseIsOnTheWireFromTheNextPacket(t *testing.T) {
	w := mustNew(t, Config{})
	now := time.Now()
	first := make([]byte, 513)
	first[512] = 9
	w.take(now, 6, first)
	second := append([]byte(nil), first...)
	second[1], second[512] = 7, 8
	at := now.Add(30 * time.Millisecond) // in the second packet of 25 ms
	w.take(at, 6, second)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(at.Add(19 * time.Millisecond))
	if w.universe[0] != 0 {
		t.Error("the packet under way was changed")
	}
	w.settle(now.Add(51 * time.Millisecond))
	if w.universe[0] != 7 || w.universe[511] != 9 {
		t.Errorf("in the middle of the packet: slot 1 %d, slot 512 %d", w.universe[0], w.universe[511])
	}
	w.settle(now.Add(74 * time.Millisecond))
	if w.universe[511] != 8 {
		t.Errorf("at its end: slot 512 %d", w.universe[511])
	}
	if lag := w.changed[511].Sub(w.changed[0]); lag != 511*44*time.Microsecond {
		t.Errorf("slot 512 follows slot 1 after %v", lag)
	}
}

func TestOtherLabelsStopTheOutput(t *testing.T) {
	w := mustNew(t, Config{Nodes: []Node{{Address: "1", Profile: "dmx-dimmer"}}, HoldFor: time.Millisecond})
	light := func() int { return w.Devices()[0].Channels[0].Level }
	now := time.Now().Add(-time.Second)
	w.take(now, 6, append([]byte{0, 255}, make([]byte, 23)...))
	if on, _ := w.Outputting(); !on || light() != 100 {
		t.Fatalf("output %v, light %d", on, light())
	}
	w.take(now, 3, []byte{0, 0})
	if on, _ := w.Outputting(); !on {
		t.Error("label 3 stopped the output")
	}
	w.take(now, 10, nil)
	if on, _ := w.Outputting(); on || light() != 0 {
		t.Errorf("after label 10: output %v, light %d", on, light())
	}
	w.take(now, 6, append([]byte{0, 128}, make([]byte, 23)...))
	if on, _ := w.Outputting(); !on || light() != 50 {
		t.Errorf("after label 6: output %v, light %d", on, light())
	}
}

func FuzzWidget(f *testing.F) {
	for _, v := range readGolden(f).Frames {
		f.Add(unhex(f, v.Frame))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := mustNew(t, Config{Responders: []Responder{{UID: 0x7a7000012345, Start: 1, Footprint: 4}}})
		var out bytes.Buffer
		rest, err := w.eat(t.Context(), b, &out)
		if err != nil || len(rest) > len(b) || len(rest) > 605 {
			t.Fatalf("%d of %d bytes left: %v", len(rest), len(b), err)
		}
	})
}
