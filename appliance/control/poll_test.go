package control

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// asker is a driver that only polls.
type asker struct{ polls []appliance.Poll }

func (a asker) Run(ctx context.Context) error             { <-ctx.Done(); return nil }
func (a asker) Plan([]appliance.Want) []appliance.Chain   { return nil }
func (a asker) Repair([]appliance.Want) []appliance.Chain { return nil }
func (a asker) Polls() []appliance.Poll                   { return a.polls }

// A poll that a command overtakes before it is begun is as urgent as it was.
func TestPollThatGaveWayIsNotTakenForDone(t *testing.T) {
	asked := 0
	ref := appliance.Ref{Node: 1, Channel: 1}
	d := asker{[]appliance.Poll{{Class: appliance.ClassPower, Exchange: appliance.Exchange{Device: "1", Refs: []appliance.Ref{ref}, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
		asked++
		return appliance.Result{Sent: time.Now()}, nil
	}}}}}
	log := slog.New(slog.DiscardHandler)
	cfg := appliance.BusConfig{Log: log, Last: func(appliance.Ref) (appliance.Values, bool) { return appliance.Values{}, false }}
	b := newBus(&engine.Wiring{Config: cfg, Opened: appliance.Opened{Driver: d}}, New(Options{Log: log}))
	task := b.look()
	if task == nil {
		t.Fatal("nothing to do")
	}
	now := time.Now()
	run := newRecord(1, appliance.Command{}, []appliance.Want{{Ref: ref}}, now)
	b.mail.put(mail{event: engine.Command{ID: 1, Wants: run.wants, Places: []int{0}, Accepted: now, Ceiling: now.Add(time.Second)}, record: run})
	if b.perform(t.Context(), task); asked != 0 {
		t.Fatal("it did not give way")
	}
	b.look() // the command is dealt with
	if b.todo == nil {
		t.Errorf("the poll is not due for %v", time.Until(b.wakeAt))
	}
}
