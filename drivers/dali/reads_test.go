package dali

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// colourful is gear at short address 0 that has colours: it answers by what is asked, and
// puts colour values by their selector into its DTR0.
type colourful struct {
	answers map[byte]byte
	colours map[byte]uint16 // of one component the upper byte counts
	deaf    bool            // it misses what selects a value
	dtr0    byte
	asked   []byte // what it was asked
}

func (c *colourful) says(frame string) string {
	var address, op byte
	if n, _ := fmt.Sscanf(frame, "%02X%02X", &address, &op); n != 2 {
		return "N"
	}
	if address == OpDTR0 && !c.deaf {
		c.dtr0 = op
	}
	if address != 1 {
		return "N"
	}
	c.asked = append(c.asked, op)
	v, ok := c.answers[op]
	switch op {
	case OpQueryDTR0:
		v, ok = c.dtr0, true
	case OpColourValue:
		var value uint16
		if value, ok = c.colours[c.dtr0]; ok {
			v, c.dtr0 = byte(value>>8), byte(value)
		}
	}
	if !ok {
		return "N"
	}
	return fmt.Sprintf("J%02X", v)
}

// with is a running driver of such a gear.
func (c *colourful) with(t *testing.T, profile string) (*Driver, *gear) {
	d := running(t, 1, c.says)
	g := d.gears[0]
	g.profile, g.settled = profiles[profile], true
	g.curve = curves["linear"]
	return d, g
}

// What polls of colours tell: what the gear has, unless it may be on its way; what it was
// told, where that is the same to it.
func TestWhatPollsOfColoursTell(t *testing.T) {
	rgbw := map[byte]uint16{9: 254 << 8, 10: 127 << 8, 11: 0, 12: 254 << 8}
	level := map[byte]byte{OpQueryActualLevel: 254}
	for _, row := range []struct {
		what    string
		profile string
		gear    colourful
		change  func(*gear)
		polls   int // of the four of a colour
		told    string
		err     error
	}{
		{what: "a colour temperature", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{2: 250}}, told: "4000"},
		{what: "the one it was told", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{2: 250}}, change: func(g *gear) { g.asked.values.Kelvin = 4005 }, told: "4005"},
		{what: "one on its way", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{2: 300}}, change: func(g *gear) {
			g.asked.values.Kelvin, g.asked.at, g.settled = 4000, time.Now(), false
		}},
		{what: "the one it goes to", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{2: 250}}, change: func(g *gear) {
			g.asked.values.Kelvin, g.asked.at, g.settled = 4000, time.Now(), false
		}, told: "4000"},
		{what: "none", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{2: 0xFFFF}}},
		{what: "nothing of its colour", profile: "dali-dt8-tc", gear: colourful{answers: level}, err: appliance.ErrRefused},
		{what: "nothing at all", profile: "dali-dt8-tc", err: appliance.ErrSilent},
		{what: "another value than was asked for", profile: "dali-dt8-tc", gear: colourful{answers: level, colours: map[byte]uint16{0: 300}, deaf: true}, err: appliance.ErrDamaged},
		{what: "a colour", profile: "dali-dt8-rgbw", gear: colourful{answers: level, colours: rgbw}, polls: 4, told: "{255 128 0 255}"},
		{what: "three of four components", profile: "dali-dt8-rgbw", gear: colourful{answers: level, colours: rgbw}, polls: 3},
		{what: "a colour, one of it long ago", profile: "dali-dt8-rgbw", gear: colourful{answers: level, colours: rgbw}, polls: 4, change: func(g *gear) {
			g.colour[0] = reading8{254, time.Now().Add(-2*time.Minute - time.Second)}
		}},
		{what: "a component that is not there", profile: "dali-dt8-rgbw", gear: colourful{answers: level, colours: map[byte]uint16{9: Mask << 8, 10: 0, 11: 0, 12: 0}}, polls: 4},
		{what: "a colour on its way", profile: "dali-dt8-rgbw", gear: colourful{answers: level, colours: rgbw}, polls: 4, change: func(g *gear) { g.asked.at, g.settled = time.Now(), false }},
		{what: "nothing of one component", profile: "dali-dt8-rgbw", gear: colourful{answers: level}, polls: 1, err: appliance.ErrRefused},
		{what: "nothing of colours", profile: "dali-dt8-rgbw", polls: 1, err: appliance.ErrSilent},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, g := row.gear.with(t, row.profile)
			if row.change != nil {
				row.change(g)
			}
			var told string
			var err error
			polls := d.Polls()[2:]
			first := 0
			if g.colour[0].value != 0 {
				first = 1 // the one that was read long ago
			}
			for i := first; i < max(row.polls, 1); i++ {
				var res appliance.Result
				if res, err = polls[i].Do(t.Context(), appliance.Yield{}); err == nil && res.Sent.IsZero() {
					t.Errorf("%s: it is not told when it was read", row.what)
				}
				for _, r := range res.Readings {
					if told = fmt.Sprint(r.RGBW); r.Has == appliance.CanTune {
						told = fmt.Sprint(r.Kelvin)
					}
				}
			}
			if told != row.told || !errors.Is(err, row.err) {
				t.Errorf("%s: told %q, %v; want %q, %v", row.what, told, err, row.told, row.err)
			}
		})
	}
}

// Slow questions take turns, and one that was not answered is asked again. Every gear is
// polled for its level as light, and for the rest as what is slowest.
func TestSlowQuestionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &colourful{answers: map[byte]byte{OpQueryStatus: StatusLampFailure, OpQueryMin: 85, OpQueryActualLevel: 127}}
		d, g := c.with(t, "dali-dt6")
		polls := d.Polls()
		if len(polls) != 2 || polls[0].Class != appliance.ClassLight || polls[1].Class != appliance.ClassPower || !slices.Equal(polls[1].Refs, []appliance.Ref{g.ref}) {
			t.Fatalf("%+v", polls)
		}
		for i := range 6 {
			_, err := polls[1].Do(t.Context(), appliance.Yield{})
			if silent := i == 3 || i == 4; errors.Is(err, appliance.ErrSilent) != silent || (err != nil) != silent {
				t.Errorf("question %d: %v", i, err)
			}
			if i == 4 {
				c.answers[OpQueryMax] = 200
			}
		}
		if want := []byte{OpQueryStatus, OpQueryMin, OpQueryStatus, OpQueryMax, OpQueryMax, OpQueryMax}; !slices.Equal(c.asked, want) {
			t.Errorf("asked % X, want % X", c.asked, want)
		}
		if g.found.min != 85 || g.found.max != 200 || d.Troubles()["0"] != "lamp failure" {
			t.Errorf("learned %+v, troubles %v", g.found, d.Troubles())
		}
		res, err := polls[0].Do(t.Context(), appliance.Yield{})
		if err != nil || len(res.Readings) != 1 || res.Readings[0].Level != 50 || res.Readings[0].At.IsZero() || res.Readings[0].Ref != g.ref {
			t.Errorf("the level: %+v, %v", res, err)
		}
		delete(c.answers, OpQueryActualLevel)
		if _, err := polls[0].Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("no level: %v", err)
		}
	})
}

// What reading back proves of a command for a level and a colour at once.
func TestWhatReadingBackProves(t *testing.T) {
	on := map[byte]byte{OpQueryActualLevel: 127}
	for _, row := range []struct {
		what    string
		profile string
		gear    colourful
		values  appliance.Values
		told    string
		err     error
	}{
		{what: "colour temperature and level", profile: "dali-dt8-tc", gear: colourful{answers: on, colours: map[byte]uint16{2: 250}},
			values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 50, Kelvin: 4000}, told: "50 4000"},
		{what: "colour temperature alone", profile: "dali-dt8-tc", gear: colourful{answers: on, colours: map[byte]uint16{2: 250}}, values: appliance.Values{Has: appliance.CanTune, Kelvin: 4000}, told: "0 4000"},
		{what: "a level that it does not explain", profile: "dali-dt8-tc", gear: colourful{answers: on, colours: map[byte]uint16{2: 250}},
			values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 80, Kelvin: 4000}, err: appliance.ErrSilent},
		{what: "a colour temperature that it does not tell", profile: "dali-dt8-tc", gear: colourful{answers: on},
			values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 50, Kelvin: 4000}, err: appliance.ErrRefused},
		{what: "its limits, which it does not tell", profile: "dali-dt8-tc", gear: colourful{answers: on, colours: map[byte]uint16{2: 200}}, values: appliance.Values{Has: appliance.CanTune, Kelvin: 4000}, err: nil, told: ""},
		{what: "its coolest", profile: "dali-dt8-tc", gear: colourful{answers: on, colours: map[byte]uint16{2: 200, 128: 200, 130: 370}}, values: appliance.Values{Has: appliance.CanTune, Kelvin: 6500}, told: "0 6500"},
		{what: "a colour and a level", profile: "dali-dt8-rgbw", gear: colourful{answers: on, colours: map[byte]uint16{9: 254 << 8, 10: 127 << 8, 11: 0, 12: 0}},
			values: appliance.Values{Has: appliance.CanDim | appliance.CanColour, Level: 50, RGBW: appliance.RGBW{R: 255, G: 128}}, told: "50 {255 128 0 0}"},
		{what: "another colour", profile: "dali-dt8-rgbw", gear: colourful{answers: on, colours: map[byte]uint16{9: 0, 10: 127 << 8, 11: 0, 12: 254 << 8}},
			values: appliance.Values{Has: appliance.CanColour, RGBW: appliance.RGBW{R: 255, G: 128}}, told: "0 {0 128 0 255}"},
		{what: "a level that colours do not explain", profile: "dali-dt8-rgbw", gear: colourful{answers: on, colours: map[byte]uint16{9: 0, 10: 0, 11: 0, 12: 0}},
			values: appliance.Values{Has: appliance.CanDim | appliance.CanColour, Level: 80}, err: appliance.ErrSilent},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, g := row.gear.with(t, row.profile)
			chains := d.Repair([]appliance.Want{{Ref: g.ref, Values: row.values}})
			if len(chains) != 1 {
				t.Fatalf("%s: %d chains", row.what, len(chains))
			}
			var err error
			var level appliance.Level
			told := ""
			for _, e := range chains[0].Verify {
				var res appliance.Result
				if res, err = e.Do(t.Context(), appliance.Yield{}); err != nil {
					break
				}
				for _, r := range res.Readings {
					if r.At.IsZero() || res.Sent.IsZero() {
						t.Errorf("%s: read at %v, sent at %v", row.what, r.At, res.Sent)
					}
					if r.Has&hasLight != 0 {
						level = r.Level
					}
					if r.Has.Has(appliance.CanTune) {
						told = fmt.Sprint(level, r.Kelvin)
					}
					if r.Has.Has(appliance.CanColour) {
						told = fmt.Sprint(level, r.RGBW)
					}
				}
			}
			if row.what == "its limits, which it does not tell" {
				if !errors.Is(err, appliance.ErrSilent) || !slices.Contains(row.gear.asked, byte(OpQueryStatus)) {
					t.Errorf("%s: told %q, %v, asked % X; want it asked how it is", row.what, told, err, row.gear.asked)
				}
				return
			}
			if told != row.told || !errors.Is(err, row.err) {
				t.Errorf("%s: told %q, %v; want %q, %v", row.what, told, err, row.told, row.err)
			}
		})
	}
}

// The groups of gear outside the site are found at every address that the site does not
// use, and those of gear without an address by asking the groups that are left.
func TestGroupsOfGearOutsideTheSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[Frame]int{}
		tries := 0
		d := running(t, 2, func(frame string) string {
			var f Frame
			fmt.Sscanf(frame, "%04X", &f)
			switch asked[f]++; f {
			case Command(Short(5), OpQueryPresent).Frame, Command(Short(9), OpQueryPresent).Frame, Command(Group(12), OpQueryPresent).Frame:
				return "JFF"
			case Command(Short(5), OpQueryGroupsLow).Frame:
				if tries++; tries < sendTries {
					return "X" // garbled, and at last it is not
				}
				return "J02"
			case Command(Short(5), OpQueryGroupsHigh).Frame:
				return "J00"
			case Command(Short(9), OpQueryGroupsLow).Frame:
				return "J00"
			case Command(Short(9), OpQueryGroupsHigh).Frame:
				return "X" // it may hold any of the upper half
			}
			return "N"
		})
		d.gears[0].inGroups, d.gears[1].inGroups = 1<<3, 1<<4
		for e := range d.SurveyGroups() {
			if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
				t.Fatal(err)
			}
		}
		held, used := d.StrangeGroups()
		if want := []string{"1", "10", "11", "12", "13", "14", "15", "8", "9"}; !slices.Equal(held, want) || len(used) > 0 {
			t.Errorf("held %q, used %q; want %q held", held, used, want)
		}
		for f, want := range map[Frame]int{
			Command(Short(0), OpQueryPresent).Frame: 0, Command(Short(1), OpQueryPresent).Frame: 0, Command(Short(63), OpQueryPresent).Frame: 1,
			Command(Group(0), OpQueryPresent).Frame: 1, Command(Group(1), OpQueryPresent).Frame: 0, Command(Group(3), OpQueryPresent).Frame: 0, Command(Group(4), OpQueryPresent).Frame: 0,
			Command(Group(12), OpQueryPresent).Frame: 0, Command(Short(9), OpQueryGroupsHigh).Frame: sendTries, Command(Short(9), OpQueryGroupsLow).Frame: 1,
		} {
			if asked[f] != want {
				t.Errorf("asked %v %d times, want %d", f, asked[f], want)
			}
		}

		d.gears[0].inGroups = 0
		n := 0
		for range d.SurveyGroups() { // nobody wants to know any more
			if n++; n == 20 {
				break
			}
		}
		if again, _ := d.StrangeGroups(); !slices.Equal(again, held) {
			t.Errorf("half a survey: %q, want what the whole one showed", again)
		}
	})
}

// What exchanges are announced to take is what their frames last on both lines.
func TestWhatFramesLast(t *testing.T) {
	for gateway, row := range map[string]struct {
		out    int // characters of a frame
		second time.Duration
		none   time.Duration // until the gateway says that nobody answers
	}{"atx": {6, time.Second / 1920, 19670 * time.Microsecond}, "luba": {11, time.Second / 3840, 0}} {
		d, _ := still(t, 1, map[string]string{"gateway": gateway})
		usual := time.Duration(row.out+10)*row.second + 16*time.Millisecond + 15830*time.Microsecond
		ask, tell, twice := Command(Short(0), OpQueryStatus), Arc(Short(0), 9), Command(Short(0), OpSetShort)
		for what, e := range map[string]struct {
			got, want time.Duration
		}{
			"a question":               {d.wire.airtime(ask), usual + 17170*time.Microsecond},
			"one nobody answers":       {d.wire.worst(ask), usual + 45*time.Millisecond},
			"a level":                  {d.wire.airtime(tell), usual + row.none},
			"one nobody answers to":    {d.wire.worst(tell), usual + row.none},
			"sent twice":               {d.wire.airtime(twice), usual + 29830*time.Microsecond + row.none},
			"a question, and a level":  {d.wire.worst(ask, tell), 2*usual + 45*time.Millisecond + row.none},
			"telling one, and asking":  {d.tellingAndAsking([]Send{tell}, wish{levels(9, 1)[0], d.gears[0]}).Airtime, 2*usual + row.none + 17170*time.Microsecond},
			"the same without answer":  {d.tellingAndAsking([]Send{tell}, wish{levels(9, 1)[0], d.gears[0]}).Worst, 2*usual + row.none + 45*time.Millisecond},
			"what is out at the least": {d.wire.shortest([]Send{ask, ask, ask}), 3*15830*time.Microsecond + 28*time.Millisecond},
			"one that is":              {d.wire.shortest([]Send{ask}), 15830 * time.Microsecond},
		} {
			if diff := e.got - e.want; diff.Abs() > 2*time.Microsecond {
				t.Errorf("%s through %s: %v, want %v", what, gateway, e.got, e.want)
			}
		}
		level, more := d.levelPoll(d.gears[0]), usual+45*time.Millisecond+2*(usual+17170*time.Microsecond)
		if gateway == "atx" {
			more += usual + 17170*time.Microsecond // a level that is news comes twice
		}
		if diff := level.Worst - more; diff.Abs() > 5*time.Microsecond {
			t.Errorf("a level through %s: %v at worst, want %v", gateway, level.Worst, more)
		}
	}
}

// After a gateway that said nothing, it is waited for longer than it may answer late. A
// sequence that comes while another is under way waits for that, until its deadline.
func TestWhatIsWaitedForBeforeAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var came []time.Time
		mute := true
		d := running(t, 1, func(string) string {
			came = append(came, time.Now())
			if mute {
				return ""
			}
			return "N"
		})
		ask := Command(Short(0), OpQueryStatus)
		begun := time.Now()
		if _, err := d.Transmit(t.Context(), ask); !errors.Is(err, appliance.ErrDamaged) && !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("a mute gateway: %v", err)
		}
		gaveUp := time.Now()
		if took := gaveUp.Sub(begun); took < 300*time.Millisecond || took > 400*time.Millisecond {
			t.Errorf("waited %v for the gateway, want 300ms", took)
		}
		mute = false
		if _, err := d.Transmit(t.Context(), ask); err != nil {
			t.Error(err)
		}
		if waited := came[1].Sub(came[0]); waited < 990*time.Millisecond || waited > 1100*time.Millisecond {
			t.Errorf("the next frame went out %v later, want a second", waited)
		}
		again := time.Now()
		if _, err := d.Transmit(t.Context(), ask); err != nil || came[2].Sub(again) > 100*time.Millisecond {
			t.Errorf("the one after that went out %v later, %v", came[2].Sub(again), err)
		}

		d.wire.turn <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Transmit(ctx, ask); !errors.Is(err, appliance.ErrExpired) || len(came) != 3 {
			t.Errorf("while another has the line: %v, %d frames", err, len(came))
		}
		<-d.wire.turn
	})
}
