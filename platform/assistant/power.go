package assistant

import (
	"cmp"
	"slices"
	"strings"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// power answers what is drawn, now or over a period.
func (a *asked) power() (answer, error) {
	switch {
	case a.q.Is(understand.Future):
		return answer{text: a.f("I do not know: that has not happened yet, and I make no forecasts.")}, nil
	case a.q.Aspect == "bykind":
		return answer{text: a.byKind()}, nil
	case a.q.Aspect == "counter" && a.q.Op != understand.Tell:
		return answer{text: a.counterUnknown()}, nil
	case a.q.Op == understand.Why:
		return a.why(a.power)
	case a.q.Op == understand.Usual:
		return a.usual()
	case a.q.Op == understand.PerUnit:
		return a.perUnit()
	case a.q.Op == understand.Sum && len(a.q.Mentioned()) > 1 && (a.q.When == nil || a.q.When.Now):
		return a.togetherNow()
	case a.q.Op == understand.Share && (a.q.When == nil || a.q.When.Now):
		return a.sharePower()
	case a.cond(understand.Watt) != nil && (a.q.When == nil || a.q.When.Now):
		return a.boundedPower(*a.cond(understand.Watt))
	case (a.q.Op == understand.Compare || a.q.Op == understand.Difference) && len(a.q.Mentioned()) < 2:
		return answer{text: a.f("Compared with what? Name two places.")}, nil
	case a.q.When != nil && !a.q.When.Now, a.q.Op == understand.Average && a.q.When == nil, a.q.Aspect == "peak", a.q.Aspect == "base", a.q.By == "hour", a.q.By == "day":
		return a.powerOver()
	case a.q.Aspect == "counter" && a.q.By != "" && a.q.When == nil:
		a.q.Aspect = ""
		said, err := a.power()
		said.text = sentences(a.counterUnknown(), said.text)
		return said, err
	case a.q.By == "" && (a.q.Op == understand.Most || a.q.Op == understand.Least) && len(a.q.Places) == 0:
		a.q.By = "meter" // the zones that have none of their own may draw more than those that have
		return a.rankPower()
	case a.q.By != "" || a.q.Op == understand.Most || a.q.Op == understand.Least:
		return a.rankPower()
	case (a.q.Op == understand.Compare || a.q.Op == understand.Difference) && len(a.q.Mentioned()) >= 2:
		return a.comparePower()
	}
	return a.powerNow(a.site.PowerOf(a.scope))
}

func (a *asked) counterUnknown() string {
	return a.f("What a meter's counter stands at is not reported to the platform; I know what it measures now, and the energy of a time that you name.")
}

// powerNow words what is drawn now.
func (a *asked) powerNow(p facts.Power) (answer, error) {
	if len(p.Parts) == 0 {
		return answer{a.noPower(p), p}, nil
	}
	if a.q.Aspect == "counter" {
		a.q.Aspect = ""
		said, err := a.powerNow(p)
		said.text = sentences(a.counterUnknown(), said.text)
		return said, err
	}
	var known, unknown []string
	for _, one := range p.Parts {
		if one.Condition == facts.Current {
			known = append(known, a.f("%s %s", label(one.Name), a.watts(*one.Value)))
		} else {
			unknown = append(unknown, label(one.Name)+" ("+a.condition(one)+")")
		}
	}
	switch {
	case len(known) == 0:
		return answer{sentences(a.f("I do not know what %s draws now: %s.", a.where(), strings.Join(unknown, "; ")), a.offerEstimate(), strings.TrimSpace(awayIn(a.q.Lang, p.Basis, a.site.Now))), p}, nil
	case len(unknown) > 0:
		return answer{sentences(a.f("The sum for %s is not known now: %s. What reports: %s.", a.where(), strings.Join(unknown, "; "), a.some(known, 12)), a.basis(p.Basis)), p}, nil
	}
	text := a.f("%s draws %s now.", upper(a.where()), a.watts(p.Watts))
	if len(p.Missing) > 0 {
		text = a.f("What is measured of %s draws %s now.", a.where(), a.watts(p.Watts))
	}
	switch {
	case p.ByLight:
		text += a.f(" That is the sum of %s that measure themselves.", a.count(len(p.Parts), "light"))
	case len(known) > 1:
		text += " " + a.f("By meter: %s.", strings.Join(known, ", "))
	default:
		text += " " + a.f("Meter: %s.", quoted(p.Parts[0].Name))
	}
	if p.Unassigned {
		text += a.f(" Nobody entered what these meters cover, so their sum may count something twice or leave something out.")
	}
	if len(p.Missing) > 0 {
		text += " " + a.f("Not measured and not in it: %s.", a.zoneNames(p.Missing))
	}
	return answer{sentences(text, a.basis(p.Basis)), p}, nil
}

// condition says why a reading is not taken for the present.
func (a *asked) condition(one facts.Thing) string {
	now := a.site.Now
	switch {
	case one.Condition == facts.Away && !a.site.Controller.Online:
		return a.f("the controller does not report")
	case one.Condition == facts.Away && one.LastSeen.IsZero():
		return a.f("offline, never seen")
	case one.Condition == facts.Away:
		return a.f("offline, last seen %s ago", lengthIn(a.q.Lang, now.Sub(one.LastSeen)))
	case one.Condition == facts.Stale && one.Source == "restored":
		return a.f("not read since a restart")
	case one.Condition == facts.Stale:
		return a.f("its last reading is %s old", lengthIn(a.q.Lang, now.Sub(one.At)))
	case one.Condition == facts.Unknown && one.Motion != "":
		return a.f("position not known")
	case one.Condition == facts.Unknown:
		return a.f("never read")
	}
	return ""
}

// silence says in a sentence why it is not known what a thing does.
func (a *asked) silence(one facts.Thing) string {
	why, name := a.condition(one), label(one.Name)
	switch {
	case one.Condition == facts.Away && !a.site.Controller.Online:
		return a.f("%s what %s does", why, name)
	case one.Condition == facts.Unknown && one.Motion != "":
		return a.f("the position of %s is not known", name)
	case one.Condition == facts.Away:
		return a.f("%s is %s", name, why)
	case one.Condition == facts.Stale && one.Source != "restored":
		return a.f("the last reading of %s is %s old", name, lengthIn(a.q.Lang, a.site.Now.Sub(one.At)))
	}
	return a.f("%s was %s", name, why)
}

// noPower says why there is no figure, and offers an estimate as such.
func (a *asked) noPower(p facts.Power) string {
	text := a.f("That is not measured: nothing measures the power of %s on its own.", a.where())
	for _, m := range p.Shared {
		text += a.f(" Meter %s measures it together with others.", quoted(m.Name))
	}
	if a.q.Topic == understand.Report { // nobody asked for a figure
		return text
	}
	return sentences(text, a.offerEstimate())
}

// offerEstimate calculates level × rated power if the asker said what a light is rated, or tells how to ask for that.
func (a *asked) offerEstimate() string {
	if a.past() || len(a.scope.Devices) > 0 && len(a.scope.Zones) == 0 {
		return ""
	}
	levels := a.site.Levels(a.scope)
	if len(levels.All) == 0 {
		return ""
	}
	if a.q.Assumed.Watts == 0 {
		return a.f("I can estimate what the lights draw now from their levels if you tell me what one is rated, for example “estimate it assuming 20 W per light”.")
	}
	current := levels.Where(facts.Current, nil)
	sum := 0.0
	for _, one := range current {
		sum += *one.Value / 100
	}
	text := a.f("An estimate, not a measurement: %s at %.2f times full brightness together × %s each, as you assume, make %s.",
		a.count(len(current), "light"), sum, a.watts(a.q.Assumed.Watts), a.watts(sum*a.q.Assumed.Watts))
	if left := len(levels.All) - len(current); left > 0 {
		text += a.f(" %s without a current level %s left out.", a.count(left, "light"), a.are(left))
	}
	return text
}

// powerOver answers mean, peak and base of a period.
func (a *asked) powerOver() (answer, error) {
	span := a.span()
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() {
		return answer{a.noEnergy(e, span), e}, nil
	}
	here := a.site.Now.Location()
	mean, _ := e.Mean()
	peak, isPeak := e.Peak(here)
	low, _ := e.Base(here)
	data := map[string]any{"energy": e, "meanWatts": mean, "peak": peak, "base": low}
	at := func(s facts.Slot) string {
		return a.f("%s in the quarter of an hour from %s", a.watts(s.Watts()), momentIn(a.q.Lang, s.Start, a.site.Now))
	}
	meanText := a.f("the mean was %s", a.watts(mean))
	var text string
	switch {
	case !isPeak:
		text = a.f("%s: %s; there is not one whole quarter of an hour to tell a peak from.", upper(a.period(span)), meanText)
	case a.q.Op == understand.Most && a.q.By != "":
		text = a.f("The highest power of %s %s was %s; %s.", a.where(), a.period(span), at(peak), meanText)
	case a.q.By == "hour" || a.q.By == "day":
		var lines []string
		for _, s := range e.By(a.q.By, here) {
			lines = append(lines, a.slot(s.Start, "hour")+" "+a.watts(s.Watts()))
		}
		text = a.f("Mean power of %s by %s, %s: %s.", a.where(), a.noun(a.q.By), a.period(span), strings.Join(lines, ", "))
	case a.q.Op == understand.Average:
		text = a.f("On average %s drew %s %s. The highest was %s.", a.where(), a.watts(mean), a.period(span), at(peak))
	case a.q.Op == understand.Least || a.q.Aspect == "base":
		text = a.f("The lowest power of %s %s was %s; %s.", a.where(), a.period(span), at(low), meanText)
	case a.q.Op == understand.Most || a.q.Aspect == "peak":
		text = a.f("The highest power of %s %s was %s; %s.", a.where(), a.period(span), at(peak), meanText)
	default:
		text = a.f("%s drew %s on average %s, at most %s, at least %s.", upper(a.where()), a.watts(mean), a.period(span), at(peak), at(low))
	}
	return answer{sentences(text, a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), data}, nil
}

// rankPower orders zones, floors or meters by what they draw now.
func (a *asked) rankPower() (answer, error) {
	type row struct {
		Label  string  `json:"label"`
		Watts  float64 `json:"watts"`
		Partly bool    `json:"partly,omitempty"` // not all of it is measured
	}
	var rows []row
	var unknown []string
	total := a.site.PowerOf(facts.Scope{}).Basis
	read := func(c facts.Scope, name string, whole bool) error {
		p := a.site.PowerOf(c)
		if !p.Known() || whole && len(p.Missing) > 0 {
			unknown = append(unknown, label(name))
			return nil
		}
		rows = append(rows, row{label(name), p.Watts, len(p.Missing) > 0})
		return nil
	}
	by, err := a.readRanked(read)
	if err != nil {
		return answer{}, err
	}
	preface := ""
	if len(rows) == 0 && by == "zone" {
		preface = a.f("No zone%s has a current reading of its own, so I rank the meters.", a.in())
		unknown = nil
		if err := a.readMeters(read); err != nil {
			return answer{}, err
		}
	}
	if len(rows) == 0 {
		return answer{text: a.f("I do not know: nothing reports its power now.")}, nil
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.Watts, x.Watts) })
	if a.q.Op == understand.Least {
		slices.Reverse(rows)
	}
	if a.q.Top > 1 {
		rows = rows[:min(len(rows), a.q.Top)]
	}
	var lines []string
	var order []placed
	for _, r := range rows {
		told := a.watts(r.Watts)
		if r.Partly {
			told += a.f(" (not all of it is measured)")
		}
		lines, order = append(lines, r.Label+" "+told), append(order, placed{r.Label, told, r.Watts})
	}
	text := a.f("Power now: %s.", a.list(lines))
	if one := a.q.Op == understand.Most || a.q.Op == understand.Least; one && a.q.Top < 2 {
		text = a.f("Power now: %s", a.winner(order))
	}
	if len(unknown) > 0 {
		text += a.f(" Without a current figure of their own: %s.", a.some(unknown, 8))
	}
	return answer{sentences(preface, text, a.basis(total)), rows}, nil
}
