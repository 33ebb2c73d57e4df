package sdn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What a scan tells of a motor, by what it answered.
func TestWhatAScanTellsOfAMotor(t *testing.T) {
	us, master := Address{0x7F, 0x7F, 0x7F}, Address{1, 2, 3}
	here, there := Address{6, 0x1A, 0}, Address{6, 0x1A, 1}
	const unread = "check its bus plug, then scan again: which groups it is in is not known"
	answers := func(damaged, of int) candidate {
		return candidate{sighting: sighting{kind: 2}, about: about{asked: of, damaged: damaged, answered: true}}
	}
	with := func(k candidate, change func(*candidate)) candidate { change(&k); return k }
	for name, row := range map[string]struct {
		candidate
		site          NodeType // of the motor there; 0: the site has none
		twin          bool     // the driver heard two answers
		others        bool     // another motor answers
		othersDamaged int      // so many of its answers are damaged
		othersSilent  bool     // it told its address, and nothing else
		asked         int      // questions of another master
		babbled       int      // frames that were not asked for
		finding       appliance.Finding
		detail        string // after the type
		advice        string
	}{
		"well": {candidate: answers(0, 9)},
		"what it told": {
			candidate: with(answers(0, 9), func(k *candidate) {
				k.limits, k.at = &Limits{Down: 700, Set: true}, &position{Percent: 40}
				k.groups = []Address{{1, 1, 5}, {1, 1, 6}, {1, 1, 7}}
			}),
			detail: ", limits set (700 pulses), 40 % closed, in groups 01.01.05 01.01.06 01.01.07",
		},
		"without limits": {
			candidate: with(answers(0, 9), func(k *candidate) { k.limits, k.at = &Limits{}, &position{Percent: 0xFF} }),
			detail:    ", limits not set",
		},
		"late": {
			candidate: with(answers(0, 9), func(k *candidate) { k.delay = 600*time.Millisecond + 1 }),
			finding:   appliance.FoundLate, detail: ", answers after 600ms, when nobody waits for it any more",
			advice: "a motor that works answers within 255ms: check its supply, have it replaced; until then set the bus option responseTimeout to 1s and scan again",
		},
		"very late": {
			candidate: with(answers(0, 9), func(k *candidate) { k.delay = 1900 * time.Millisecond }),
			finding:   appliance.FoundLate, detail: ", answers after 1.9s, when nobody waits for it any more",
			advice: "a motor that works answers within 255ms: check its supply, have it replaced; until then set the bus option responseTimeout to 2s and scan again",
		},
		"two answers to one call": {
			candidate: with(answers(0, 9), func(k *candidate) { k.alike = 2 }),
			finding:   appliance.FoundCollision, detail: ", and TWO MOTORS answer to this address",
			advice: "take one off the bus; addresses are given in the factory, so have one of them replaced",
		},
		"two of different types": {
			candidate: with(answers(0, 9), func(k *candidate) { k.mixed = true }),
			finding:   appliance.FoundCollision, detail: ", and TWO MOTORS answer to this address, of different types",
			advice: "take one off the bus; addresses are given in the factory, so have one of them replaced",
		},
		"two answers to a poll": {
			candidate: answers(0, 9), site: 2, twin: true,
			finding: appliance.FoundCollision, detail: ", and TWO MOTORS answer to this address",
			advice: "take one off the bus; addresses are given in the factory, so have one of them replaced",
		},
		"one answer to a call": {candidate: with(answers(0, 9), func(k *candidate) { k.alike = 1 }), site: 2},
		"another type than in the site": {
			candidate: answers(0, 9), site: 9,
			finding: appliance.FoundProfile, detail: ", and not the somfy-sdn-40ac that the site says: it ignores what is addressed to that type",
			advice: "change the profile in the site file",
		},
		"half of its answers damaged": {
			candidate: answers(4, 8),
			finding:   appliance.FoundDamaged, detail: "; 4 of 8 answers are garbled: TWO MOTORS with this address, or a bad connection to this one",
			advice: "unplug it: if the address still answers, there is another motor with it; else check its bus plug",
		},
		"half, and those of others are whole": {
			candidate: answers(4, 8), others: true,
			finding: appliance.FoundCollision, detail: "; 4 of 8 answers are garbled: TWO MOTORS with this address, or a bad connection to this one",
			advice: "unplug it: if the address still answers, there is another motor with it; else check its bus plug",
		},
		"half, and so are those of another": {
			candidate: answers(4, 8), others: true, othersDamaged: 1,
			finding: appliance.FoundDamaged, detail: "; 4 of 8 answers are garbled: TWO MOTORS with this address, or a bad connection to this one",
			advice: "unplug it: if the address still answers, there is another motor with it; else check its bus plug",
		},
		"half, and another never answered": {
			candidate: answers(4, 8), others: true, othersSilent: true,
			finding: appliance.FoundDamaged, detail: "; 4 of 8 answers are garbled: TWO MOTORS with this address, or a bad connection to this one",
			advice: "unplug it: if the address still answers, there is another motor with it; else check its bus plug",
		},
		"half, and another master talks": {candidate: answers(4, 8), asked: 3, detail: "; 4 of 8 answers were damaged: another master talks as well"},
		"half, and somebody babbles":     {candidate: answers(4, 8), babbled: 3, detail: "; 4 of 8 answers were damaged: somebody talks without being asked"},
		"less than half":                 {candidate: answers(3, 8), detail: "; 3 of 8 answers were damaged: check its bus plug"},
		"two of four":                    {candidate: answers(2, 4), finding: appliance.FoundDamaged, detail: "; 2 of 4 answers are garbled: TWO MOTORS with this address, or a bad connection to this one", advice: "unplug it: if the address still answers, there is another motor with it; else check its bus plug"},
		"one of two":                     {candidate: answers(1, 2), detail: "; 1 of 2 answers were damaged: check its bus plug"},
		"nothing after its address": {
			candidate: with(answers(0, 5), func(k *candidate) { k.answered = false }),
			finding:   appliance.FoundSilent, detail: ", told its address and then answered nothing", advice: "scan again; if it stays so, check its bus plug",
		},
		"its table not to the end": {
			candidate: with(answers(0, 9), func(k *candidate) { k.unread = true }),
			finding:   appliance.FoundDamaged, detail: ", and its table of groups could not be read to the end", advice: unread,
		},
	} {
		d := &Driver{site: site{motors: map[Address]*motor{}}}
		if row.site != 0 {
			d.site.motors[here] = &motor{kind: row.site, twin: row.twin}
		}
		k := row.candidate
		s := &search{driver: d, known: map[Address]*candidate{here: &k}, heard: newEavesdropper(us)}
		if row.others {
			s.known[there] = &candidate{about: about{answered: !row.othersSilent, asked: 3, damaged: row.othersDamaged}}
		}
		k.label, k.version = "South ", "0102"
		s.heard.asked[[2]Address{master, there}] = row.asked
		s.heard.told[[2]Address{there, us}] = row.babbled
		got := s.found(here)
		var groups []string
		for _, g := range k.groups {
			groups = append(groups, g.String())
		}
		if got.Finding != row.finding || got.Detail != NodeType(2).String()+row.detail || got.Advice != row.advice {
			t.Errorf("%s: %q, %q, %q; want %q, %q, %q", name, got.Finding, got.Detail, got.Advice, row.finding, row.detail, row.advice)
		}
		if got.Address != here.String() || got.Kind != "somfy-sdn-30dc" || got.Label != "South" || got.Version != "0102" || !slices.Equal(got.Groups, groups) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What a scan tells of the line: who talks without being asked, who asks besides, and
// bytes that make no frame.
func TestWhatAScanTellsOfTheLine(t *testing.T) {
	us, keypad, panel := Address{0x7F, 0x7F, 0x7F}, Address{1, 2, 3}, Address{1, 2, 4}
	motor, other := Address{6, 0x1A, 0}, Address{6, 0x1A, 1}
	asks := func(from, to Address) Frame { return Frame{ID: getMotorPosition, Source: from, Destination: to} }
	tells := func(from, to Address) Frame {
		return Frame{ID: postMotorPosition, From: 2, Source: from, Destination: to, Data: make([]byte, 5)}
	}
	times := func(n int, f Frame) (list []Frame) { return slices.Repeat([]Frame{f}, n) }
	for name, row := range map[string]struct {
		frames        []Frame
		alone, bursts int
		noise         int
		drowned       bool
		known         bool // a motor was found
		want          []string
	}{
		"nothing":                          {},
		"our questions, and their answers": {frames: slices.Concat(times(9, asks(us, motor)), times(9, tells(motor, us)))},
		"another master": {
			frames: slices.Concat(times(4, asks(keypad, motor)), times(6, tells(motor, keypad)), times(1, asks(keypad, other)), times(1, asks(panel, Everybody))),
			want: []string{
				"note 01.02.03: another master asked 5 questions or gave orders while the scan ran: a keypad, an interface or another controller",
				"note 01.02.04: another master asked 1 questions or gave orders while the scan ran: a keypad, an interface or another controller",
			},
		},
		"a group frame is nobody's": {frames: []Frame{asks(Address{1, 1, 5}, Nobody), asks(Nobody, motor)}},
		"a motor that babbles, and noise": {
			frames: slices.Concat(times(1, asks(keypad, Everybody)), times(4, tells(other, keypad)), times(3, tells(motor, panel))), alone: 99, bursts: 9, drowned: true,
			want: []string{
				"babble 06.1A.00: THIS MOTOR TALKS WITHOUT BEING ASKED: 3 times while the scan ran (POST_MOTOR_POSITION), asked 0 times",
				"babble 06.1A.01: THIS MOTOR TALKS WITHOUT BEING ASKED: 4 times while the scan ran (POST_MOTOR_POSITION), asked 1 times",
				"note 01.02.03: another master asked 1 questions or gave orders while the scan ran: a keypad, an interface or another controller",
			},
		},
		"never silent": {drowned: true, known: true, want: []string{"babble : SOMEBODY TALKS WITHOUT A PAUSE, so that nobody could be asked"}},
		"bytes unasked": {alone: 9, bursts: 3, known: true, want: []string{
			"babble : SOMEBODY TALKS WITHOUT BEING ASKED, and no frame is whole: 9 bytes while nobody was asked: wrong bit rate or parity (SDN has 4800 8O1), swapped wires, noise"}},
		"answers that are none": {noise: 1, want: []string{
			"damaged : somebody answers, but no frame is whole: wrong bit rate or parity (SDN has 4800 8O1), swapped wires, noise, or too many answers at once"}},
		"a collision among motors": {noise: 1, known: true},
	} {
		s := &search{heard: newEavesdropper(us), known: map[Address]*candidate{}}
		if row.known {
			s.known[motor] = &candidate{}
		}
		for i, f := range row.frames {
			b, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			sent := appliance.Frame{Bytes: b, Direction: appliance.FrameSent} // ours, of which nothing is learned
			s.heard.take([]appliance.Frame{sent, {Bytes: append([]byte{0xA5}[:i%2], b...), Direction: appliance.FrameReceived}})
		}
		s.heard.alone, s.heard.bursts, s.heard.noise, s.heard.drowned = row.alone, row.bursts, row.noise, row.drowned
		var got []string
		for _, f := range s.line() {
			got = append(got, fmt.Sprintf("%s %s: %s", f.Finding, f.Address, f.Detail))
			if f.Finding.Trouble() && f.Advice == "" {
				t.Errorf("%s: no advice with %q", name, f.Detail)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: told %q, want %q", name, got, row.want)
		}
	}
}
