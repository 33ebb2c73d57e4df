package control

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"svc.internal/controller/appliance"
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
	b := newBus(appliance.BusConfig{Log: slog.New(slog.DiscardHandler)}, appliance.Opened{Driver: d}, newState())
	b.trials = &trials{}
	now := time.Now()
	b.look(now)
	task, _ := b.next(now)
	if task == nil {
		t.Fatal("nothing to do")
	}
	run := newRecord(1, appliance.Command{}, []appliance.Want{{Ref: ref}}, now)
	b.submit(job{members: run.members, expiry: now.Add(time.Second)})
	if b.do(t.Context(), task); asked != 0 {
		t.Fatal("it did not give way")
	}
	b.look(time.Now()) // the command is dealt with
	if task, wait := b.next(time.Now()); task == nil {
		t.Errorf("the poll is not due for %v", wait)
	}
}
