package automation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// byRule is the door that rules command through, in the ledger.
	byRule = "automation"
	// atOnce bounds the commands of rules and scenes that are under way together.
	atOnce = 16
	// waitingRuns bounds the runs that wait for their turn; a rule that finds no place acts not at all rather than late.
	waitingRuns = 64
	// runTime is how long a run may take until its last command begins.
	runTime = 30 * time.Second
	// runsKept is how many runs are remembered.
	runsKept = 200
	// valuesPace is how often values are looked at while things change.
	valuesPace = 200 * time.Millisecond
)

// RulesCore is what rules see of the controller, and act through.
type RulesCore interface {
	Core
	Entries() *appliance.Feed[appliance.Entry]
}

// Rules lets the rules of the site act, and recalls its scenes.
type Rules struct {
	core RulesCore
	log  *slog.Logger
	turn chan struct{} // commands under way

	cursor uint64 // of the ledger; Run's own

	mu      sync.Mutex
	engine  *engine
	runs    []appliance.RuleRun // oldest first
	waiting int                 // runs that are not done
	wg      sync.WaitGroup
}

// NewRules makes what lets the rules of the core's site act. What was due before start never acts.
func NewRules(core RulesCore, start time.Time, log *slog.Logger) *Rules {
	return &Rules{core: core, log: log, turn: make(chan struct{}, atOnce), cursor: core.Entries().End(), engine: newEngine(start)}
}

// Remember takes over what was set by hand before the start, from the ledger.
func (r *Rules) Remember(entries []appliance.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		r.engine.hand(e)
	}
}

// Run lets rules act until ctx ends, and returns when nothing of theirs is under way any more.
func (r *Rules) Run(ctx context.Context) error {
	defer r.wg.Wait()
	for {
		s := r.core.Snapshot()
		wake := time.NewTimer(r.step(ctx, s))
		select {
		case <-wake.C:
		case <-s.Superseded():
			wake.Reset(valuesPace)
			select {
			case <-wake.C:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		wake.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// step looks once at what happened, and says how long time alone gives no reason to look again.
func (r *Rules) step(ctx context.Context, s *appliance.Snapshot) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, next, _ := r.core.Entries().Since(r.cursor)
	r.cursor = next
	for _, e := range entries {
		r.engine.hand(e)
	}
	now := time.Now()
	for _, f := range r.engine.tick(now, s) {
		r.start(ctx, f, s)
	}
	return max(r.engine.next(now).Sub(now), time.Millisecond)
}

// start carries a firing out beside everything else. The caller holds mu.
func (r *Rules) start(ctx context.Context, f firing, s *appliance.Snapshot) {
	if f.fade != nil {
		r.startStep(ctx, f, s)
		return
	}
	run := appliance.RuleRun{At: f.at, Rule: f.rule.ID, Name: f.rule.Name, Why: f.why, Left: f.left}
	var list []appliance.Command
	switch {
	case f.left != "":
	case r.waiting >= waitingRuns:
		run.Left = "too many rules act at once"
	default:
		list, run.Left = r.engine.commands(f, s)
	}
	if len(list) == 0 {
		switch {
		case run.Left != "":
		case len(f.rule.Actions) > 0 && len(f.actions) == 0:
			run.Left = "what it does comes later"
		default:
			run.Left = "it has nothing to do"
		}
		r.note(run)
		return
	}
	r.waiting++
	r.wg.Go(func() {
		outcomes := r.perform(ctx, list)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
		if ack := judge(outcomes); ack.Detail != "" {
			run.Left = strings.TrimPrefix(run.Left+"; "+ack.Detail, "; ")
		}
		run.Commands = entriesOf(outcomes)
		r.note(run)
	})
}

// startStep carries out a step of a fade, which is one run, noted when it ends. The caller holds mu.
func (r *Rules) startStep(ctx context.Context, f firing, s *appliance.Snapshot) {
	fd, over := f.fade, f.left != "" || f.fade.seen == f.fade.steps
	var list []appliance.Command
	switch {
	case f.left != "":
		fd.leave(f.left)
	case r.waiting >= waitingRuns:
		fd.leave("too many rules act at once")
	default:
		list = r.engine.step(f, s)
	}
	if len(list) == 0 {
		if over {
			r.note(fd.run())
		}
		return
	}
	fd.busy = true
	r.waiting++
	r.wg.Go(func() {
		outcomes := r.perform(ctx, list)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
		fd.busy = false
		if ack := judge(outcomes); ack.Detail != "" {
			fd.leave(ack.Detail)
		}
		fd.commands = append(fd.commands, entriesOf(outcomes)...)
		if over {
			r.note(fd.run())
		}
	})
}

// entriesOf are the IDs in the ledger.
func entriesOf(outcomes []outcome) (ids []string) {
	for _, o := range outcomes {
		if o.entry.ID != "" {
			ids = append(ids, o.entry.ID)
		}
	}
	return ids
}

func (r *Rules) note(run appliance.RuleRun) {
	r.log.Info("rule", "id", run.Rule, "rule", run.Name, "why", run.Why, "commands", len(run.Commands), "left", run.Left)
	if len(r.runs) >= runsKept {
		r.runs = append(r.runs[:0], r.runs[1:]...)
	}
	r.runs = append(r.runs, run)
}

// perform carries commands out: those for the same thing one after the other, others together. What has not begun in time
// is left.
func (r *Rules) perform(ctx context.Context, list []appliance.Command) []outcome {
	outcomes := make([]outcome, len(list))
	deadline := time.Now().Add(runTime)
	for begin := 0; begin < len(list); {
		end := batch(list, begin)
		var wg sync.WaitGroup
		for i := begin; i < end; i++ {
			select {
			case r.turn <- struct{}{}:
			case <-ctx.Done():
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				outcomes[i].err = errors.New("its time ran out while it waited")
				if ctx.Err() == nil {
					<-r.turn
				}
				continue
			}
			wg.Go(func() {
				defer func() { <-r.turn }()
				outcomes[i].entry, outcomes[i].err = r.core.Do(ctx, list[i])
			})
		}
		wg.Wait()
		begin = end
	}
	return outcomes
}

// batch is where those commands end, from begin on, that are each for something else.
func batch(list []appliance.Command, begin int) int {
	type thing struct {
		appliance.Target
		shades bool
	}
	seen := map[thing]bool{}
	for i := begin; i < len(list); i++ {
		t := thing{list[i].Target, list[i].Kind.IsShade()}
		if seen[t] || t.Scope != list[begin].Target.Scope {
			return i
		}
		seen[t] = true
	}
	return len(list)
}

// Recall recalls a scene for somebody. It fails with appliance.ErrNotFound where there is none.
func (r *Rules) Recall(ctx context.Context, scene appliance.ID, by appliance.Origin) ([]appliance.Entry, error) {
	s := r.core.Snapshot()
	sc := sceneOf(s, scene)
	if sc == nil {
		return nil, fmt.Errorf("scene %d: %w", scene, appliance.ErrNotFound)
	}
	by.Why = "scene " + sc.Name
	return r.now(ctx, sc.Actions, s, by)
}

// Try does what a rule does, now and for somebody: what it does later as well, at once, and of a fade the goal.
func (r *Rules) Try(ctx context.Context, rule appliance.ID, by appliance.Origin) ([]appliance.Entry, error) {
	s := r.core.Snapshot()
	ru := ruleOf(s.Site, rule)
	if ru == nil {
		return nil, fmt.Errorf("rule %d: %w", rule, appliance.ErrNotFound)
	}
	by.Why = "rule " + ru.Name + ", tried"
	return r.now(ctx, slices.SortedStableFunc(slices.Values(ru.Actions), func(a, b appliance.Action) int { return cmp.Compare(a.After, b.After) }), s, by)
}

// now carries actions out for somebody who waits for it.
func (r *Rules) now(ctx context.Context, actions []appliance.Action, s *appliance.Snapshot, by appliance.Origin) ([]appliance.Entry, error) {
	var list []appliance.Command
	for _, a := range actions {
		if sc := sceneOf(s, a.Scene); sc != nil {
			for _, a := range sc.Actions {
				list = append(list, a.Command(by))
			}
		} else if a.Scene == 0 {
			list = append(list, a.Command(by))
		}
	}
	var entries []appliance.Entry
	var wrong []error
	for _, o := range r.perform(ctx, list) {
		if o.entry.ID != "" {
			entries = append(entries, o.entry)
		} else if o.err != nil {
			wrong = append(wrong, o.err)
		}
	}
	return entries, errors.Join(wrong...)
}

// Runs are the last ones, newest first.
func (r *Rules) Runs() []appliance.RuleRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.runs)
	slices.Reverse(out)
	return out
}

// Preview lists what is due by clock and sun in a span of time.
func (r *Rules) Preview(from, to time.Time) []appliance.Due {
	s := r.core.Snapshot()
	return CalendarOf(s.Site.Division).Due(s.Site.Rules, from, to)
}

// Hands are what rules leave alone now because somebody set it by hand.
func (r *Rules) Hands() []appliance.Hand {
	s := r.core.Snapshot()
	var longest time.Duration
	for _, rule := range s.Site.Rules {
		if !rule.Disabled {
			longest = max(longest, rule.Yields)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []appliance.Hand{}
	for _, h := range r.engine.hands {
		if time.Since(h.At) < longest {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b appliance.Hand) int {
		return cmp.Or(cmp.Compare(a.Ref.Node, b.Ref.Node), cmp.Compare(a.Ref.Shade, b.Ref.Shade))
	})
	return out
}

// Release lets rules act again on what was set by hand.
func (r *Rules) Release(refs []appliance.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engine.release(refs)
}
