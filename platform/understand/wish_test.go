package understand

import "testing"

// tower is a building with the sides of a tower as zones of shades.
func tower() Names {
	n := []Name{{Text: "Demo building"}}
	add := func(k Kind, id int64, on string, texts ...string) {
		for _, t := range texts {
			n = append(n, Name{Place{Kind: k, ID: id, Name: texts[0], On: on}, t})
		}
	}
	for i, z := range [][2]string{{"Open office north", "Ground floor"}, {"Lobby", "Ground floor"}, {"Canteen", "Ground floor"}, {"Meeting room Alps", "Upper floor"}, {"Meeting room Lakes", "Upper floor"}, {"Atrium", "Upper floor"},
		{"Corridor upper floor", "Upper floor"}, {"Annex workshop", "Annex"}, {"Annex gallery", "Annex"}, {"Tower office", "Tower"}, {"Tower corridor", "Tower"}, {"Stage", "Hall"},
		{"Tower north shades", "Tower"}, {"Tower east shades", "Tower"}, {"Tower south shades", "Tower"}, {"Tower west shades", "Tower"}} {
		add(Zone, int64(i+1), z[1], z[0])
	}
	for _, f := range []string{"Annex", "Tower", "Hall"} {
		add(Floor, 0, "", f)
	}
	add(Floor, 0, "", "Ground floor", "downstairs", "erdgeschoss")
	add(Floor, 0, "", "Upper floor", "upstairs", "obergeschoss")
	for i, d := range []string{"Lobby 1", "Lobby 2", "Lobby 3", "Stage spot 1", "Stage spot 2", "Stage work light"} {
		add(Device, int64(100+i), "", d)
	}
	return NewNames(n)
}

// What an order says beside what is to be done is understood, or it is what keeps it from being done.
func TestWhatAnOrderSaysBesides(t *testing.T) {
	names := tower()
	for text, want := range map[string]string{
		// the place is in the reason
		"It's too bright in the tower office, take it down by 20 percent.":     "step light=-20 @Tower_office",
		"It's too bright in the lobby, dim it by 20 percent":                   "step light=-20 @Lobby",
		"The lobby is too dark, turn it up to 60 percent":                      "set light=60 @Lobby",
		"The lobby is too dark, the canteen to 60 percent":                     "set light=60 @Canteen",
		"Im Turmbüro ist es zu hell, mach es um 20 Prozent dunkler":            "step light=-20 @Tower_office",
		"I'm about to mop the corridor upstairs, can I have full light there?": "set light=100 @Corridor_upper_floor",
		"We have visitors in the lobby, lights on please":                      "set light=on @Lobby",
		"Licht im Turmflur an, ich muss da putzen":                             "set light=on @Tower_corridor",
		"canteen lights on, I need to clean":                                   "set light=on @Canteen",
		"bring the canteen up to full for the sound check":                     "set light=100 @Canteen",
		"turn off the lobby lights for the sauna":                              "set light=off @Lobby",
		"I want the lobby off, canteen lights on":                              "set light=off @Lobby + set light=on @Canteen",
		"I am not in the lobby, lights off":                                    "lights",
		"canteen lights off for an hour":                                       "!for for an hour",
		// what is left alone
		"Open the tower blinds but leave the west ones":                       "set shade=100 @Tower -@Tower_west_shades",
		"Open the blinds on the north and east side but leave the west ones.": "set shade=100 @Open_office_north @Tower_east_shades @Tower_north_shades -@Tower_west_shades",
		// a part of the things
		"Half the lights off in the canteen.":        "!some half the lights",
		"turn off half of the canteen lights":        "!some half of the canteen lights",
		"turn every second lamp off in the canteen":  "!some every second lamp",
		"turn on only lamps 1 and 2 in the workshop": "!some lamps 1 and 2",
		"only lamp 3 in Lakes":                       "!some lamp 3",
		"turn on light number 4 in the lobby":        "!some light number 4",
		"Nur Lampe 3 im Lakes einschalten":           "!some lampe 3",
		"die halben Lichter in der Kantine aus":      "!some halben lichter",
		"die Hälfte der Lampen in der Kantine aus":   "!some hälfte der lampen",
		"jede zweite Lampe in der Kantine aus":       "!some jede zweite lampe",
		"mach in der Lobby nur die Lampe 2 an":       "!some lampe 2",
		"dim the canteen lights by half":             "step light=-50 @Canteen",
		// as bright as another place
		"make the workshop as bright as the tower office": "set light=like @Annex_workshop as:@Tower_office",
		"set the lobby to the same level as the canteen":  "set light=like @Lobby as:@Canteen",
		"Werkstatt so hell wie das Turmbüro":              "set light=like @Annex_workshop as:@Tower_office",
		"Mach die Lobby gleich hell wie die Kantine":      "set light=like @Lobby as:@Canteen",
		"is the lobby as bright as the canteen":           "lights",
		"make the lobby as bright as the ballroom":        "!",
		// again and again
		"From now on turn the lobby off every evening at eleven.": "!time from now on, every evening at eleven",
		"always turn the lobby off at 11 pm":                      "!time",
		"Schalte die Lobby ab jetzt jeden Abend um 22 Uhr aus":    "!time",
		// colours
		"Das Atrium bitte in Blau mit 30 Prozent": "!color blau",
		"atrium blue 30 percent":                  "!color blue",
		// German places and sides
		"Storen an der Nordseite ganz runter":            "set shade=0 @Open_office_north @Tower_north_shades",
		"Storen auf der Nordseite ganz runter":           "set shade=0 @Open_office_north @Tower_north_shades",
		"Rollos an der Ostseite vom Turm auf 30 Prozent": "set shade=30 @Tower_east_shades",
		// the kind of the part before
		"blinds in the canteen to 45 please, and the lobby's to 60": "set shade=45 @Canteen + set shade=60 @Lobby",
		"Storen Ost hoch, West runter":                              "set shade=100 @Tower_east_shades + set shade=0 @Tower_west_shades",
		"canteen blinds up, lobby lights to 60":                     "set shade=100 @Canteen + set light=60 @Lobby",
		"canteen blinds up, lobby off":                              "set shade=100 @Canteen + set light=off @Lobby",
		"raise the west shades of the tower by a third":             "step shade=+33 @Tower_west_shades",
		"it's gloomy in the canteen, put the lights on":             "set light=on @Canteen",
		"Open the east and south side of the tower, leave north":    "set shade=100 @Tower_east_shades @Tower_south_shades -@Open_office_north -@Tower_north_shades",
		"turn the gallery off but the workshop stays on":            "set light=off @Annex_gallery -@Annex_workshop",
		"I need more light on the stage":                            "step light=+ @Stage",
		"make it darker on stage":                                   "step light=- @Stage",
		"dim everything on the ground floor to 15 %":                "set light=15 @Ground_floor",
		"bring everything in the hall up to half":                   "!",
		"Es blendet im Turm, Storen Süd runter":                     "set shade=0 @Tower_south_shades",
		"the sun is in my eyes in the tower, blinds down":           "set shade=0 @Tower",
		"turn on the lobby and canteen, then dim both to 30":        "set light=on @Canteen @Lobby + set light=30 @Canteen @Lobby",
		"tower north blinds to 50 % and the others to 0":            "!",
		"lights on in the canteen and close its blinds":             "set light=on @Canteen + set shade=0",
		"set the lobby to the brightness of the canteen":            "set light=like @Lobby as:@Canteen",
		"reduce the brightness of the lobby":                        "step light=- @Lobby",
		"Werkstatt auf dieselbe Helligkeit wie die Galerie":         "set light=like @Annex_workshop as:@Annex_gallery",
		"Rollos der Kantine auf einen Drittel":                      "set shade=1/3 @Canteen",
		"Licht an im Anbau, die Putzequipe kommt":                   "set light=on @Annex",
		"canteen lights off, ballroom as well":                      "!",
		// what stays is not switched
		"Lass im Turm nur das Licht im Korridor an":             "!",
		"leave only the corridor lights on":                     "!",
		"leave the lobby lights on":                             "!",
		"Lass das Licht in der Lobby an":                        "!",
		"Lass überall die Rollos runter":                        "set shade=0 all",
		"Es ist zu hell in der Werkstatt, bitte auf 40 Prozent": "set light=40 @Annex_workshop",
		"open up the canteen blinds, it's lovely outside":       "set shade=100 @Canteen",
		"Licht an im ganzen Anbau":                              "set light=on @Annex",
		"tower off please. and the hall too":                    "set light=off @Hall @Tower",
		"Morgen um 7 alle Storen hoch":                          "!time",
		"Stell die Kantine so ein wie die Lobby":                "set light=like @Canteen as:@Lobby",
		"Storen Turm Nord runter":                               "set shade=0 @Tower_north_shades",
	} {
		f := Read(text, names, now)
		got := f.String()
		if (want == "!" || want == "!time" || want == "!scope" || want == "lights") && len(got) >= len(want) {
			got = got[:len(want)]
		}
		if want == "!" && f.Unclear != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, f, want)
		}
	}
}

// A little is told from a step, and closing by a part from a place to go to.
func TestAnOrderTellsHowMuch(t *testing.T) {
	names := tower()
	for text, want := range map[string][2]string{
		"a bit more light in the gallery":              {"little", ""},
		"dim the lobby a little":                       {"little", ""},
		"a touch darker in Alps":                       {"little", ""},
		"Galerie etwas dunkler":                        {"little", ""},
		"dim the lobby":                                {"", ""},
		"dim the lobby by 10 percent":                  {"", ""},
		"half close the lobby blinds":                  {"", "closed"},
		"close the lobby blinds halfway":               {"", "closed"},
		"lower the lobby blinds halfway":               {"", "closed"},
		"Könntest du die Lobbystoren halb schliessen?": {"", "closed"},
		"close the lobby blinds to 70 percent":         {"", "closing"},
		"lobby blinds half shut":                       {"", "closed"},
		"set the lobby blinds to half":                 {"", ""},
		"close the lobby blinds":                       {"", ""},
		"open the lobby blinds halfway":                {"", "open"},
	} {
		f := Read(text, names, now)
		if len(f.Do) != 1 || f.Unclear != nil {
			t.Errorf("%q: %v", text, f)
		} else if got := [2]string{f.Do[0].Size, f.Do[0].Toward}; got != want {
			t.Errorf("%q: %v, want %v (%v)", text, got, want, f)
		}
	}
}
