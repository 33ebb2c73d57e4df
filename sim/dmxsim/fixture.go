package dmxsim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A model tells what the slots of a fixture mean, one letter a slot and lamp:
//
//	D dimmer   d its fine half   S switch     K colour temperature
//	R G B W    r g b w fine      C cool  c    A warm  a
//
// The letters of several lamps are separated by a space. Where there is a D beside
// others, it dims them.
var models = map[string]string{
	"dmx-dimmer":                    "D",
	"dmx-dimmer-16bit":              "Dd",
	"dmx-dimmer-pack-2":             strings.Repeat("D ", 2),
	"dmx-dimmer-pack-3":             strings.Repeat("D ", 3),
	"dmx-dimmer-pack-4":             strings.Repeat("D ", 4),
	"dmx-dimmer-pack-6":             strings.Repeat("D ", 6),
	"dmx-dimmer-pack-12":            strings.Repeat("D ", 12),
	"dmx-dimmer-pack-24":            strings.Repeat("D ", 24),
	"dmx-switch":                    "S",
	"dmx-switch-pack-4":             strings.Repeat("S ", 4),
	"dmx-switch-pack-8":             strings.Repeat("S ", 8),
	"dmx-rgb":                       "RGB",
	"dmx-rgb-16bit":                 "RrGgBb",
	"dmx-rgb-master":                "DRGB",
	"dmx-rgbw":                      "RGBW",
	"dmx-rgbw-16bit":                "RrGgBbWw",
	"dmx-rgbw-master":               "DRGBW",
	"dmx-tunable":                   "AC",
	"dmx-tunable-16bit":             "AaCc",
	"dmx-tunable-master":            "DAC",
	"dmx-tunable-temperature":       "DK",
	"dmx-tunable-temperature-16bit": "DdK",
}

// fixture is a lamp, or several, at a place in the universe.
type fixture struct {
	node      Node
	start     int
	lamps     []map[byte]int // slot (from 0 in the universe) by letter
	low, high float64        // kelvin

	held   *[512]byte // what it goes by while it does not listen; nil: the wire
	broken bool
}

func newFixture(n Node) (*fixture, error) {
	start, err := strconv.Atoi(n.Address)
	if err != nil || start < 1 || start > 512 {
		return nil, fmt.Errorf("start slot %q: want 1 to 512", n.Address)
	}
	letters, ok := models[n.Profile]
	if !ok {
		return nil, fmt.Errorf("no model of profile %q", n.Profile)
	}
	f := &fixture{node: n, start: start, low: 2700, high: 6500}
	for key, to := range map[string]*float64{"kelvinMin": &f.low, "kelvinMax": &f.high} {
		if text := n.Options[key]; text != "" {
			if *to, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("option %s: %w", key, err)
			}
		}
	}
	at := start - 1
	for lamp := range strings.FieldsSeq(reorder(letters, n.Options["order"])) {
		slots := map[byte]int{}
		for i := range len(lamp) {
			slots[lamp[i]] = at
			at++
		}
		f.lamps = append(f.lamps, slots)
	}
	if at > 512 {
		return nil, fmt.Errorf("ends at slot %d", at)
	}
	return f, nil
}

// reorder writes the colours of a model in another order. In an order for two
// whites W is the warm one.
func reorder(letters, order string) string {
	if order == "" {
		return letters
	}
	if strings.ContainsAny(letters, "A") {
		order = strings.ReplaceAll(order, "W", "A")
	}
	out := []byte(letters)
	next := 0
	for i := 0; i < len(out); i++ {
		if !strings.ContainsRune(order, rune(letters[i])) {
			continue
		}
		out[i] = order[next]
		if i+1 < len(out) && letters[i+1] >= 'a' {
			out[i+1] = order[next] + 'a' - 'A'
		}
		next++
	}
	return string(out)
}

func (f *fixture) emits(u *[512]byte, changed *[512]time.Time) Device {
	d := Device{Name: f.node.Name, Address: f.node.Address, Profile: f.node.Profile}
	for _, lamp := range f.lamps {
		l := f.light(lamp, u)
		for _, slot := range lamp {
			if changed[slot].After(l.ChangedAt) {
				l.ChangedAt = changed[slot]
			}
		}
		d.Channels = append(d.Channels, l)
	}
	return d
}

// light looks at one lamp.
func (f *fixture) light(lamp map[byte]int, u *[512]byte) Light {
	value := func(letter byte) float64 {
		slot, ok := lamp[letter]
		if !ok {
			return 0
		}
		if fine, ok := lamp[letter+'a'-'A']; ok {
			return (float64(u[slot])*256 + float64(u[fine])) / 65535
		}
		return float64(u[slot]) / 255
	}
	has := func(letter byte) bool { _, ok := lamp[letter]; return ok }
	master := 1.0
	if has('D') {
		master = value('D')
	}
	var l Light
	percent := func(x float64) int { return int(math.Round(100 * x)) }
	switch {
	case has('S'):
		if value('S') >= 0.5 {
			l.Level = 100
		}
	case has('R'):
		parts := []float64{value('R'), value('G'), value('B'), value('W')}
		strongest := 0.0
		for _, p := range parts {
			strongest = math.Max(strongest, p)
		}
		for i, p := range parts {
			l.RGBW[i] = byte(math.Round(255 * p))
		}
		l.Level = percent(strongest * master)
	case has('A'):
		warm, cool := value('A'), value('C')
		l.Level = percent((warm + cool) * master)
		if both := warm + cool; both > 0 {
			l.Kelvin = int(math.Round(1e6 / ((warm*1e6/f.low + cool*1e6/f.high) / both)))
		}
	case has('K'):
		l.Level = percent(master)
		l.Kelvin = int(math.Round(f.low + value('K')*(f.high-f.low)))
	default:
		l.Level = percent(master)
	}
	return l
}
