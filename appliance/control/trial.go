package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

// ErrOnTrial: somebody is calibrating this shade already.
var ErrOnTrial = errors.New("being tried by somebody else already")

// ErrInterrupted: a trial ended because somebody else commanded the shade.
var ErrInterrupted = errors.New("interrupted")

// Trial is a shade at an installer's disposal: it moves as the trial says until
// somebody else commands it. The person in the room wins: any command for the shade
// through any door ends the trial, and so does a movement that the trial did not
// ask for. A trial that ends while its shade moves stops it, unless it is
// another's command that moves it now.
type Trial struct {
	c      *Controller
	shade  appliance.ID
	by     appliance.Origin
	number uint64 // of the trial

	people  sync.WaitGroup // questions put to somebody
	stopped time.Time      // when it was last ordered to stop; zero: not by this trial

	mu      sync.Mutex    // orders our commands and those of others
	taken   error         // who took the shade over; nil: it is ours
	over    chan struct{} // closed with taken
	samples []sample
	fresh   chan struct{} // there is a sample that was not looked at
}

// sample is what one read said of a shade.
type sample struct {
	asked, read time.Time // the question was out, the answer complete
	appliance.Values
}

// samplesMost bounds what is kept of one leg: more than any travel takes.
const samplesMost = 4096

// trials are the shades on trial.
type trials struct {
	count atomic.Int32  // so that without any nobody waits for the lock
	last  atomic.Uint64 // number that one was given
	mu    sync.Mutex
	of    map[appliance.ID]*Trial
}

func (t *trials) find(id appliance.ID) *Trial {
	if t.count.Load() == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[id]
}

// Try puts a shade on trial. It fails with ErrNotFound, ErrUnable (quarantined, or
// its bus does not run) or ErrOnTrial. The caller ends it with [Trial.End].
func (c *Controller) Try(shade appliance.ID, by appliance.Origin) (*Trial, error) {
	sh := c.Snapshot().Shade(shade)
	switch {
	case sh == nil:
		return nil, fmt.Errorf("shade %d: %w", shade, appliance.ErrNotFound)
	case sh.Fault != "":
		return nil, fmt.Errorf("%w: shade %d is quarantined: %s", appliance.ErrUnable, shade, sh.Fault)
	}
	t := &Trial{c: c, shade: shade, by: by, number: c.trials.last.Add(1), over: make(chan struct{}), fresh: make(chan struct{}, 1)}
	c.trials.mu.Lock()
	defer c.trials.mu.Unlock()
	if c.trials.of[shade] != nil {
		return nil, fmt.Errorf("shade %d: %w", shade, ErrOnTrial)
	}
	if c.trials.of == nil {
		c.trials.of = map[appliance.ID]*Trial{}
	}
	c.trials.of[shade] = t
	c.trials.count.Add(1)
	t.watch(true)
	return t, nil
}

// endWait is how long the end of a trial waits for its stop to be confirmed.
const endWait = 3 * time.Second

// End ends the trial. If the shade moves by its command, it is stopped: the stop is
// on its way when End begins, and End waits until it is confirmed, 3 s at most. The
// error says that it could not be. End also waits for questions that were given up.
func (t *Trial) End() error {
	defer t.people.Wait()
	t.c.trials.mu.Lock()
	delete(t.c.trials.of, t.shade)
	t.c.trials.count.Add(-1)
	t.c.trials.mu.Unlock()
	t.watch(false)
	b := t.c.drivenBy(t.shade)
	if b == nil {
		return nil
	}
	stopped := b.hand(t.shade, shade.Release{Holder: t.number})
	if t.takenBy() == nil && !b.await([]<-chan struct{}{stopped}, endWait) {
		t.c.opts.Log.Warn("a shade that was being tried may still move: its stop was not confirmed", "shade", t.shade)
		return fmt.Errorf("shade %d may still move: its stop was not confirmed; stop it at the wall", t.shade)
	}
	return nil
}

// watch has the shade read as often as can be, or ends that.
func (t *Trial) watch(often bool) {
	if b := t.c.drivenBy(t.shade); b != nil {
		b.mail.put(mail{event: engine.Watch{Shade: t.shade, Often: often}})
	}
}

// drivenBy finds the bus of a shade; nil if it does not run.
func (c *Controller) drivenBy(id appliance.ID) *bus {
	return (*c.buses.Load())[c.Snapshot().BusOf(appliance.Ref{Shade: id})]
}

// stood notes where somebody saw the shade stand, and returns when readers see it so; its
// bus takes it after the frame in flight.
func (t *Trial) stood(at appliance.Position) {
	if b := t.c.drivenBy(t.shade); b != nil {
		taken := b.hand(t.shade, shade.Stood{Position: float64(at)})
		b.await([]<-chan struct{}{taken}, endWait)
		t.c.state.publish()
	}
}

// admit lets a command pass. One of a trial waits for nobody and is refused once
// the shade was taken over; any other takes over the shades that it addresses. The
// caller hands the command to its buses before it calls release.
func (c *Controller) admit(cmd appliance.Command, wants []appliance.Want, t *Trial) (release func(), err error) {
	if t != nil {
		t.mu.Lock()
		if t.taken != nil {
			t.mu.Unlock()
			return nil, t.taken
		}
		return t.mu.Unlock, nil
	}
	if cmd.Kind.IsShade() && c.trials.count.Load() > 0 {
		for _, w := range wants {
			if t := c.trials.find(w.Shade); t != nil {
				t.yield(cmd)
			}
		}
	}
	return func() {}, nil
}

// yield gives the shade to somebody else's command. If that fails, its machine stops it.
func (t *Trial) yield(cmd appliance.Command) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken != nil {
		return
	}
	who := cmd.Origin.Via
	if cmd.Origin.Who != "" {
		who += " (" + cmd.Origin.Who + ")"
	}
	t.endsWith(fmt.Errorf("%w: shade %d was commanded by %s; the person in the room wins", ErrInterrupted, t.shade, who))
}

// endsWith notes why the shade is not ours any more; t.mu is held.
func (t *Trial) endsWith(why error) {
	t.taken = why
	close(t.over)
}

// moved ends the trial of a shade that somebody moves at the wall.
func (t *Trial) moved(what appliance.Motion) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken == nil {
		t.endsWith(fmt.Errorf("%w: shade %d is %v, which was not asked for: somebody moves it at the wall", ErrInterrupted, t.shade, what))
	}
	return t.taken
}

// saw takes what a read said of shades on trial.
func (t *trials) saw(res appliance.Result) {
	if t.count.Load() == 0 {
		return
	}
	for _, r := range res.Readings {
		if r.Shade == 0 {
			continue
		}
		if on := t.find(r.Shade); on != nil {
			on.add(sample{res.Sent, r.At, r.Values})
		}
	}
}

func (t *Trial) add(s sample) {
	t.mu.Lock()
	if len(t.samples) < samplesMost {
		t.samples = append(t.samples, s)
	}
	t.mu.Unlock()
	select {
	case t.fresh <- struct{}{}:
	default:
	}
}

// seen returns the samples since the last command.
func (t *Trial) seen() []sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.samples[:len(t.samples):len(t.samples)]
}

// command moves or stops the shade through the ordinary command path, and returns
// when the last byte of the order was on the wire.
func (t *Trial) command(ctx context.Context, kind appliance.Kind, to appliance.Position) (time.Time, error) {
	t.mu.Lock()
	t.samples = nil
	t.mu.Unlock()
	cmd := appliance.Command{Kind: kind, Target: appliance.Target{Scope: appliance.One, ID: t.shade}, Position: to, Origin: t.by}
	e, err := t.c.do(ctx, cmd, t, nil)
	switch {
	case err != nil:
		return time.Time{}, err
	case !e.OK():
		if why := t.takenBy(); why != nil {
			return time.Time{}, why // overtaken
		}
		return time.Time{}, errors.New(e.Err)
	}
	return e.Members[0].SentAt, nil
}

// takenBy tells who took the shade over; nil: nobody.
func (t *Trial) takenBy() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken
}
