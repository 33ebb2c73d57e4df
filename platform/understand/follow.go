package understand

import "time"

// After reads f as said after before: what f leaves out is taken from before where the sentence leans on it.
func (f Frame) After(before Frame) Frame {
	if before.Topic == Nothing || before.Topic == Order || f.Topic == Order || f.Topic == Confirm || f.Topic == Decline || f.Unclear != nil {
		return f
	}
	if f.Op == Compare && f.Is(Follows) && len(f.Mentioned()) == 1 && f.When == nil && len(before.Places) > 0 {
		return f.against(before)
	}
	if f.Op == Compare && f.Is(Follows) && len(f.Places) == 0 && f.When == nil && f.Against == nil && f.Topic == Nothing { // "compare them"
		if len(before.Earlier) == 0 || len(before.Places) == 0 {
			f.Unclear = &Unclear{Nowhere, nil}
			return f
		}
		return f.ofBoth(before)
	}
	if f.Op == Sum && f.Topic == Nothing && len(f.Places) == 0 {
		return f.sumOf(before)
	}
	if f.Is(Both) && len(f.Places) == 0 && len(before.Earlier) > 0 && len(before.Places) > 0 {
		return f.ofBoth(before)
	}
	if f.Is(Follows) && f.Topic == Inventory && f.onlyRows() {
		if before.Op != Tell || before.By != "" || before.Topic == Inventory && before.Kind == f.Kind {
			f.Unclear = &Unclear{Nowhere, nil}
			return f
		}
		f.Topic, f.By, f.Form = Nothing, string(f.Kind), List // "on which floor?"
	}
	if f.Is(Follows) && (before.Topic == Offline || before.Topic == Faults) && len(f.Places) == 0 && f.State == "" && len(f.Conds) == 0 && deviceTopics[f.Topic] {
		f.Topic = Nothing // "are any of them lights?"
	}
	if f.Topic == Nothing || f.Topic == Report && f.bare() && f.Is(Follows) || f.Is(Follows) && f.Topic == before.Topic {
		return f.over(before)
	}
	if !f.Is(Follows) {
		return f
	}
	if len(f.Places) == 0 && !f.Is(Whole) {
		f.Places, f.Except = before.Places, before.Except
	}
	if f.When == nil && !f.Topic.Instant() {
		f.Times = before.Times
	}
	return f
}

// Instant reports whether a topic is about the present state.
func (t Topic) Instant() bool {
	switch t {
	case Lights, Colour, Shades, Inventory, Comfort, Occupancy, Automation:
		return true
	}
	return false
}

// General reports whether a topic is not about one site.
func (t Topic) General() bool {
	switch t {
	case Help, Greeting, Controllers, Nothing, Confirm, Decline:
		return true
	}
	return false
}

// deviceTopics are about devices of a kind.
var deviceTopics = map[Topic]bool{Lights: true, Shades: true, Inventory: true}

// ofBoth asks for the places of the last two sentences: "which of the two needs more?".
func (f Frame) ofBoth(before Frame) Frame {
	m := before
	m.Places, m.Earlier = nil, nil
	for i, places := range [][]Place{before.Earlier, before.Places} {
		for _, p := range places {
			p.Mention = i
			m.Places = append(m.Places, p)
		}
	}
	if f.Topic != Nothing && f.Topic != before.Topic && !(before.Topic == Power && f.Topic == Energy) {
		m.Topic = f.Topic
	}
	if f.When != nil {
		m.When = f.When
	}
	m.Op, m.By, m.Against, m.Unclear = Compare, "", nil, f.Unclear
	if f.Op == Difference {
		m.Op = Difference
	}
	m.Set(Follows, true)
	return m
}

// sumOf asks for what was asked before of all places that it was asked of: "together?" after two of them.
func (f Frame) sumOf(before Frame) Frame {
	m := before
	switch {
	case before.Topic != Energy && before.Topic != Power && before.Topic != Cost:
		f.Unclear = &Unclear{Nowhere, nil}
		return f
	case len(before.Mentioned()) > 1:
	case len(before.Earlier) > 0 && len(before.Places) > 0:
		m = f.ofBoth(before)
	case before.By == "":
		f.Unclear = &Unclear{Nowhere, nil}
		return f
	}
	m.Op, m.Form, m.By, m.Top, m.Lang, m.Unclear = Sum, Plain, "", 0, f.Lang, f.Unclear
	if len(m.Mentioned()) < 2 {
		m.Op = Tell
	}
	m.Set(Follows, true)
	return m
}

// against asks for the places of the sentence before beside those of this one: "is that more than the upper floor?".
func (f Frame) against(before Frame) Frame {
	m := before
	m.Places = nil
	for i, places := range [][]Place{before.Places, f.Places} {
		for _, p := range places {
			p.Mention = i
			m.Places = append(m.Places, p)
		}
	}
	m.Op, m.Form, m.By, m.Against, m.Lang = Compare, f.Form, "", nil, f.Lang
	m.Set(Follows, true)
	return m
}

// onlyRows reports whether nothing is asked but which places: "on which floor?".
func (f Frame) onlyRows() bool {
	return (f.Kind == Zone || f.Kind == Floor) && f.bare() && len(f.Places)+len(f.Having) == 0 && f.By == "" && f.Aspect == "" && f.When == nil
}

// bare reports whether nothing but names and times was said.
func (f Frame) bare() bool { return f.Op == Tell && f.State == "" && len(f.Conds) == 0 }

// over lays the parts of f over those of before.
func (f Frame) over(before Frame) Frame {
	if f.When != nil && f.When.Ahead && before.When != nil && !before.When.Now {
		label := f.When.Label
		ahead := Before(*before.When)
		ahead.Label = label
		f.When = &ahead
	}
	m := before
	m.Lang, m.Unclear = f.Lang, f.Unclear
	m.Set(Follows, f.Op != Tell || before.Op != Who || before.Is(Follows)) // "and the lobby?" after "who switched it off"
	m.Set(Future, f.Is(Future))
	if f.Is(InKilo) || f.Is(InOnes) { // "and in kW?"
		m.Set(InKilo, f.Is(InKilo))
		m.Set(InOnes, f.Is(InOnes))
	}
	if len(f.Places) > 0 {
		m.Earlier = before.Places
		m.Places, m.Except = f.Places, nil
		m.Set(Whole, false)
		if (m.Op == Compare || m.Op == Difference) && m.Against == nil && f.Op == Tell && len(f.Mentioned()) == 1 {
			m.Op = Tell // "and the ground floor?" after two were compared
		}
		if m.By == string(f.Places[0].Kind) {
			m.By, m.Op, m.Top = "", Tell, 0
		}
	}
	if len(f.Except) > 0 {
		m.Except = f.Except
	}
	if f.Is(Whole) {
		m.Places, m.Except = nil, nil
		m.Set(Whole, true)
	}
	switch {
	case f.Against != nil && f.Against.Ahead && before.When != nil && !before.When.Now: // "compared with the week before?"
		ahead := Before(*before.When)
		ahead.Label = f.Against.Label
		m.Op, m.Against = Compare, &ahead
	case f.Op == Compare && f.When != nil && f.Against == nil:
		m.Op, m.Against = Compare, f.When
	case f.Against != nil:
		m.Op, m.When, m.Against = Compare, f.When, f.Against
		if before.When != nil && f.When != nil && sameKindLabel(f.When.Label) && alike(*before.When, *f.Against) {
			m.When = before.When // "compared with last week?"
		}
	case f.When != nil:
		m.When = f.When
		if m.Op == Compare {
			m.Against, m.Op = nil, Tell
		}
	}
	switch fresh := f.State != "" || f.Form != Plain; {
	case f.Op == Since && m.Op == Who && f.State == "" && len(f.Places) == 0: // "when was that?": who did it is told with when
	case f.Op != Tell && f.Op != Compare:
		m.Op = f.Op
	case f.Op == Tell && (fresh || f.Topic != Nothing) && (m.Op == Why || m.Op == Who || m.Op == Since || m.Op == Usual):
		m.Op = Tell // "how many are off there?" after "why?"
	case f.Op == Tell && m.Op == Compare && (f.By == "hour" || f.By == "day" || f.By == "week" || f.By == "month"):
		m.Op, m.Against = Tell, nil
	}
	if f.Form != Plain {
		m.Form = f.Form
	}
	if f.Is(Others) && !m.turn() {
		m.Unclear = &Unclear{Nowhere, nil}
	}
	if f.State != "" {
		m.State, m.Conds = f.State, nil
		m.Set(All, f.Is(All))
	}
	if len(f.Conds) > 0 {
		m.Conds = f.Conds
	}
	if f.By != "" {
		m.By = f.By
	}
	if f.Per != "" {
		m.Per = f.Per
	}
	if f.Top > 0 {
		m.Top = f.Top
	}
	if f.Kind != "" {
		m.Kind = f.Kind
		if f.Topic == Inventory { // "how big is it, and how many lamps does it have"
			m.Aspect, m.Op = f.Aspect, f.Op
		}
	}
	if f.Assumed.Watts > 0 || f.Is(Estimate) {
		m.Assumed = f.Assumed
		m.Set(Estimate, true)
	}
	return m
}

// turn asks for what is not so instead; false where that is not one state or bound.
func (f *Frame) turn() bool {
	against := map[Relation]Relation{Above: AtMost, AtMost: Above, Below: AtLeast, AtLeast: Below, Exactly: Unlike, Unlike: Exactly}
	rows := f.By != "" && f.Kind == Kind(f.By)
	switch {
	case f.Op != Tell || f.Is(None) || len(f.Having) > 0:
		return false
	case len(f.Conds) == 1 && f.State == "" && f.Conds[0].Unit == Percent && !rows:
		f.Conds = []Cond{f.Conds[0]}
		f.Conds[0].Rel = against[f.Conds[0].Rel]
	case len(f.Conds) == 0 && opposite[f.State] != "" && rows && !f.Is(All): // of rooms that have some: those that have none
		f.State = opposite[f.State]
		f.Set(All, true)
	case len(f.Conds) == 0 && opposite[f.State] != "":
		f.State = opposite[f.State]
		f.Set(All, false)
	default:
		return false
	}
	return true
}

// opposite are the states that are no longer there when another one is.
var opposite = map[State]State{On: Off, Off: On, Open: Closed, Closed: Open, Online: Away, Away: Online}

// alike reports whether two spans are of about the same length.
func alike(a, b Span) bool {
	x, y := a.To.Sub(a.From), b.To.Sub(b.From)
	return x < 2*y && y < 2*x
}

// sameKindLabel tells the spans that [sameKindNow] made up.
func sameKindLabel(label string) bool {
	return label == "today" || label == "this week" || label == "this month" || label == "this year"
}

// sameKindNow is the current period of the kind that s is.
func sameKindNow(s Span, now time.Time) Span {
	c := clock{now: now}
	span := func(unit, label string) Span {
		from, to := c.period(unit, 0)
		return Span{From: from, To: to, Label: label}
	}
	switch d := s.To.Sub(s.From); {
	case d <= 25*time.Hour:
		return span("day", "today")
	case d <= 8*24*time.Hour:
		return span("week", "this week")
	case d <= 32*24*time.Hour:
		return span("month", "this month")
	}
	return span("year", "this year")
}

// Alone is f where nothing was said before that it could lean on: what a sentence leaves out has its usual meaning.
func (f Frame) Alone() Frame {
	if f.Topic != Nothing || f.Unclear != nil {
		return f
	}
	kind := Kind("")
	if len(f.Places) > 0 {
		kind = f.Places[0].Kind
	}
	period := f.When != nil && !f.When.Now
	switch {
	case f.Op == Compare && f.Is(Follows) && len(f.Mentioned()) == 1, f.Op == Sum && f.Is(Follows) && len(f.Places) == 0, f.Op == Why || f.Op == Since || f.Op == Who || len(f.Conds) > 0 || f.Is(Follows) && len(f.Places) == 0 && f.When == nil:
		f.Unclear = &Unclear{Nowhere, nil}
	case f.Op != Tell, f.Per != "", f.By != "" && period, f.By == "hour", f.By == "day", f.By == "week", f.By == "month", kind == Meter && period:
		f.Topic = Energy // "compare this week with last week", "what did the ground floor meter measure yesterday"
	case kind == Bus:
		f.Topic = Inventory // "what is on the stage bus"
	case len(f.Places) > 0 || f.When != nil:
		f.Topic = Report
	default:
		f.Unclear = &Unclear{Nowhere, nil}
	}
	return f
}
