package assistant

import (
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// report says a bit of everything, of now or of a period.
func (a *asked) report() (answer, error) {
	if len(a.site.Devices) == 0 {
		return a.inventory()
	}
	if len(a.q.Places) == 1 && (a.q.Places[0].Kind == understand.Device || a.q.Places[0].Kind == understand.Shade || a.q.Places[0].Kind == understand.Meter) {
		return a.reportDevice()
	}
	happened := slices.ContainsFunc(bareWords(a.message), func(w string) bool { return w == "happened" || w == "passiert" }) // of a day that is not over, too
	if a.q.When != nil && !a.q.When.Now && (a.past() || happened && !a.q.When.From.After(a.site.Now) || a.site.Now.Sub(a.q.When.From) < 24*time.Hour && a.q.When.To.Equal(a.site.Now)) {
		return a.reportPeriod()
	}
	data := map[string]any{}
	var parts []string
	add := func(key string, read func() (answer, error)) error {
		one, err := read()
		if err != nil {
			return err
		}
		parts = append(parts, one.text)
		data[key] = one.data
		return nil
	}
	levels, positions := a.site.Levels(a.scope), a.site.Positions(a.scope)
	data["lights"], data["shades"] = levels, positions
	if len(levels.All) > 0 {
		on := len(levels.Where(facts.Current, func(t facts.Thing) bool { return *t.Value > 0 }))
		head := a.f("Lights: %d of %d on.", on, len(levels.All))
		if levels.Basis.Readings == 0 {
			head = a.f("I do not know: of %s%s none has a current level.", a.count(len(levels.All), "light"), a.in())
		}
		parts = append(parts, sentences(head, a.doubts(levels, "light"), a.basis(levels.Basis)))
	}
	if mean, ok := positions.Mean(); ok {
		parts = append(parts, a.f("Shades: %s, on average %s open.", a.count(len(positions.All), "shade"), percent(mean)))
	}
	a.q.Op, a.q.By, a.q.Kind, a.q.Form = understand.Tell, "", "", understand.Plain
	for _, part := range []struct {
		key  string
		read func() (answer, error)
	}{{"power", a.power}, {"energy", a.energy}, {"faults", a.faults}} {
		if m := a.site.MeteringOf(a.scope); part.key == "energy" && len(m.Meters) == 0 && len(a.site.PowerOf(a.scope).Parts) == 0 {
			continue // that nothing measures it was just told
		}
		if err := add(part.key, part.read); err != nil {
			return answer{}, err
		}
	}
	return answer{joinLines(parts), data}, nil
}

// reportPeriod says what is kept of a past period.
func (a *asked) reportPeriod() (answer, error) {
	a.q.Op, a.q.By, a.q.Kind, a.q.Form = understand.Tell, "", "", understand.Plain
	data := map[string]any{}
	var texts []string
	for _, part := range []struct {
		key  string
		read func() (answer, error)
	}{{"commands", a.everyCommand}, {"energy", a.energy}, {"faults", a.faults}, {"outages", a.offline}} {
		one, err := part.read()
		if err != nil {
			return answer{}, err
		}
		texts = append(texts, one.text)
		data[part.key] = one.data
	}
	return answer{joinLines(texts), data}, nil
}

// reportDevice says everything about one device.
func (a *asked) reportDevice() (answer, error) {
	reads := []func() (answer, error){a.everything, a.oneReach}
	switch {
	case a.q.Places[0].Kind == understand.Meter:
		reads = append(reads, a.power, a.energy)
	case len(a.site.Levels(a.scope).All) > 0:
		reads = append(reads, a.lights)
	case len(a.site.Positions(a.scope).All) > 0:
		reads = append(reads, a.shades)
	}
	var texts []string
	data := map[string]any{}
	for i, read := range reads {
		one, err := read()
		if err != nil {
			return answer{}, err
		}
		texts = append(texts, one.text)
		data[fmt.Sprintf("part%d", i+1)] = one.data
	}
	return answer{joinLines(texts), data}, nil
}

func joinLines(parts []string) string {
	text := ""
	for _, p := range parts {
		if text != "" {
			text += "\n"
		}
		text += p
	}
	return text
}

// sources answers where answers come from and how old they are.
func (a *asked) sources() (answer, error) {
	now := a.site.Now
	levels, positions, power := a.site.Levels(a.scope), a.site.Positions(a.scope), a.site.PowerOf(a.scope)
	head := a.f("Everything I say about %s is what its controller reported over its link to the platform; I read nothing else.", quoted(a.site.Name()))
	online := a.f("It is online and was last heard %s ago.", lengthIn(a.q.Lang, now.Sub(a.site.Controller.LastSeen)))
	if !a.site.Controller.Online {
		online = awayIn(a.q.Lang, levels.Basis, now)
	}
	var parts []string
	for _, one := range []struct {
		what string
		b    facts.Basis
	}{{a.f("levels of lights"), levels.Basis}, {a.f("positions of shades"), positions.Basis}, {a.f("power"), power.Basis}} {
		if one.b.Readings > 0 {
			parts = append(parts, a.f("%s: %d current, %s to %s old", one.what, one.b.Readings, lengthIn(a.q.Lang, now.Sub(one.b.Newest)), lengthIn(a.q.Lang, now.Sub(one.b.Oldest))))
		}
	}
	if len(parts) == 0 {
		parts = []string{a.f("no reading is current")}
	}
	rest := a.f("A reading older than %s I do not take for the present. Energy is added up from power samples by the minute for 48 hours and by the quarter of an hour for two years.", lengthIn(a.q.Lang, facts.StaleAfter))
	return answer{sentences(head, online, upper(a.list(parts))+".", rest), map[string]any{"levels": levels.Basis, "positions": positions.Basis, "power": power.Basis}}, nil
}

// help tells what can be asked.
func help(lang understand.Lang) answer { return answer{text: in(lang, helpText)} }

const helpText = "I answer questions about the buildings that report to this platform, with the source and age of every reading: " +
	"energy by period, zone, floor or meter (“How much energy did the lobby use yesterday?”, “Compare this week with last week”); power now and peaks; " +
	"which lights are on and how bright; how far shades are open; since when, and who switched it; faults and what is offline; what is installed; which controllers are connected; proposals to save energy. " +
	"With a key that allows control I can also set lights and shades, after showing you what would happen. What is not measured I say so."

// controllers answers about the appliances that report.
func (e *Assistant) controllers(q understand.Frame, now time.Time, all []controllerState) answer {
	f := func(format string, values ...any) string { return in(q.Lang, format, values...) }
	if len(all) == 0 {
		return answer{text: f("No controller reports to this platform yet.")}
	}
	var lines []string
	online := 0
	for _, c := range all {
		state := f("online")
		if !c.Online {
			state = f("offline")
		} else {
			online++
		}
		if q.Form != understand.Check && q.State == understand.Online && !c.Online || q.Form != understand.Check && q.State == understand.Away && c.Online {
			continue
		}
		line := fmt.Sprintf("%s (%s): %s", label(c.Title), c.ID, state)
		if c.LastSeen.IsZero() {
			line += f(", never heard")
		} else {
			line += f(", last heard %s ago", lengthIn(q.Lang, now.Sub(c.LastSeen)))
		}
		if c.Firmware != "" && (q.Aspect == "firmware" || len(all) <= 3) {
			line += f(", firmware %s", label(c.Firmware))
		} else if q.Aspect == "firmware" {
			line += f(", firmware not reported")
		}
		lines = append(lines, line)
	}
	head := f("%d of %s %s online.", online, countIn(q.Lang, len(all), "controller"), f(are(len(all))))
	if q.Form == understand.Check {
		switch q.State {
		case understand.Online:
			head = f(yesNo(online == len(all) || !q.Is(understand.All) && online > 0)) + head
		case understand.Away:
			head = f(yesNo(online < len(all))) + head
		}
	}
	if len(lines) == 0 {
		return answer{head, all}
	}
	return answer{head + " " + someIn(q.Lang, lines, 30) + ".", all}
}
