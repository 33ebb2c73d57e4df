package sdn

import (
	"errors"
	"log/slog"
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
