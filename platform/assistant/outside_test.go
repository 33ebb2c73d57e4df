package assistant

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// outside are things that buildings have and this one does not tell of.
var outside = []string{"fire alarm", "smoke detector", "lift", "elevator", "parking space", "front door", "window", "sprinkler", "camera", "security gate", "EV charger", "coffee machine",
	"printer", "rainwater tank", "boiler", "chiller", "solar panel", "battery storage", "wifi access point", "intercom", "fountain", "garage door", "vending machine", "water meter",
	"gas meter", "dishwasher", "swimming pool", "server rack", "escalator", "burglar alarm"}

// figure is a number, or a state that only things of this building have.
var figure = regexp.MustCompile(`[0-9]|\bby |\bdurch |\bYes\b|\bNo:|\bis (on|off|open|closed|online)\b|\bare (on|off|open|closed|online|reported)\b|No fault|order`)

func TestWhatTheBuildingDoesNotHaveGetsNoFigureAndNoState(t *testing.T) {
	e := on(unchanged().Remember())
	asked := 0
	for _, noun := range outside {
		many := noun + "s"
		for _, form := range []string{
			"is the %[1]s on?", "are the %[2]s working", "any active %[2]s?", "how many %[2]s do we have", "which %[2]s are open", "status of the %[1]s", "is there a fault on the %[1]s",
			"how much energy did the %[1]s use yesterday", "is the %[1]s in the lobby ok", "when was the %[1]s last serviced", "list all %[2]s on the ground floor", "what does the %[1]s draw right now",
			"are all %[2]s closed", "is the %[1]s offline", "how bright is the %[1]s", "who opened the %[1]s",
			"since when is the %[1]s on", "how long was the %[1]s on yesterday", "why is the %[1]s off", "did anybody switch the %[1]s off today", "which %[2]s were switched yesterday", "when was the %[1]s last opened", "which %[2]s have been on for more than 2 hours",
		} {
			text := fmt.Sprintf(form, noun, many)
			r := ask(t, e, platform.Inquiry{Message: text})
			asked++
			if got := figure.FindString(r.Text); got != "" {
				t.Errorf("%q: %q has no place in: %s", text, got, r.Text)
			}
			if first := strings.Fields(noun)[0]; !strings.Contains(r.Text, first) && !strings.Contains(r.Text, "do not understand") && !strings.Contains(r.Text, "did not understand") && !strings.Contains(r.Text, "not measured") && !strings.Contains(r.Text, "nothing called") {
				t.Errorf("%q does not say what was not understood: %s", text, r.Text)
			}
		}
	}
	t.Logf("%d questions about %d things that there are not", asked, len(outside))
}

// The same in German, whose compound nouns hold words that are known: "Rauchmelder", "Wasserzähler".
func TestWhatTheBuildingDoesNotHaveGetsNoFigureInGerman(t *testing.T) {
	e := on(unchanged().Remember())
	for _, noun := range []string{"Aufzug", "Rauchmelder", "Brandmelder", "Parkplatz", "Haustür", "Fenster", "Kamera", "Drucker", "Kaffeemaschine", "Wasserzähler", "Gaszähler", "Ladesäule", "Boiler", "Springbrunnen",
		"Garagentor", "Serverraum", "Rolltreppe", "Alarmanlage", "Sprinkleranlage", "Spülmaschine", "Solaranlage", "Schwimmbad", "Tiefgarage", "Küche", "Gegensprechanlage", "Kühlschrank", "Schranke", "Wäschetrockner", "Batteriespeicher", "Feuerlöscher"} {
		for _, form := range []string{"ist %s an", "wie viele %s gibt es", "funktioniert %s", "welche %s sind offen", "wie viel Strom hat %s gestern verbraucht", "ist %s kaputt", "ist %s in der Lobby offline", "wer hat %s eingeschaltet",
			"wie hell ist %s", "sind alle %s zu", "seit wann ist %s an", "wie lange war %s gestern an", "warum ist %s aus", "hat heute jemand %s ausgeschaltet", "was hat %s geöffnet"} {
			text := fmt.Sprintf(form, noun)
			if r := ask(t, e, platform.Inquiry{Message: text}); figure.MatchString(r.Text) {
				t.Errorf("%q: %q has no place in: %s", text, figure.FindString(r.Text), r.Text)
			}
		}
	}
}

// Every row of what made answers wrong: a word that means something was left over, and nobody minded.
func TestNoWordThatMeansSomethingIsLeftOver(t *testing.T) {
	e := on(unchanged())
	for _, c := range []struct {
		asked string
		want  []string
		never []string
	}{
		{"any active fire alarms?", []string{"nothing called “fire alarms”"}, []string{"Yes", "lights are", "50", "172"}},
		{"which lights have been on for more than 3 hours?", []string{"history is not kept"}, []string{"3 %", "27"}},
		{"lights on for more than 3 hours?", []string{"history is not kept"}, []string{"3 %", "27"}},
		{"which lights are on without the lobby?", []string{"23 of 35 lights without Lobby are on"}, []string{"Lobby (", "Lobby 4", "Lobby 1"}},
		{"which rooms have lights but no shades?", []string{"7 of 10 zones have lights and no shades", "Annex workshop"}, []string{"Canteen", "Tower lounge", "Lobby,"}},
		{"by how many watts does the upper floor exceed the annex?", []string{"Upper floor draws " + kw(offices, alps) + " (without Meeting room Lakes, which nothing measures)", "Which of them draws more is not known."}, []string{"together", "W more"}},
		{"by how many watts does the ground floor exceed the workshop?", []string{"Ground floor draws " + kw(ground), "Annex workshop draws " + kw(workshop), "more"}, nil},
		{"power per square metre, please", []string{"I do not know: not all of"}, []string{"may not switch"}},
		{"power per square metre on the ground floor, please", []string{"Ground floor draws " + kw(ground) + " for 640 m²", "W per m²"}, nil},
		{"canteen lights off for an hour", []string{"for a while"}, []string{"Not done yet"}},
		{"canteen lights off at 8 pm", []string{"cannot do it later"}, []string{"Not done yet"}},
		{"all lights off but the lobby", []string{"Not done yet", "Canteen"}, []string{"Lobby ("}},
		{"why is the lobby lit?", []string{"do not know"}, []string{"40 %"}},
	} {
		r := ask(t, e, platform.Inquiry{Message: c.asked, Control: true})
		for _, want := range c.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%q: %q is missing in: %s", c.asked, want, r.Text)
			}
		}
		for _, never := range c.never {
			if strings.Contains(r.Text, never) {
				t.Errorf("%q: %q has no place in: %s", c.asked, never, r.Text)
			}
		}
	}
}

// The same rows in German, and with a history: what was kept is told, and only that.
func TestNoWordThatMeansSomethingIsLeftOverInGerman(t *testing.T) {
	b := sitetest.New().Remember()
	for i := range b.DeviceList {
		if len(b.DeviceList[i].Zones) == 1 && b.DeviceList[i].Zones[0] == sitetest.North {
			b.DeviceList[i].Online = false
		}
	}
	e := on(b)
	for i, c := range []struct {
		asked []string // one after the other
		want  []string
		never []string
	}{
		{[]string{"gibt es aktive Feueralarme?"}, []string{"kenne ich in „Harbour House“ nicht"}, []string{"Ja", "sind an", "Störung"}},
		{[]string{"welche Lichter sind seit mehr als 3 Stunden an?"}, []string{"14 von 39 Leuchten: an, seit mehr als 3 h", "Open office south (alle 6)"}, []string{"3 %", "Lobby"}},
		{[]string{"which lights have been on for more than 3 hours?"}, []string{"14 of 39 lights: on, for more than 3 h"}, []string{"3 %", "Lobby"}},
		{[]string{"welche Lichter sind an, ohne die Lobby?"}, []string{"ohne Lobby"}, []string{"Lobby (", "Lobby 4", "Lobby 1"}},
		{[]string{"welche Räume haben Licht, aber keine Rollos?"}, []string{"7 von 10 Zonen haben Leuchten und keine Rollos"}, []string{"Canteen", "Lobby,"}},
		{[]string{"um wie viel Watt liegt das Erdgeschoss über dem Workshop?"}, nil, []string{"usammen", "umme"}},
		{[]string{"Leistung pro Quadratmeter, bitte"}, []string{"Ich weiß es nicht: Nicht alles wird jetzt gemessen"}, []string{"schalten", "W je"}},
		{[]string{"Leistung pro Quadratmeter im Erdgeschoss, bitte"}, []string{kw(ground), "auf 640 m²"}, nil},
		{[]string{"Licht in der Canteen für eine Stunde aus"}, []string{"Nur für eine Weile"}, []string{"Noch nicht ausgeführt"}},
		{[]string{"alle Lichter aus außer in der Lobby"}, []string{"Noch nicht ausgeführt", "Canteen"}, []string{"Lobby ("}},
		{[]string{"ist es in Open office north zu dunkel?"}, []string{"Ich weiß es nicht"}, []string{"0 von 8", "Nein"}},
		{[]string{"welche Lichter sind in der Canteen an?", "warum?"}, []string{"Lunch is over"}, []string{"%", "07:30"}},
		{[]string{"was hat das Erdgeschoss gestern verbraucht?", "warum?"}, []string{"Warum, weiß ich nicht", kwh(at(17, 0), at(18, 0), ground)}, nil},
	} {
		var r platform.Reply
		for _, text := range c.asked {
			r = ask(t, e, platform.Inquiry{Session: fmt.Sprint(i), Message: text, Control: true})
		}
		for _, want := range c.want {
			if !strings.Contains(decimalPoints(r.Text), want) {
				t.Errorf("%q: %q is missing in: %s", c.asked, want, r.Text)
			}
		}
		for _, never := range c.never {
			if strings.Contains(r.Text, never) {
				t.Errorf("%q: %q has no place in: %s", c.asked, never, r.Text)
			}
		}
	}
}

// What an answer does not take into account is named, and there is no figure without it.
func TestWhatAnAnswerWouldDropIsRefused(t *testing.T) {
	e := on(unchanged())
	for asked, want := range map[string]string{
		"compare the ground floor without the lobby with the annex for Monday": "cannot answer it with something left out",
		"was Alps brighter than the lobby yesterday":                           "history is not kept",
		"what colour temperature did Alps have yesterday":                      "history is not kept",
		"faults for more than 2 days":                                          "do not understand",
		"was the controller offline yesterday":                                 "cannot answer it with a time",
		"which devices were offline for more than 2 hours yesterday":           "cannot answer it with a condition",
		"what was the share of the offices above 20 kWh yesterday":             "cannot answer it with a condition",
		"energy and power of the workshop":                                     "do not understand “energy and power”",
		"what is the biggest room":                                             "do not understand “biggest”",
		"how much energy per employee last week":                               "employee",
		"kWh over Easter":                                                      "did not understand the time",
	} {
		r := ask(t, e, platform.Inquiry{Message: asked})
		if !strings.Contains(r.Text, want) || strings.Contains(r.Text, " used ") || strings.Contains(r.Text, "are on") {
			t.Errorf("%q: want %q in: %s", asked, want, r.Text)
		}
	}
	for asked, never := range map[string]string{
		"energy by floor yesterday without the annex": "Annex ", "which zone used the most yesterday except the workshop": "workshop ", "power per floor without the upper floor": "Upper",
		"consumption by meter yesterday without the lobby": "Meter lobby", "how can the workshop save electricity": "open offices",
	} {
		if r := ask(t, e, platform.Inquiry{Message: asked}); strings.Contains(strings.Replace(r.Text, "Not measured", "", 1), never) && !strings.Contains(r.Text, "without "+never) {
			t.Errorf("%q: %q has no place in: %s", asked, never, r.Text)
		}
	}
}

// A gateway that is silent makes nothing dark, and "why?" is not the state again.
func TestWhatIsMissingIsToldAsMissing(t *testing.T) {
	b := sitetest.New()
	for i := range b.DeviceList {
		if len(b.DeviceList[i].Zones) == 1 && b.DeviceList[i].Zones[0] == sitetest.North {
			b.DeviceList[i].Online = false
		}
	}
	e := on(b)
	for _, text := range []string{"is open office north too dark?", "how bright is open office north", "are the lights on in open office north?", "is open office north brighter than the lobby?"} {
		r := ask(t, e, platform.Inquiry{Message: text})
		if !strings.Contains(r.Text, "do not know") || strings.Contains(r.Text, "0 of 8") || strings.Contains(r.Text, "No:") {
			t.Errorf("%q: %s", text, r.Text)
		}
	}
	ask(t, e, platform.Inquiry{Session: "why", Message: "which lights are on in the lobby?"})
	if r := ask(t, e, platform.Inquiry{Session: "why", Message: "why?"}); !strings.Contains(r.Text, "what led to it") || strings.Contains(r.Text, "40 %") {
		t.Errorf("why? is answered by %s", r.Text)
	}
	ask(t, e, platform.Inquiry{Session: "use", Message: "what did the ground floor use yesterday?"})
	says(t, ask(t, e, platform.Inquiry{Session: "use", Message: "why?"}), "Why, I do not know", kwh(at(17, 0), at(18, 0), ground))
}

// Operations have answers whose figures can be computed again.
func TestOperations(t *testing.T) {
	e := on(unchanged())
	for asked, want := range map[string][]string{
		"did the ground floor use more than 20 kWh yesterday":               {"Yes: Ground floor used " + kwh(at(17, 0), at(18, 0), ground), "above 20.00 kWh"},
		"did the ground floor use more than 30 kWh yesterday":               {"No: Ground floor used " + kwh(at(17, 0), at(18, 0), ground), "not above 30.00 kWh"},
		"which floors used over 25 kWh yesterday":                           {"Upper floor " + kwh(at(17, 0), at(18, 0), offices, alps), "Not: Ground floor"},
		"is the ground floor drawing more than 1 kW":                        {"Yes: Ground floor draws " + kw(ground)},
		"energy per square metre on the ground floor yesterday":             {kwh(at(17, 0), at(18, 0), ground) + " yesterday", "for 640 m²: 0.033 kWh per m²"},
		"sum of the workshop and Alps on Monday":                            {"Together " + kwh(at(16, 0), at(17, 0), workshop, alps)},
		"by how many kWh did the offices exceed the workshop on Monday":     {"Annex workshop " + kwh(at(16, 0), at(17, 0), workshop), kwh(at(16, 0), at(17, 0), offices), "more"},
		"energy yesterday without the offices":                              {kwh(at(17, 0), at(18, 0), ground, workshop, alps)},
		"energy on Monday without the annex and the meeting rooms":          {kwh(at(16, 0), at(17, 0), ground, offices)},
		"what is the trend on the ground floor":                             {"in the last four whole weeks", "week of 9 Nov " + kwh(at(9, 0), at(16, 0), ground)},
		"how much brighter is Alps than the lobby":                          {"Meeting room Alps is at 60 % on average", "Lobby is at 40 %", "20 points more"},
		"are there more lights on upstairs than downstairs":                 {"Upper floor has 15 of 20 lights on", "Ground floor has 7 of 12 lights on", "8 more"},
		"which rooms have neither lights nor shades":                        {"0 of 10 zones"},
		"rooms with more than 4 lights":                                     {"3 of 10 zones", "Open office north (8 lights)", "Canteen (5 lights)"},
		"rooms with more than 3 lights on":                                  {"Open office north 6 of 8 on", "Lobby 4 of 4 on"},
		"is any light on in the building?":                                  {"Yes: 27 of 39"},
		"any light on in the building apart from the lobby?":                {"Yes: "},
		"are the lights in the lobby and the canteen on?":                   {"No: 4 of 9 lights"},
		"did Lobby 1 ever go offline?":                                      {"Yes: 1 outage", "Lobby 1", "last 30 days"},
		"did Lobby 2 ever go offline?":                                      {"No: no device was reported as offline", "last 30 days"},
		"how much did the workshop use between 6 and 7 pm yesterday":        {"Annex workshop used", "Tue 17 Nov 18:00 to Tue 17 Nov 19:00"},
		"is nothing on in the canteen?":                                     {"Yes: none of the 5 lights in Canteen is on"},
		"no lights on in the lobby, right?":                                 {"No: all 4 lights in Lobby are on"},
		"are no shades open":                                                {"No: 2 of 5 shades are open"},
		"did consumption on the ground floor go up last week":               {kwh(at(9, 0), at(16, 0), ground), kwh(at(2, 0), at(9, 0), ground), "more"},
		"which shade is lowest":                                             {"Canteen shade 1 and 2 (0 % open)"},
		"on which days did we use more than 60 kWh last week":               {"7 days of the building were measured", "5 of them are above 60.00 kWh"},
		"which lights are tunable":                                          {"6 of 39 lights can be tuned in colour temperature"},
		"can the lights in Alps be dimmed?":                                 {"Yes: 3 of 3 lights in Meeting room Alps can be dimmed"},
		"which devices have been offline for more than a day":               {"1 of 50 devices has been out of reach for more than 24 h", "Lounge shade"},
		"which devices are offline apart from the shades":                   {"1 of 45 devices", "Open office north 8"},
		"which rooms have closed shades":                                    {"Canteen 2 of 2 closed"},
		"what percentage of the blinds is closed":                           {"2 of 5 shades are closed", "50 %"},
		"who switched on the lobby lights":                                  {"ledger of the controller"},
		"since when are the lobby lights on":                                {"history is not kept"},
		"why is consumption so high today":                                  {"Why, I do not know", kwh(at(18, 0), sitetest.Now, ground, offices, workshop, alps)},
		"lights cooler than 3600 K in Alps?":                                {"1 of 3 lights in Meeting room Alps with a colour temperature is above 3600 K: Alps 3 (4000 K)"},
		"welche Lichter sind an, außer in der Lobby?":                       {"23 von 35 Leuchten ohne Lobby sind an"},
		"wie viel Energie hat das Erdgeschoss gestern verbraucht?":          {strings.Replace(kwh(at(17, 0), at(18, 0), ground), ".", ",", 1)},
		"is the workshop's consumption on Monday usual":                     {kwh(at(16, 0), at(17, 0), workshop), "same hours of the same weekday of the last 4 weeks"},
		"what share of the building's energy did the offices use on Monday": {kwh(at(16, 0), at(17, 0), offices), "whole building"},
	} {
		r := ask(t, e, platform.Inquiry{Message: asked})
		for _, w := range want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%q: %q is missing in: %s", asked, w, r.Text)
			}
		}
	}
}

// A question about a kind of thing that buildings have gets one honest sentence, whatever else it says, in both languages.
func TestKindsOfThingsThatAreNotHereAreNamed(t *testing.T) {
	e := on(unchanged())
	for _, c := range []struct{ asked, want string }{
		{"what's the voltage on the workshop meter?", "Voltage is not measured in “Harbour House”"},
		{"how many amps does the annex pull", "Electric current is not measured"},
		{"are the emergency exit lights charged", "nothing called “emergency exit lights”"},
		{"how many lumens per square metre do we have in the workshop", "Illuminance is not measured"},
		{"what does a single lamp in the canteen consume", "What single lamps or devices draw is not measured"},
		{"is the humidity okay for the grand piano in the lobby", "Humidity is not measured"},
		{"how much CO2 did the lighting cause this week", "The emission of CO2 is not measured"},
		{"is the ventilation of the lobby making that odd hum again", "not measured"},
		{"has the fire brigade reset the smoke detectors", "“smoke detectors”"},
		{"Wie hoch ist die Spannung im Anbau?", "Spannung wird in „Harbour House“ nicht gemessen"},
		{"Ist die Notbeleuchtung in Ordnung?", "„Notbeleuchtung“"},
		{"Wie viel Wasser haben wir gestern verbraucht?", "„Wasser“"},
		{"Läuft der Aufzug wieder?", "„Aufzug“"},
	} {
		r := ask(t, e, platform.Inquiry{Message: c.asked})
		if !strings.Contains(r.Text, c.want) || figure.MatchString(strings.NewReplacer("CO2", "").Replace(r.Text)) {
			t.Errorf("%q: want %q and no figure: %s", c.asked, c.want, r.Text)
		}
	}
}
