package dali

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

// meddler stands between commissioning and the line: answer, if it is not nil, says what
// becomes of a frame instead, where ok is true.
type meddler struct {
	Transmitter
	answer func(ctx context.Context, n int, f Frame) (answers []Answer, err error, ok bool)
	sent   []Frame // the last of every sequence
}

func (m *meddler) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	f := seq[len(seq)-1].Frame
	m.sent = append(m.sent, f)
	if answers, err, ok := m.answer(ctx, len(m.sent), f); ok {
		return answers, err
	}
	return m.Transmitter.Transmit(ctx, seq...)
}

func (m *meddler) count(f Frame) (n int) {
	for _, s := range m.sent {
		if s == f {
			n++
		}
	}
	return n
}

// A line that is lost ends commissioning, at whatever it was, with what was lost; and the
// gear is told last that it is over.
func TestALostLineEndsCommissioning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(3, func(i int, g *dalisim.GearConfig) {
			g.Short = -1
			if i == 0 {
				g.Short = 5
			}
		}), Speed: 400, Seed: 5})
		d := r.driver("atx")
		for _, row := range []struct {
			lost     Frame
			dry, all bool
			words    string
		}{
			{lost: Special(OpTerminate, 0).Frame, words: "ask which short addresses are taken: open the gear for addressing"},
			{lost: Special(OpInitialise, 0).Frame, words: "ask which short addresses are taken: open the gear for addressing"},
			{lost: Special(OpRandomise, 0).Frame, words: "let the gear draw random addresses"},
			{lost: Command(Short(0), OpQueryPresent).Frame, words: "ask which short addresses are taken"},
			{lost: Command(Short(5), OpQueryRandomLow).Frame, words: "ask which short addresses are taken"},
			{lost: Command(Short(5), OpQueryRandomHigh).Frame, words: "ask which short addresses are taken"},
			{lost: Special(OpInitialise, Mask).Frame, words: "open the gear for addressing"},
			{lost: Special(OpSearchHigh, 0xFF).Frame, words: "search from 000000"},
			{lost: Special(OpCompare, 0).Frame, words: "search from 000000"},
			{lost: Special(OpQueryShort, 0).Frame, words: "search from 000000"},
			{lost: Special(OpWithdraw, 0).Frame, dry: true},
			{lost: Command(Broadcast, OpSetShort).Frame, all: true, words: "take the short addresses away"},
			{lost: Special(OpProgramShort, 1).Frame, words: "gear at random address"},
		} {
			lost := errors.New("lost")
			m := &meddler{Transmitter: d, answer: func(_ context.Context, n int, f Frame) ([]Answer, error, bool) {
				return nil, lost, f == row.lost && (n == 1 || f != Special(OpTerminate, 0).Frame)
			}}
			_, err := Commission(t.Context(), m, CommissionOptions{DryRun: row.dry, All: row.all})
			if !errors.Is(err, lost) || !strings.Contains(err.Error(), row.words) || m.count(row.lost) == 0 {
				t.Errorf("%v lost: %v, want that it was, and %q", row.lost, err, row.words)
			}
			if m.sent[len(m.sent)-1] != Special(OpTerminate, 0).Frame {
				t.Errorf("%v lost: the last frame is %v, want that it is over", row.lost, m.sent[len(m.sent)-1])
			}
		}
	})
}

// Who goes by ends commissioning: the gear is told all the same that it is over, and that it
// could not be told is an error.
func TestGearIsClosedForAddressingAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(1), Speed: 400, Seed: 5})
		d := r.driver("atx")
		ctx, cancel := context.WithCancel(t.Context())
		over := 0
		m := &meddler{Transmitter: d, answer: func(ctx context.Context, n int, f Frame) ([]Answer, error, bool) {
			if n == 20 {
				cancel()
			}
			if until, bounded := ctx.Deadline(); n > 1 && f == Special(OpTerminate, 0).Frame && ctx.Err() == nil && bounded && time.Until(until) == 2*time.Second {
				over++
			}
			return nil, nil, false
		}}
		if _, err := Commission(ctx, m, CommissionOptions{}); !errors.Is(err, context.Canceled) || over != 1 {
			t.Errorf("given up: %v, told %d times that it is over, want once", err, over)
		}

		lost := errors.New("lost")
		terminate := Special(OpTerminate, 0).Frame
		m = &meddler{Transmitter: d, answer: func(ctx context.Context, _ int, f Frame) ([]Answer, error, bool) {
			_, last := ctx.Deadline() // the one that ends it is bounded
			return nil, lost, f == terminate && last
		}}
		out, err := Commission(t.Context(), m, CommissionOptions{})
		if !errors.Is(err, lost) || !strings.Contains(err.Error(), "close the gear") || len(out.Assigned) != 1 {
			t.Errorf("%+v, %v; want one address, and that the gear could not be told", out, err)
		}
	})
}

// Answers that are lost on the way lead past gear: it is looked for again from the beginning,
// and not for ever.
func TestSearchThatWasLedAstrayBeginsAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lost int // answers to COMPARE, from the second on
		want error
	}{{1, nil}, {9, nil}, {1 << 20, appliance.ErrDamaged}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(4), Speed: 400, Seed: 5})
			asked := 0
			m := &meddler{Transmitter: r.driver("atx"), answer: func(_ context.Context, _ int, f Frame) ([]Answer, error, bool) {
				if f != Special(OpCompare, 0).Frame && f != Special(OpQueryShort, 0).Frame {
					return nil, nil, false
				}
				if f == Special(OpCompare, 0).Frame {
					asked++
				}
				lost := asked > 1 && asked <= 1+row.lost
				if lost && row.lost > 100 && f == Special(OpCompare, 0).Frame {
					return []Answer{{Kind: AnswerValue, Value: Mask}}, nil, true // everybody is everywhere
				}
				return []Answer{{}}, nil, lost
			}}
			out, err := Commission(t.Context(), m, CommissionOptions{})
			if !errors.Is(err, row.want) {
				t.Fatalf("%d answers lost: %v, want %v", row.lost, err, row.want)
			}
			if row.want == nil {
				unique(t, r.sim, 4)
				if len(out.Assigned) != 4 {
					t.Errorf("%d answers lost: %+v", row.lost, out)
				}
			} else if !strings.Contains(err.Error(), "contradict") {
				t.Error(err)
			}
		})
	}
}

// Gear that does not withdraw would be met for ever.
func TestGearThatDoesNotWithdrawEndsTheSearch(t *testing.T) {
	t.Parallel()
	for _, deaf := range []int{sendTries - 1, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(3), Speed: 400, Seed: 5})
			withdraw, n := Special(OpWithdraw, 0).Frame, 0
			m := &meddler{Transmitter: r.driver("atx"), answer: func(_ context.Context, _ int, f Frame) ([]Answer, error, bool) {
				if f != withdraw {
					return nil, nil, false
				}
				n++
				return []Answer{{}}, nil, n <= deaf
			}}
			out, err := Commission(t.Context(), m, CommissionOptions{})
			switch {
			case deaf < sendTries && (err != nil || len(out.Assigned) != 3 || n != 3+deaf):
				t.Errorf("%d times deaf: %+v, %v, told %d times", deaf, out, err, n)
			case deaf > sendTries && (!errors.Is(err, appliance.ErrRefused) || !strings.Contains(err.Error(), "does not withdraw") || n != sendTries):
				t.Errorf("%v after %d times, want that it was refused after %d", err, n, sendTries)
			}
			if shorts := slices.DeleteFunc(r.sim.Devices(), func(d dalisim.Device) bool { return d.Short < 0 }); deaf > sendTries && len(shorts) != 1 {
				t.Errorf("%d gears were given an address, want the one that was met", len(shorts))
			}
		})
	}
}
