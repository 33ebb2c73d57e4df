package assistant

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// fate is what became of an order: one of three words.
type fate string

// The fates.
const (
	fateDone  fate = "done"
	fateUnder fate = "on its way" // moving, fading, or sent and not yet read
	fateNot   fate = "not done"
)

// result is what became of an order in one zone.
type result struct {
	Step
	Outcome platform.Outcome `json:"outcome"`
	Error   string           `json:"error,omitempty"`
	Sent    bool             `json:"sent,omitempty"` // its controller has not answered
	Fate    fate             `json:"fate"`
	Things  int              `json:"things,omitempty"` // addressed; 0: not known
	Not     []string         `json:"not,omitempty"`    // who does not have it, and why, for people
}

// judge says of a zone what became of the order there, from what the controller answered and, if devices are given, what it has
// reported since. lang is the language of the reasons.
func (r *result) judge(lang understand.Lang, devices []platform.Device) {
	r.Things, r.Not = r.Outcome.Things, nil
	failed := map[int64]bool{}
	for _, x := range r.Outcome.Not {
		if r.Action.StopShade && stands(devices, x) {
			continue // a stop of what stands is done
		}
		failed[x.ID] = true
		r.Not = append(r.Not, label(x.Name)+" "+in(lang, platform.WhyNot(x.Why)))
	}
	switch {
	case r.Sent && (devices == nil || !r.shown(devices, nil)):
		r.Fate = fateUnder
	case r.Sent: // its controller did not say so, but reports it
		r.Fate, r.Sent = fateDone, false
	case r.Error != "":
		r.Fate = fateNot
	case r.Things == 0 && !r.Outcome.Done: // an older controller, which names nobody
		r.Fate, r.Not = fateNot, []string{reason(r.Outcome.Detail)}
	case r.Things > 0 && len(failed) >= r.Things:
		r.Fate = fateNot
	case !r.shown(devices, failed):
		r.Fate = fateUnder
	default:
		r.Fate = fateDone
	}
}

// shown reports whether the devices of the zone are as they were told to be, apart from those that failed.
func (r *result) shown(devices []platform.Device, failed map[int64]bool) bool {
	return !slices.ContainsFunc(devices, func(d platform.Device) bool {
		return slices.Contains(d.Zones, r.Zone.ID) && !failed[d.ID] && !shows(d, r.Action)
	})
}

// stands reports whether an exception is a shade that answers and does not move.
func stands(devices []platform.Device, x platform.Exception) bool {
	return !slices.Contains([]string{"offline", "silent", "bus", "late"}, x.Why) && slices.ContainsFunc(devices, func(d platform.Device) bool {
		return d.Kind == x.Kind && d.ID == x.ID && d.Online && !moves(d)
	})
}

func moves(d platform.Device) bool {
	return slices.Contains([]string{"opening", "closing", "moving"}, d.Motion)
}

// shows reports whether a device is as an action wants it, or is none that would ever tell.
func shows(d platform.Device, do platform.Action) bool {
	near := func(r *platform.Reading, goal int) bool { return r != nil && math.Abs(r.Value-float64(goal)) <= 1 }
	switch {
	case !d.Online:
		return true
	case do.Level != nil && facts.Kind(d) == platform.KindLight:
		onOff := !slices.Contains(d.Abilities, "dim")
		return near(d.Level, *do.Level) || onOff && d.Level != nil && d.Level.Value > 0 == (*do.Level > 0)
	case do.Position != nil && facts.Kind(d) == platform.KindShade:
		return !moves(d) && near(d.Position, *do.Position)
	case do.StopShade && facts.Kind(d) == platform.KindShade:
		return !moves(d)
	}
	return true
}

// lookEvery is how often it is looked at whether an order shows.
const lookEvery = 100 * time.Millisecond

// reportsBehind is how long after its hardware the reports of a controller may show something: it looks every half second what has
// changed.
const reportsBehind = time.Second

// settleOrder waits until what the controller reports tells what became of an order that was sent gone ago, and no longer when all
// that is left are shades on their way: states come a moment after the acknowledgement, and who asks next should not be told of
// before. At most it waits as long as the controller gave its hardware, and then for its reports; if that did not say, for
// [Config.Settle].
func (e *Assistant) settleOrder(ctx context.Context, o *Ordered, gone time.Duration) {
	most := e.Settle
	for _, r := range o.Results {
		if within := r.Outcome.Within; within > 0 {
			most = max(most, within+reportsBehind-gone)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		devices, err := e.Sites.Devices(ctx, o.Controller)
		if err == nil && o.judge(devices) && !o.waits(devices) {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// Ordered is an order that was sent.
type Ordered struct {
	ID         string          `json:"id"`
	Controller string          `json:"controller"`
	Lang       understand.Lang `json:"lang"`
	At         time.Time       `json:"at"`
	EndedAt    time.Time       `json:"endedAt,omitzero"` // zero: something is on its way
	Results    []result        `json:"results"`
}

// judge judges every zone; it returns true.
func (o *Ordered) judge(devices []platform.Device) bool {
	for i := range o.Results {
		o.Results[i].judge(o.Lang, devices)
	}
	return true
}

// under reports whether anything is on its way still.
func (o *Ordered) under() bool {
	return slices.ContainsFunc(o.Results, func(r result) bool { return r.Fate == fateUnder })
}

// waits reports whether something was sent of which the reports tell neither that it is there nor that it moves.
func (o *Ordered) waits(devices []platform.Device) bool {
	return slices.ContainsFunc(o.Results, func(r result) bool {
		return r.Fate == fateUnder && !r.Sent && !slices.ContainsFunc(devices, func(d platform.Device) bool {
			return slices.Contains(d.Zones, r.Zone.ID) && r.Action.Position != nil && moves(d)
		})
	})
}

// text tells what became of the order, in three words, by what was to be done.
func (o *Ordered) text() string {
	var parts []string
	for _, f := range []fate{fateDone, fateUnder, fateNot} {
		var what []string
		zones := map[string][]string{}
		for _, r := range o.Results {
			if r.Fate != f {
				continue
			}
			key := leadsTo(o.Lang, r.Action)
			if zones[key] == nil {
				what = append(what, key)
			}
			zones[key] = append(zones[key], label(r.Zone.Name)+r.exceptions(o.Lang))
		}
		var lines []string
		for _, key := range what {
			if f == fateNot {
				lines = append(lines, key+": "+strings.Join(zones[key], "; "))
			} else {
				lines = append(lines, key+": "+listIn(o.Lang, zones[key]))
			}
		}
		if len(lines) > 0 {
			parts = append(parts, upper(in(o.Lang, string(f)))+": "+strings.Join(lines, "; ")+".")
		}
	}
	return strings.Join(parts, " ")
}

// leadsTo is what an action leads to: "lights off".
func leadsTo(lang understand.Lang, a platform.Action) string {
	switch {
	case a.Level != nil && *a.Level == 0:
		return in(lang, "lights off")
	case a.Level != nil:
		return in(lang, "lights at %d %%", *a.Level)
	case a.Position != nil && *a.Position == 0:
		return in(lang, "shades closed")
	case a.Position != nil && *a.Position == 100:
		return in(lang, "shades open")
	case a.Position != nil:
		return in(lang, "shades %d %% open", *a.Position)
	}
	return in(lang, "shades stopped")
}

// exceptionsNamed is how many of a zone that did not obey are named.
const exceptionsNamed = 5

// exceptions words who does not have it, and how many have.
func (r *result) exceptions(lang understand.Lang) string {
	switch {
	case r.Sent:
		return " (" + in(lang, "sent, and its controller has not answered yet") + ")"
	case r.Error != "":
		return ", " + reason(r.Error)
	case len(r.Not) == 0:
		return ""
	case r.Fate == fateNot:
		return ", " + someIn(lang, r.Not, exceptionsNamed)
	case r.Things > len(r.Not):
		return " (" + in(lang, "%d of %d", r.Things-len(r.Not), r.Things) + "; " + someIn(lang, r.Not, exceptionsNamed) + ")"
	}
	return " (" + someIn(lang, r.Not, exceptionsNamed) + ")"
}
