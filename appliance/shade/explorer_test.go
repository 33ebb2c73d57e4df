package shade

import (
	"flag"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
)

var explorerSeeds = flag.Uint64("explorer-seeds", 0, "how many histories the explorer tries")

var explorerSeed = flag.Uint64("explorer-seed", 0, "tell the history of one seed of the explorer")

// TestExplorerSoakCampaign lets shades live through random histories of commands, faults
// and hands at the wall: 1,000 of them, or 100,000 with SOAK=1.
func TestExplorerSoakCampaign(t *testing.T) {
	if *explorerSeed != 0 {
		w := newWorld(*explorerSeed)
		w.live()
		t.Logf("%s\n%s", strings.Join(w.log, "\n"), w.oracle.wrong)
		return
	}
	seeds := uint64(drivertest.Size(1000, 100_000))
	if *explorerSeeds != 0 {
		seeds = *explorerSeeds
	}
	var next, wrong atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for seed := next.Add(1); seed <= seeds; seed = next.Add(1) {
				w := newWorld(seed)
				w.live()
				if w.oracle.wrong != "" && wrong.Add(1) <= 5 {
					t.Errorf("seed %d: %s\n%s", seed, w.oracle.wrong, strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d histories, %d wrong; tell one with -explorer-seed=N -v", seeds, wrong.Load())
}

// live is one history, from the first day to a last way that has to succeed.
func (w *world) live() {
	w.oracle.confirmed, w.oracle.refused, w.oracle.runs = map[uint64]bool{}, map[uint64]bool{}, map[uint64]began{}
	w.troubles()
	end := w.now.Add(w.between(30_000, 180_000))
	for w.now.Before(end) && w.oracle.wrong == "" {
		w.stimulus()
		w.runUntil(w.now.Add(w.pause()))
	}
	w.calm, w.device.sticks = true, false
	if w.line.down {
		w.back()
	}
	if w.state.Holder != 0 {
		w.step(Release{w.state.Holder})
	}
	w.runUntil(w.now.Add(2*time.Minute + max(w.device.up, w.device.down)*14/10))
	if w.oracle.wrong == "" {
		w.oracle.atPeace()
	}
	if w.oracle.wrong == "" {
		w.lastWay()
	}
}

func (w *world) pause() time.Duration {
	switch w.rnd.IntN(4) {
	case 0:
		return w.between(0, 25)
	case 1:
		return w.between(0, 900)
	}
	return w.between(0, 12_000)
}

// troubles draws what befalls exchanges from now on.
func (w *world) troubles() {
	often := func() int {
		if w.rnd.IntN(3) != 0 {
			return 0
		}
		return []int{5, 30, 100}[w.rnd.IntN(3)]
	}
	w.line.requestLost, w.line.answerLost, w.line.refused = often(), often(), often()/2
	w.line.refusedObeyed, w.line.ignored, w.line.readLost = often()/2, often()/2, often()
}

// stimulus is something that happens.
func (w *world) stimulus() {
	switch n := w.rnd.IntN(100); {
	case n < 45:
		w.command(w.randomCommand())
	case n < 55:
		c := w.randomCommand()
		w.command(c)
		w.runUntil(w.now.Add(w.between(0, 25)))
		w.command(w.randomCommand())
	case n < 58 && w.seq > 1:
		c := w.randomCommand()
		w.seq--
		c.Seq = w.seq - uint64(w.rnd.IntN(int(min(w.seq, 2))))
		w.command(c)
	case n < 70:
		w.wall(w.rnd.IntN(3) - 1)
	case n < 84:
		w.troubles()
	case n < 87:
		if w.device.sticks = !w.device.sticks; w.device.sticks {
			w.device.unstickAfter++
			id := w.device.unstickAfter
			w.after(w.between(0, 90_000), func() {
				if w.device.unstickAfter == id {
					w.device.sticks = false
				}
			})
		}
	case n < 90:
		if w.line.down {
			w.back()
		} else {
			w.lose()
		}
	case n < 92:
		w.turnRound()
	case n < 94:
		set := w.state.Settings
		set.TravelUp, set.TravelDown = set.TravelUp*101/100, set.TravelDown*101/100
		if w.rnd.IntN(2) == 0 {
			set = w.settings()
		}
		w.step(Configure{set})
	case n < 95:
		w.step(Halt{})
	case n < 97:
		w.restart(w.rnd.IntN(2) == 0)
	default:
		if w.state.Holder != 0 {
			w.step(Release{w.state.Holder})
		}
	}
}

// settings are true.
func (w *world) settings() Settings {
	set := w.state.Settings
	if set.timed() {
		set.TravelUp, set.TravelDown = w.device.up, w.device.down
	}
	return set
}

func (w *world) randomCommand() Command {
	w.seq++
	c := Command{Seq: w.seq, Kind: Kind(1 + w.rnd.IntN(4)), Accepted: w.now, Expires: w.now.Add(2 * time.Second)}
	if w.rnd.IntN(3) == 0 {
		c.Kind = MoveTo
	}
	switch {
	case c.Kind == MoveTo:
		c.Position = float64(w.rnd.IntN(101))
	case w.rnd.IntN(5) == 0:
		c.Holder = 7
	}
	return c
}

func (w *world) command(c Command) { w.step(c) }

// lose takes the port away, for up to four minutes.
func (w *world) lose() {
	w.line.down = true
	if o := w.engine.order; o.ID != 0 && o.Kind != Stop {
		w.giveUp(false)
	}
	w.step(Lost{})
	w.after(w.between(0, 240_000), func() {
		if w.line.down {
			w.back()
		}
	})
}

func (w *world) back() {
	w.line.down = false
	w.step(Back{})
	if w.engine.order.ID != 0 {
		w.engine.tries = 0
		w.attempt(w.between(0, 100))
	}
}

// turnRound changes which way is up: for the shade all that is known turns.
func (w *world) turnRound() {
	d := &w.device
	d.move(w.now)
	d.place, d.on, d.ran, d.pending, d.goal = 100-d.place, -d.on, -d.ran, -d.pending, 100-d.goal
	d.up, d.down = d.down, d.up
	d.pendingID++
	if dir := d.pending; dir != 0 {
		id := d.pendingID
		w.after(max(0, d.ranUntil.Add(d.reverse).Sub(w.now)), func() {
			if d.pendingID == id {
				d.pending = 0
				w.relay(dir)
			}
		})
	}
	if d.on != 0 {
		w.limit()
	}
	for i := range d.history {
		d.history[i].on = -d.history[i].on
	}
	d.ordered[0], d.ordered[2] = d.ordered[2], d.ordered[0]
	w.epoch++
	set := w.settings()
	set.Inverted = !set.Inverted
	w.step(Configure{set})
}

// restart ends the program, in good order or not, and begins it anew.
func (w *world) restart(orderly bool) {
	w.note("restart, orderly %v", orderly)
	if orderly {
		w.step(Quit{})
		w.runUntil(w.now.Add(5 * time.Second))
	}
	v := w.state.View(w.now)
	set := w.state.Settings
	w.epoch++
	w.engine.turn++
	w.engine.order = Order{}
	w.oracle.excused, w.oracle.stopped, w.oracle.wallSeen = true, true, false
	before := w.state
	w.oracle.newest, w.oracle.stopAt = 0, time.Time{}
	w.state = New(set, w.now)
	w.state.Down = w.line.down
	w.seq += 10
	if v.Source != 0 && before.Phase == Idle && v.Motion == Standing && before.Pose.Doubt.IsZero() {
		w.step(Restored{Position: v.Position, Uncertainty: v.Uncertainty, At: v.At})
	}
}

// lastWay is a way to a position in a world where nothing errs.
func (w *world) lastWay() {
	d := &w.device
	w.step(Configure{w.settings()})
	if w.device.must {
		w.oracle.excused = true
	}
	w.seq += 2
	c := Command{Seq: w.seq, Kind: MoveTo, Position: float64(w.rnd.IntN(101)), Accepted: w.now, Expires: w.now.Add(2 * time.Second)}
	if !d.measures && !w.state.Settings.timed() {
		c.Position = []float64{0, 100}[w.rnd.IntN(2)]
	}
	w.step(c)
	id := w.state.Last.Order
	w.runUntil(w.now.Add(3*max(d.up, d.down) + 20*time.Second))
	d.move(w.now)
	switch {
	case w.oracle.wrong != "":
	case !w.oracle.confirmed[id]:
		w.oracle.fail("the last way is not confirmed")
	case !w.oracle.hidden && math.Abs(d.place-c.Position) > w.state.View(w.now).Uncertainty+slack:
		w.oracle.fail("the last way ends at %.1f instead of %.0f", d.place, c.Position)
	case w.state.Phase != Idle:
		w.oracle.fail("the last way does not end")
	}
}
