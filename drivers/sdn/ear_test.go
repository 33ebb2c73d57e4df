package sdn

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// The answer to a question comes from the motor that was asked, to whom asked, and is what
// was asked for, or a refusal. Everything else on the line is somebody else's business.
func TestOnlyTheMotorThatWasAskedAnswers(t *testing.T) {
	us, them := Address{1, 2, 3}, Address{4, 5, 6}
	asked, other := Address{0x10, 0x20, 0x30}, Address{0x11, 0x20, 0x30}
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler), strangers: strangers{found: map[Address]*sighting{}}}
	d.options.host = us
	d.site.motors = map[Address]*motor{}
	for name, tc := range map[string]struct {
		from, to Address
		id       MessageID
		want     line.Verdict
	}{
		"the answer":                      {asked, us, postMotorPosition, line.Accept},
		"its refusal":                     {asked, us, nack, line.Accept},
		"the same of another motor":       {other, us, postMotorPosition, line.Skip},
		"another motor's refusal":         {other, us, nack, line.Skip},
		"what it answers another master":  {asked, them, postMotorPosition, line.Skip},
		"what it refuses another master":  {asked, them, nack, line.Skip},
		"its answer to an older question": {asked, us, postMotorStatus, line.Skip},
	} {
		data := []byte{0, 0, 0, 0, 0}
		if tc.id == nack {
			data = []byte{1}
		}
		b, err := Frame{ID: tc.id, Source: tc.from, Destination: tc.to, Data: data}.Bytes()
		if err != nil {
			t.Fatal(name, err)
		}
		e := &ear{driver: d, question: question{motor: &motor{driver: d, address: asked}, want: postMotorPosition}}
		if n, v := e.scan(b); v != tc.want || n != len(b) {
			t.Errorf("%s: verdict %v on %d of %d bytes, want %v", name, v, n, len(b), tc.want)
		}
	}
}

// An answer that is too short, or tells of another entry of a table than was asked for, is damaged: nothing of it is taken.
func TestAnswersThatDoNotFitAreDamaged(t *testing.T) {
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler)}
	m := &motor{driver: d, address: Address{0x10, 0x20, 0x30}}
	entry, told := Nobody, ""
	for name, tc := range map[string]struct {
		question
		answer []byte // the shortest that fits
		others [][]byte
	}{
		"a position": {question: d.positionOf(m), answer: []byte{0, 0, 50, 0xFF, 0xFF}},
		"a status":   {question: d.statusOf(m), answer: []byte{stateStopped, directionUp, sourceNet, causeReached}},
		"a label":    {question: tellOf(m, getNodeLabel, postNodeLabel, 3, "", func(data []byte) { told = string(data) }), answer: []byte("Bay")},
		"an entry":   {question: d.readGroup(m, 3, &entry), answer: []byte{3, 5, 1, 1}, others: [][]byte{{2, 5, 1, 1}, {4, 5, 1, 1}}},
	} {
		for n := range tc.answer {
			tc.others = append(tc.others, tc.answer[:n])
		}
		for _, data := range tc.others {
			if readings, err := tc.take(Frame{ID: tc.want, Data: data}, time.Now()); !errors.Is(err, appliance.ErrDamaged) || readings != nil || entry != Nobody || told != "" {
				t.Errorf("%s: % X: %v, %v, entry %v, told %q", name, data, readings, err, entry, told)
			}
		}
		if _, err := tc.take(Frame{ID: tc.want, Data: tc.answer}, time.Now()); err != nil {
			t.Errorf("%s: % X: %v", name, tc.answer, err)
		}
		if is := (name == "an entry") == (entry == Address{1, 1, 5}) && (name == "a label") == (told == "Bay"); !is {
			t.Errorf("%s: entry %v, told %q", name, entry, told)
		}
		entry, told = Nobody, ""
	}
}

// A refusal is final but for the few reasons that pass by themselves.
func TestWhichRefusalsPass(t *testing.T) {
	for why := range 256 {
		_, err := question{want: ack}.take(Frame{ID: nack, Data: []byte{byte(why)}}, time.Now())
		busy := why == 0x26 || why == 0x2B || why == 0xFF // in motion, winking, busy
		if errors.Is(err, appliance.ErrBusy) != busy || errors.Is(err, appliance.ErrRefused) == busy {
			t.Errorf("reason %02X: %v", why, err)
		}
	}
	if _, err := (question{want: ack}).take(Frame{ID: nack}, time.Now()); !errors.Is(err, appliance.ErrRefused) {
		t.Errorf("without a reason: %v", err)
	}
}

// What is heard between others, or while an answer is awaited, tells of the motors that it concerns and of no others.
func TestWhatIsHeardConcernsWhom(t *testing.T) {
	us, keypad, stranger := Address{0xFF, 0xFF, 0}, Address{1, 2, 3}, Address{0x10, 0x20, 0x30}
	own, second := Address{0x06, 0x1A, 0x2B}, Address{0x06, 0x1A, 0x2C}
	up := moveToData(toUpLimit, unused)
	for name, tc := range map[string]struct {
		Frame
		moving  string // motors that are watched from now on
		told    string // what is told, by shade
		strange int    // nodes that told their address
	}{
		"where one is, told to a keypad":             {Frame: Frame{ID: postMotorPosition, Source: own, Destination: keypad, Data: []byte{0, 1, 30, 0xFF, 0xFF}}, told: "5001 at 70;"},
		"the same, too short":                        {Frame: Frame{ID: postMotorPosition, Source: own, Destination: keypad, Data: []byte{0, 1, 30, 0xFF}}},
		"the same of a stranger":                     {Frame: Frame{ID: postMotorPosition, Source: stranger, Destination: keypad, Data: []byte{0, 1, 30, 0xFF, 0xFF}}},
		"that one runs, told to a keypad":            {Frame: Frame{ID: postMotorStatus, Source: own, Destination: keypad, Data: []byte{stateRunning, directionUp, 0, 0}}, moving: "5001 ", told: "5001 opening;"},
		"the same, too short ":                       {Frame: Frame{ID: postMotorStatus, Source: own, Destination: keypad, Data: []byte{stateRunning, directionUp, 0}}},
		"the same of a stranger ":                    {Frame: Frame{ID: postMotorStatus, Source: stranger, Destination: keypad, Data: []byte{stateRunning, directionUp, 0, 0}}},
		"an address":                                 {Frame: Frame{ID: postNodeAddress, Source: stranger, Destination: us}, strange: 1},
		"one is sent up":                             {Frame: Frame{ID: ctrlMoveTo, Source: keypad, Destination: own, Data: up}, moving: "5001 ", told: "5001 moving;"},
		"one is sent up by another with our address": {Frame: Frame{ID: ctrlMoveTo, Source: us, Destination: own, Data: up}, moving: "5001 ", told: "5001 moving;"},
		"a stranger is sent up":                      {Frame: Frame{ID: ctrlMoveTo, Source: keypad, Destination: stranger, Data: up}},
		"all are sent up":                            {Frame: Frame{ID: ctrlMoveTo, Source: keypad, Destination: Everybody, Data: up}, moving: "5001 5002 ", told: "5001 moving;5002 moving;"},
		"a group is sent up":                         {Frame: Frame{ID: ctrlMoveTo, Source: Address{1, 1, 7}, Destination: Nobody, Data: up}, moving: "5002 ", told: "5002 moving;"},
		"another group":                              {Frame: Frame{ID: ctrlMoveTo, Source: Address{1, 1, 8}, Destination: Nobody, Data: up}},
		"one is asked by who has a group's address":  {Frame: Frame{ID: ctrlMoveTo, Source: Address{1, 1, 7}, Destination: own, Data: up}, moving: "5001 ", told: "5001 moving;"},
		"nobody is sent up":                          {Frame: Frame{ID: ctrlMoveTo, Source: keypad, Destination: Nobody, Data: up}},
		"one is asked":                               {Frame: Frame{ID: getMotorStatus, Source: keypad, Destination: own}},
		"one that stands is stopped":                 {Frame: Frame{ID: ctrlStop, Source: keypad, Destination: own, Data: []byte{0}}},
	} {
		for _, how := range []string{"between others", "awaiting an answer"} {
			m := alone()
			other := &motor{driver: m.driver, shade: 5002, address: second, groups: []Address{{1, 1, 7}}}
			d := m.driver
			d.options.host = us
			d.site.all, d.site.motors[second] = append(d.site.all, other), other
			d.strangers.groups = map[Address]strangeGroup{}
			for _, m := range d.site.all {
				m.rest()
			}
			told := ""
			d.report = func(list []appliance.Reading) {
				for _, r := range list {
					what := r.Motion.String()
					if r.Has == appliance.CanPosition {
						what = fmt.Sprint("at ", r.Position)
					}
					told += fmt.Sprintf("%d %s;", r.Shade, what)
				}
			}
			b, err := tc.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if how == "between others" {
				if n := d.overhear(b); n != len(b) {
					t.Errorf("%s: %d bytes are taken", name, n)
				}
			} else {
				e := &ear{driver: d, question: question{motor: other, want: postMotorPosition}}
				if n, v := e.scan(b); n != len(b) || v != line.Skip || e.junk > 0 {
					t.Errorf("%s: %d bytes, verdict %v, %d of junk", name, n, v, e.junk)
				}
			}
			if d.strangers.intruder != (tc.Source == us) {
				t.Errorf("%s, %s: another master has our address: %v", name, how, d.strangers.intruder)
			}
			moving := ""
			for _, m := range d.site.all {
				if m.course.phase != resting {
					moving += fmt.Sprint(m.shade, " ")
				}
			}
			if moving != tc.moving || told != tc.told || len(d.strangers.found) != tc.strange || d.strangers.noise > 0 {
				t.Errorf("%s, %s: moving %q, told %q, %d strangers, noise %d; want %q, %q, %d", name, how, moving, told, len(d.strangers.found), d.strangers.noise, tc.moving, tc.told, tc.strange)
			}
		}
	}
}

// What a table that was read comes to: entries that are in use, each once, in order.
func TestATableIsToldOnceAnEntry(t *testing.T) {
	m := alone()
	var held []string
	m.driver.tellTable(m, groupTable{entries: [maxGroups]Address{{1, 1, 9}, Nobody, {1, 1, 0xFF}, Everybody, {1, 1, 5}, {1, 1, 9}, {1, 1, 7}}, size: 6}, func(h []string) { held = h })
	if !slices.Equal(held, []string{"01.01.05", "01.01.09"}) || !m.holds(Address{1, 1, 9}) {
		t.Errorf("holds %q", held)
	}
	m.groups = []Address{{1, 1, 3}}
	if m.holds(Address{1, 1, 3}) {
		t.Error("the site is believed more than the table")
	}
	if got := labelText([]byte("Bay\x00\xFC~ 1  ")); got != "Bay??~ 1" {
		t.Errorf("label %q", got)
	}
}

// Of what comes while nobody was asked, bytes that may begin a frame are waited for, unless one of ours comes behind them: then they are noise.
func TestNoiseBeforeAFrameThatIsOverheard(t *testing.T) {
	ours, keypad, stranger := alone().address, Address{1, 2, 3}, Address{0x10, 0x20, 0x30}
	frame := func(from, to Address) []byte {
		b, err := Frame{ID: postMotorPosition, Source: from, Destination: to, Data: []byte{0, 1, 30, 0xFF, 0xFF}}.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	long := []byte{0x55, ^byte(maxFrame)} // the beginning of the longest
	for name, tc := range map[string]struct {
		heard       []byte
		used, noise int
	}{
		"nothing":                          {},
		"a frame":                          {heard: frame(ours, keypad), used: 16},
		"noise":                            {heard: []byte{0x55, 0x55, 0x55}, used: 2, noise: 2}, // the last may begin one
		"a beginning":                      {heard: long},
		"a beginning, and our motor's":     {heard: append(long, frame(ours, keypad)...), used: 2, noise: 2},
		"a beginning, and a stranger's":    {heard: append(long, frame(stranger, keypad)...)},
		"a beginning, and to us":           {heard: append(long, frame(stranger, Address{0xFF, 0xFF, 0})...), used: 2, noise: 2},
		"a beginning, and part of a frame": {heard: append(long, frame(ours, keypad)[:15]...)},
	} {
		d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler), strangers: strangers{found: map[Address]*sighting{}}}
		d.options.host = Address{0xFF, 0xFF, 0}
		m := alone()
		d.site.motors = map[Address]*motor{m.address: m}
		if n := d.overhear(tc.heard); n != tc.used || d.strangers.noise != tc.noise {
			t.Errorf("%s: %d of %d bytes used, %d of them noise; want %d and %d", name, n, len(tc.heard), d.strangers.noise, tc.used, tc.noise)
		}
	}
}
