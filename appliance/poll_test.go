package appliance

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// asker is a driver that only polls.
type asker struct{ polls []Poll }

func (a asker) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (a asker) Plan([]Want) []Chain           { return nil }
func (a asker) Repair([]Want) []Chain         { return nil }
func (a asker) Polls() []Poll                 { return a.polls }

// A poll that a command overtakes before it is begun is as urgent as it was.
func TestPollThatGaveWayIsNotTakenForDone(t *testing.T) {
	asked := 0
	ref := Ref{Node: 1, Channel: 1}
	d := asker{[]Poll{{Class: ClassPower, Exchange: Exchange{Device: "1", Refs: []Ref{ref}, Do: func(context.Context, Yield) (Result, error) {
		asked++
		return Result{Sent: time.Now()}, nil
	}}}}}
	b := newBus(BusConfig{Log: slog.New(slog.DiscardHandler)}, Opened{Driver: d}, newState())
	b.trials = &trials{}
	now := time.Now()
	b.look(now)
	task, _ := b.next(now)
	if task == nil {
		t.Fatal("nothing to do")
	}
	run := newRecord(1, Command{}, []Want{{Ref: ref}}, now)
	b.submit(job{members: run.members, expiry: now.Add(time.Second)})
	if b.do(t.Context(), task); asked != 0 {
		t.Fatal("it did not give way")
	}
	b.look(time.Now()) // the command is dealt with
	if task, wait := b.next(time.Now()); task == nil {
		t.Errorf("the poll is not due for %v", wait)
	}
}
