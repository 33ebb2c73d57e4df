// Package scan is the engine under the scans of all drivers.
//
// A driver words its scan from top to bottom, as a conversation with the bus: ask,
// listen, tell. The engine makes of that the steps which the core takes one by one,
// each in turn with polls and behind commands; the core ends the scan by not asking
// for the next one. After every step the driver is shown what passed on the bus.
package scan

import (
	"context"
	"errors"
	"iter"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Slice is how long the line is left alone at a time: commands wait for the end of one.
const Slice = 50 * time.Millisecond

// ErrOver: the question was not asked, as nobody wants to know any more.
var ErrOver = errors.New("the scan is over")

// Course is a scan under way. Once it is over its methods do nothing.
type Course struct {
	yield  func(appliance.ScanStep) bool
	over   bool
	recent func() []appliance.Frame
	hear   func([]appliance.Frame)
	upTo   time.Time // shown so far
}

// Steps are those of a scan that do words. It may be gone through several times.
func Steps(do func(*Course)) iter.Seq[appliance.ScanStep] {
	return func(yield func(appliance.ScanStep) bool) { do(&Course{yield: yield}) }
}

// Overhear has hear shown what passes on the bus from now on, after every step: the
// frames of its recorder that were not shown yet, if there are any or not.
func (c *Course) Overhear(recent func() []appliance.Frame, hear func([]appliance.Frame)) {
	c.recent, c.hear, c.upTo = recent, hear, time.Now()
}

// Over reports whether the scan has ended.
func (c *Course) Over() bool { return c.over }

// End ends the scan.
func (c *Course) End() { c.over = true }

// Ask has a question asked, and returns what became of it, or [ErrOver].
func (c *Course) Ask(address string, e appliance.Exchange) (appliance.Result, error) {
	return c.AskAndTell(address, e, nil)
}

// AskAndTell tells of the outcome besides, in the same step, where then is not nil. A
// question is asked again as long as this machine was too late to hear the answer, which
// the line bounds.
func (c *Course) AskAndTell(address string, e appliance.Exchange, then func(error) appliance.Found) (result appliance.Result, err error) {
	for result, err = c.askOnce(address, e, then); errors.Is(err, appliance.ErrOverslept); {
		result, err = c.askOnce(address, e, then)
	}
	return result, err
}

func (c *Course) askOnce(address string, e appliance.Exchange, then func(error) appliance.Found) (result appliance.Result, err error) {
	err = ErrOver
	c.step(appliance.ScanStep{Address: address, Exchange: e, Judge: func(r appliance.Result, failed error) (f appliance.Found, ok bool) {
		result, err = r, failed
		c.overheard()
		if then == nil || errors.Is(failed, appliance.ErrOverslept) {
			return appliance.Found{}, false
		}
		return then(failed), true
	}})
	return result, err
}

// Tell shows the installer something, without a frame.
func (c *Course) Tell(f appliance.Found) {
	c.step(appliance.ScanStep{
		Address: f.Address,
		Exchange: appliance.Exchange{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, nil
		}},
		Judge: func(appliance.Result, error) (appliance.Found, bool) { return f, true },
	})
}

// Listen leaves the line alone for so many slices.
func (c *Course) Listen(slices int) {
	for range slices {
		_, _ = c.Ask("listening", Silence(Slice)) // the line is left alone for less if the bus ends
	}
}

// Silence is an exchange that leaves the line alone for a while.
func Silence(t time.Duration) appliance.Exchange {
	return appliance.Exchange{Airtime: t, Worst: t, Do: func(ctx context.Context, _ appliance.Yield) (appliance.Result, error) {
		return appliance.Result{}, line.Wait(ctx, t)
	}}
}

func (c *Course) step(s appliance.ScanStep) {
	c.over = c.over || !c.yield(s)
}

// overheard shows what passed since it was called last.
func (c *Course) overheard() {
	if c.hear == nil {
		return
	}
	frames := c.recent()
	first := len(frames)
	for first > 0 && frames[first-1].At.After(c.upTo) {
		first--
	}
	frames = frames[first:]
	if len(frames) > 0 {
		c.upTo = frames[len(frames)-1].At
	}
	c.hear(frames)
}

// Patience is the time-out to advise where so much is needed: in tenths of a second, and
// no more than most.
func Patience(needed, most time.Duration) time.Duration {
	const step = 100 * time.Millisecond
	return min((needed+step-1)/step*step, most)
}
