package assistant

// aspects of comfort and what would measure them.
var aspects = map[string]string{
	"temperature": "Temperature", "humidity": "Humidity", "air": "Air quality", "noise": "Noise", "daylight": "Illuminance and daylight",
	"hvac": "The state of heating, ventilation and air conditioning", "comfort": "Comfort as such",
}

// comfort answers that it is not measured, and gives nothing else instead: whoever asks how warm it is does not want to hear
// how bright it is.
func (a *asked) comfort() (answer, error) {
	subject := aspects[a.q.Aspect]
	if subject == "" {
		subject = aspects["comfort"]
	}
	verb := "is"
	if a.q.Aspect == "daylight" {
		verb = "are"
	}
	return answer{text: a.f("%s %s not measured%s: no sensor for it reports to the platform, so I do not know.", a.f(subject), a.f(verb), a.in())}, nil
}

// unmeasured are quantities that nobody here measures, as [understand.Absent] names their kinds; of all other kinds nothing reports at all.
var unmeasured = map[string]string{
	"voltage": "Voltage", "current": "Electric current", "quality": "Power quality (phases, power factor, frequency)", "lumen": "Illuminance", "rating": "The connected load", "pressure": "Air pressure",
	"tilt": "The angle of slats", "single": "What single lamps or devices draw", "carbon": "The emission of CO2", "hand": "What is done by hand at a device or at a wall switch",
}

// absent answers to what is asked about things that buildings have and this one does not tell of: with no figure and no state.
func (a *asked) absent() string {
	var said answer
	switch kind := a.q.Aspect; {
	case aspects[kind] != "":
		said, _ = a.comfort()
		return said.text
	case kind == "occupancy":
		said, _ = a.occupancy()
		return said.text
	case kind == "sun":
		return a.f("I do not know: when the sun rises and sets I am not told. Rules on the controller go by it.")
	case unmeasured[kind] == "":
		return sentences(a.f("I know nothing called %s in %s.", a.list(a.unclear()), quoted(a.site.Name())), a.f("Only lights, shades and meters report there."))
	}
	text := a.f("%s is not measured in %s, so I do not know.", a.f(unmeasured[a.q.Aspect]), quoted(a.site.Name()))
	var names []string
	for _, m := range a.site.Meters() {
		names = append(names, label(m.Name))
	}
	if len(names) > 0 {
		text = sentences(text, a.f("What is measured is power and energy: %s.", a.first(names)))
	}
	return text
}

// occupancy and automation are not reported at all.
func (a *asked) occupancy() (answer, error) {
	return answer{text: a.f("Occupancy is not measured%s: no presence sensor reports to the platform, so I do not know whether anybody is there. Lights that are on say nothing about it.", a.in())}, nil
}

func (a *asked) automation() (answer, error) {
	return answer{text: a.f("I do not know: of scenes, rules and schedules I am told nothing. They are kept and shown on the pages of the controller, and a panel shows those scenes of its room that it can recall.")}, nil
}
