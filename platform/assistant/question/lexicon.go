package question

import (
	"slices"
	"strings"
)

// tag is what a word or phrase contributes to the meaning.
type tag string

// lexicon lists phrases by what they contribute. A phrase may stand in several lines. Plurals and spellings need not be
// listed; a slip of the fingers is forgiven.
var lexicon = []struct {
	tag     tag
	phrases string // separated by commas
}{
	{"energy", "biggest consumer, main consumer, largest consumer, top consumer, who is using, who use, where does the energy go, where is the energy going, how many kwh, how much kwh, how many wh, energy, consumption, consume, consumed, consuming, kwh, electricity, electric energy, energy use, energy usage, power consumption, power usage, usage, wh, mwh, electrical"},
	{"use", "hungry, hungriest, use, used, using, burn, burned, burnt, eat, go through, went through, gone through, went to, went into, gone into, gone to, been through, get through, draw down, need, needed, meter reading"},
	{"took", "took, take, taken, taking, got through"},
	{"power", "how many watt, how many kw, power, watt, kw, w, load, demand, draw, drew, drawing, drawn, wattage, pull, pulling, power draw, power demand"},
	{"peak", "peak, peak load, peak demand, peak power, maximum power, highest load, highest power, maximum demand, maximum load, spike"},
	{"baseload", "base load, baseload, standby, idle load, night load"},
	{"cost", "cheapest, cost, price, bill, money, euro, €, $, dollar, spend, spent, spending, expense, expensive, tariff, pay, paid"},
	{"carbon", "emit, emitted, co2 did, carbon, carbon footprint, co2 emission, emission, carbon emission, greenhouse, footprint, co2 footprint"},
	{"saving", "what would be the effect, effect of, what if, save, saving, reduce, cut, optimise, optimize, improve, lower our, waste, wasting, wasted, wasteful, efficiency, efficient, inefficient, recommendation, recommend, suggestion, suggest, advice, tip, potential"},

	{"light", "light, lamp, luminaire, fixture, bulb, lighting, light fitting, downlight, spotlight, led"},
	{"on", "forget to switch off, forget to turn off, forgot to switch off, forgot to turn off, forgotten to switch off, forgotten to turn off, on, switched on, turned on, left on, burning, lit, lit up, illuminated, powered on, left burning, shining, active, glowing"},
	{"off", "off, switched off, turned off, dark, unlit, powered off"},
	{"level", "brighter than, darker than, dimmer than, brighter, darker, dimmer, brightness, level, light level, dim level, dimmed, dimming, how bright, bright, intensity, light output, output, dimmed down, percent, dim, setting"},
	{"full", "full brightness, fully on, full power, maximum brightness, at full, full blast"},
	{"kelvin", "colour temperature, kelvin, warm white, cool white, cold white, colour of the light, light colour, tunable, white balance, cct, mired, what colour, which colour"},
	{"brightest", "brightest"}, {"dimmest", "dimmest, darkest"},

	{"shade", "shade, blind, curtain, shutter, awning, roller, screen, roller blind, window covering, covering, sunblind, drape, venetian"},
	{"open", "open, opened, up, raised, fully open, wide open, wholly open, completely open, fully up, completely up, fully raised, all the way up, all the way open"},
	{"fullopen", "fully open, wide open, wholly open, completely open, fully up, completely up, fully raised, all the way up, all the way open"},
	{"closed", "closed, shut, down, lowered, fully closed, drawn"},
	{"moving", "moving, in motion, travelling, traveling, running, opening, closing"},
	{"position", "position, how far, how wide, percent open"},

	{"fault", "unplugged, adapter, electrician, technician, repairman, call out, the matter, replace, replaced, replacing, replacement, fault, faulty, fail, error, problem, issue, trouble, alarm, alert, warning, broken, defective, defect, failure, failed, failing, malfunction, malfunctioning, wrong, not working, broke, broke down, break down today, crashed, out of order, attention, maintenance, repair, repaired, fix, fixed, incident, not work, does not work, stopped working, ticket, complaint, event, service, servicing, urgent, bust, misbehaving, burnt out, dead lamp, stuck, jammed"},
	{"health", "health, healthy, fine, alright, all right, in order, ok, okay, well, condition, state of health, working, work properly, work correctly"},
	{"unknown", "can not you tell, can not tell, can you not tell, not we know, unknown, not known, not know, no reading, no value, never read, no position, not read, do not you know, unclear"},
	{"share", "percentage, proportion, share of, fraction, what percent, how many percent, ratio"},
	{"both", "of the 2, both, the 2, of those 2, of these 2, of both, between them, between the 2"},
	{"status", "status, state, condition, look like, doing"},
	{"offline", "offline, unreachable, not responding, not answering, silent, gone quiet, went quiet, fell silent, gone dark, went dark, dead, disconnected, unavailable, lost, not reachable, not online, no contact, no answer, no response, not reply, not replying, not answer, not respond, missing, not available, out of reach, unresponsive, not connected, dropped out, gone, been out, cannot be reached, not be reached, lost contact, lost connection, drop off, dropped off, went down, gone down, drop out, fell out, went offline, go offline, fall out, not communicating, not heard from, mia"},
	{"online", "online, reachable, available, connected, responding, alive, answering, respond, communicating, communicate, up and running, in contact"},
	{"availability", "availability, uptime, downtime, outage, reliability, reliable, interruption"},

	{"inventory", "inventory, asset, equipment, installed, installation, hardware, exist, have, has, contain, containing, overview of devices, register, composed, fitted, own"},
	{"zone", "zone, room, area, cluster, space, group"},
	{"floor", "floor, story, level of the building"},
	{"device", "device, node, thing, point, appliance of, unit, component, equipment, asset, element, member"},
	{"meter", "meter, submeter, energy meter, electricity meter, power meter, sub meter, metering, metered, measuring device"},
	{"unmetered", "unmetered, no meter, without meter, without a meter, without own meter, without their own meter, not have a meter, not have own meter, not have their own meter, not metered, lack a meter"},
	{"peripheral", "peripheral, sensor, wall station, switch, actuator, button, panel, detector"},
	{"bus", "bus, line, network, segment, fieldbus"},
	{"controller", "controller, gateway, appliance, hub, edge device, controller box"},
	{"site", "site, building, house, property, campus, premises, facility"},
	{"firmware", "firmware, software version, software, version, release"},
	{"protocol", "dali, modbus, dmx, sdn, somfy, profile, product, model, manufacturer, make, type, kind, brand, protocol"},
	{"ability", "dimmable, can be dimmed, can dim, tunable, rgb, rgbw, colour changing, capability, ability, can do"},
	{"size", "square metre, square meter, m2, sqm, size, how big, how large, floor area, square foot"},
	{"timezone", "what time zone, which time zone, time zone, timezone, what time is it, local time, clock"},

	{"temperature", "temperature, degree, celsius, fahrenheit, warm, cold, hot, chilly, heat, heating, cooling, cool, freezing, thermostat, setpoint, heated, warmer, cooler, colder, hotter, warmest, coolest, coldest"},
	{"humidity", "humidity, humid, damp, dry"},
	{"air", "co2, ppm, air quality, ventilation, ventilated, stuffy, fresh air, air, voc, smell, smelly"},
	{"noise", "noise, noisy, loud, sound, acoustic, quiet, decibel"},
	{"daylight", "lux, illuminance, daylight, glare, light intensity, sunlight, natural light"},
	{"hvac", "hvac, air conditioner, ac, radiator, fan, boiler, chiller, heat pump, climate, climate control"},
	{"comfort", "comfort, comfortable, uncomfortable, pleasant, indoor climate, well being, wellbeing, cosy"},
	{"someone", "anybody, anyone, someone, somebody, nobody, person, people"},
	{"occupancy", "occupancy, occupied, occupant, people, presence, empty, headcount, anybody in, anyone in, somebody in, someone in, people in, anyone there, anybody there, people present, in use, vacant, visitor, busy, attendance, employee, staff, crowded, footfall, unoccupied, who is in"},
	{"automation", "automation, automated, automatic, automatically, rule, scene, schedule, scheduled, timer, programme, timetable, routine, macro, calendar"},
	{"outside", "weather, rain, sunny, wind, outside temperature, outdoor, sunrise, sunset, news, stock, football, joke, president, capital, recipe, poem, song, parking, elevator, lift, water, gas, solar, pv, photovoltaic, battery, ev, charger, fire alarm, smoke, burglar, intruder, camera, door, window, wifi, internet, printer, coffee, lunch, menu"},
	{"report", "report, summary, summarise, summarize, overview, digest, briefing, status report, dashboard, what is happening, what happened, what is going on, situation, how is the building, how are things, update, catch me up, state of the building, rundown"},
	{"source", "where does, how long have you, since when have you, since when do you, when did you start, how far back, first measurement, oldest reading, source, how do you know, how fresh, how old, how recent, how current, how up to date, up to date, how accurate, trust, data age, age, how reliable is, provenance, freshness, how old is"},
	{"help", "help, what can you do, what can i ask, who are you, what are you, what do you know, what can you tell, how do you work, capabilities, examples, what questions, can you do for me, able to do"},
	{"greeting", "hello, hi, hey, good morning, good afternoon, good evening, thanks, thank you, cheers, bye, goodbye, greetings, howdy"},
	{"why", "why, reason, how come, explain, cause, caused"},

	{"count", "how many, count, number of, amount of lights, total number, quantity, how much lights, headcount"},
	{"list", "which, list, show, name, enumerate, what are, where, show me, give me, tell me which, display, what lights, find, identify, names"},
	{"check", "is, are, was, were, do, does, did, is there, are there, any, has, have, can"},
	{"howmuch", "how much, how high, how large, how many kwh, what is, what was, total, sum, value, figure, reading, amount, add up, sum up"},
	{"average", "average, mean, avg, typical, typically, usually, on average, normally, usual"},
	{"most", "longest, most, highest, biggest, largest, top, maximum, max, greatest, heaviest, strongest, worst, hungriest, hungry, number one, who is using, who use, who is consuming, who consume, where does the energy go, where is the energy going, where does the power go, biggest consumer, largest consumer, top consumer, rank, ranking, ranked, sort, sorted, main consumer, more than any"},
	{"least", "cheapest, least, lowest, smallest, minimum, fewest, best, weakest, lightest, bottom, most efficient, most economical"},
	{"compare", "compare, compared, comparing, versus, vs, against, than, difference, differ, relative to, comparison, as opposed to, or, change, changed, trend, increase, increased, decrease, decreased, more than, less than, higher than, lower than, more, rise, risen, rose, fall, fallen, fell, more or less, grown, dropped, gone up, development"},
	{"each", "each, every, per, by, break down, breakdown, broken down, split, respectively, individual, individually, distribution, distributed, itemise, separately"},
	{"hourly", "hourly, per hour, by hour, each hour, hour by hour, every hour, by the hour"},
	{"daily", "daily, per day, by day, each day, day by day, every day"},
	{"weekly", "weekly, per week, by week, each week, every week, week by week"},
	{"monthly", "monthly, per month, by month, each month, every month, month by month"},
	{"bydevice", "per device, per light, per lamp, by device"},
	{"since", "since when, how long, when was, when did, last seen, last time, last heard, when were, what time did, for how long, last contact, when is"},
	{"estimate", "estimate, estimated, approximately, roughly, approximate, ballpark, guess, calculate, calculated, assume, assuming, extrapolate"},
	{"future", "will, forecast, predict, prediction, expect, expected, going to, project, projection, projected, upcoming"},
	{"except", "except, excluding, apart from, besides, other than, but not, leaving out"},
	{"byhour", "which hour, what hour, what time, at what time, which time, time of day"}, {"byday", "which day, what day, which date, what date, which weekday"},
	{"half", "half"}, {"partly", "partly, partially, halfway, half open, half closed"},
	{"above", "above, over, more than, greater than, brighter than, higher than, exceeding, at least, exceed, beyond, not less than, stronger than"},
	{"below", "below, under, less than, lower than, dimmer than, darker than, at most, fewer than, up to, not more than"},
	{"whole", "whole building, entire building, whole site, whole house, in total, overall, altogether, everywhere, all together, everything, entire site, all zones, all rooms, all floors, all areas, complete building, building wide, whole place, the building, the site, this building, our building, my building, the house, whole office building, entire place, the facility"},
	{"all", "all, every, each and every, entire, complete, whole"},
	{"not", "not, no, none, without, nothing, neither, never"},
	{"else", "else, other, another, remaining, rest"},
	{"them", "them, they, those, these, that one, same, ones"}, {"it", "it"},
	{"only", "only, just, merely"},
	{"about", "what about, how about, and, also, as well, now what about, then, instead"},
	{"current", "currently, at the moment, latest, last known, most recent, newest, present"},
	{"when", "when, when was, when were, when did, when is"},
}

// entry is one phrase with all its tags.
type entry struct {
	words []string
	tags  []tag
}

var (
	lexical      = readLexicon()
	lexiconWords = lexical.words
)

// filler words carry no meaning here, nor do they name anything. They are known so that everything else is noticed.
var filler = wordSet(`a an the of in on at to for from by with and or but so as if is are was were be been being am do does did doing done
	has have had having i me my mine we our ours you your he she they them their it its this that these those there here who whom
	what which how when where why can could would should shall will may might must please kindly just really very quite rather
	tell give show say know see check look find get got want like need think wonder wondering let could you me us now then than
	some any all both each few more most other such only own same too also again still yet already ever never once
	about across after before between during into through over under within without until till since while per via around along
	up down out off back away together much many lot lots bit little up-to ok okay well right exactly actually basically
	currently moment present today yesterday tomorrow time times date day days week weeks month months year years hour hours minute minutes
	quick quickly brief briefly short detail details detailed information info data answer question figure figures number numbers value values
	thing things stuff kind sort way case fact point part half quarter one ones first last next previous past recent latest current
	good bad great nice big small large high low long late early new old full empty real true false sure
	sit sits sitting lie lies belong belongs cover covers covered make made makes take took taken put set go goes going gone went come comes came run running keep kept stay stayed stand stands
	work works worked happen happened happens turn turned switch switched leave left use used using seem seems look looks
	start started end ended begin began stop stopped mean means meant
	anything something everything nothing anybody someone everyone nobody anywhere somewhere everywhere
	hello hi hey thanks thank dear assistant bot buddy mate friend sir madam
	place places located inside outside side location kind regards worth total overall altogether roughly approximately
	versus against compared compare yes no not nor neither either else instead otherwise therefore however
	s t m re ve d ll percent am pm oclock monday tuesday wednesday thursday friday saturday sunday weekday workday working business
	january february march april may june july august september october november december night morning evening afternoon noon midnight weekend
	second seconds ago later sooner soon recently lately often sometimes always usually normally mostly possibly maybe perhaps
	able possible allowed ready interested curious list summary total sum amount share portion ratio rate
	everybody folks team guys boss mean simply merely entire whole complete entirely completely fully properly
	turning switching burning able try trying help asking ask asked inform hear heard report reported reports reporting showing shown
	consuming consumes consumer consumers user users uses spent responsible cause causes account accounts accounted contribute contributes
	far wide deep ahead behind above below equal equals least less fewer sometime someday anyhow whatever whichever whoever
	defined configured programmed planned available existing
	period range interval window span timeframe duration state states stated situation happening going operation operating operate operated operational
	measure measured measures measurement measurements recorded record records register registered logged counted reading readings`)

// lookup is the lexicon ready for use.
type lookup struct {
	byFirst map[string][]entry // longest first
	words   map[string]bool    // phrases of one word
}

func readLexicon() lookup {
	l := lookup{map[string][]entry{}, map[string]bool{}}
	tags := map[string][]tag{}
	var phrases [][]string
	for _, line := range lexicon {
		for phrase := range strings.SplitSeq(line.phrases, ",") {
			words := stems(phrase)
			key := strings.Join(words, " ")
			if tags[key] == nil {
				phrases = append(phrases, words)
			}
			tags[key] = append(tags[key], line.tag)
		}
	}
	slices.SortStableFunc(phrases, func(a, b []string) int { return len(b) - len(a) })
	for _, words := range phrases {
		l.byFirst[words[0]] = append(l.byFirst[words[0]], entry{words, tags[strings.Join(words, " ")]})
		if len(words) == 1 {
			l.words[words[0]] = true
		}
	}
	return l
}
