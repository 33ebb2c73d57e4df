package automation

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

const (
	// turn is how long lights that were told something keep those waiting that are told something else: nothing that somebody
	// taps acts later because the outcome of what was tapped before is still to come.
	turn = 1200 * time.Millisecond
	// lingers is how long a lane remembers when its sliders acted.
	lingers = time.Second
	// lanesMost bounds the rooms that are busy at once.
	lanesMost = 512
)

// Core carries commands out.
type Core interface {
	Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error)
	// DoTelling is Do, and tells as soon as that is known by when the outcome is; the latest counts.
	DoTelling(ctx context.Context, cmd appliance.Command, told func(due time.Time)) (appliance.Entry, error)
	Snapshot() *appliance.Snapshot
}

// Config of an automation.
type Config struct {
	Core Core
	// Answer tells whoever sent the message with the ID corr what became of it; before that it may tell once that it is
	// [wire.Accepted]. It must not block.
	Answer func(corr string, ack wire.Ack)
	// Start is when the controller started: what was made before never acts, and is not answered.
	Start time.Time
	Log   *slog.Logger
}

// Automation obeys widget events.
type Automation struct {
	core   Core
	answer func(string, wire.Ack)
	log    *slog.Logger

	mu     sync.Mutex
	gate   *gate
	panels panels
	fresh  chan struct{} // other panels than before
	lanes  map[laneKey]*busy
	ctx    context.Context // of Run; nil before and after
	wg     sync.WaitGroup
}

// laneKey is a room, and whether its lights or its shades are meant.
type laneKey struct {
	device, panel string
	cluster       int64
	shades        bool
}

// busy is a lane with somebody working on it.
type busy struct {
	lane
	wake      chan struct{}
	interrupt context.CancelFunc // of the task that is being carried out; nil if none is
}

// New makes an automation that knows no panels.
func New(cfg Config) *Automation {
	return &Automation{
		core: cfg.Core, answer: cfg.Answer, log: cfg.Log,
		gate: newGate(cfg.Start), lanes: map[laneKey]*busy{}, fresh: make(chan struct{}, 1),
	}
}

// Run lets events act until ctx ends, and returns when nothing is being carried out any more.
func (a *Automation) Run(ctx context.Context) error {
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	<-ctx.Done()
	a.mu.Lock()
	a.ctx = nil
	a.mu.Unlock()
	a.wg.Wait()
	return nil
}

// Widget takes a widget event. It does not block; what became of the event is answered later.
func (a *Automation) Widget(m Message) {
	ev, id, err := open(m)
	if err != nil {
		a.log.Warn("widget event refused", "id", id, "why", err)
		if id != "" {
			a.answer(id, wire.Ack{Status: wire.Rejected, Detail: err.Error()})
		}
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.gate.admit(&ev, m)
	switch {
	case v.silent:
		a.log.Info("widget event left", "id", ev.ID, "device", clip(ev.DeviceID), "widget", clip(ev.WidgetID), "why", v.detail)
		return
	case v.status != "":
		a.settle(ev, wire.Ack{Status: v.status, First: v.first, Detail: v.detail})
		return
	}
	tasks, err := a.tasksOf(ev)
	switch {
	case err != nil:
		a.finish(ev, wire.Ack{Status: wire.Rejected, Detail: err.Error()})
	case len(tasks) == 0:
		a.finish(ev, wire.Ack{Status: wire.Applied, Detail: "this gesture alone does nothing"})
	}
	for _, t := range tasks {
		a.enqueue(t)
	}
}

// tasksOf says what an event asks for: nothing, one thing, or, of a scene, something of the lights and of the shades.
func (a *Automation) tasksOf(ev event) ([]task, error) {
	o, acts, err := read(ev.WidgetAction)
	if err != nil {
		return nil, err
	}
	clusters, err := a.panels.clusters(ev.WidgetAction)
	if err != nil || !acts {
		return nil, err
	}
	parts := [][]appliance.Command{{}}
	cmd := o.command
	cmd.Origin = originOf(ev.WidgetAction)
	if o.scene == 0 {
		for _, id := range clusters {
			cmd.Target = appliance.Target{Scope: appliance.InCluster, ID: id}
			parts[0] = append(parts[0], cmd)
		}
	} else if parts, err = recall(a.core.Snapshot(), clusters, o.scene, cmd.Origin); err != nil {
		return nil, err
	}
	var tasks []task
	w := &asked{left: len(parts)}
	for _, commands := range parts {
		tasks = append(tasks, task{event: ev, order: o, clusters: clusters, commands: commands, asked: w})
	}
	return tasks, nil
}

// enqueue puts a task into the lane of its room, which somebody works on until it is empty.
func (a *Automation) enqueue(t task) {
	key := laneKey{t.DeviceID, t.PanelID, 0, t.isShades()}
	if t.Origin == wire.OriginAPI {
		key.cluster = t.Cluster
	}
	l := a.lanes[key]
	if l == nil {
		if a.ctx == nil || len(a.lanes) >= lanesMost {
			a.end(t, wire.Ack{Status: wire.Failed, Detail: "the controller is busy or stopping; try again"})
			return
		}
		l = &busy{wake: make(chan struct{}, 1)}
		a.lanes[key] = l
		ctx := a.ctx
		a.wg.Go(func() { a.work(ctx, key, l) })
	}
	overtaken, interrupt := l.offer(t)
	for _, old := range overtaken {
		a.end(old, superseded)
	}
	if interrupt && l.interrupt != nil {
		l.interrupt()
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Answers without a command behind them.
var (
	superseded = wire.Ack{Status: wire.Stale, Detail: "superseded"}
	stopping   = wire.Ack{Status: wire.Failed, Detail: "the controller is stopping"}
	stopped    = wire.Ack{Status: wire.Failed, Detail: "the controller stopped while it was at it"}
)

// work carries out what a lane holds, one after the other, and ends when it has been empty for a while.
func (a *Automation) work(ctx context.Context, key laneKey, l *busy) {
	for {
		a.mu.Lock()
		t, wait, ok := l.next(time.Now())
		run, cancel := context.WithCancel(ctx)
		if ok {
			l.interrupt = cancel
		}
		a.mu.Unlock()
		if !ok {
			cancel()
			if !a.await(ctx, key, l, wait) {
				return
			}
			continue
		}
		over := make(chan struct{})
		a.wg.Go(func() {
			defer close(over)
			defer cancel()
			ack := a.carryOut(ctx, run, t)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.end(t, ack)
		})
		t.hold(over)
		a.mu.Lock()
		l.interrupt, l.running = nil, nil
		a.mu.Unlock()
	}
}

// hold waits until a task is over, or must not keep others waiting any longer.
func (t task) hold(over <-chan struct{}) {
	if t.isShades() { // what moves is told one thing after the other
		<-over
		return
	}
	most := time.NewTimer(turn)
	defer most.Stop()
	select {
	case <-over:
	case <-most.C:
	}
}

// await returns true when a lane is worth looking at again, false when it is closed.
func (a *Automation) await(ctx context.Context, key laneKey, l *busy, wait time.Duration) bool {
	idle := wait == 0
	if idle {
		wait = lingers
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-l.wake:
		return true
	case <-timer.C:
		if !idle {
			return true
		}
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() == nil && len(l.waiting) > 0 {
		return true // it came while the timer ended
	}
	for _, t := range l.waiting {
		a.end(t, stopping)
	}
	delete(a.lanes, key)
	return false
}

// end notes what became of a task; what became of an event is known when all of it is over.
func (a *Automation) end(t task, ack wire.Ack) {
	w := t.asked
	w.acks = append(w.acks, ack)
	if w.left--; w.left == 0 {
		a.finish(t.event, together(w.acks))
	}
}

// finish tells the gate and whoever sent the event what became of it.
func (a *Automation) finish(ev event, ack wire.Ack) {
	a.gate.done(ev.ID, ack.Status)
	a.settle(ev, ack)
}

// settle logs and answers.
func (a *Automation) settle(ev event, ack wire.Ack) {
	a.log.Info("widget event", "id", ev.ID, "origin", clip(ev.Origin), "device", clip(ev.DeviceID), "widget", clip(ev.WidgetID),
		"action", clip(string(ev.Action)), "value", clip(ev.Value), "outcome", ack.Status, "detail", ack.Detail, "command", ack.Command)
	a.answer(ev.ID, ack)
}
