package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// acceptAfter is when who wants to know is told that a command is under way, and how long it has.
const acceptAfter = 800 * time.Millisecond

// carryOut does one task and says what became of it. life ends with the daemon, run when something newer must not wait.
func (a *Automation) carryOut(life, run context.Context, t task) wire.Ack {
	now := time.Now()
	switch {
	case life.Err() != nil:
		return stopping
	case !now.Before(t.deadline):
		return wire.Ack{Status: wire.Expired, Detail: "its time ran out while it waited"}
	}
	has := &t.asked.has
	has.begin(now)
	if t.Accept {
		soon := time.AfterFunc(acceptAfter, func() {
			t.asked.accepted.Do(func() { a.answer(t.ID, wire.Ack{Status: wire.Accepted, Within: has.milliseconds()}) })
		})
		defer soon.Stop()
	}
	outcomes := make([]outcome, len(t.commands))
	for begin := 0; begin < len(t.commands); {
		end := min(batch(t.commands, begin), begin+partsMost)
		var wg sync.WaitGroup
		for i := begin; i < end; i++ {
			cmd := t.commands[i]
			cmd.Expiry = t.deadline // at the latest: the core gives each bus what its part of the fan-out takes
			switch {
			case run.Err() != nil: // else it would be begun
				outcomes[i].err = run.Err()
			case !time.Now().Before(t.deadline):
				outcomes[i].err = errors.New("its time ran out before all of it was begun")
			default:
				wg.Go(func() { outcomes[i].entry, outcomes[i].err = a.core.DoTelling(run, cmd, has.until) })
			}
		}
		wg.Wait()
		begin = end
	}
	if life.Err() != nil {
		return stopped
	}
	if run.Err() != nil && !t.order.stops() {
		ack := superseded
		ack.Command = commands(outcomes)
		return ack
	}
	snapshot := a.core.Snapshot()
	ack := judge(outcomes)
	ack.Things, ack.Not = exceptions(snapshot, outcomes)
	ack.Within, ack.Widgets = has.milliseconds(), values(snapshot, t.clusters)
	return ack
}

// partsMost bounds the commands of one tap that are under way together: one device that is silent must not keep those behind it
// waiting until their time is over.
const partsMost = 64

// allowance is how long what somebody asked for has, as far as the core has told.
type allowance struct {
	mu         sync.Mutex
	began, due time.Time
}

// begin notes when the first of it was begun.
func (a *allowance) begin(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.began.IsZero() {
		a.began = now
	}
}

func (a *allowance) until(due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if due.After(a.due) {
		a.due = due
	}
}

// milliseconds of it, rounded up; 0: nothing was told.
func (a *allowance) milliseconds() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(0, int64((a.due.Sub(a.began)+time.Millisecond-1)/time.Millisecond))
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
	return strings.Join(entriesOf(outcomes), ", ")
}
