package dalisim

import (
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// The vectors were made with python-dali, see their "source"; the model is checked
// against them without the driver.
type golden struct {
	Frames []struct {
		Name, Frame, Luba, Sci string
		SendTwice              bool   `json:"send_twice"`
		AtxHatLine             string `json:"atx_hat_line"`
	}
	Sequences []struct {
		Name   string
		Frames []struct {
			Frame     string
			SendTwice bool `json:"send_twice"`
		}
		Mirek   int
		RGBW    []int
		Answers []*int
	}
}

func load(t testing.TB) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Frames) == 0 || len(g.Sequences) == 0 {
		t.Fatal("the vectors are incomplete")
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

func word(t testing.TB, s string) uint16 {
	b := unhex(t, s)
	return uint16(b[0])<<8 | uint16(b[1])
}

func TestGatewaysUnderstandTheVectors(t *testing.T) {
	for _, v := range load(t).Frames {
		for name, raw := range map[string][]byte{"atx": []byte(v.AtxHatLine), "luba": unhex(t, v.Luba), "sci": unhex(t, v.Sci)} {
			o, n, ok := models[name].take(raw)
			if !ok || n != len(raw) || o.frame != word(t, v.Frame) || o.twice != v.SendTwice || o.kind != orderSend {
				t.Errorf("%s through %s: %+v, %d bytes, %v", v.Name, name, o, n, ok)
			}
			bad := append([]byte(nil), raw...)
			bad[len(bad)-1] ^= 0x10
			if _, n, ok := models[name].take(bad); ok {
				t.Errorf("%s through %s: taken although its end is damaged (%d bytes)", v.Name, name, n)
			}
		}
	}
}

// gearFor makes a colour gear at short address 5, in groups 1 and 2.
func gearFor(t *testing.T, colour string) *gear {
	t.Helper()
	c := GearConfig{Short: 5, Type: 8, Colour: colour, Groups: 6, Level: 128}
	if err := c.complete(); err != nil {
		t.Fatal(err)
	}
	return newGear(c, rand.New(rand.NewPCG(1, 1)))
}

func TestGearCarriesOutTheSequences(t *testing.T) {
	for _, v := range load(t).Sequences {
		colour := "tc"
		if len(v.RGBW) > 0 {
			colour = "rgbw"
		}
		g := gearFor(t, colour)
		if len(v.Answers) > 0 {
			if v.Answers[1] == nil {
				continue // gear without colour; the driver's side of it
			}
			g.tc = 333
		}
		var answers []int
		at := moment(time.Second)
		for _, f := range v.Frames {
			at += 30 * time.Millisecond
			if a, ok := g.hear(word(t, f.Frame), at); ok {
				answers = append(answers, int(a))
			}
		}
		for i, want := range v.Answers {
			if i >= len(answers) || answers[i] != *want {
				t.Errorf("%s: answers %v, want %d at %d", v.Name, answers, *want, i)
			}
		}
		// 2700 K and 5000 K lie within this gear's limits.
		if v.Mirek != 0 && int(g.tc) != v.Mirek {
			t.Errorf("%s: %d mirek, want %d", v.Name, g.tc, v.Mirek)
		}
		for i, want := range v.RGBW {
			if int(g.rgbwaf[i]) != want {
				t.Errorf("%s: colour %v, want %v", v.Name, g.rgbwaf[:4], v.RGBW)
			}
		}
	}
}

func TestColourWithoutItsDeviceTypeDoesNothing(t *testing.T) {
	g := gearFor(t, "tc")
	before := g.tc
	for i, f := range []uint16{0xA34D, 0xC301, 0xC108, 0xA34D, 0x0BE7, 0xC108, 0x0BE2} {
		g.hear(f, moment(i)*30*time.Millisecond)
	}
	if g.tc != before {
		t.Errorf("the colour changed to %d mirek although a frame came between ENABLE DEVICE TYPE and its command", g.tc)
	}
}

func TestStoredValuesChangeOnlyWhenToldTwiceInTime(t *testing.T) {
	for name, c := range map[string]struct {
		frames []uint16
		apart  time.Duration
		want   uint16
	}{
		"once":                        {[]uint16{0x0B63}, 30 * time.Millisecond, 6},
		"twice":                       {[]uint16{0x0B63, 0x0B63}, 30 * time.Millisecond, 6 | 8},
		"too late":                    {[]uint16{0x0B63, 0x0B63}, 150 * time.Millisecond, 6},
		"something between":           {[]uint16{0x0B63, 0x0BA0, 0x0B63}, 30 * time.Millisecond, 6},
		"another between":             {[]uint16{0x0B63, 0x0B64}, 30 * time.Millisecond, 6},
		"twice after something":       {[]uint16{0x0BA0, 0x0B63, 0x0B63}, 30 * time.Millisecond, 6 | 8},
		"the third does not count":    {[]uint16{0x0B63, 0x0B63, 0x0B73}, 30 * time.Millisecond, 6 | 8},
		"addressed to somebody else":  {[]uint16{0x0D63, 0x0D63}, 30 * time.Millisecond, 6},
		"to a group the gear is in":   {[]uint16{0x8360, 0x8360}, 30 * time.Millisecond, 7},
		"broadcast":                   {[]uint16{0xFF71, 0xFF71}, 30 * time.Millisecond, 4},
		"to gear without an address":  {[]uint16{0xFD63, 0xFD63}, 30 * time.Millisecond, 6},
		"a level instead of the twin": {[]uint16{0x0B63, 0x0A63, 0x0B63}, 30 * time.Millisecond, 6},
	} {
		g := gearFor(t, "tc")
		for i, f := range c.frames {
			g.hear(f, moment(i)*c.apart)
		}
		if g.groups != c.want {
			t.Errorf("%s: groups %016b, want %016b", name, g.groups, c.want)
		}
	}
}

func TestFadeTakesItsTime(t *testing.T) {
	g := gearFor(t, "tc")
	g.fade = 4 // 2 s
	g.hear(0x0AFE, 0)
	if g.level(0) != 128 || g.level(2*time.Second) != 254 || !g.fading(time.Second) || g.fading(2*time.Second) {
		t.Errorf("from 128 to 254: %d at 0 s, %d at 1 s, %d at 2 s", g.level(0), g.level(time.Second), g.level(2*time.Second))
	}
	if half := g.level(time.Second); half != 191 {
		t.Errorf("half way: %d, want 191", half)
	}
	if s := g.status(time.Second); s&0x10 == 0 {
		t.Errorf("status %08b does not tell that it fades", s)
	}
	g.hear(0x0AFF, time.Second) // MASK stops it
	if g.level(3*time.Second) != 191 {
		t.Errorf("stopped fade went on to %d", g.level(3*time.Second))
	}
	g.hear(0x0B00, 3*time.Second)
	if g.level(3*time.Second) != 0 {
		t.Error("OFF fades")
	}
}

func TestSearchFindsGearByItsRandomAddress(t *testing.T) {
	g := gearFor(t, "tc")
	at := moment(0)
	tell := func(frames ...uint16) (answer byte, ok bool) {
		for _, f := range frames {
			at += 30 * time.Millisecond
			answer, ok = g.hear(f, at)
		}
		return answer, ok
	}
	if _, ok := tell(0xA900); ok {
		t.Error("gear that is not open for addressing answers COMPARE")
	}
	tell(0xA5FF, 0xA5FF)
	if _, ok := tell(0xA900); ok {
		t.Error("INITIALISE for gear without address opened one that has one")
	}
	tell(0xA500, 0xA500, 0xA700, 0xA700)
	at += 100 * time.Millisecond
	random := g.randomAt(at)
	point := func(to uint32) { tell(0xB100|uint16(to>>16), 0xB300|uint16(to>>8&0xFF), 0xB500|uint16(to&0xFF)) }
	point(random - 1)
	if _, ok := tell(0xA900); ok {
		t.Error("COMPARE below its random address is answered")
	}
	if _, ok := tell(0xBB00); ok {
		t.Error("QUERY SHORT ADDRESS is answered by gear that is not selected")
	}
	point(random)
	if a, ok := tell(0xA900); !ok || a != 0xFF {
		t.Error("COMPARE at its random address is not answered yes")
	}
	tell(0xB713)
	if a, ok := tell(0xBB00); !ok || a != 0x13 || g.short != 9 {
		t.Errorf("short address %d, answer %02X, want 9", g.short, a)
	}
	tell(0xAB00)
	if _, ok := tell(0xA900); ok {
		t.Error("withdrawn gear answers COMPARE")
	}
	tell(0xA100)
	if _, ok := tell(0xBB00); ok {
		t.Error("gear answers after TERMINATE")
	}
	tell(0xA500, 0xA500)
	at += initialiseFor
	if _, ok := tell(0xA900); ok {
		t.Error("gear is still open after 15 minutes")
	}
}

func FuzzTake(f *testing.F) {
	for _, v := range load(f).Frames {
		f.Add([]byte(v.AtxHatLine))
		f.Add(unhex(f, v.Luba))
		f.Add(unhex(f, v.Sci))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, m := range models {
			rest := b
			for len(rest) > 0 {
				_, n, _ := m.take(rest)
				if n < 0 || n > len(rest) {
					t.Fatalf("%s takes %d of %d bytes", name, n, len(rest))
				}
				if n == 0 {
					break
				}
				rest = rest[n:]
			}
		}
	})
}
