package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// copper is a bus of simulated devices: every exchange takes its airtime of the
// test's (fake) clock. One device a node; shades hang off nodes.
type copper struct {
	airtime time.Duration
	timeout time.Duration
	late    time.Duration
	long    time.Duration // how much longer writes are than reads
	silence time.Duration // before each frame, in which it may still give way
	several int           // exchanges at once; 0: one
	group   bool          // the devices obey a broadcast
	// What is wanted of several channels is read back by one frame, which the
	// devices refuse.
	combined bool

	mu     sync.Mutex
	cfg    atomic.Pointer[appliance.BusConfig]
	level  map[appliance.Ref]appliance.Level
	kelvin map[appliance.ID]appliance.Kelvin
	motion map[appliance.ID]appliance.Motion
	silent map[appliance.ID]bool
	mute   map[appliance.ID]bool // they hear, and are not heard
	deaf   map[appliance.ID]int  // how many frames it still misses
	// The registers of shades show what their relays do so much later.
	lag    time.Duration
	lagged []relayTurn
	// The shades acknowledge what they are told, and go on as they did.
	disobeys bool
	// Levels above off are moved into these limits, if there are any.
	lowest, highest appliance.Level
	fail            func(node appliance.ID, write bool) error
	down            error
	slow            time.Duration // how long closing the port takes
	// Who has the port open, and how many had at most.
	holders, crowd int
	log            []frame
	busy           map[appliance.ID]bool   // whom a question is out to
	most           int                     // questions out at once so far
	motors         map[appliance.ID]*motor // what the shades really do
	// The shades tell where they are, rounded to percent.
	measured bool
}

// relayTurn is what a relay does from a moment on.
type relayTurn struct {
	at     time.Time
	motion appliance.Motion
}

// shown is what the register of a shade's relay shows; c.mu is held.
func (c *copper) shown(shade appliance.ID) appliance.Motion {
	if c.lag == 0 {
		return c.motion[shade]
	}
	was := appliance.Stopped
	for _, turn := range c.lagged {
		if time.Since(turn.at) >= c.lag {
			was = turn.motion
		}
	}
	return was
}

type frame struct {
	at    time.Time
	what  string
	node  appliance.ID
	write bool
	took  time.Duration
}

func newCopper() *copper {
	return &copper{
		airtime: 20 * time.Millisecond, timeout: 200 * time.Millisecond, busy: map[appliance.ID]bool{},
		level: map[appliance.Ref]appliance.Level{}, kelvin: map[appliance.ID]appliance.Kelvin{},
		motion: map[appliance.ID]appliance.Motion{}, silent: map[appliance.ID]bool{}, mute: map[appliance.ID]bool{}, deaf: map[appliance.ID]int{},
		motors: map[appliance.ID]*motor{},
	}
}

// open is the OpenFunc. A node's profile says what its channels can do: "dimmer",
// "relay", "tunable", "triple", "fading", "brief" (fades for a second), "gear" (has limits of its own), "shade",
// "broken".
func (c *copper) open(cfg appliance.BusConfig) (appliance.Opened, error) {
	c.set(func() { c.cfg.Store(&cfg) })
	return c.describe(cfg), nil
}

// describe says what is made of a site.
func (c *copper) describe(cfg appliance.BusConfig) appliance.Opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := appliance.Opened{
		Driver: c, InFlight: c.several, Device: map[appliance.ID]string{}, Channels: map[appliance.ID][]appliance.Channel{},
		Shades: map[appliance.ID]appliance.Channel{}, BrokenNodes: map[appliance.ID]error{},
	}
	for _, n := range cfg.Nodes {
		dim := appliance.Channel{Abilities: appliance.CanDim | appliance.CanSwitch}
		switch n.Profile {
		case "broken":
			o.BrokenNodes[n.ID] = errors.New("no such profile")
			continue
		case "relay":
			dim.Abilities = appliance.CanSwitch
		case "tunable":
			dim.Abilities |= appliance.CanTune
			dim.KelvinMin, dim.KelvinMax = 2700, 4000
		case "fading":
			dim.Fade = 2 * time.Second
		case "brief":
			dim.Fade = time.Second
		case "gear":
			dim.Clips = true
		}
		o.Device[n.ID] = fmt.Sprint(n.ID)
		o.Channels[n.ID] = []appliance.Channel{dim}
		if n.Profile == "triple" {
			o.Channels[n.ID] = []appliance.Channel{dim, dim, dim}
		}
		if n.Profile == "shade" {
			o.Channels[n.ID] = nil
		}
	}
	for _, s := range cfg.Shades {
		o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove, ReverseDelay: 500 * time.Millisecond}
		if c.measured {
			o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove | appliance.CanPosition, PositionMeasured: true}
		}
		if c.motors[s.ID] == nil {
			c.motion[s.ID] = appliance.Stopped
			c.motors[s.ID] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: 50, top: 100}
		}
		if !c.measured {
			c.motors[s.ID].rest = o.Shades[s.ID].ReverseDelay
		}
	}
	return o
}

// Run holds the port, and takes a moment to let go of it.
func (c *copper) Run(ctx context.Context) error {
	c.set(func() { c.holders++; c.crowd = max(c.crowd, c.holders) })
	<-ctx.Done()
	time.Sleep(c.slow)
	c.set(func() { c.holders-- })
	return nil
}

func (c *copper) Link() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}

// exchange with one device. act runs under the lock when the device hears it.
func (c *copper) exchange(node appliance.ID, write bool, what string, act func() []appliance.Reading) appliance.Exchange {
	more := map[bool]time.Duration{true: c.long}[write]
	return appliance.Exchange{
		Device: fmt.Sprint(node), Airtime: c.airtime + more, Worst: c.airtime + more + c.timeout, Late: c.late,
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			if d, ok := ctx.Deadline(); ok && time.Until(d) < c.airtime/2 {
				return appliance.Result{}, appliance.ErrExpired
			}
			if c.silence > 0 { // a timer that is due at once, on virtual time and with the race detector, may crash Go's runtime (1.26)
				select {
				case <-y.Begin:
					return appliance.Result{}, appliance.ErrPreempted
				case <-time.After(c.silence):
				}
			}
			c.mu.Lock()
			if c.busy[node] || len(c.busy) >= max(1, c.several) {
				panic("too many exchanges at once on one bus, or with one device")
			}
			c.busy[node] = true
			c.most = max(c.most, len(c.busy))
			silent, mute, fail, down := c.silent[node], c.mute[node], c.fail, c.down
			began, place := time.Now(), len(c.log)
			c.log = append(c.log, frame{at: began, what: what, node: node, write: write})
			c.mu.Unlock()
			defer c.set(func() { delete(c.busy, node); c.log[place].took = time.Since(began) })
			if down != nil {
				return appliance.Result{}, fmt.Errorf("%w: %v", appliance.ErrBusDown, down)
			}
			time.Sleep(c.airtime / 2)
			sent := time.Now()
			return apart(y, sent, func() (appliance.Result, error) {
				if mute {
					c.set(func() { act() })
				}
				if silent || mute {
					select {
					case <-time.After(c.timeout):
					case <-y.Answer:
						return appliance.Result{Sent: sent}, appliance.ErrPreempted
					}
					return appliance.Result{Sent: sent}, fmt.Errorf("node %d: %w", node, appliance.ErrSilent)
				}
				if fail != nil {
					if err := fail(node, write); err != nil {
						return appliance.Result{Sent: sent}, err
					}
				}
				c.mu.Lock()
				readings := act()
				c.mu.Unlock()
				time.Sleep(c.airtime / 2)
				for i := range readings {
					readings[i].At = time.Now() // when it is heard, as drivers do
				}
				return appliance.Result{Sent: sent, Readings: readings}, nil
			})
		},
	}
}

func (c *copper) Plan(wants []appliance.Want) []appliance.Chain {
	if c.group && c.several < 2 && len(wants) == len(c.cfg.Load().Nodes) && len(wants) > 1 && wants[0].Shade == 0 {
		e := c.exchange(0, true, "broadcast", func() []appliance.Reading {
			for _, w := range wants {
				if c.deaf[w.Node] > 0 {
					c.deaf[w.Node]--
					continue
				}
				c.level[w.Ref] = w.Level
			}
			return nil
		})
		e.Device = ""
		chain := appliance.Chain{Wants: wants, Steps: []appliance.Exchange{e}, Group: true}
		for _, w := range wants {
			chain.Verify = append(chain.Verify, c.read(w.Ref))
		}
		return []appliance.Chain{chain}
	}
	if c.combined && len(wants) > 1 {
		chain := appliance.Chain{Wants: wants, Verify: []appliance.Exchange{c.refused(wants)}}
		for _, single := range c.Repair(wants) {
			chain.Steps = append(chain.Steps, single.Steps...)
		}
		return []appliance.Chain{chain}
	}
	return c.Repair(wants)
}

// refused is a read of several channels that can be had in two halves only.
func (c *copper) refused(wants []appliance.Want) appliance.Exchange {
	if len(wants) == 1 {
		return c.read(wants[0].Ref)
	}
	e := c.exchange(wants[0].Node, false, "combined read", func() []appliance.Reading { return nil })
	answered := e.Do
	e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		res, err := answered(ctx, y)
		if err == nil {
			err = appliance.ErrRefused
		}
		return res, err
	}
	e.Split = func() []appliance.Exchange {
		half := len(wants) / 2
		return []appliance.Exchange{c.refused(wants[:half]), c.refused(wants[half:])}
	}
	return e
}

func (c *copper) Repair(wants []appliance.Want) []appliance.Chain {
	var out []appliance.Chain
	for _, w := range wants {
		what := fmt.Sprintf("level %d", w.Level)
		if w.Shade != 0 {
			what = w.Motion.String()
		}
		step := c.exchange(c.nodeOf(w.Ref), true, what, func() []appliance.Reading {
			switch {
			case w.Shade != 0 && c.disobeys && w.Motion != appliance.Stop:
			case w.Shade != 0:
				c.motion[w.Shade] = map[appliance.Motion]appliance.Motion{appliance.Open: appliance.Opening, appliance.Close: appliance.Closing, appliance.Stop: appliance.Stopped}[w.Motion]
				c.motors[w.Shade].turn(w.Values)
				c.lagged = append(c.lagged, relayTurn{time.Now(), c.motion[w.Shade]})
			case w.Has.Has(appliance.CanTune):
				c.kelvin[w.Node] = w.Kelvin
			case c.deaf[w.Node] == 0:
				c.level[w.Ref] = w.Level
				if w.Level > 0 && c.highest > 0 {
					c.level[w.Ref] = min(max(w.Level, c.lowest), c.highest)
				}
			}
			return nil
		})
		out = append(out, appliance.Chain{Wants: []appliance.Want{w}, Steps: []appliance.Exchange{step}, Verify: []appliance.Exchange{c.read(w.Ref)}})
	}
	return out
}

func (c *copper) read(r appliance.Ref) appliance.Exchange {
	e := c.exchange(c.nodeOf(r), false, "read", func() []appliance.Reading {
		if r.Shade != 0 && c.measured {
			return []appliance.Reading{c.motors[r.Shade].tell(r)}
		}
		if r.Shade != 0 {
			return []appliance.Reading{{Ref: r, Values: appliance.Values{Has: appliance.CanMove, Motion: c.shown(r.Shade)}, At: time.Now()}}
		}
		v := appliance.Values{Has: appliance.CanDim, Level: c.level[r]}
		if k, ok := c.kelvin[r.Node]; ok {
			v.Has |= appliance.CanTune
			v.Kelvin = k
		}
		return []appliance.Reading{{Ref: r, Values: v, At: time.Now()}}
	})
	e.Refs = []appliance.Ref{r}
	return e
}

func (c *copper) Polls() []appliance.Poll {
	var out []appliance.Poll
	for _, n := range c.cfg.Load().Nodes {
		channels := map[string]int{"triple": 3, "shade": 0}
		count, ok := channels[n.Profile]
		if !ok {
			count = 1
		}
		for ch := 1; ch <= count; ch++ {
			r := appliance.Ref{Node: n.ID, Channel: ch}
			out = append(out, appliance.Poll{Exchange: c.read(r), Class: appliance.ClassLight})
		}
	}
	for _, s := range c.cfg.Load().Shades {
		r := appliance.Ref{Shade: s.ID}
		out = append(out, appliance.Poll{Exchange: c.read(r), Class: appliance.ClassShade})
	}
	return out
}

// frames returns what was sent since the mark, and the new mark.
func (c *copper) frames(mark int) ([]frame, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log[mark:]), len(c.log)
}

func (c *copper) nodeOf(r appliance.Ref) appliance.ID {
	for _, s := range c.cfg.Load().Shades {
		if s.ID == r.Shade {
			return s.Node
		}
	}
	return r.Node
}

// moving is what the motor of a shade really does.
func (c *copper) moving(shade appliance.ID) appliance.Motion {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.motion[shade]
}

func (c *copper) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// siteOf makes a site of one bus with nodes of the given profiles, from ID 1, all in
// cluster 1. A "shade" node carries shade 5000 + its ID.
func siteOf(profiles ...string) appliance.Site {
	bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "test", Driver: "copper"}
	s := appliance.Site{Buses: []appliance.Bus{bus}, Clusters: []appliance.Cluster{{ID: 1, Name: "all"}}}
	for i, p := range profiles {
		id := appliance.ID(i + 1)
		s.Nodes = append(s.Nodes, appliance.Node{ID: id, UUID: appliance.UUID{2, byte(i)}, Name: p, Bus: bus.UUID, Address: fmt.Sprint(id), Profile: p})
		s.Clusters[0].Nodes = append(s.Clusters[0].Nodes, id)
		if p == "shade" {
			s.Shades = append(s.Shades, appliance.Shade{ID: 5000 + id, Node: id, Output: 1, TravelUp: 20 * time.Second, TravelDown: 20 * time.Second})
			s.Clusters[0].Shades = append(s.Clusters[0].Shades, 5000+id)
		}
	}
	return s
}

// run starts a controller on copper inside a synctest bubble; stop ends it.
func run(t *testing.T, c *copper, site appliance.Site, journal appliance.Journal) (ctl *control.Controller, stop func()) {
	t.Helper()
	ctl = control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": c.open}, Journal: journal})
	ctl.Apply(site, nil)
	ctx, cancel := context.WithCancel(context.Background())
	if err := ctl.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- ctl.Run(ctx) }()
	return ctl, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// do carries out a command that must be accepted.
func do(t *testing.T, ctl *control.Controller, cmd appliance.Command) appliance.Entry {
	t.Helper()
	e, err := ctl.Do(context.Background(), cmd)
	if err != nil {
		t.Fatalf("%+v: %v", cmd, err)
	}
	return e
}

func level(target appliance.Target, l appliance.Level) appliance.Command {
	return appliance.Command{Kind: appliance.LightLevel, Target: target, Level: l}
}

func one(id appliance.ID) appliance.Target { return appliance.Target{Scope: appliance.One, ID: id} }

var everything = appliance.Target{Scope: appliance.All}
