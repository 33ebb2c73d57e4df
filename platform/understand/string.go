package understand

import (
	"fmt"
	"slices"
	"strings"
)

// String writes a frame in one line, for tests and for people who look how a sentence is understood.
func (f Frame) String() string {
	if f.Unclear != nil {
		if f.Topic == Order {
			return "!" + string(f.Unclear.Why) + " " + strings.Join(f.Unclear.Words, ", ")
		}
		return "? " + string(f.Unclear.Why) + " " + strings.Join(f.Unclear.Words, ", ")
	}
	if f.Topic == Order {
		var all []string
		for _, d := range f.Do {
			all = append(all, d.String())
		}
		return strings.Join(all, " + ")
	}
	head := string(f.Topic)
	if f.Op != "" {
		head += "." + string(f.Op)
	}
	parts := []string{head}
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if string(f.Kind) != f.By {
		add(string(f.Kind))
	}
	if f.Topic != Power {
		add(f.Aspect)
	}
	if f.Make != "" {
		add("make:" + f.Make)
	}
	add(f.Actor)
	add(string(f.State))
	for _, m := range []struct {
		m    Manner
		word string
	}{{All, "all"}, {Future, "future"}, {Estimate, "est"}} {
		if f.Is(m.m) {
			add(m.word)
		}
	}
	for _, c := range f.Conds {
		add(string(c.Of) + string(c.Rel) + strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", c.Value), "0"), ".") + string(c.Unit))
	}
	for _, h := range f.Having {
		add(map[bool]string{false: "with:", true: "without:"}[h.Not] + string(h.Kind))
	}
	add(placeWords(f.Places, "@"))
	add(placeWords(f.Except, "-@"))
	if f.By != "" {
		add("by:" + f.By)
	}
	if f.Per != "" {
		add("per:" + f.Per)
	}
	if f.Top > 0 {
		add(fmt.Sprintf("top:%d", f.Top))
	}
	if f.Assumed.PerKWh > 0 {
		add("tariff")
	}
	for i, s := range []*Span{f.When, f.Against} {
		if s != nil && !s.Now {
			add([]string{"", "vs "}[i] + s.From.Format("0102T1504") + "-" + s.To.Format("0102T1504"))
		}
	}
	return strings.Join(parts, " ")
}

func placeWords(places []Place, sign string) string {
	var all []string
	for _, p := range places {
		all = append(all, sign+strings.ReplaceAll(p.Name, " ", "_"))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// String writes what is to be done in one line.
func (d Do) String() string {
	text := ""
	switch {
	case d.Switch == "toggle":
		text = "toggle " + string(d.Kind)
	case d.Switch == "dim" || d.Switch == "brighten":
		text = "step " + string(d.Kind) + "=" + map[string]string{"dim": "-", "brighten": "+"}[d.Switch]
		if d.By != nil {
			text += fmt.Sprint(*d.By)
		}
	case d.By != nil:
		text = fmt.Sprintf("step %s=%s%d", d.Kind, map[string]string{"open": "+", "closed": "-"}[d.Toward], *d.By)
	case d.Thirds > 0:
		text = fmt.Sprintf("set %s=%d/3", d.Kind, d.Thirds)
	case len(d.Like) > 0:
		text = "set " + string(d.Kind) + "=like"
	case d.Percent != nil:
		text = fmt.Sprintf("set %s=%d", d.Kind, *d.Percent)
	default:
		text = "set " + string(d.Kind) + "=" + d.Switch
	}
	if d.Whole {
		text += " all"
	}
	for _, p := range []string{placeWords(d.Places, "@"), placeWords(d.Except, "-@"), placeWords(d.Like, "as:@")} {
		if p != "" {
			text += " " + p
		}
	}
	return text
}
