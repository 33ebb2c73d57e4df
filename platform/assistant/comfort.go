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

// occupancy and automation are not reported at all.
func (a *asked) occupancy() (answer, error) {
	return answer{text: a.f("Occupancy is not measured%s: no presence sensor reports to the platform, so I do not know whether anybody is there. Lights that are on say nothing about it.", a.in())}, nil
}

func (a *asked) automation() (answer, error) {
	return answer{text: a.f("I do not know: controllers do not report their scenes, rules and schedules to the platform. They are kept and shown on the controller itself.")}, nil
}
