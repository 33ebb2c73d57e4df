package control_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// blinds are the motors, the lamp and the line that the explorer of shades plays with, made
// apart from copper. What really happens is known here, and judged as it happens.
type blinds struct {
	mu       sync.Mutex
	dice     *rand.Rand // of the line
	motors   map[appliance.ID]*blind
	level    appliance.Level
	several  int // exchanges at once; 0: one
	down     bool
	calmAt   time.Time // since when the line is up and nobody opened it anew
	wrong    string
	lookedAt time.Time // when the oracle last looked who runs on
	notes    []string
	dawn     time.Time
}

// blind is a shade: a motor, its relays, and what befalls them.
type blind struct {
	up, down, pause time.Duration
	lag             time.Duration // of the register behind the relay
	measured        bool
	turned          bool // it is mounted the other way round

	place   float64
	since   time.Time // of place
	on      int       // relay: +1 opening
	onAt    time.Time
	begins  time.Time // when the motor follows its relay
	ran     int
	offAt   time.Time
	goal    float64 // of one that measures
	turns   []relayState
	illness string // "", silent, mute, deaf, lossy
	wellAt  time.Time
	illFor  time.Duration // while this run lasts

	last    wish
	must    bool      // it runs on a frame that somebody has to end
	toldAt  time.Time // its last frame
	pressed bool      // somebody was at its wall switch, ever, or nobody can know where it is
	wallAt  time.Time
	touched int // grows with everything but the line that changes what is wanted of it
	forgot  bool
	shownAs string
}

type relayState struct {
	at time.Time
	on int
}

// wish is the newest command that a shade was given.
type wish struct {
	kind appliance.Kind // 0: none, since the program began or the shade was turned round
	to   appliance.Position
	at   time.Time
}

// way reports whether it is a position that a timed shade goes to in parts.
func (w wish) way(m *blind) bool {
	return w.kind == appliance.ShadeMoveTo && !m.measured && w.to > 0 && w.to < 100
}

func (b *blinds) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf("%8.3f  ", time.Since(b.dawn).Seconds())+fmt.Sprintf(format, args...))
}

func (b *blinds) fail(format string, args ...any) {
	if b.wrong == "" {
		b.wrong = fmt.Sprintf("%.3f s: ", time.Since(b.dawn).Seconds()) + fmt.Sprintf(format, args...)
	}
}

// advance brings the motor to now.
func (m *blind) advance() {
	now := time.Now()
	from := m.since
	if m.begins.After(from) {
		from = m.begins
	}
	m.since = now
	if m.on == 0 || !now.After(from) {
		return
	}
	travel := m.down
	if m.on > 0 {
		travel = m.up
	}
	m.place = math.Max(0, math.Min(100, m.place+float64(m.on)*100*float64(now.Sub(from))/float64(travel)))
	if m.measured && float64(m.on)*(m.place-m.goal) >= 0 { // there
		m.place = m.goal
		m.relay(0)
	}
}

func (m *blind) relay(on int) {
	now := time.Now()
	if m.on == on {
		return
	}
	if m.on != 0 {
		m.ran, m.offAt = m.on, now
	}
	m.on, m.onAt, m.begins, m.illFor = on, now, now, 0
	if ready := m.offAt.Add(m.pause); on == -m.ran && ready.After(now) {
		m.begins = ready
	}
	m.turns = append(m.turns, relayState{now, on})
}

// turn makes it do what it is told: +1 open, -1 close, 0 stop, or go to a place.
func (m *blind) turn(dir int, goal float64) {
	m.advance()
	if m.measured && dir != 0 {
		if goal < 0 {
			goal = map[int]float64{1: 100, -1: 0}[dir]
		}
		m.goal, dir = goal, 0
		if d := goal - m.place; math.Abs(d) >= 0.5 {
			dir = int(math.Copysign(1, d))
		}
	}
	m.relay(dir)
}

// shown is what its register shows.
func (m *blind) shown() int {
	was := 0
	for _, t := range m.turns {
		if time.Since(t.at) < m.lag {
			break
		}
		was = t.on
	}
	return was
}

// ranSince reports whether it was told so by its relay some time since.
func (m *blind) ranSince(dir int, at time.Time) bool {
	for i, t := range m.turns {
		if t.on == dir && (i == len(m.turns)-1 || m.turns[i+1].at.After(at)) {
			return true
		}
	}
	return dir == 0 && len(m.turns) == 0
}

// blindBus is the bus as one run of the program has it open.
type blindBus struct {
	*blinds
	cfg  appliance.BusConfig
	dead *bool // the program has crashed: nothing comes from it any more
}

func (b *blinds) opener(dead *bool) appliance.OpenFunc {
	return func(cfg appliance.BusConfig) (appliance.Opened, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calmAt = time.Now()
		bus := &blindBus{b, cfg, dead}
		o := appliance.Opened{Driver: bus, InFlight: b.several, Device: map[appliance.ID]string{}, Channels: map[appliance.ID][]appliance.Channel{}, Shades: map[appliance.ID]appliance.Channel{}}
		for _, n := range cfg.Nodes {
			o.Device[n.ID] = fmt.Sprint(n.ID)
			o.Channels[n.ID] = nil
			if n.Profile == "dimmer" {
				o.Channels[n.ID] = []appliance.Channel{{Abilities: appliance.CanDim | appliance.CanSwitch}}
			}
		}
		for _, s := range cfg.Shades {
			o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove, ReverseDelay: b.motors[s.ID].pause}
			if b.motors[s.ID].measured {
				o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove | appliance.CanPosition, PositionMeasured: true}
			}
		}
		return o, nil
	}
}

func (b *blindBus) Run(ctx context.Context) error { <-ctx.Done(); return nil }

func (b *blindBus) Link() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down || *b.dead {
		return fmt.Errorf("%w: pulled", appliance.ErrBusDown)
	}
	return nil
}

const (
	blindAirtime = 20 * time.Millisecond
	blindTimeout = 150 * time.Millisecond
)

// exchange with one device: act is what it does when it hears it.
func (b *blindBus) exchange(node appliance.ID, m *blind, write bool, begin func(), act func() []appliance.Reading) appliance.Exchange {
	return appliance.Exchange{
		Device: fmt.Sprint(node), Airtime: blindAirtime, Worst: blindAirtime + blindTimeout, Late: blindTimeout,
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			if d, ok := ctx.Deadline(); ok && time.Until(d) < blindAirtime/2 {
				return appliance.Result{}, appliance.ErrExpired
			}
			select {
			case <-y.Begin:
				return appliance.Result{}, appliance.ErrPreempted
			default:
			}
			if err := b.Link(); err != nil {
				return appliance.Result{}, err
			}
			b.mu.Lock()
			begin()
			b.mu.Unlock()
			time.Sleep(blindAirtime / 2)
			b.mu.Lock()
			res, answers := appliance.Result{Sent: time.Now()}, true
			hears := !b.down && !*b.dead
			if m != nil {
				switch m.illness {
				case "silent":
					hears, answers = false, false
				case "mute":
					answers = false
				case "lossy":
					hears, answers = hears && b.dice.IntN(3) > 0, b.dice.IntN(3) > 0
					answers = answers && hears
				}
			}
			if hears {
				res.Readings = act()
			}
			b.mu.Unlock()
			if err := b.Link(); err != nil {
				return appliance.Result{Sent: res.Sent}, err
			}
			return apart(y, res.Sent, func() (appliance.Result, error) {
				if answers {
					time.Sleep(blindAirtime / 2)
					return res, nil
				}
				select {
				case <-time.After(blindTimeout):
					return appliance.Result{Sent: res.Sent}, appliance.ErrSilent
				case <-y.Answer:
					return appliance.Result{Sent: res.Sent}, appliance.ErrPreempted
				}
			})
		},
	}
}

func (b *blindBus) Plan(wants []appliance.Want) []appliance.Chain { return b.Repair(wants) }

func (b *blindBus) Repair(wants []appliance.Want) []appliance.Chain {
	var out []appliance.Chain
	for _, w := range wants {
		var step appliance.Exchange
		if w.Shade == 0 {
			step = b.exchange(w.Node, nil, true, func() {}, func() []appliance.Reading { b.level = w.Level; return nil })
		} else {
			m, turned, node := b.find(w.Shade)
			dir, goal := map[appliance.Motion]int{appliance.Open: 1, appliance.Close: -1, appliance.MoveTo: 2}[w.Motion], -1.0
			if dir == 2 {
				goal = float64(w.Position)
			}
			if turned {
				dir, goal = map[int]int{1: -1, -1: 1, 0: 0, 2: 2}[dir], math.Abs(100-goal)
			}
			if w.Motion != appliance.MoveTo {
				goal = -1
			}
			step = b.exchange(node, m, true, func() { b.told(w, m) }, func() []appliance.Reading {
				if m.illness != "deaf" {
					m.turn(dir, goal)
					m.must = m.on != 0 && m.last.way(m)
				}
				b.note("shade %d: relay %+d at %.0f", w.Shade, m.on, m.place)
				return nil
			})
		}
		out = append(out, appliance.Chain{Wants: []appliance.Want{w}, Steps: []appliance.Exchange{step}, Verify: []appliance.Exchange{b.read(w.Ref)}})
	}
	return out
}

// find gives a shade's motor, whether it is mounted the other way round, and its node.
func (b *blindBus) find(id appliance.ID) (m *blind, turned bool, node appliance.ID) {
	for _, s := range b.cfg.Shades {
		if s.ID == id {
			return b.motors[id], s.Inverted, s.Node
		}
	}
	panic(errors.New("a shade of another bus"))
}

func (b *blindBus) read(r appliance.Ref) appliance.Exchange {
	if r.Shade == 0 {
		e := b.exchange(r.Node, nil, false, func() {}, func() []appliance.Reading {
			return []appliance.Reading{{Ref: r, Values: appliance.Values{Has: appliance.CanDim, Level: b.level}, At: time.Now()}}
		})
		e.Refs = []appliance.Ref{r}
		return e
	}
	m, turned, node := b.find(r.Shade)
	e := b.exchange(node, m, false, func() {}, func() []appliance.Reading {
		m.advance()
		on, place := m.shown(), m.place
		if turned {
			on, place = -on, 100-place
		}
		v := appliance.Values{Has: appliance.CanMove, Motion: [...]appliance.Motion{appliance.Closing, appliance.Stopped, appliance.Opening}[on+1]}
		if m.measured {
			v.Has, v.Position = v.Has|appliance.CanPosition, appliance.Position(math.Round(place))
		}
		return []appliance.Reading{{Ref: r, Values: v, At: time.Now()}}
	})
	e.Refs = []appliance.Ref{r}
	return e
}

func (b *blindBus) Polls() []appliance.Poll {
	var out []appliance.Poll
	for _, n := range b.cfg.Nodes {
		if n.Profile == "dimmer" {
			out = append(out, appliance.Poll{Exchange: b.read(appliance.Ref{Node: n.ID, Channel: 1}), Class: appliance.ClassLight})
		}
	}
	for _, s := range b.cfg.Shades {
		out = append(out, appliance.Poll{Exchange: b.read(appliance.Ref{Shade: s.ID}), Class: appliance.ClassShade})
	}
	return out
}
