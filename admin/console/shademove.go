package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"

	"github.com/spf13/cobra"
)

func newShadeMoves(a *App) []*cobra.Command {
	return []*cobra.Command{
		a.newCommand(shadesMeant, &cobra.Command{
			Use: "open [SHADE…]", Short: "Open shades all the way",
			Example: "  controllerd shade open 5001 \"Lobby south\"\n  controllerd shade open --all --wait",
		}, "shade-open"),
		a.newCommand(shadesMeant, &cobra.Command{
			Use: "close [SHADE…]", Short: "Close shades all the way",
			Example: "  controllerd shade close --cluster Lobby",
		}, "shade-close"),
		a.newCommand(shadesMeant, &cobra.Command{
			Use: "stop [SHADE…]", Short: "Stop shades where they are",
			Example: "  controllerd shade stop --all",
		}, "shade-stop"),
		a.newCommand(shadesMeant, &cobra.Command{
			Use: "set PERCENT [SHADE…]", Short: "Move shades so far open: 100 is up, 0 is down",
			Example: "  controllerd shade set 60 5001\n  controllerd shade set 30 --cluster Lobby --wait=2m",
		}, "shade-move-to"),
	}
}

const (
	// waitMost is how long is waited for shades where nothing else is said: longer than any of them travels.
	waitMost = 5 * time.Minute
	// lookEvery is how often is looked whether they stand; that touches no bus.
	lookEvery = 300 * time.Millisecond
	// restFor is how long a shade has to stand elsewhere until it counts as left there: it may turn round, or begin late.
	restFor = 3 * time.Second
	// nearEnough of where a shade was sent, in percent points, besides what is not certain.
	nearEnough = 2
)

// stood is where a shade ended that was waited for.
type stood struct {
	id    appliance.ID
	there bool // where it was sent
	said  string
}

// goalOf is how far open a command sends shades; false: it stops them.
func goalOf(e api.Entry) (percent int, ok bool) {
	switch {
	case e.Position != nil:
		return *e.Position, true
	case e.Kind == "shade-open":
		return 100, true
	}
	return 0, e.Kind == "shade-close"
}

// awaitShades waits until all shades stand that took a command, and tells where.
func (a *App) awaitShades(ctx context.Context, entries []api.Entry, most time.Duration) (ends []stood, err error) {
	under := map[appliance.ID]*way{}
	for _, e := range entries {
		for _, m := range e.Members {
			if m.Shade != 0 && stageSaid[m.Stage] != "" && m.Stage != "offline" {
				under[m.Shade] = &way{of: e}
			}
		}
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	over := time.Now().Add(most)
	for len(under) > 0 {
		shades, err := a.shades(ctx)
		if err != nil {
			return nil, err
		}
		for id, w := range under {
			i := slices.IndexFunc(shades, func(s api.Shade) bool { return s.ID == id })
			if i < 0 {
				ends = append(ends, stood{id, false, "was removed meanwhile"})
				delete(under, id)
				continue
			}
			said, there := w.look(shades[i], time.Now())
			if said == "" && time.Now().After(over) {
				said = fmt.Sprintf("still on its way after %v: %s", most, shownPosition(shades[i]))
			}
			if said != "" {
				ends = append(ends, stood{id, there, said})
				delete(under, id)
			}
		}
		if len(under) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-look.C:
		}
	}
	return ends, nil
}

// way is one that a shade is waited for on.
type way struct {
	of    api.Entry
	since time.Time // it stands elsewhere than it was sent; zero: it moves
}

// look tells where a shade stands for good, and whether that is where it was sent; nothing while it may still move.
func (w *way) look(s api.Shade, now time.Time) (said string, there bool) {
	goal, moves := goalOf(w.of)
	stopped := s.Motion == "stopped"
	switch {
	case !s.Online:
		return "does not answer any more", false
	case stopped && !moves:
		return "stopped at " + shownPosition(s), true
	case stopped && s.Position != nil && max(s.Position.Value-goal, goal-s.Position.Value) <= max(nearEnough, s.Uncertainty):
		return "there: " + shownPosition(s), true
	case !stopped && s.Motion != "unknown":
		w.since = time.Time{}
		return "", false
	}
	if w.since.IsZero() {
		w.since = now
	}
	switch {
	case now.Sub(w.since) < restFor:
		return "", false
	case s.Position == nil:
		return "nobody can tell where it stands", false
	}
	return "stands at " + shownPosition(s), false
}
