package sdn

import (
	"log/slog"
	"testing"

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
