package sdn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// order is what a motor is to do, in its own terms. Motors with the same order can
// be given it by one frame.
type order struct {
	id      MessageID
	fn      moveTo
	percent byte // where fn is toPercent
}

func (o order) data() []byte {
	switch {
	case o.id == ctrlStop:
		return []byte{0}
	case o.fn == toPercent:
		return moveToData(toPercent, uint16(o.percent))
	}
	return moveToData(o.fn, unused)
}

// goal is the percent at which the motor stops by itself; negative: none.
func (o order) goal() int {
	switch {
	case o.id == ctrlStop:
		return -1
	case o.fn == toPercent:
		return int(o.percent)
	case o.fn == toDownLimit:
		return 100
	}
	return 0
}

func (o order) aim() aim { return aim{stop: o.id == ctrlStop, goal: o.goal()} }

// String tells the order to people.
func (o order) String() string {
	switch {
	case o.id == ctrlStop:
		return "stop"
	case o.fn == toPercent:
		return fmt.Sprintf("go to %d %% closed", o.percent)
	case o.fn == toDownLimit:
		return "go down"
	}
	return "go up"
}

// wish is a want, its motor, and what that motor has to do for it.
type wish struct {
	appliance.Want
	motor *motor
	order order
}

func (m *motor) orderFor(w appliance.Want) (order, bool) {
	up, down := toUpLimit, toDownLimit
	if m.inverted {
		up, down = down, up
	}
	switch w.Motion {
	case appliance.Open:
		return order{id: ctrlMoveTo, fn: up}, true
	case appliance.Close:
		return order{id: ctrlMoveTo, fn: down}, true
	case appliance.Stop:
		return order{id: ctrlStop}, true
	case appliance.MoveTo:
		return order{id: ctrlMoveTo, fn: toPercent, percent: m.percentOf(w.Position)}, true
	}
	return order{}, false
}

// Plan turns wants into chains: one frame to everybody if everything on the bus is
// wanted alike, one frame for each group whose members are, else one frame for
// each motor.
func (d *Driver) Plan(want []appliance.Want) []appliance.Chain {
	wishes, chains := d.wishes(want)
	var orders []order // in the order of the wants
	alike := make(map[order][]wish)
	for _, w := range wishes {
		if _, ok := alike[w.order]; !ok {
			orders = append(orders, w.order)
		}
		alike[w.order] = append(alike[w.order], w)
	}
	for _, o := range orders {
		chains = append(chains, d.planAlike(o, alike[o])...)
	}
	return chains
}

// Repair plans every want by itself.
func (d *Driver) Repair(want []appliance.Want) []appliance.Chain {
	wishes, chains := d.wishes(want)
	for _, w := range wishes {
		chains = append(chains, d.single(w))
	}
	return chains
}

// wishes finds the motors. Wants that no motor here can be told become chains that
// fail, saying why.
func (d *Driver) wishes(want []appliance.Want) (wishes []wish, failing []appliance.Chain) {
	for _, w := range want {
		m := d.site.shades[w.Shade]
		if m == nil {
			failing = append(failing, impossible(w, fmt.Errorf("bus %s: shade %d of node %d: %w on this bus", d.name, w.Shade, w.Node, appliance.ErrNotFound)))
			continue
		}
		o, ok := m.orderFor(w)
		if !ok {
			failing = append(failing, impossible(w, fmt.Errorf("motor %v: a shade can open, close, stop and go to a position", m.address)))
			continue
		}
		wishes = append(wishes, wish{w, m, o})
	}
	return wishes, failing
}

func impossible(w appliance.Want, why error) appliance.Chain {
	return appliance.Chain{
		Wants: []appliance.Want{w},
		Steps: []appliance.Exchange{{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, fmt.Errorf("%w: %w", appliance.ErrRefused, why)
		}}},
	}
}

// planAlike plans motors that are to do the same.
func (d *Driver) planAlike(o order, wishes []wish) []appliance.Chain {
	if len(wishes) > 1 && d.options.broadcast && !d.site.broken && len(wishes) == len(d.site.all) {
		return []appliance.Chain{d.together(o, wishes, Frame{ID: o.id, Source: d.options.host, Destination: Everybody, Data: o.data()})}
	}
	var chains []appliance.Chain
	left := make(map[*motor]wish, len(wishes))
	for _, w := range wishes {
		left[w.motor] = w
	}
	groups := d.groups
	if slices.ContainsFunc(d.unsure, func(m *motor) bool { _, ok := left[m]; return !ok }) {
		groups = nil // a motor that must not move may be in any of them
	}
	for g := largestGroup(groups, left); g != nil; g = largestGroup(groups, left) {
		members := make([]wish, 0, len(g.members))
		for _, m := range g.members {
			members = append(members, left[m])
			delete(left, m)
		}
		chains = append(chains, d.together(o, members, Frame{ID: o.id, Source: g.address, Destination: Nobody, Data: o.data()}))
	}
	for _, w := range wishes {
		if _, ok := left[w.motor]; ok {
			chains = append(chains, d.single(w))
		}
	}
	return chains
}

// largestGroup finds the group that moves the most of these motors and no other;
// nil if a group is no gain. Groups come in the order of their names.
func largestGroup(groups []group, motors map[*motor]wish) *group {
	var best *group
	for i, g := range groups {
		covered := !slices.ContainsFunc(g.members, func(m *motor) bool { _, ok := motors[m]; return !ok })
		if covered && len(g.members) > 1 && (best == nil || len(g.members) > len(best.members)) {
			best = &groups[i]
		}
	}
	return best
}

// largeGroup is how many motors can be asked twice each until a command's deadline,
// about ten seconds at five frames a second, with time to spare for repairs.
const largeGroup = 12

// together plans one frame for several motors, and its proof motor by motor.
func (d *Driver) together(o order, wishes []wish, f Frame) appliance.Chain {
	chain := appliance.Chain{Group: true}
	all := &company{large: len(wishes) > largeGroup}
	proofs := make([]*proof, len(wishes))
	for i, w := range d.farthestFirst(wishes) {
		proofs[i] = &proof{driver: d, wish: w, company: all}
		chain.Wants = append(chain.Wants, w.Want)
		chain.Verify = append(chain.Verify, proofs[i].exchanges()...)
	}
	moved := func(sent time.Time) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, p := range proofs {
			p.wasThere = p.motor.standsAt(o.goal())
			p.motor.sent(o.aim(), sent)
		}
	}
	chain.Steps = []appliance.Exchange{d.shout(f, nil, moved)}
	return chain
}

// farthestFirst sorts wishes by how far their motors have to go as far as that is known:
// those that arrive soonest are asked last, by when one question tells that they have.
func (d *Driver) farthestFirst(wishes []wish) []wish {
	d.mu.Lock()
	defer d.mu.Unlock()
	way := func(w wish) int {
		p := w.motor.said.position
		if !p.known() || w.order.id == ctrlStop {
			return 100
		}
		return max(int(p.Percent)-w.order.goal(), w.order.goal()-int(p.Percent))
	}
	sorted := slices.Clone(wishes)
	slices.SortStableFunc(sorted, func(a, b wish) int { return way(b) - way(a) })
	return sorted
}

// single plans a frame to one motor, which acknowledges it.
func (d *Driver) single(w wish) appliance.Chain {
	p := &proof{driver: d, wish: w}
	return appliance.Chain{Wants: []appliance.Want{w.Want}, Steps: []appliance.Exchange{d.exchange(d.tell(w.motor, w.order))}, Verify: p.exchanges()}
}

// tell is an order to one motor.
func (d *Driver) tell(m *motor, o order) question {
	return question{
		motor: m, id: o.id, data: o.data(), want: ack, most: minFrame + 1, what: "telling it to " + o.String(),
		// From the moment the frame may be out nobody may say that the motor stands.
		before: func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			m.sent(o.aim(), time.Now())
		},
	}
}
