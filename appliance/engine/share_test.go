package engine

import (
	"context"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// blockPoll reads all lamps of a rig at once, or fails as it is told.
func (r *rig) blockPoll(fail func() error) appliance.Poll {
	e := r.exchange(r.things[0], nil)
	e.Refs = nil
	for _, th := range r.things {
		e.Refs = append(e.Refs, th.ref())
	}
	e.Do = func(context.Context, appliance.Yield) (appliance.Result, error) {
		r.frames = append(r.frames, sentFrame{at: r.now})
		res := appliance.Result{Sent: r.now.Add(r.airtime / 2)}
		r.now = r.now.Add(r.airtime)
		if err := fail(); err != nil {
			return res, err
		}
		for _, th := range r.things {
			res.Readings = append(res.Readings, th.read(r.now))
		}
		return res, nil
	}
	return appliance.Poll{Exchange: e, Class: appliance.ClassLight}
}

// Four who command four outputs of a device at once are told by one read that all were obeyed, and of the one that was not.
func TestOneReadConfirmsAllWhoWaitForIt(t *testing.T) {
	for name, tc := range map[string]struct {
		deaf, alone bool
		three       bool // the poll does not tell of the fourth
		fails       error
		reads       int // until all are told, of the block and of single outputs
	}{
		"all obey":                  {reads: 1},
		"one is not polled":         {three: true, reads: 2},
		"one does not":              {deaf: true},
		"they are not polled so":    {alone: true, reads: 4},
		"the device refuses to":     {fails: appliance.ErrRefused, reads: 3},
		"the answer is damaged":     {fails: appliance.ErrDamaged, reads: 3},
		"nobody answers to it once": {fails: appliance.ErrSilent, reads: 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 4, 0)
			r.block = true
			var fails error
			r.polls = []appliance.Poll{r.blockPoll(func() (err error) {
				err, fails = fails, nil
				return err
			})}
			if tc.alone {
				r.polls = nil
			}
			if tc.three {
				r.polls[0].Refs = r.polls[0].Refs[:3]
			}
			r.begin()
			fails = tc.fails
			if tc.deaf {
				r.things[2].answers = func(write bool) (bool, time.Duration, error) { return false, 0, nil }
			}
			var all []uint64
			for _, th := range r.things {
				all = append(all, r.command(dim(40), th))
			}
			reads := 0
			for step := 0; step < 200 && len(r.ended) < len(all); step++ {
				r.run(r.airtime)
			}
			for _, f := range r.frames {
				if !f.write {
					reads++
				}
			}
			for i, id := range all {
				got, err := r.outcome(id)
				if want := map[bool]Outcome{true: Failed, false: Confirmed}[tc.deaf && i == 2]; got != want {
					t.Errorf("lamp %d: %v %v, want %v", i+1, got, err, want)
				}
			}
			if !tc.deaf && reads != tc.reads {
				t.Errorf("%d reads, want %d: %+v", reads, tc.reads, r.frames)
			}
		})
	}
}
