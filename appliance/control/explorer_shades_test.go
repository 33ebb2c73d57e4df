package control_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/drivertest"
)

// TestExplorerOfShadesOnTheEngineCampaign lets shades, behind the whole engine of a bus, live through
// random histories: commands alone and within 25 ms of each other, hands at the wall switch,
// motors that fall silent, hear without being heard, acknowledge without obeying or lose
// every third frame, outages of the bus, changes of the site, restarts and crashes. What the
// motors really do tells whether one runs that nobody will stop, whether anything began late
// or for nobody, whether a success was true, whether a healthy motor or lamp ever failed, and
// whether what is shown in the end is so. 400 histories, 100,000 with SOAK=1; SEED tells one.
func TestExplorerOfShadesOnTheEngineCampaign(t *testing.T) {
	last := uint64(drivertest.Size(400, 100_000))
	if n, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64); err == nil {
		last = n
	}
	if seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		synctest.Test(t, func(t *testing.T) { newHistory(t, seed).live() })
		return
	}
	const side = 4
	for part := range uint64(side) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := 1 + part; seed <= last && !t.Failed(); seed += side {
				synctest.Test(t, func(t *testing.T) { newHistory(t, seed).live() })
			}
		})
	}
}

// history is one life of some shades, and of a lamp on the same bus.
type history struct {
	*blinds
	t     *testing.T
	seed  uint64
	dice  *rand.Rand
	site  appliance.Site
	ctl   *control.Controller
	dead  *bool
	end   func()
	saved *lastStates
	walls bool
	lit   int // how often the lamp was told something
	asked sync.WaitGroup
}

// lastStates is a journal that keeps the last state of everything, as the store does.
type lastStates struct {
	mu sync.Mutex
	of map[appliance.Ref]appliance.Saved
}

func (l *lastStates) SaveBatch(_ context.Context, b appliance.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range b.States {
		l.of[s.Ref] = s
	}
	return nil
}

func (l *lastStates) LoadStates(context.Context) ([]appliance.Saved, error) {
	return slices.Collect(maps.Values(l.of)), nil
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, seed: seed, dice: rand.New(rand.NewPCG(seed, 19)), saved: &lastStates{of: map[appliance.Ref]appliance.Saved{}}}
	h.blinds = &blinds{dice: rand.New(rand.NewPCG(seed, 91)), motors: map[appliance.ID]*blind{}, dawn: time.Now()}
	h.walls = h.dice.IntN(2) == 0
	profiles := []string{"dimmer"}
	for range 1 + h.dice.IntN(2) {
		profiles = append(profiles, "shade")
	}
	h.site = siteOf(profiles...)
	for i := range h.site.Shades {
		s := &h.site.Shades[i]
		m := &blind{
			up: h.ms(8000, 25_000), down: h.ms(8000, 25_000), pause: h.ms(0, 2) * 300, measured: h.dice.IntN(3) == 0,
			place: float64(h.dice.IntN(101)), since: time.Now(), wellAt: time.Now(), lag: h.ms(0, 200),
		}
		if m.measured {
			m.pause, m.lag = 0, 0
		}
		s.TravelUp, s.TravelDown = m.up, m.down
		h.motors[s.ID] = m
	}
	return h
}

func (h *history) ms(least, most int) time.Duration {
	return time.Duration(least+h.dice.IntN(most-least+1)) * time.Millisecond
}

// begin starts the program.
func (h *history) begin() {
	h.dead = new(bool)
	h.ctl = control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": h.opener(h.dead)}, Journal: h.saved})
	h.ctl.Apply(h.site, nil)
	ctx, cancel := context.WithCancel(context.Background())
	if err := h.ctl.Restore(ctx); err != nil {
		h.t.Fatal(err)
	}
	over := make(chan struct{})
	go func(ctl *control.Controller) {
		if err := ctl.Run(ctx); err != nil {
			h.t.Error(err)
		}
		close(over)
	}(h.ctl)
	h.end = func() { cancel(); <-over }
}

func (h *history) live() {
	h.begin()
	h.pass(20 * time.Second)
	for range 8 + h.dice.IntN(10) {
		h.stimulus()
		switch h.dice.IntN(4) {
		case 0:
			h.pass(h.ms(0, 400))
		case 1:
			h.pass(h.ms(0, 25_000))
		default:
			h.pass(h.ms(0, 5000))
		}
		if h.wrong != "" {
			break
		}
	}
	h.with(func() {
		h.down, h.calmAt = false, time.Now()
		for _, m := range h.motors {
			m.heal()
		}
	})
	h.pass(100 * time.Second)
	h.asked.Wait()
	h.with(h.atPeace)
	h.lastWays()
	h.with(func() { h.note("the end") })
	h.end()
	h.asked.Wait()
	if h.wrong != "" {
		notes := h.notes
		if os.Getenv("SEED") == "" {
			notes = notes[max(0, len(notes)-25):]
		}
		h.t.Errorf("SEED=%d: %s\n%s", h.seed, h.wrong, strings.Join(notes, "\n"))
	}
}

func (h *history) with(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

// pass lets time go by, and looks every now and then what runs.
func (h *history) pass(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until) && h.wrong == ""; {
		time.Sleep(min(500*time.Millisecond, time.Until(until)))
		h.with(h.nobodyRunsOn)
		if os.Getenv("SEED") != "" {
			h.with(h.noteShown)
		}
	}
}

// noteShown tells of shades that move, are shown to, or are shown wrongly.
func (h *history) noteShown() {
	for _, s := range h.site.Shades {
		m, v := h.motors[s.ID], h.ctl.Snapshot().Shade(s.ID)
		m.advance()
		shown := fmt.Sprintf("shade %d: shown %v at %d ± %d, known %v; relay %+d at %.0f", s.ID, v.Motion, v.Position.Value, v.Uncertainty, v.Position.OK(), m.on, m.place)
		if shown != m.shownAs {
			m.shownAs = shown
			h.note("%s", shown)
		}
	}
}

// shade draws one.
func (h *history) shade() (appliance.ID, *blind) {
	id := h.site.Shades[h.dice.IntN(len(h.site.Shades))].ID
	return id, h.motors[id]
}

func (h *history) stimulus() {
	switch n := h.dice.IntN(100); {
	case n < 40:
		id, _ := h.shade()
		h.command(id, h.wish())
	case n < 50:
		id, _ := h.shade()
		h.command(id, h.wish())
		time.Sleep(h.ms(1, 25))
		h.command(id, h.wish())
	case n < 58:
		h.light()
	case n < 66 && h.walls:
		id, m := h.shade()
		h.with(func() { h.press(id, m, h.dice.IntN(3)-1) })
	case n < 82:
		id, m := h.shade()
		h.with(func() {
			m.heal()
			m.illness = []string{"", "silent", "mute", "deaf", "lossy"}[h.dice.IntN(5)]
			h.note("shade %d: %s", id, m.illness)
		})
	case n < 89:
		h.with(func() {
			h.down, h.calmAt = !h.down, time.Now()
			h.note("down: %v", h.down)
		})
	case n < 95:
		h.change()
	default:
		h.restart(h.dice.IntN(2) == 0)
	}
}

func (m *blind) heal() {
	if m.illness != "" {
		m.illness, m.wellAt = "", time.Now()
	}
}

func (h *history) wish() wish {
	kinds := []appliance.Kind{appliance.ShadeOpen, appliance.ShadeClose, appliance.ShadeStop, appliance.ShadeMoveTo, appliance.ShadeMoveTo, appliance.ShadeMoveTo}
	return wish{kind: kinds[h.dice.IntN(len(kinds))], to: appliance.Position(h.dice.IntN(101))}
}

// press is somebody at the wall switch.
func (b *blinds) press(id appliance.ID, m *blind, dir int) {
	m.advance()
	b.note("shade %d: wall %+d at %.0f", id, dir, m.place)
	if m.on == dir {
		return
	}
	m.turn(dir, -1)
	m.must, m.pressed, m.wallAt = false, true, time.Now()
	m.touched++
}

// change changes the site while it runs.
func (h *history) change() {
	i := h.dice.IntN(len(h.site.Shades))
	s := h.site.Shades[i]
	m := h.motors[s.ID]
	h.site.Shades = slices.Clone(h.site.Shades)
	gone := false // what was wanted of it
	switch h.dice.IntN(4) {
	case 0:
		s.Name += "+"
		h.site.Shades[i] = s
		h.with(func() { h.note("shade %d renamed", s.ID) })
	case 1:
		s.TravelUp = s.TravelUp * 101 / 100
		h.site.Shades[i] = s
		h.with(func() { h.note("shade %d: other travel times", s.ID) })
	case 2:
		s.Inverted = !s.Inverted
		s.TravelUp, s.TravelDown = m.up, m.down
		if s.Inverted {
			s.TravelUp, s.TravelDown = m.down, m.up
		}
		h.site.Shades[i] = s
		gone = true
		h.with(func() {
			h.note("shade %d turned round", s.ID)
			m.forgot, m.turned = true, s.Inverted
		})
	default:
		gone = true
		h.with(func() {
			h.note("shade %d taken out, and back", s.ID)
			m.forgot = true
			m.must = m.must && m.well(h.dawn.Add(time.Since(h.dawn)-20*time.Second)) && !h.down // it is waited for, 5 s at most
		})
		less := h.site
		less.Shades = slices.Delete(slices.Clone(h.site.Shades), i, i+1)
		less.Clusters = slices.Clone(h.site.Clusters)
		less.Clusters[0].Shades = nil
		h.ctl.Apply(less, nil)
	}
	h.with(func() {
		for _, m := range h.motors {
			m.touched++
		}
	})
	h.ctl.Apply(h.site, nil)
	if gone {
		h.with(func() { m.last = wish{} })
	}
}

// restart ends the program, or lets it crash, and begins it anew.
func (h *history) restart(orderly bool) {
	h.with(func() {
		h.note("restart, orderly %v", orderly)
		*h.dead = !orderly
		h.lit++
		for _, m := range h.motors {
			m.touched++
		}
	})
	h.end()
	h.with(func() {
		for _, m := range h.motors {
			m.last, m.must = wish{}, false                                            // the program did what it could, for 5 s
			m.pressed = m.pressed || !orderly && time.Since(m.toldAt) < 6*time.Second // which was not saved yet
			m.touched++
		}
	})
	h.begin()
}

// command gives a shade a command, and judges what comes of it.
func (h *history) command(id appliance.ID, w wish) {
	m := h.motors[id]
	var began time.Time
	var touched int
	h.with(func() {
		w.at = time.Now()
		h.note("shade %d: %s %d", id, [...]string{"open", "close", "stop", "to"}[w.kind-appliance.ShadeOpen], w.to)
		m.touched++
		switch {
		case h.down || time.Since(h.calmAt) < 5*time.Second:
			m.forgot, m.last = true, w // it may be refused, and leave what went before
		case w.kind != appliance.ShadeStop && m.last.kind == appliance.ShadeStop && time.Since(m.last.at) <= 20*time.Millisecond:
			return // the stop wins
		default:
			m.last, m.forgot = w, false
		}
		began, touched = w.at, m.touched
	})
	if began.IsZero() {
		began, touched = w.at, -1
	}
	ctl := h.ctl
	h.asked.Go(func() {
		e, err := ctl.Do(context.Background(), appliance.Command{Kind: w.kind, Target: one(id), Position: w.to})
		h.with(func() {
			h.note("shade %d: %d answered, %q", id, w.kind, e.Err)
			if e.OK() && w.kind != appliance.ShadeStop && !w.way(m) && !m.last.way(m) {
				m.must = false // whichever frame it runs on, it is to run to its end
			}
			if h.several > 1 && !e.OK() && w.way(m) && h.down {
				m.must = false // the stop that it begins with was never sent: what runs by itself ends by itself
			}
			if m.touched != touched {
				return
			}
			m.advance()
			if e.OK() && err == nil {
				h.isTrue(id, m, w)
			} else if m.well(began.Add(-25*time.Second)) && !h.down && h.calmAt.Before(began.Add(-25*time.Second)) {
				h.fail("shade %d is well, and failed: %q", id, e.Err)
			}
		})
	})
	synctest.Wait()
}

// well reports whether the motor has had nothing wrong with it since.
func (m *blind) well(since time.Time) bool { return m.illness == "" && m.wellAt.Before(since) }

// light gives the lamp a level: it is well, whatever ails the shades.
func (h *history) light() {
	want := appliance.Level(h.dice.IntN(101))
	began, ctl := time.Now(), h.ctl
	h.lit++
	lit := h.lit
	h.asked.Go(func() {
		e, err := ctl.Do(context.Background(), level(one(1), want))
		h.with(func() {
			switch {
			case h.ctl != ctl || h.lit != lit || h.down || !h.calmAt.Before(began.Add(-20*time.Second)):
			case err != nil || !e.OK():
				h.fail("the lamp is well, and failed: %v %q", err, e.Err)
			case e.Members[0].Stage != appliance.StageObserved:
				h.fail("the lamp was not read: %v", e.Members[0])
			}
		})
	})
	synctest.Wait()
}

// isTrue judges a success that nothing came between.
func (b *blinds) isTrue(id appliance.ID, m *blind, w wish) {
	dir, goal := map[appliance.Kind]int{appliance.ShadeOpen: 1, appliance.ShadeClose: -1}[w.kind], float64(w.to)
	switch {
	case w.kind == appliance.ShadeStop:
		goal = -1
	case dir > 0:
		goal = 100
	case dir < 0:
		goal = 0
	}
	if m.turned {
		dir, goal = -dir, 100-goal
	}
	switch {
	case w.kind == appliance.ShadeStop:
		if m.on != 0 {
			b.fail("shade %d: STOP succeeded, and it runs", id)
		}
	case m.measured:
		towards := 1
		if goal < m.place {
			towards = -1
		}
		if math.Abs(m.place-goal) > 1 && m.on != towards && !m.ranSince(towards, w.at) {
			b.fail("shade %d: succeeded, and it stands at %.0f instead of %.0f", id, m.place, goal)
		}
	case dir != 0 && !m.ranSince(dir, w.at):
		b.fail("shade %d: succeeded, and its relay is %+d", id, m.on)
	}
}

// told judges a frame that is about to be on the wire; b.mu is held.
func (b *blindBus) told(w appliance.Want, m *blind) {
	b.note("shade %d: told %v %d", w.Shade, w.Motion, w.Position)
	m.toldAt = time.Now()
	since := time.Since(m.last.at)
	if w.Motion == appliance.Stop || m.forgot && m.last.kind != 0 {
		return
	}
	switch kind := m.last.kind; {
	case kind == 0:
		b.fail("shade %d was told %v, and nobody wants it to move", w.Shade, w.Motion)
	case kind == appliance.ShadeStop:
		if since > 0 {
			b.fail("shade %d was told %v %v after STOP", w.Shade, w.Motion, since)
		}
	case m.last.way(m):
		if since > 12*time.Second+22*max(m.up, m.down)/10 {
			b.fail("shade %d was told %v %v after its command", w.Shade, w.Motion, since)
		}
	case since > 10*time.Second:
		b.fail("shade %d was told %v %v after its command", w.Shade, w.Motion, since)
	}
}

// nobodyRunsOn judges motors that somebody has to stop.
func (b *blinds) nobodyRunsOn() {
	for id, m := range b.motors {
		m.advance()
		if m.illness != "" || b.down {
			m.illFor += time.Since(b.lookedAt)
			m.must = m.must && m.illFor < 40*time.Second // it is tried for a minute
			continue
		} else if m.on == 0 || !m.must {
			continue
		}
		since := m.onAt
		for _, at := range []time.Time{m.wellAt, b.calmAt, m.last.at} {
			if at.After(since) {
				since = at
			}
		}
		most := max(m.up, m.down)*11/10 + m.pause + 3*time.Second
		if m.wellAt.After(m.onAt) || b.calmAt.After(m.onAt) {
			most += 20 * time.Second // as rarely as probes
		}
		if time.Since(since) > most {
			b.fail("shade %d has been running for %v, and nobody stops it", id, time.Since(m.onAt))
		}
	}
	b.lookedAt = time.Now()
}

// atPeace judges what is shown after a long calm.
func (h *history) atPeace() {
	for _, s := range h.site.Shades {
		m, v := h.motors[s.ID], h.ctl.Snapshot().Shade(s.ID)
		m.advance()
		on, place := m.on, m.place
		if s.Inverted {
			on, place = -on, 100-place
		}
		atEnd := on > 0 && place >= 100 || on < 0 && place <= 0
		moving := v.Motion == appliance.Opening || v.Motion == appliance.Closing || v.Motion == appliance.Moving
		switch {
		case !h.ctl.Snapshot().Node(s.Node).Online:
			h.fail("shade %d is well, and not online", s.ID)
		case m.on != 0 && m.must:
			h.fail("shade %d runs after a long calm", s.ID)
		case moving != (on != 0) && !atEnd:
			h.fail("shade %d is shown %v, and its relay is %+d", s.ID, v.Motion, on)
		case v.Position.OK() && (m.measured || !m.pressed) && math.Abs(float64(v.Position.Value)-place) > float64(v.Uncertainty)+5:
			h.fail("shade %d is shown at %d, give or take %d; it is at %.1f", s.ID, v.Position.Value, v.Uncertainty, place)
		}
	}
}

// lastWays sends every shade to a position, in a world where nothing errs.
func (h *history) lastWays() {
	h.site.Shades = slices.Clone(h.site.Shades) // the core reads the ones it was given
	for i, s := range h.site.Shades {
		s.TravelUp, s.TravelDown = h.motors[s.ID].up, h.motors[s.ID].down
		if s.Inverted {
			s.TravelUp, s.TravelDown = s.TravelDown, s.TravelUp
		}
		h.site.Shades[i] = s
	}
	h.ctl.Apply(h.site, nil)
	goals := map[appliance.ID]appliance.Position{}
	for _, s := range h.site.Shades {
		w := wish{kind: appliance.ShadeMoveTo, to: appliance.Position(h.dice.IntN(101))}
		goals[s.ID] = w.to
		h.command(s.ID, w)
	}
	h.pass(100 * time.Second)
	h.asked.Wait()
	for _, s := range h.site.Shades {
		m, v := h.motors[s.ID], h.ctl.Snapshot().Shade(s.ID)
		place := m.place
		if s.Inverted {
			place = 100 - place
		}
		if math.Abs(place-float64(goals[s.ID])) > float64(v.Uncertainty)+5 && (m.measured || !m.pressed) {
			h.fail("shade %d went to %.1f instead of %d, give or take %d", s.ID, place, goals[s.ID], v.Uncertainty)
		}
	}
}
