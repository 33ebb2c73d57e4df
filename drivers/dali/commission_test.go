package dali

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"svc.internal/controller/sim/dalisim"
)

// unique checks that all gear has a short address of its own.
func unique(t *testing.T, sim *dalisim.Line, n int) {
	t.Helper()
	seen := map[int]int{}
	for _, d := range sim.Devices() {
		if d.Short < 0 {
			t.Errorf("gear %d has no short address", d.Index)
			continue
		}
		if other, ok := seen[d.Short]; ok {
			t.Errorf("gears %d and %d share short address %d", other, d.Index, d.Short)
		}
		seen[d.Short] = d.Index
	}
	if len(seen) != n {
		t.Errorf("%d short addresses for %d gears", len(seen), n)
	}
}

func strangers(n int) []dalisim.GearConfig {
	return gearsOf(n, func(_ int, g *dalisim.GearConfig) { g.Short = -1 })
}

func TestCommissioningGives64GearsAnAddressEach(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 64
				if gw != "atx" { // the others leave it to us to wait for silence, in real time
					n = 2
				}
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: strangers(n), Speed: 400, Seed: 7})
				d := r.driver(gw)
				var last Progress
				before := 0.0
				out, err := Commission(context.Background(), d, CommissionOptions{Progress: func(p Progress) {
					if p.Stage == StageSearch && p.Share() < before && p.Found > 0 && last.Stage == StageSearch && p.Searched == 0 {
						t.Errorf("progress fell from %v to %v", before, p.Share())
					}
					before, last = p.Share(), p
				}})
				if err != nil {
					t.Fatal(err)
				}
				unique(t, r.sim, n)
				if len(out.Assigned) != n || last.Stage != StageFinally || last.Found != n {
					t.Errorf("outcome %+v, last progress %+v", out, last)
				}
			})
		})
	}
}

// late ends the time that gear stays open for addressing, once, in the middle.
type late struct {
	Transmitter
	left int
}

func (l *late) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	if l.left--; l.left == 0 {
		if _, err := l.Transmitter.Transmit(ctx, Special(OpTerminate, 0)); err != nil {
			return nil, err
		}
	}
	return l.Transmitter.Transmit(ctx, seq...)
}

// TestCommissioningMeetsGearThatClosed: gear that had to wait for its turn longer than
// it stays open for addressing is met all the same.
func TestCommissioningMeetsGearThatClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(12), Speed: 100, Seed: 5})
		tx := &late{Transmitter: r.driver("atx"), left: 64*2 + 200} // the survey is over, some are found
		again := 0
		out, err := Commission(context.Background(), tx, CommissionOptions{Progress: func(p Progress) {
			if p.Stage == StageAgain {
				again++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		unique(t, r.sim, 12)
		if len(out.Assigned) != 12 || tx.left > 0 || again == 0 {
			t.Errorf("outcome %+v after %d rounds more", out, again)
		}
	})
}

func TestCommissioningIsContinuedAfterAKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(64), Speed: 400, Seed: 3})
		d := r.driver("atx")
		rng := rand.New(rand.NewPCG(5, 5))
		killed := errors.New("killed")
		for run := 0; run < 4; run++ {
			// Like a process that dies: nothing is sent any more, no TERMINATE either.
			dying := &mortal{Transmitter: d, left: 200 + rng.IntN(600), err: killed}
			if _, err := Commission(context.Background(), dying, CommissionOptions{}); !errors.Is(err, killed) {
				t.Fatalf("run %d: %v, want it to be killed", run, err)
			}
		}
		if _, err := Commission(context.Background(), d, CommissionOptions{}); err != nil {
			t.Fatal(err)
		}
		unique(t, r.sim, 64)
	})
}

// mortal stops working after some frames.
type mortal struct {
	Transmitter
	left int
	err  error
}

func (m *mortal) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	if m.left--; m.left < 0 {
		return nil, m.err
	}
	return m.Transmitter.Transmit(ctx, seq...)
}

func TestCommissioningTakesSharedAddressesApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(12, func(i int, g *dalisim.GearConfig) {
			g.Short = i
			switch {
			case i >= 8:
				g.Short = -1
			case i >= 5:
				g.Short = 3 // shared by 3, 5, 6 and 7
			}
		})
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 400, Seed: 11})
		d := r.driver("atx")
		out, err := Commission(context.Background(), d, CommissionOptions{Reserved: []int{5, 6}})
		if err != nil {
			t.Fatal(err)
		}
		unique(t, r.sim, 12)
		if !slices.Equal(out.Shared, []int{3}) || len(out.Assigned) != 7 {
			t.Errorf("outcome %+v, want address 3 shared and 7 assigned", out)
		}
		for _, n := range out.Assigned {
			if n == 5 || n == 6 {
				t.Errorf("reserved address %d was given", n)
			}
		}
		for i, dev := range r.sim.Devices() {
			if i < 3 && dev.Short != i || i == 4 && dev.Short != 4 {
				t.Errorf("gear %d lost its address: it has %d now", i, dev.Short)
			}
		}
	})
}

// lossy loses the first answer to one question.
type lossy struct {
	Transmitter
	to   Send
	lost bool
}

func (l *lossy) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	answers, err := l.Transmitter.Transmit(ctx, seq...)
	if !l.lost && err == nil && seq[0] == l.to {
		l.lost, answers = true, []Answer{{Kind: AnswerNone}}
	}
	return answers, err
}

// One answer that is lost makes no address free: another gear would be given it.
func TestCommissioningGivesNoAddressWhoseGearWasNotHeardOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := append(gearsOf(1, nil), strangers(1)...)
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 400, Seed: 19})
		tx := &lossy{Transmitter: r.driver("atx"), to: Command(Short(0), OpQueryPresent)}
		out, err := Commission(context.Background(), tx, CommissionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		unique(t, r.sim, 2)
		if !tx.lost || !slices.Equal(out.Taken, []int{0}) || !slices.Equal(out.Assigned, []int{1}) || r.sim.Devices()[0].Short != 0 {
			t.Errorf("outcome %+v, want 0 taken and 1 assigned; gear 0 is at %d", out, r.sim.Devices()[0].Short)
		}
	})
}

func TestCommissioningSurvivesANoisyLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(12), Speed: 400, Seed: 13})
		for _, f := range []dalisim.Fault{
			{Kind: dalisim.FaultSilent, Gear: -1, Rate: 0.02},
			{Kind: dalisim.FaultConflict, Rate: 0.01},
		} {
			if err := r.sim.AddFault(f); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Commission(context.Background(), r.driver("atx"), CommissionOptions{}); err != nil {
			t.Fatal(err)
		}
		unique(t, r.sim, 12)
	})
}

func TestCommissioningTellsWhenAddressesRunOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(3), Speed: 400, Seed: 17})
		var reserved []int
		for n := 2; n < Shorts; n++ {
			reserved = append(reserved, n)
		}
		var left []uint32 // told to whoever watches
		out, err := Commission(context.Background(), r.driver("atx"), CommissionOptions{Reserved: reserved, Progress: func(p Progress) {
			if p.Stage == StageFull {
				left = append(left, p.Random)
			}
		}})
		if err != nil || out.Unplaced != 1 || len(out.Assigned) != 2 || len(left) != 1 {
			t.Errorf("%+v, %v; told of %X; want two assigned and one unplaced", out, err, left)
		}
	})
}

// Gear that turns out to have an address to itself keeps it, and nobody else is given that.
func TestAnAddressThatSomebodyTurnsOutToHaveIsNotGiven(t *testing.T) {
	c := &commissioning{opts: CommissionOptions{DryRun: true}, owner: map[int]uint32{}}
	for n := range 3 {
		c.taken[n] = true
	}
	if err := c.settle(7, Answer{Kind: AnswerValue, Value: 3<<1 | 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.settle(7, Answer{Kind: AnswerValue, Value: 3<<1 | 1}); err != nil { // it missed the WITHDRAW
		t.Fatal(err)
	}
	for _, random := range []uint32{8, 9} { // the one has none, the other the same
		if err := c.settle(random, map[uint32]Answer{8: {Kind: AnswerValue, Value: 0xFF}, 9: {Kind: AnswerValue, Value: 3<<1 | 1}}[random]); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.result().Assigned; !slices.Equal(got, []int{4, 5}) || c.found != 3 || c.owner[3] != 7 {
		t.Errorf("given are %v, found %d, 3 is of %d", got, c.found, c.owner[3])
	}
}

// Progress names an address where it is about one.
func TestProgressNamesAnAddressWhereThereIsOne(t *testing.T) {
	for stage, short := range map[Stage]int{StageSurvey: 5, StageAssign: 5, StageKeep: 5, StageCheck: 5, StageFull: -1} {
		var got Progress
		c := &commissioning{opts: CommissionOptions{Progress: func(p Progress) { got = p }}, found: 3}
		c.out.Assigned = []int{1, 2}
		if c.tell(Progress{Stage: stage, Short: 5}); got.Short != short || got.Found != 3 || got.Assigned != 2 {
			t.Errorf("%v: %+v, want address %d", stage, got, short)
		}
	}
}
