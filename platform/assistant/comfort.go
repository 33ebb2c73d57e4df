package assistant

import (
	"fmt"

	"svc.internal/controller/platform/assistant/facts"
)

// aspects of comfort and what would measure them.
var aspects = map[string]string{
	"temperature": "Temperature", "humidity": "Humidity", "air": "Air quality", "noise": "Noise", "daylight": "Illuminance and daylight",
	"hvac": "The state of heating, ventilation and air conditioning", "comfort": "Comfort as such",
}

// comfort answers that it is not measured, and what of the rooms is.
func (a *asked) comfort() (answer, error) {
	subject := aspects[a.q.Aspect]
	if subject == "" {
		subject = aspects["comfort"]
	}
	verb := "is"
	if a.q.Aspect == "daylight" {
		verb = "are"
	}
	text := fmt.Sprintf("%s %s not measured%s: no sensor for it reports to the platform, so I do not know.", subject, verb, a.in())
	ambience, data := a.ambience()
	return answer{sentences(text, ambience), data}, nil
}

// ambience is what is known of how a room feels: light, its colour, and shades.
func (a *asked) ambience() (string, any) {
	levels, kelvins, positions := a.site.Levels(a.scope), a.site.Kelvins(a.scope), a.site.Positions(a.scope)
	var known []string
	if mean, ok := levels.Mean(); ok {
		on := len(levels.Where(facts.Current, func(t facts.Thing) bool { return *t.Value > 0 }))
		known = append(known, fmt.Sprintf("%d of %s %s on, mean level %s", on, count(len(levels.All), "light"), are(on), percent(mean)))
	}
	if mean, ok := kelvins.Mean(); ok {
		known = append(known, fmt.Sprintf("the mean colour temperature is %.0f K", mean))
	}
	if mean, ok := positions.Mean(); ok {
		known = append(known, fmt.Sprintf("the shades are %s open on average", percent(mean)))
	}
	if len(known) == 0 {
		return "", nil
	}
	b := levels.Basis
	if b.Readings == 0 {
		b = positions.Basis
	}
	data := map[string]any{"levels": levels, "kelvins": kelvins, "positions": positions}
	return sentences(fmt.Sprintf("What is known%s: %s.", a.in(), list(known)), a.basis(b)), data
}

// occupancy, automation and the world outside are not reported at all.
func (a *asked) occupancy() (answer, error) {
	return answer{text: fmt.Sprintf("Occupancy is not measured%s: no presence sensor reports to the platform, so I do not know whether anybody is there. Lights that are on say nothing about it.", a.in())}, nil
}

func (a *asked) automation() (answer, error) {
	return answer{text: "I do not know: controllers do not report their scenes, rules and schedules to the platform. They are kept and shown on the controller itself."}, nil
}

func (a *asked) outside() (answer, error) {
	what := "that"
	if a.q.Aspect != "" {
		what = quoted(a.q.Aspect)
	}
	return answer{text: fmt.Sprintf("I do not know: %s is nothing that the controllers of this building report. I know its lights, shades, meters, faults and what is out of reach.", what)}, nil
}
