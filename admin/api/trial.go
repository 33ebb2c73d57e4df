package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// timesMost bounds the moments that a trial tells of; all are counted.
const timesMost = 500

// Trial is when a rule would have had reason to act.
type Trial struct {
	From  time.Time   `json:"from"`
	To    time.Time   `json:"to"`
	Since *time.Time  `json:"since" doc:"From when on it is known, if not from the beginning on; null: nothing is known."`
	Count int         `json:"count"`
	Times []time.Time `json:"times" doc:"The first 500."`
}

// trial tells when a rule would have had reason to act, whether it exists or not.
func (a *API) trial(c echo.Context) error {
	var in RuleEdit
	if err := read(c, &in); err != nil {
		return err
	}
	days, err := number(c, "days", 14, 35)
	if err != nil {
		return err
	}
	if in.When == nil {
		return meaningless("/when", "is missing")
	}
	var rule appliance.Rule
	if rule.When, err = in.When.trigger(); err != nil {
		return err
	}
	s, now := a.Core.Snapshot(), time.Now()
	out := Trial{From: stamp(now.AddDate(0, 0, -days)), To: stamp(now), Times: []time.Time{}}
	if node := s.Node(rule.When.Node); rule.When.Kind == appliance.OnValue && rule.When.Channel == 0 {
		if node == nil {
			return meaningless("/when/node", "there is no such node")
		}
		if len(node.Channels) > 1 {
			return meaningless("/when/channel", "the history has the outputs of this node one by one; choose one")
		}
		rule.When.Channel = 1
	}
	times, known, err := a.Rules.Trial(rule, out.From, now, func(want func(appliance.Track) bool, tell func(appliance.Past) error) error {
		return a.History.Replay(c.Request().Context(), out.From, now, want, tell)
	})
	if err != nil && !errors.Is(err, appliance.ErrNoPast) {
		return err
	}
	out.Since = stampOf(known)
	out.Count = len(times)
	for _, at := range times[:min(len(times), timesMost)] {
		out.Times = append(out.Times, stamp(at))
	}
	return answer(c, http.StatusOK, out)
}
