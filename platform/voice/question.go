package voice

import "slices"

var questionWords = set(`what whats which who whos whose how hows why when where wheres is are am was were does do did has have had list tell
	compare report count name explain describe summarize summarise find check any can could should will would
	may anything hows`)

// asks reports whether a sentence is put as a question or asks for a report.
func asks(words []string) bool {
	for len(words) > 0 && (openers[words[0]] || politely(words)) {
		if politely(words) {
			words = words[1:]
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "he", "she", "they":
		return false
	case "show", "give", "get", "i":
		return hasAny(words, topics[0].words) || hasAny(words, topics[1].words) || hasAny(words, set("report list overview summary status"))
	}
	return questionWords[words[0]]
}

var openers = set("hey hi hello ok webex please so and um uh well also , thanks")

// politely reports whether words begin with "can you" and the like, which makes no question of a command.
func politely(words []string) bool {
	return len(words) > 2 && set("can could will would may")[words[0]] && set("you we i someone somebody")[words[1]]
}

// otherThings are no business of a room's lights and shades; a sentence about them is no question for the assistant
// either.
var otherThings = set(`tv television screen projector door doors volume music song songs microphone mic camera calendar weather rain news joke
	phone email mail message timer alarm clock coffee computer laptop monitor speaker speakers video game restaurant traffic taxi
	football capital president recipe stock stocks extension slide slides recording bluetooth wifi keyboard mouse whiteboard`)

// topics are the words that tell whose question it is, and how sure they are.
var topics = []struct {
	agent string
	words map[string]bool
}{
	{MaintenanceAgent, set(`broken fault faults faulty flicker flickers flickering offline alert alerts alarms battery batteries maintenance serviced service
		repair repaired fix fixed stuck failing failed fail dead buzzing buzz error errors issue issues problem problems warning warnings
		replace replaced replacement malfunction malfunctioning defective noisy jammed working responding unresponsive burnt blown
		inspection inspected technician ticket diagnose diagnostic diagnostics damaged outage outages overdue failure failures health healthy
		unreachable wear worn noise rattling squeaking flashing calibrate calibrated calibration firmware`)},
	{EnergyAgent, set(`energy electricity consumption consume consumes consumed consuming kwh kilowatt kilowatts watt watts watthours bill bills savings
		saving save saved saves carbon co2 emissions footprint usage power cost costs costing tariff peak efficient efficiency wasting waste wasted
		expensive spend spending spent sustainability solar standby money cheaper used demand load`)},
	{ComfortAgent, set(`temperature temperatures thermostat degrees heat heating heater cold colder warm warmer hot hotter cool cooler cooling chilly
		freezing humid humidity air ac aircon conditioning conditioner hvac fan ventilation ventilate stuffy draft drafty draughty glare
		comfortable comfort uncomfortable dark gloomy bright dim brightly blinding dazzling sweating airflow celsius fahrenheit dry quality fresh sunny shady setpoint
		toasty boiling stifling muggy breeze`)},
	{SiteAssetAgent, set(`anyone many zone zones floor floors building buildings controller controllers device devices sensor sensors fixture fixtures luminaire luminaires
		lights light lamps lamp shades shade blinds blind curtains status state level position room rooms occupied occupancy anyone anybody
		someone installed inventory site asset assets model type gateway driver motor motors meters meter area areas online where equipment
		percent brightness open closed people panel group cluster clusters channel`)},
}

// askedAgent finds whom a question belongs to; "" if to nobody.
func askedAgent(words []string) string {
	if len(words) > longestCompound {
		return ""
	}
	if helpful(words) {
		return UserAssistantAgent
	}
	if hasAny(words, otherThings) && !slices.Contains(words, "next") && !hasAny(words, topics[0].words) {
		return ""
	}
	if fails(words) {
		return MaintenanceAgent
	}
	asking := asks(words)
	for _, t := range topics {
		if !hasAny(words, t.words) {
			continue
		}
		switch t.agent {
		case MaintenanceAgent:
			if asking || about(words) && !persons[words[0]] {
				return t.agent
			}
		case ComfortAgent:
			if asking && onlyBright(words) {
				continue // "how bright are the lights" asks for a level
			}
			if asking || complains(words) || !lightOrShade(words) && (wantsChange(words)) {
				return t.agent
			}
		default:
			if asking {
				return t.agent
			}
		}
	}
	return ""
}

// helpful are questions about the assistant itself.
func helpful(words []string) bool {
	has := func(w string) bool { return slices.Contains(words, w) }
	switch {
	case len(words) <= 3 && has("help"), has("help") && (has("me") || has("need") || has("you")) && !hasAny(words, topics[1].words):
		return true
	case has("who") && has("you"), has("what") && has("you") && (has("do") || has("are") || has("understand") || has("can") || has("control") || has("know")) && !hasAny(words, topics[1].words):
		return true
	case has("what") && has("i") && (has("say") || has("ask") || has("do")), has("commands"), has("instructions"), has("tutorial"), has("capabilities"):
		return true
	case has("how") && (has("i") || has("you")) && (has("do") || has("can") || has("to") || has("should") || has("does")) && !hasAny(words, topics[1].words) && !hasAny(words, set("many much")):
		return true
	case has("how") && has("this") && (has("work") || has("works")), has("how") && has("to") && len(words) < 8 && words[0] == "how":
		return true
	case len(words) > 3 && (words[0] == "can" || words[0] == "do" || words[0] == "could" || words[0] == "are") && words[1] == "you" && (has("control") || has("able") || has("understand") || has("know") || has("speak") || has("hear") || has("handle") || has("manage") || has("support")):
		return true
	case has("what") && has("your"), has("your") && has("name"):
		return true
	}
	return false
}

// fails reports whether a sentence says that a device does not do something: "the lights don't turn on".
func fails(words []string) bool {
	i := slices.Index(words, "not")
	return i > 0 && about(words[:i]) && hasAny(words[i:], set("work works working turn turning respond responding move moving open opening close closing dim dimming go come start stop stopping switch"))
}

// about reports whether a sentence states something of a device: "the light is flickering", "report a broken blind".
func about(words []string) bool {
	return hasAny(words, set(`light lights lamp lamps shade shades blind blinds curtain curtains sensor sensors controller device devices fixture fixtures
		motor motors panel report something fixture luminaire switch building room maintenance`))
}

// complains reports whether a sentence says how it is in the room, without asking for anything.
func complains(words []string) bool {
	return hasAny(words, set("its it im i were we is feels feel too seems so")) && hasAny(words, set(`cold colder warm warmer hot hotter cool cooler chilly freezing humid stuffy drafty draughty dark
		gloomy bright dim glare uncomfortable blinding stifling dry boiling muggy sunny toasty dazzling sweating draft`))
}

// wantsChange reports whether a sentence asks for heating, cooling or air.
func wantsChange(words []string) bool {
	return hasAny(words, set(`temperature thermostat degrees heat heating heater warmer cooler colder hotter cool warm ac aircon conditioning conditioner
		hvac fan ventilation air humidity cooling celsius fahrenheit`))
}

func lightOrShade(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { c := class(w); return c == "lights" || c == "shades" })
}

func onlyBright(words []string) bool {
	return lightOrShade(words) && !hasAny(words, set(`temperature heat heating cold warm hot cool humidity air hvac fan glare comfortable too`))
}
