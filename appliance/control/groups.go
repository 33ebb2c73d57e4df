package control

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// Groups tells how the groups of a bus stand, without asking any device.
func (c *Controller) Groups(busName string) (appliance.Grouping, error) {
	b, err := c.grouperBus(busName)
	if err != nil {
		return appliance.Grouping{}, err
	}
	return b.groups.shown(), nil
}

// WriteGroups reads the tables of all devices that answer and brings them in step,
// whether or not the site has them kept. It calls step as it goes, on the bus's
// goroutine, and returns when it is through or ctx ends. The error names the devices
// that are not in step.
func (c *Controller) WriteGroups(ctx context.Context, busName string, step func(appliance.GroupProgress)) error {
	b, err := c.grouperBus(busName)
	if err != nil {
		return err
	}
	if b.groups.shown().Mode == appliance.GroupsOff {
		return fmt.Errorf("bus %s: its option groups is off: groups are neither read nor written", busName)
	}
	if err := b.linkDown(); err != nil {
		return err
	}
	order := &groupOrder{step: step, done: make(chan error, 1)}
	if err := b.groups.take(order); err != nil {
		return fmt.Errorf("bus %s: %w", busName, err)
	}
	b.mail.put(mail{event: engine.Order{}})
	select {
	case err := <-order.done:
		return err
	case <-ctx.Done():
		b.mail.put(mail{event: engine.CountermandOrder{Why: ctx.Err()}})
	case <-b.closed:
	}
	select {
	case err := <-order.done:
		return err
	case <-b.closed:
		return fmt.Errorf("bus %s: %w: it was closed", busName, appliance.ErrBusDown)
	}
}

func (c *Controller) grouperBus(name string) (*bus, error) {
	b, err := c.bus(name)
	if err != nil {
		return nil, err
	}
	if _, ok := b.driver().(appliance.Grouper); !ok {
		return nil, fmt.Errorf("bus %s: its driver %q knows no group tables", name, b.config().Bus.Driver)
	}
	return b, nil
}

// groupDesk is what others see of the groups of a bus, and order.
type groupDesk struct {
	mu    sync.Mutex
	view  appliance.Grouping
	order *groupOrder // nil: none is under way
}

// groupOrder is an installer's order to bring the tables in step now.
type groupOrder struct {
	step func(appliance.GroupProgress)
	done chan error // holds one
}

// take takes an order, one at a time.
func (g *groupDesk) take(o *groupOrder) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.order != nil {
		return fmt.Errorf("%w: its groups are being written already", appliance.ErrBusy)
	}
	g.order = o
	return nil
}

// shown is how things stood when they were last looked at.
func (g *groupDesk) shown() appliance.Grouping {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.view
	v.Clusters, v.Devices = slices.Clone(v.Clusters), slices.Clone(v.Devices)
	return v
}

// tableTalk are the exchanges about a group table, as the driver makes them.
type tableTalk struct {
	next  func() (appliance.Exchange, bool)
	stop  func()
	whole bool
	held  []string
}

// carryOutGroups does what the engine wants done for groups; false: it is none of that.
func (b *bus) carryOutGroups(a engine.Action) bool {
	switch a := a.(type) {
	case engine.Converse:
		b.hang()
		b.converse(a)
	case engine.Continue:
		b.goOnTable()
	case engine.Hang:
		b.hang()
	case engine.Save:
		b.book.put(b.config().Bus.UUID, a.Groups, func(err error) { b.mail.put(mail{event: engine.Saved{Failed: err != nil}}) })
	case engine.Progress:
		b.groups.order.step(a.Step)
	case engine.Ordered:
		b.groups.mu.Lock()
		o := b.groups.order
		b.groups.order = nil
		b.groups.mu.Unlock()
		o.done <- a.Err // who waits may order anew at once
	case engine.GroupsShown:
		b.groups.mu.Lock()
		b.groups.view = a.View
		b.groups.mu.Unlock()
	default:
		return false
	}
	return true
}

// converse begins the exchanges about a table.
func (b *bus) converse(c engine.Converse) {
	driver, t := b.driver().(appliance.Grouper), &tableTalk{}
	whole := func(held []string) { t.whole, t.held = true, held }
	steps := driver.SurveyGroups
	switch c.Kind {
	case engine.Reading:
		steps = func() iter.Seq[appliance.Exchange] { return driver.ReadGroups(c.Device, whole) }
	case engine.Changing:
		steps = func() iter.Seq[appliance.Exchange] { return driver.ChangeGroups(c.Device, c.Join, c.Leave, whole) }
	}
	t.next, t.stop = iter.Pull(steps())
	b.desk.table = t
	b.goOnTable()
}

// goOnTable hands the engine the next exchange about a table.
func (b *bus) goOnTable() {
	t := b.desk.table
	e, ok := t.next()
	if !ok {
		b.hang()
		b.desk.next = append(b.desk.next, engine.Next{Whole: t.whole, Held: t.held})
		return
	}
	b.desk.next = append(b.desk.next, engine.Next{Exchange: &e})
}

// hang ends the exchanges about a table.
func (b *bus) hang() {
	if b.desk.table == nil {
		return
	}
	b.desk.table.stop()
	b.desk.table = nil
	b.desk.next = slices.DeleteFunc(b.desk.next, func(e engine.Event) bool { _, ours := e.(engine.Next); return ours })
}
