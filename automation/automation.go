package automation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

const (
	// lightTime is what a command to lights of a panel or a voice gets: somebody stands there, and hears of a lamp that is silent.
	lightTime = 1200 * time.Millisecond
	// lingers is how long a lane remembers when its sliders acted.
	lingers = time.Second
	// lanesMost bounds the rooms that are busy at once.
	lanesMost = 512
)

// Core carries commands out.
type Core interface {
	Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error)
	Snapshot() *appliance.Snapshot
}

// Config of an automation.
type Config struct {
	Core Core
	// Answer tells whoever sent the message with the ID corr what became of it. It must not block.
	Answer func(corr string, ack wire.Ack)
	// Start is when the controller started: what was made before never acts.
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
	if v.status != "" {
		a.settle(ev, wire.Ack{Status: v.status, First: v.first, Detail: v.detail})
		return
	}
	t, acts, err := a.taskOf(ev)
	switch {
	case err != nil:
		a.finish(ev, wire.Ack{Status: wire.Rejected, Detail: err.Error()})
	case !acts:
		a.finish(ev, wire.Ack{Status: wire.Applied, Detail: "this gesture alone does nothing"})
	default:
		a.enqueue(t)
	}
}

// taskOf says what an event asks for, and of whom.
func (a *Automation) taskOf(ev event) (t task, acts bool, err error) {
	o, acts, err := read(ev.WidgetAction)
	if err != nil {
		return t, false, err
	}
	clusters, err := a.panels.clusters(ev.WidgetAction)
	return task{event: ev, order: o, clusters: clusters}, acts, err
}

// enqueue puts a task into the lane of its room, which somebody works on until it is empty.
func (a *Automation) enqueue(t task) {
	key := laneKey{t.DeviceID, t.PanelID, 0, t.order.command.Kind.IsShade()}
	if t.Origin == wire.OriginAPI {
		key.cluster = t.Cluster
	}
	l := a.lanes[key]
	if l == nil {
		if a.ctx == nil || len(a.lanes) >= lanesMost {
			a.finish(t.event, wire.Ack{Status: wire.Failed, Detail: "the controller is busy or stopping; try again"})
			return
		}
		l = &busy{wake: make(chan struct{}, 1)}
		a.lanes[key] = l
		ctx := a.ctx
		a.wg.Go(func() { a.work(ctx, key, l) })
	}
	overtaken, interrupt := l.offer(t)
	for _, old := range overtaken {
		a.finish(old.event, superseded)
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
)

// work carries out what a lane holds, one after the other, and ends when it has been empty for a while.
func (a *Automation) work(ctx context.Context, key laneKey, l *busy) {
	for {
		a.mu.Lock()
		t, wait, ok := l.next(time.Now())
		var run context.Context
		if ok {
			run, l.interrupt = context.WithCancel(ctx)
		}
		a.mu.Unlock()
		if !ok && !a.await(ctx, key, l, wait) {
			return
		}
		if !ok {
			continue
		}
		ack := a.carryOut(ctx, run, t)
		a.mu.Lock()
		l.interrupt()
		l.interrupt, l.running = nil, nil
		a.finish(t.event, ack)
		a.mu.Unlock()
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
		a.finish(t.event, stopping)
	}
	delete(a.lanes, key)
	return false
}

// carryOut does one task and says what became of it. life ends with the daemon, run when something newer must not wait.
func (a *Automation) carryOut(life, run context.Context, t task) wire.Ack {
	now := time.Now()
	switch {
	case life.Err() != nil:
		return stopping
	case !now.Before(t.deadline):
		return wire.Ack{Status: wire.Expired, Detail: "its time ran out while it waited"}
	}
	cmd := t.order.command
	cmd.Expiry = t.deadline // at the latest: the core gives each bus what its part of the fan-out takes
	if soon := now.Add(lightTime); t.Origin != wire.OriginAPI && !cmd.Kind.IsShade() && soon.Before(t.deadline) {
		cmd.Expiry = soon
	}
	cmd.Origin = originOf(t.WidgetAction)
	outcomes := make([]outcome, len(t.clusters))
	var wg sync.WaitGroup
	for i, id := range t.clusters {
		cmd.Target = appliance.Target{Scope: appliance.InCluster, ID: id}
		wg.Go(func() { outcomes[i].entry, outcomes[i].err = a.core.Do(run, cmd) })
	}
	wg.Wait()
	if run.Err() != nil && life.Err() == nil && !t.order.stops() {
		ack := superseded
		ack.Command = commands(outcomes)
		return ack
	}
	snapshot := a.core.Snapshot()
	ack := judge(outcomes)
	ack.Things, ack.Not = exceptions(snapshot, outcomes)
	ack.Widgets = values(snapshot, t.clusters)
	return ack
}

// originOf says in the ledger who asked, and through which of the platform's doors. None is that of rules: what a person
// asks for is set by hand.
func originOf(a wire.WidgetAction) appliance.Origin {
	by := appliance.Origin{Who: clip(a.By), Via: a.Origin, Why: fmt.Sprintf("%s %s %s", a.WidgetID, a.Action, clip(a.Value))}
	switch {
	case a.Origin == wire.OriginAPI:
		by.Via = "assistant"
		if by.Who == "" {
			by.Who = wire.OriginAPI
		}
	case by.Who == "":
		by.Who = strings.TrimSpace(a.Origin + " " + clip(a.WorkspaceName))
	}
	return by
}

// outcome of a command at one cluster.
type outcome struct {
	entry appliance.Entry
	err   error
}

// judge makes one answer of what the ledger says of every cluster. A cluster that has nothing which could obey is
// passed over, unless none has.
func judge(outcomes []outcome) wire.Ack {
	ack := wire.Ack{Status: wire.Applied, Command: commands(outcomes)}
	var problems, unable []string
	for _, o := range outcomes {
		for _, m := range o.entry.Members {
			if m.Offline {
				ack.Offline++
			}
		}
		switch {
		case errors.Is(o.err, appliance.ErrUnable):
			unable = append(unable, o.err.Error())
		case o.err != nil:
			problems = append(problems, o.err.Error())
		case !o.entry.OK():
			problems = append(problems, o.entry.Err)
		}
	}
	if len(unable) == len(outcomes) {
		problems = unable
	}
	if len(problems) > 0 {
		ack.Status, ack.Detail = wire.Failed, strings.Join(problems, "; ")
	}
	return ack
}

func commands(outcomes []outcome) string {
	var ids []string
	for _, o := range outcomes {
		if o.entry.ID != "" {
			ids = append(ids, o.entry.ID)
		}
	}
	return strings.Join(ids, ", ")
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
