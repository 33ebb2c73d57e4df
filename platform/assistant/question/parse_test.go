package question

import (
	"fmt"
	"testing"
	"time"
)

var berlin = func() *time.Location {
	l, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return l
}()

// now is a Wednesday, 14:32:20 in Berlin.
var now = time.Date(2026, 11, 18, 14, 32, 20, 0, berlin)

func demoNames() Names {
	var n []Name
	add := func(kind PlaceKind, id int64, text string) {
		n = append(n, Name{Place{Kind: kind, ID: id, Name: text}, text})
	}
	for i, z := range []string{"Open office north", "Open office south", "Lobby", "Canteen", "Corridor ground floor", "Meeting room Alps",
		"Meeting room Lakes", "Atrium", "Corridor upper floor", "Tower north shades"} {
		add(Zone, int64(i+1), z)
	}
	for _, f := range []string{"Ground floor", "Upper floor"} {
		add(Floor, 0, f)
	}
	for i := 1; i <= 6; i++ {
		add(Device, int64(32+i), fmt.Sprintf("Lobby %d", i))
		add(Device, int64(5000+i), fmt.Sprintf("Lobby shade %d", i))
	}
	add(Meter, 127, "Meter ground floor")
	add(Bus, 0, "tower")
	return NewNames(n)
}

func TestDump(t *testing.T) {
	for _, text := range []string{
		"How much energy did the lobby use yesterday?", "which lights are on", "Which lights are on on the ground floor?",
		"what's the energy consumption of the canteen this week compared to last week", "how many lights are on in the lobby?",
		"are any blinds open in the lobby", "list all faults", "is anything offline?", "what is the power draw right now",
		"top 3 zones by energy last month", "which zone used the most electricity between 8 and 12 yesterday",
		"energy since monday 8 am", "How warm is it in the lobby?", "is anybody in the canteen", "turn off the lobby lights",
		"please dim the canteen to 40%", "open the lobby shades halfway", "lights above 50 percent in open office north",
		"how many shades are there on the ground floor", "how much power is the sauna using", "what is the brightness of lobby 3",
		"when was lobby 3 last seen", "how long has lobby shade 2 been offline", "what was the peak load yesterday",
		"and yesterday?", "what about the canteen", "which controllers are online", "what firmware runs on the gateway",
		"How much will we use tomorrow?", "energy on 17 November between 08:00 and 12:00", "energy from 2026-11-10 to 2026-11-12",
		"did we use more energy today than yesterday", "what did the building consume in october", "how many kWh last 24 hours", "enrgy yeterday lobby",
		"Is the light on in the lobby?", "any problems?", "is everything ok", "give me an overview of the building", "what happened last night",
		"break down energy by floor for this month", "hourly consumption yesterday", "are all lights off in the corridors?", "meeting rooms lights",
		"how bright is it in the atrium", "how old are these readings", "colour temperature of meeting room alps", "what does the dishwasher cost us",
		"which lights did someone leave on", "how many rooms are there", "what zones are on the upper floor", "lobby", "stop the shades",
		"how can we save energy", "average power today", "how much does electricity cost this month", "what is the weather", "who won the world cup",
		"which hour had the highest consumption yesterday", "how many devices are not responding", "which meters do we have", "third floor lights on?",
	} {
		q := Parse(text, demoNames(), now)
		when := ""
		if q.When != nil {
			when = q.When.Label + " " + q.When.From.Format("0102T1504") + "-" + q.When.To.Format("0102T1504")
		}
		if q.Against != nil {
			when += " VS " + q.Against.Label + " " + q.Against.From.Format("0102T1504") + "-" + q.Against.To.Format("0102T1504")
		}
		var pl []string
		for _, p := range q.Places {
			pl = append(pl, string(p.Kind)+":"+p.Name)
		}
		do := ""
		if q.Do != nil {
			do = fmt.Sprintf("%+v", *q.Do)
			if q.Do.Level != nil {
				do += fmt.Sprint(" L", *q.Do.Level)
			}
			if q.Do.Position != nil {
				do += fmt.Sprint(" P", *q.Do.Position)
			}
		}
		fmt.Printf("%-60s %s/%s obj=%s st=%s by=%s top=%d b=%v %v [%s] unk=%q asp=%s fut=%v fol=%v %s sure=%.1f\n", text, q.Topic, q.Op, q.Object, q.State, q.By, q.Top, q.Bound, pl, when, q.Unknown, q.Aspect, q.Future, q.Follows, do, q.Sure)
	}
}
