package dmx

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/profile"
)

var (
	_ appliance.OpenFunc = Open
	_ appliance.Driver   = (*Driver)(nil)
	_ appliance.Recorder = (*Driver)(nil)
	_ appliance.Linker   = (*Driver)(nil)
	_ appliance.Scanner  = (*Driver)(nil)
)

// Driver keeps one universe on the wire.
//
// What is on the wire is what was acknowledged: a command changes the universe
// only together with the frame that carries it, and when that frame cannot be
// sent in time the universe stays as it was. Nothing can therefore come out late,
// in a refresh or after the adapter was pulled and put back.
type Driver struct {
	name    string
	log     *slog.Logger
	options busOptions
	out     output
	device  string // key of the interface, which is the only device there is

	lamps   map[appliance.Ref]*lamp
	starts  map[int]*Profile           // of the fixtures of the site, by start slot
	library *profile.Library[*Profile] // the profiles that it can use
	order   []*lamp                    // as in the site
	fixed   universe                   // slots that never change
	length  int                        // highest slot of a fixture

	last   func(appliance.Ref) (appliance.Values, bool)
	recall sync.Once

	// turn is held while a frame is made and sent, so that frames go out in the
	// order in which the universe changed.
	turn chan struct{}

	later chan func(context.Context) error // what Run does behind everything else

	mu     sync.Mutex // what the site says, the lamps' states, and:
	active bool       // something is known; before, nothing is sent
}

// output is an interface and how it takes the universe.
type output interface {
	run(ctx context.Context) error
	link() error
	// show sends a universe that differs from the one before, and returns when it
	// is certain that it is on its way: the moment at which its last slot is on the
	// wire. After an error the interface goes back to the universe before, as soon
	// as it can. It is called with the driver's turn.
	show(ctx context.Context, y appliance.Yield, slots []byte) (time.Time, error)
	// check asks the interface whether it is well. Called with the driver's turn.
	check(ctx context.Context, y appliance.Yield) (time.Time, error)
	// busy is how long a change takes when all is well, and when nobody answers.
	busy(slots int) (typical, worst time.Duration)
	recent() []appliance.Frame
	follow(ctx context.Context) <-chan appliance.Frame
}

func newDriver(cfg appliance.BusConfig, options busOptions, log *slog.Logger) *Driver {
	d := &Driver{
		name: cfg.Bus.Name, log: log, options: options, device: "widget",
		lamps: make(map[appliance.Ref]*lamp), starts: make(map[int]*Profile), last: cfg.Last, turn: make(chan struct{}, 1),
		later: make(chan func(context.Context) error, 4),
	}
	if options.kind == interfaceOpen {
		d.device = "port"
	}
	return d
}

// Run keeps the universe on the wire until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	d.remember()
	var own sync.WaitGroup
	own.Go(func() { d.doLater(ctx) })
	err := d.out.run(ctx)
	own.Wait()
	return err
}

// Link tells whether the interface is there.
func (d *Driver) Link() error { return d.out.link() }

// Recent returns the last frames.
func (d *Driver) Recent() []appliance.Frame { return d.out.recent() }

// Follow sends every frame from now on.
func (d *Driver) Follow(ctx context.Context) <-chan appliance.Frame { return d.out.follow(ctx) }

// remember takes what was sent before a restart, so that the first frame changes
// nothing. It is not done in Open, which comes before last state is restored.
func (d *Driver) remember() {
	d.recall.Do(func() {
		if d.last == nil {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, l := range d.order {
			if v, ok := d.last(l.ref); ok {
				l.state = l.state.with(v)
				d.active = d.active || l.state.known
			}
		}
	})
}

// universe is what is to be on the wire, with some lamps in other states than
// theirs. active is false while nothing is known of any lamp and nothing changes.
func (d *Driver) universe(changed map[*lamp]lampState) (slots []byte, active bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.fixed
	for _, l := range d.order {
		s, ok := changed[l]
		if !ok {
			s = l.state
		}
		l.render(s, &u)
	}
	return u[:max(d.length, d.options.slots)], d.active || len(changed) > 0
}

// slots is how many the universe has.
func (d *Driver) slots() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.length, d.options.slots)
}

// present is the universe as it stands.
func (d *Driver) present() (slots []byte, active bool) { return d.universe(nil) }

// take waits for the turn; give ends it. The deadline of ctx is watched apart from
// its end, which need not come with it.
func (d *Driver) take(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
		return nil
	default:
	}
	var tooLate <-chan time.Time // never, without a deadline
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		tooLate = timer.C
	}
	var why error
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-tooLate:
		why = context.DeadlineExceeded
	case <-ctx.Done():
		why = ctx.Err()
	}
	return fmt.Errorf("bus %s: %w: the frame could not go out before the deadline: %w", d.name, appliance.ErrExpired, why)
}

func (d *Driver) give() { <-d.turn }

// apply sends the universe with what is wanted, and keeps it if that succeeded.
func (d *Driver) apply(ctx context.Context, y appliance.Yield, wants []appliance.Want) (appliance.Result, error) {
	d.remember()
	if err := d.take(ctx); err != nil {
		return appliance.Result{}, err
	}
	defer d.give()
	changed := make(map[*lamp]lampState, len(wants))
	d.mu.Lock()
	for _, w := range wants {
		l := d.lamps[w.Ref]
		if l == nil {
			continue
		}
		s, ok := changed[l]
		if !ok {
			s = l.state
		}
		changed[l] = s.with(w.Values)
	}
	d.mu.Unlock()
	slots, _ := d.universe(changed)
	sent, err := d.out.show(ctx, y, slots)
	if err != nil {
		return appliance.Result{Sent: sent}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active = true
	for l, s := range changed {
		l.state = s
	}
	return appliance.Result{Sent: sent}, nil
}

// Plan makes everything that one command wants one frame: DMX always carries the
// whole universe.
func (d *Driver) Plan(wants []appliance.Want) []appliance.Chain {
	if len(wants) == 0 {
		return nil
	}
	airtime, worst := d.out.busy(d.slots())
	return []appliance.Chain{{
		Wants: wants,
		Steps: []appliance.Exchange{{
			Device: d.device, Airtime: airtime, Worst: worst,
			Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				return d.apply(ctx, y, wants)
			},
		}},
		Unverifiable: true,
	}}
}

// Repair plans the same: there is no other way to a fixture.
func (d *Driver) Repair(wants []appliance.Want) []appliance.Chain { return d.Plan(wants) }

// Polls has one entry that reads nothing of the lamps: it asks the interface
// whether it is well, which is all that can be known of a universe.
func (d *Driver) Polls() []appliance.Poll {
	airtime, worst := d.out.busy(d.slots())
	return []appliance.Poll{{
		Exchange: appliance.Exchange{
			Device: d.device, Airtime: airtime, Worst: worst,
			Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				if err := d.take(ctx); err != nil {
					return appliance.Result{}, err
				}
				defer d.give()
				sent, err := d.out.check(ctx, y)
				return appliance.Result{Sent: sent}, err
			},
		},
		Class: appliance.ClassLight,
	}}
}
