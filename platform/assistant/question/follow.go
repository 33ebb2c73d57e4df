package question

// After reads q as said after before: what q leaves out is taken from before where the sentence leans on it.
func (q Question) After(before Question) Question {
	if before.Topic == Nothing || before.Topic == Order || q.Topic == Order || q.Topic == Confirm || q.Topic == Decline {
		if q.Topic == Order && q.Is(Follows) && len(q.Places) == 0 {
			q.Places = before.Places
		}
		return q
	}
	if q.Is(Both) && len(q.Places) == 0 && len(before.Earlier) > 0 && len(before.Places) > 0 {
		return q.ofBoth(before)
	}
	if q.Is(Follows) && (before.Topic == Offline || before.Topic == Faults) && len(q.Places) == 0 && q.State == "" && q.Bound == nil && deviceTopics[q.Topic] {
		q.Topic = Nothing // "are any of them lights?"
	}
	if len(q.Unknown) > 0 && len(q.Places) == 0 && q.Topic == Nothing {
		q.Topic = before.Topic // "and the sauna?"
		return q
	}
	if q.Topic == Nothing || q.Topic == Report && q.bare() && q.Is(Follows) || q.leansOn(before) {
		return q.over(before)
	}
	if !q.Is(Follows) {
		return q
	}
	if len(q.Places) == 0 && !q.Is(Whole) {
		q.Places = before.Places
	}
	if q.When == nil && !q.Topic.Instant() {
		q.When, q.Against = before.When, before.Against
	}
	return q
}

// deviceTopics are about devices of a kind.
var deviceTopics = map[Topic]bool{Lights: true, Shades: true, Inventory: true}

// ofBoth asks for the places of the last two sentences: "which of the two needs more?".
func (q Question) ofBoth(before Question) Question {
	m := before
	m.Places, m.Earlier = nil, nil
	for i, places := range [][]Place{before.Earlier, before.Places} {
		for _, p := range places {
			p.Mention = i
			m.Places = append(m.Places, p)
		}
	}
	if q.Topic != Nothing && q.Topic != before.Topic && !(before.Topic == Power && q.Topic == Energy) {
		m.Topic = q.Topic
	}
	if q.When != nil {
		m.When = q.When
	}
	m.Op, m.By, m.Against, m.Unknown, m.Sure = Compare, "", nil, q.Unknown, q.Sure
	m.Set(Follows, true)
	return m
}

// bare reports whether nothing but names and times was said.
func (q Question) bare() bool { return q.Op == Tell && q.State == "" && q.Bound == nil }

// leansOn: "which of them are offline?", "only the shades", "and how many are off?".
func (q Question) leansOn(before Question) bool {
	return q.Is(Follows) && q.Topic == before.Topic
}

// over lays the parts of q over those of before.
func (q Question) over(before Question) Question {
	if q.When != nil && q.When.Ahead && before.When != nil && !before.When.Now {
		label := q.When.Label
		ahead := Before(*before.When)
		ahead.Label = label
		q.When = &ahead
	}
	m := before
	m.Unknown, m.Sure = q.Unknown, q.Sure
	m.Set(Follows, true)
	m.Set(Future, q.Is(Future))
	if len(q.Places) > 0 {
		m.Earlier = before.Places
		m.Places = q.Places
		m.Set(Whole, false)
		if m.By == string(q.Places[0].Kind) {
			m.By, m.Op, m.Top = "", Tell, 0
		}
	}
	if q.Is(Whole) {
		m.Places = nil
		m.Set(Whole, true)
	}
	switch {
	case q.Op == Compare && q.When != nil && q.Against == nil:
		m.Op, m.Against = Compare, q.When
	case q.Against != nil:
		m.Op, m.When, m.Against = Compare, q.When, q.Against
		if before.When != nil && q.Op == Compare && q.When != nil && sameKindLabel(q.When.Label) && alike(*before.When, *q.Against) {
			m.When = before.When // "compared with last week?"
		}
	case q.When != nil:
		m.When = q.When
		if m.Op == Compare {
			m.Against, m.Op = nil, Tell
		}
	}
	if q.Op != Tell && q.Op != Compare {
		m.Op = q.Op
	}
	if q.State != "" {
		m.State, m.Bound = q.State, nil
	}
	if q.Bound != nil {
		m.Bound = q.Bound
	}
	if q.By != "" {
		m.By = q.By
	}
	if q.Top > 0 {
		m.Top = q.Top
	}
	if q.Object != "" {
		m.Object = q.Object
	}
	if q.Watts > 0 || q.Is(Estimate) {
		m.Watts = q.Watts
		m.Set(Estimate, true)
	}
	return m
}

// alike reports whether two spans are of about the same length.
func alike(a, b Span) bool {
	x, y := a.To.Sub(a.From), b.To.Sub(b.From)
	return x < 2*y && y < 2*x
}

// sameKindLabel tells the spans that [sameKindNow] made up.
func sameKindLabel(label string) bool {
	return label == "today" || label == "this week" || label == "this month" || label == "this year"
}
