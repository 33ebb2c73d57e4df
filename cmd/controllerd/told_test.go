package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim"
)

// telling is a building whose orders come from chat, voice and panels beside each other, and what is told of them.
type telling struct {
	*house
	at     *virtualPlatform
	seed   int64
	orders int64 // in all
	given  atomic.Int64

	mu    sync.Mutex
	ill   map[string]illness // by bus, or bus/address
	words map[string]int     // what was told, by door
}

// illness of something; it has no end yet if that is zero.
type illness struct{ from, to time.Time }

// lane is the lights or the shades of one room: what is asked of them comes one after the other.
type lane struct {
	*telling
	room   string
	shades bool
	things []*thing
	dice   *rand.Rand
}

// told is an order of a lane.
type told struct {
	door, verb string
	value      int
	before     map[appliance.ID]place
	from       time.Time
}

// rooms of the building that histories are played on, by the place of their things there.
var toldRooms = []struct {
	name           string
	lights, shades []int
}{
	{"Oak", []int{1, 2, 3, 4, 5}, []int{5001}},            // Modbus TCP; a shade on a line
	{"Elm", []int{6, 7, 8, 12}, []int{5002, 5003}},        // RTU; shades on a slow one
	{"Pine", []int{13, 14}, []int{5004, 5005}},            // a gateway that falls silent
	{"Maple", []int{18, 19, 20}, []int{5006, 5007, 5008}}, // DALI; motors of SDN, of which one gets stuck
	{"Cedar", []int{21, 22}, nil},                         // DMX, which nobody can read
}

// TestOrdersToldCampaign gives 200 orders at random, from chat, voice and panels beside each other, to a building with a bus of every
// kind, of which a gateway falls silent and a motor gets stuck in the middle: what is told of each, at once and of its end, in each
// of the three words, is what the simulated hardware did. SOAK=1 does so for fifty seeds, of a thousand orders each; SEED=n for one.
func TestOrdersToldCampaign(t *testing.T) {
	var seeds []int64
	for seed := range int64(drivertest.Size(2, 50)) {
		seeds = append(seeds, seed+1)
	}
	orders := int64(100)
	if soak() {
		orders = 1000
	}
	if one, _ := histories(); len(one) == 1 {
		seeds = one
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			synctest.Test(t, func(t *testing.T) { tell(t, seed, orders) })
			t.Logf("seed %d took %v", seed, time.Since(began).Round(time.Millisecond))
		})
	}
}

func tell(t *testing.T, seed, orders int64) {
	text, things := historySite()
	text = text[:strings.Index(text, "clusters:\n")] + "clusters:\n"
	rooms := map[string]int64{}
	for i, r := range toldRooms {
		rooms[r.name] = int64(i + 1)
		text += fmt.Sprintf("  - {id: %d, name: %s, nodes: %s", i+1, r.name, listed(ids(r.lights)))
		if len(r.shades) > 0 {
			text += ", shades: " + listed(ids(r.shades))
		}
		text += "}\n"
	}
	w := &telling{house: &house{t: t, net: &cable.Net{}}, seed: seed, orders: orders, ill: map[string]illness{}, words: map[string]int{}}
	w.options.Seed = seed
	w.dialBroker = w.net.Dial
	w.build(text)
	w.serve()
	w.awaitOnline()
	w.at = w.enrolVirtually(rooms)
	var all sync.WaitGroup
	n := uint64(0)
	for _, r := range toldRooms {
		for _, list := range [][]int{r.lights, r.shades} {
			l := &lane{telling: w, room: r.name, dice: rand.New(rand.NewPCG(uint64(seed), n))}
			n++
			for _, x := range things {
				if slices.Contains(list, int(x.id)) {
					l.things, l.shades = append(l.things, x), x.shade
				}
			}
			if len(l.things) > 0 {
				all.Go(l.play)
			}
		}
	}
	for _, from := range []int64{orders / 3, orders / 3 * 2} { // it is well, ill, and well again
		for w.given.Load() < from {
			time.Sleep(100 * time.Millisecond)
		}
		if from == orders/3 {
			w.fall(sim.Fault{Bus: "gateway", Kind: sim.FaultSilent})
			w.fall(sim.Fault{Bus: "sdn", Address: "06.00.02", Kind: sim.FaultStuck})
		} else {
			for _, f := range w.building.Faults() {
				w.recover(f)
			}
		}
	}
	all.Wait()
	t.Logf("seed %d: %d orders in %v of virtual time: %v", seed, w.given.Load(), time.Since(bubbleBegins).Round(time.Second), w.words)
	for _, word := range []string{done, underWay, notDone} {
		if w.words["chat "+word] == 0 {
			t.Errorf("seed %d: nothing was told as %s", seed, word)
		}
	}
	w.stop()
}

func ids(list []int) (out []appliance.ID) {
	for _, id := range list {
		out = append(out, appliance.ID(id))
	}
	return out
}

// play gives orders until there were enough.
func (l *lane) play() {
	for l.given.Add(1) <= l.orders {
		time.Sleep(time.Duration(l.dice.ExpFloat64() * float64(4*time.Second)))
		l.order()
	}
	l.given.Add(-1)
}

// order gives one, and compares what is told of it with what is so.
func (l *lane) order() {
	o := &told{door: []string{"chat", "voice", "panel"}[l.dice.IntN(3)], value: l.dice.IntN(101)}
	o.verb = []string{"on", "off", "set", "set"}[l.dice.IntN(4)]
	if l.shades {
		o.verb = []string{"open", "close", "set", "stop"}[l.dice.IntN(4)]
	}
	o.before, o.from = l.truth(), time.Now()
	switch o.door {
	case "chat":
		session := fmt.Sprint(l.room, l.shades)
		if preview := l.at.chat(session, o.sentence(l)); !strings.Contains(preview, "Not done yet") {
			l.wrong(o, preview, "which is no preview")
			return
		}
		o.before, o.from = l.truth(), time.Now()
		text := l.at.chat(session, "yes")
		if word := l.judge(o, text); word == underWay {
			l.follow(o, session)
		}
	case "voice":
		r := l.at.say(l.room, o.sentence(l))
		l.heard(o, r.Success, r.Reply) // what is spoken names nobody where several did not obey
	case "panel":
		widget, kind, value := o.gesture(l)
		r := l.at.tap(l.room, widget, kind, value)
		l.heard(o, r.Success, r.Message)
	}
}

// sentence is the order in words; at a device nobody names the room.
func (o *told) sentence(l *lane) string {
	what := map[bool]string{false: "lights", true: "shades"}[l.shades]
	if o.door == "chat" {
		what = l.room + " " + what
	}
	switch o.verb {
	case "on", "off":
		return "turn " + o.verb + " the " + what
	case "set":
		return fmt.Sprintf("set the %s to %d percent", what, o.value)
	}
	return o.verb + " the " + what
}

// gesture is the order at a panel.
func (o *told) gesture(l *lane) (widget string, kind wire.Gesture, value string) {
	switch o.verb {
	case "on", "off":
		return wire.LightPower, wire.Changed, o.verb
	case "stop":
		return wire.ShadeStop, wire.Clicked, ""
	case "open":
		return wire.ShadePosition, wire.Released, "255"
	case "close":
		return wire.ShadePosition, wire.Released, "0"
	}
	if l.shades {
		return wire.ShadePosition, wire.Released, fmt.Sprint(wire.SliderOf(o.value))
	}
	return wire.LightBrightness, wire.Released, fmt.Sprint(wire.SliderOf(o.value))
}

// fall makes something ill, recover well again.
func (w *telling) fall(f sim.Fault) {
	w.mu.Lock()
	w.ill[where(f)] = illness{from: time.Now()}
	w.mu.Unlock()
	w.fault(f)
	w.t.Logf("at %v: %s is %s", time.Since(bubbleBegins), where(f), f.Kind)
}

func (w *telling) recover(f sim.Fault) {
	w.building.RemoveFault(f.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	is := w.ill[where(f)]
	is.to = time.Now()
	w.ill[where(f)] = is
}

func where(f sim.Fault) string {
	if f.Address == "" {
		return f.Bus
	}
	return f.Bus + "/" + f.Address
}
