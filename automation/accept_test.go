package automation

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/cloud/wire"
)

// Who asks for it is told how long a command has that is not over at once; older platforms, which do not ask, hear of the end
// only.
func TestWhoAsksIsToldHowLongACommandHas(t *testing.T) {
	for _, test := range []struct {
		slow time.Duration
		asks bool
		want []wire.AckStatus
	}{
		{3 * time.Second, true, []wire.AckStatus{wire.Accepted, wire.Applied}},
		{3 * time.Second, false, []wire.AckStatus{wire.Applied}},
		{500 * time.Millisecond, true, []wire.AckStatus{wire.Applied}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := enter(t, newHouse(test.slow))
			id := r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) { a.Accept = test.asks })
			time.Sleep(2 * time.Second)
			if got := r.outcomes(id); test.asks && test.slow > 2*time.Second && !slices.Equal(got, []wire.AckStatus{wire.Accepted}) {
				t.Errorf("%+v: after 2 s %v", test, got)
			}
			time.Sleep(8 * time.Second)
			synctest.Wait()
			if got := r.outcomes(id); !slices.Equal(got, test.want) {
				t.Errorf("%+v: answers %v", test, got)
			}
			for _, ack := range r.acks[id] {
				if ack.Within != fanOut.Milliseconds() {
					t.Errorf("%+v: %s within %d ms", test, ack.Status, ack.Within)
				}
			}
		})
	}
}

// That an outcome is still to come makes no tap act later than 1.2 s after the one before; what moves is told one thing after the
// other.
func TestATapDoesNotWaitForTheOutcomeOfTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(5 * time.Second)
		r := enter(t, h)
		began := time.Now()
		var ids []string
		for i, v := range []string{"on", "off", "on"} {
			if i == 2 { // while the second is carried out: of those that wait the newest counts
				time.Sleep(turn + time.Millisecond)
			}
			ids = append(ids, r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) { a.Value = v }))
			synctest.Wait() // it is begun, or waits
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for i, want := range []time.Duration{0, turn, 2 * turn} {
			if got := h.when[i].Sub(began); got != want {
				t.Errorf("tap %d acted after %v, want %v", i+1, got, want)
			}
			if got := r.outcomes(ids[i]); !slices.Equal(got, []wire.AckStatus{wire.Applied}) {
				t.Errorf("tap %d: %v", i+1, got)
			}
		}
		began = time.Now()
		for _, v := range []string{wire.PresetOneThird, wire.PresetTwoThirds} {
			r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
				a.WidgetID, a.Action, a.Value = wire.ShadePreset, wire.Released, v
			})
			synctest.Wait()
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := h.when[4].Sub(began); got != 5*time.Second {
			t.Errorf("the second move acted after %v", got)
		}
	})
}
