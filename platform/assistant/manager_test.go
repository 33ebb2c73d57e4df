package assistant

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// What somebody asked who looks after buildings, by kinds: each line stands for one.
func TestWhatManagersAsked(t *testing.T) {
	b := sitetest.New().Remember()
	b.Light("Lobby 2", func(d *platform.Device) { d.Trouble = "lamp failure" })
	b.Light("Canteen shade 2", func(d *platform.Device) { d.Position = nil })
	e := on(b)
	for i, c := range []struct {
		asked string // turns of a conversation, by " || "
		want  []string
		never string
	}{
		// a counter, in other words
		{"how many kilowatt hours has the ground floor meter counted all in all", []string{"counter stands at is not reported"}, "today"},
		{"total energy of the workshop meter since it was installed", []string{"counter stands at is not reported"}, "today"},
		{"how much has the Alps meter registered in total", []string{"counter stands at is not reported"}, "today"},
		{"Wie viele Kilowattstunden hat der Zähler Erdgeschoss insgesamt gezählt?", []string{"Den Stand eines Zählers"}, "heute"},
		{"how much energy has the ground floor used in total today", []string{kwh(at(18, 0), sitetest.Now, ground)}, "counter"},
		// how many things that are, of the places before
		{"which zones are off on the upper floor || how many lamps is that", []string{"Together 3 lights: Meeting room Lakes 3 of 3 off"}, "39"},
		{"which zones have lights on on the ground floor || how many lamps are those", []string{"7 lights", "Lobby 4"}, "39"},
		{"which floors have lights on || how many lamps is that", []string{"Upper floor 15"}, "39 lights."},
		{"Welche Zonen im Erdgeschoss haben Licht an? || Wie viele Lampen sind das?", []string{"7 Leuchten", "Lobby 4"}, "39"},
		// how many of them, which is no number of one
		{"why do three of the canteen lights not respond?", []string{"5 lights in Canteen answer"}, "Canteen 3 is"},
		{"which three canteen lights are off", []string{"All 5 lights in Canteen are off"}, "understand"},
		{"two of the lobby lights are off, which ones?", []string{"“two”"}, "Lobby 2 is"},
		{"are three of the lobby lights on?", []string{"“three”"}, "Lobby 3 is"},
		{"dim three of the lobby lights", []string{"I did nothing"}, "Not done yet"},
		{"Warum antworten drei der Leuchten in der Kantine nicht?", []string{"5 von 5 Leuchten"}, "kenne"},
		{"Welche drei Kantinenleuchten sind aus?", []string{"Alle 5 Leuchten in Canteen"}, "kenne"},
		{"Zwei der Lobbyleuchten sind aus, welche?", []string{"„Zwei“"}, "Lobby 2 ist"},
		{"is light 3 of the canteen on", []string{"No: Canteen 3 is off"}, "5"},
		{"which three zones have the most lamps on", []string{"Lobby 4 of 4"}, "Canteen"},
		// a kind of room and a floor, with percent
		{"Auf wie viel Prozent läuft der Flur unten?", []string{"3 von 3 Leuchten in Corridor ground floor"}, "Lobby"},
		{"set the offices upstairs to 50 percent", []string{"Open office north", "Open office south"}, "Meeting"},
		// what is off is not switched on to be dimmer
		{"take the canteen down by 20 percent", []string{"I did nothing", "the lights in Canteen are off"}, "Not done yet"},
		{"dim the canteen", []string{"I did nothing", "the lights in Canteen are off"}, "Not done yet"},
		{"Kantine dunkler", []string{"nichts getan", "das Licht in Canteen ist aus"}, "Noch nicht"},
		{"dim the ground floor by 10", []string{"30 % in Lobby", "15 % in Corridor", "; left as it is: Canteen (off)"}, "1 %"},
		{"dim open office north by 20", []string{"8 lights, 6 on now; what is off would go on"}, "did nothing"},
		{"make the canteen brighter", []string{"set the lights to 20 % in Canteen"}, "off"},
		// a part of what was asked first does not stand on its own
		{"How many watts is Alps drawing, and how much of that is lights?", []string{"do not understand “lights”"}, "39 lights"},
		{"Wie viel Strom zieht die Werkstatt, und wie viel davon ist Licht?", []string{"„Licht“"}, "3 von 4"},
		// one amount for several places, and something else
		{"dim the lights in Alps and Lakes to 15 and shut the canteen blinds", []string{"set the lights to 15 %: Meeting room Alps (3 lights, 3 on now) and Meeting room Lakes", "close the shades: Canteen"}, "40 %"},
		{"dim Alps, Lakes and the lobby to 15, and shut the canteen blinds", []string{"set the lights to 15 %: Lobby", "Alps", "Lakes", "close the shades: Canteen"}, "40 %"},
		{"dimme Alps und Lakes auf 15 und schließe die Rollos in der Kantine", []string{"Licht auf 15 %: Meeting room Alps (3 Leuchten, jetzt 3 an) und Meeting room Lakes", "Rollos schließen: Canteen"}, "40 %"},
		{"open the blinds in the lobby and the canteen to 30 and switch off Alps", []string{"move the shades to 30 % open: Lobby", "Canteen"}, "100 %"},
		{"dim Alps and set the lobby to 50", []string{"set the lights to 40 % in Meeting room Alps", "set the lights to 50 %: Lobby"}, "did nothing"},
		{"dim Alps and turn the lobby off and close the canteen blinds", []string{"set the lights to 40 % in Meeting room Alps", "off: Lobby"}, "did nothing"},
		// orders without a verb
		{"Meeting room Alps auf 2700 Kelvin", []string{"nichts getan", "Farb"}, "0 von"},
		{"Alps to 4000 kelvin", []string{"I did nothing", "colour temperatures from here"}, "0 of"},
		{"Alps and Lakes to 3000 K", []string{"I did nothing", "colour temperatures from here"}, "0 of"},
		{"Lobby auf grün", []string{"nichts getan", "Farb"}, "nicht gemeldet"},
		{"which lights in Alps are at 3500 kelvin", []string{"Alps 2 (3500 K)"}, "nothing"},
		// clauses of orders that leave nothing out, and German exceptions
		{"switch off whatever is still burning in the workshop", []string{"switch the lights off: Annex workshop"}, "nothing"},
		{"turn off the lights that are on in the lobby", []string{"switch the lights off: Lobby"}, "nothing"},
		{"close whatever blinds are open in the lobby", []string{"close the shades: Lobby"}, "nothing"},
		{"dim the lights that are on in open office north to 40", []string{"I did nothing"}, "Not done yet"},
		{"Licht im Erdgeschoss aus, nur die Lobby nicht", []string{"Canteen", "Corridor"}, "Lobby"},
		{"set Alps and Lakes to 40, lobby off", []string{"set the lights to 40 %: Meeting room Alps", "switch the lights off: Lobby"}, "nothing"},
		{"turn the workshop down a notch", []string{"in Annex workshop"}, "nothing"},
		{"close the lobby blinds and let me know when done", []string{"close the shades: Lobby"}, "nothing"},
		{"show me every lamp that's off on the ground floor", []string{"5 of 12 lights"}, "Not done yet"},
		// who left it on: only of what is on
		{"who left the lights on in the lobby?", []string{"Lobby (all 4)", `key "BMS"`}, "o, it is not so"},
		{"who left the lights on in the canteen?", []string{"none of the 5 lights in Canteen is on"}, "panel Canteen"},
		{"Wer hat in der Kantine das Licht brennen lassen?", []string{"Von 5 Leuchten in Canteen gilt keines: an"}, "panel Canteen"},
		{"Hat jemand in der Lobby das Licht brennen lassen?", []string{"Ja: alle 4 Leuchten in Lobby sind an"}, "13:05"},
		{"Wer hat in der Lobby das Licht brennen lassen?", []string{"13:05"}, "Ja"},
		// what reports a lamp failure may be dark
		{"how many lamps are on in the lobby", []string{"All 4 lights in Lobby are on", "Lobby 2 is among them and reports “lamp failure”"}, ""},
		{"which rooms downstairs have their lights on", []string{"Lobby 4 of 4 on", "Lobby 2 is among them and reports “lamp failure”"}, ""},
		{"Wie viele Lampen brennen im Erdgeschoss?", []string{"7 von 12", "Lobby 2 ist darunter und meldet „Lampenausfall“"}, ""},
		// dimmed is what is on
		{"which lamps are dimmed below 40 %", []string{"5 of 39 lights are on and below 40 %", "Gallery 1"}, "Canteen"},
		{"how many zones are dimmed", []string{"7 of 10 zones"}, "Open office south"},
		{"which lamps upstairs are dimmed", []string{"9 of 20 lights on Upper floor are on and below 100 %"}, "South"},
		{"welche Räume im Erdgeschoss sind gedimmt", []string{"Lobby 4 von 4", "Corridor"}, "Canteen"},
		{"show me the zones where less than half of the lamps are on", []string{"Canteen 0 of 5 on"}, "Lobby"},
		{"in which rooms are more than 90 percent of the lights on", []string{"Lobby 4 of 4 on"}, "Canteen"},
		// a place is dark if all of it is
		{"could you check whether the workshop is dark", []string{"No: none that I know of"}, "Yes"},
		{"is the gallery dark", []string{"No: "}, "Yes"},
		{"Ist open office north aus?", []string{"Nein: 1 von 8"}, "Ja"},
		{"is the canteen dark", []string{"Yes: all 5 lights in Canteen are off"}, "No"},
		{"what should I switch off downstairs before I go home", []string{"7 of 12 lights on Ground floor are on"}, "Canteen"},
		{"Auf wie viel Prozent ist Meeting room Alps?", []string{"60 %"}, "gemessen:"},
		{"Auf wie viel Prozent sind die Storen in der Lobby?", []string{"Lobby shade 2 (60 % offen)"}, "kenne"},
		// words that add nothing, by where they stand
		{"well, is the lobby perhaps lit, or not?", []string{"Yes: all 4 lights in Lobby are on"}, "nothing"},
		{"Sag mal, brennt in der Lobby eigentlich noch Licht, oder nicht?", []string{"Ja: alle 4"}, "kenne"},
		{"is it true that the canteen is dark", []string{"Yes: all 5"}, "nothing"},
		{"by the way, sorry to bother you, what does Alps draw as we speak", []string{kw(alps)}, "nothing"},
		{"leaving aside the lobby, which rooms downstairs have lights on", []string{"Corridor ground floor 3 of 3 on"}, "Lobby 4"},
		{"what's the dimmest zone, not counting the dark ones", []string{"Annex gallery, with a mean of 10 % of 1 that are on"}, "Canteen"},
		{"welcher Stock zieht momentan am meisten", []string{"Leistung jetzt"}, "kWh"},
		{"welcher Stock braucht momentan am meisten", []string{"Leistung jetzt"}, "kWh"},
		{"what colour temperature is Alps running at?", []string{"3500 K"}, "understand"},
		{"Brennende Lampen im Erdgeschoss?", []string{"7 von 12"}, "kenne"},
		{"what is still running upstairs?", []string{"15 of 20 lights on Upper floor are on"}, "shade"},
		{"which zones are between 30 and 60", []string{"Lobby 4 of 4"}, "Canteen"},
		{"which shades are between open and closed?", []string{"1 of 5 shades", "Lobby shade 2"}, "understand"},
		{"I'd like to know which lights in Alps aren't at 55", []string{"Alps 3"}, "nothing"},
		{"welcher Raum ist am dunkelsten, aber nicht aus", []string{"Annex gallery, mit im Mittel 10 %"}, "kenne"},
		{"gibt's Geräte, die sich nicht melden?", []string{"2 von 50"}, "kenne"},
		{"are the lamps on in all rooms downstairs", []string{"No: "}, "Yes"},
		{"is the system healthy", []string{"No: 2 faults are reported"}, "nothing called"},
		{"did somebody frobnicate the lobby", []string{"I do not understand “frobnicate” here."}, "nothing called"},
		{"is the lobby sauna lit", []string{"nothing called “sauna”"}, "here."},
		// who set a colour, and when
		{"who set Alps to 3500 kelvin", []string{"No such command"}, "Alps 1 3000"},
		{"who made the lobby blue", []string{"No such command"}, "40 %"},
		{"Wer hat die Lobby blau gemacht?", []string{"kein solcher Befehl"}, "40 %"},
		// a moment that is just past
		{"which lights were on at 14:28", []string{"at 14:28"}, "27 of 39"},
		// places by power, meters by what they show
		{"which floor has the lowest power", []string{"Power now: Annex"}, "quarter"},
		{"which meter has the highest power", []string{"Power now: Meter open offices"}, "quarter"},
		{"what does the meter in the workshop show", []string{kw(workshop)}, "There is"},
		{"Was zeigt der Zähler in der Werkstatt an?", []string{"1,30 kW"}, "Vorhanden"},
		{"how much does Alps draw || and in kW", []string{"0.172 kW"}, "172 W"},
		{"show the last three commands on the ground floor", []string{"13:05", "12:00", "opened, 09:00, by ada"}, "07:30"},
		{"is there any zone where not all the lamps are on", []string{"Open office north 6 of 8 on"}, "Lobby"},
		{"how many lamps are lit at less than a third", []string{"4 of 39", "25 %"}, "time"},
		{"which shades are less than a quarter open", []string{"1 of 5 shades is below 25 %"}, "time"},
		{"list the meters and their readings", []string{"Power now: Meter open offices"}, "There are"},
		{"what does each meter say", []string{"Power now: Meter open offices"}, "There are"},
		{"what type are the lights in Alps", []string{"dali-dt8-tc"}, "understand"},
		{"what protocol do the lobby lights use", []string{"dali-dt6"}, "understand"},
		{"should I be worried about anything", []string{"lamp failure"}, "understand"},
		{"who used the system today", []string{"13:05", "07:30"}, "kWh"},
		{"what's the most recent change", []string{"13:05"}, "12:00"},
		{"Sind irgendwo die Rollos ganz unten?", []string{"Ja: 1 von 5"}, "Nein"},
		{"Hat jemand vergessen, in der Lobby das Licht auszumachen?", []string{"Ja: alle 4"}, "kenne"},
		{"did somebody forget to close the blinds in the lobby", []string{"Yes: all 2 shades"}, "understand"},
		{"steht irgendwo ein Rollo zwischen auf und zu?", []string{"Ja: 1 von 5"}, "Zeit"},
		{"welche Messstellen gibt es", []string{"5 Messstellen"}, "kenne"},
		{"gallery status", []string{"nothing measures the power of Annex gallery"}, "no meter measures"},
		{"Was hat sich in den letzten drei Stunden geändert?", []string{"13:05", "12:00"}, "09:00"},
		{"can the lobby shades be dimmed", []string{"do not understand “be dimmed”", "together"}, "lights"},
		{"Wo ist es dunkler, in der Lobby oder im Flur?", []string{"Lobby hat im Mittel 40 %", "25 %"}, "gleich"},
		{"do the lobby and the corridor have the same level", []string{"No: the 7 lights"}, "understand"},
		{"are fewer than 30 lamps on?", []string{"As far as I know: yes: 27 of 39"}, "understand"},
		{"are more than 20 lights on", []string{"Yes: 27 of 39"}, "understand"},
		{"are at least 3 blinds closed", []string{"As far as I know: no: 1 of 5"}, "understand"},
		{"how many watt hours did the ground floor use yesterday", []string{"Ground floor used"}, "time"},
		{"which zone has offline lamps", []string{"Open office north 1 offline"}, "lounge"},
		{"is any bus down?", []string{"No fault is reported"}, "understand"},
		{"gibt es eine Leuchte, die flackert?", []string{"„flackert“"}, "an."},
		{"thanks!", []string{"You are welcome."}, "Hello"},
		{"why is the lobby blue", []string{"ledger"}, "understood"},
		{"has anyone moved the lobby shades today", []string{"opened, 09:00, by ada"}, "understand"},
		{"what does the scene Presentation do", []string{"of scenes, rules and schedules"}, "nothing called"},
		{"what rules are there and when do they run next", []string{"of scenes, rules and schedules"}, "nothing called"},
		{"Give me the voltage on the workshop meter", []string{"Voltage is not measured"}, "did nothing"},
		{"has somebody closed the lobby blinds", []string{"none of the 2 shades in Lobby is closed", "No such command of the controller is reported since"}, "by hand"},
		{"what does the ground floor meter measure now", []string{kw(ground)}, "covers"},
		{"how often was the lobby switched today", []string{"2 commands since", "13:05", "09:00"}, "nothing called"},
		{"Who opened the lobby shades last? || When was that?", []string{"09:00"}, "at least since"},
		{"Wer hat zuletzt in der Lobby etwas verstellt? || Wann war das?", []string{"13:05"}, "mindestens seit"},
		{"how often was the lobby light switched today", []string{"1 command since", "13:05"}, "09:00"},
		{"how often were the lobby blinds opened today", []string{"1 command since", "09:00"}, "13:05"},
		{"Wie oft wurde heute in der Lobby geschaltet?", []string{"2 Befehle seit"}, "kenne"},
		{"which floor uses the most power per square metre", []string{"Ground floor, with 3.03 W per m²"}, "understand"},
		{"is the workshop below one kilowatt", []string{"No: Annex workshop draws"}, "understand"},
		{"what did we use until now today, in kWh", []string{"kWh"}, "time"},
		{"which devices haven't been seen for 3 minutes?", []string{"2 of 50 devices have been out of reach"}, "time"},
		{"are there more lamps upstairs or downstairs?", []string{"Upper floor has 20 lights and Ground floor has 12 lights"}, "cannot"},
		{"Wie heißen die Zonen im Obergeschoss?", []string{"Open office north"}, "kenne"},
		{"when exactly did the canteen lights go off?", []string{"12:00"}, "did nothing"},
		// a number beside a zone is one of that zone
		{"is lamp 2 in the canteen on?", []string{"No: Canteen 2 is off"}, "Open office"},
		{"how bright is the workshop lamp 3", []string{"Workshop 3 is on at 90 %"}, "Open office"},
		{"is lamp 9 in the canteen on?", []string{"nothing called"}, " %"},
		{"is blind 2 in the lobby open", []string{"Yes: Lobby shade 2 is 60 % open"}, "Canteen"},
		{"Ist Lampe 4 in der Werkstatt an?", []string{"Workshop 4"}, "Open office"},
		{"which devices are faulty or offline?", []string{"lamp failure", "Open office north 8"}, "understand"},
		{"did anybody do something in the canteen today", []string{"12:00", "07:30"}, "on now"},
		{"which room on the upper floor is entirely off", []string{"Meeting room Lakes 3 of 3 off"}, "Alps"},
		{"which lamps in open office north are on at less than full", []string{"6 of 8"}, "understand"},
		{"are the blinds of the lobby further up than those of the canteen", []string{"Lobby is 80 % open on average"}, "understand"},
		{"what can the lamps in Alps do", []string{"dali-dt8-tc"}, "% on"},
		{"which floor has no offline devices", []string{"Nothing is offline in Ground floor and Annex."}, "Upper"},
		{"what was the last thing reception did", []string{"17 Nov 18:30"}, "13:05"},
		{"which is more open, the lobby or the canteen", []string{"Lobby is 80 % open on average"}, "of 2"},
		{"are the canteen lights off || who did that || when", []string{"switched off, 12:00"}, "understand"},
		{"Lobby 3, on or off?", []string{"Lobby 3 is on at 40 %"}, "ID"},
		{"is Lobby shade 2 up or down?", []string{"Lobby shade 2 is 60 % open"}, "ID"},
		{"is the workshop drawing over 2 kW?", []string{"No: Annex workshop draws"}, "draws 1.30 kW now."},
		{"ist alles in Ordnung bei euch?", []string{"Nein: 2 Störungen"}, "kenne"},
		{"which rooms downstairs are dark", []string{"1 of 3 zones with lights has all their lights off: Canteen"}, "lights off: Lobby"},
		{"Wie viel hat die Werkstatt in den letzten zwei Stunden gebraucht?", []string{"in den letzten"}, ", letzten"},
		{"in which rooms is the light off completely?", []string{"Canteen 5 of 5 off"}, "2 of 8"},
		{"is Open office north 1 brighter than the others?", []string{"Compared with what"}, "brightest"},
		{"remind me to turn off the lights", []string{"understand “turn off”"}, "of 39"},
		{"what was measured in the workshop since 8", []string{"Annex workshop used"}, "Yes"},
		{"can you tell if the lobby shades moved today", []string{"opened, 09:00, by ada"}, "understand"},
		{"any new faults since Monday", []string{"Open office north 8"}, "nothing called"},
		{"did any command fail this week", []string{"Open office north 8: switched off, Tue 17 Nov 18:30"}, "Lobby"},
		{"Zeig mir die letzten zwei Befehle", []string{"13:05", "12:00"}, "W"},
		{"Wie hoch ist die Last der Werkstatt?", []string{"1,30 kW"}, "kenne"},
		{"is any meeting room dark?", []string{"Yes: 1 of 2 zones with lights has all their lights off: Meeting room Lakes"}, "lights is off"},
		{"which of the open offices is dark", []string{"no zone in Open office north and Open office south has all its lights off"}, "north 7"},
		{"what rooms have all their lamps on?", []string{"Lobby 4 of 4 on"}, "6 of 8"},
		{"what's the largest zone by lamps", []string{"Open office north 8"}, "mean"},
		{"which zones are metered", []string{"3 of 10 zones have a meter of their own"}, "There are"},
		{"did the lights in the lobby go on today", []string{"Yes: 4 of 4 lights in Lobby: on, today"}, "(40 %)"},
		{"what changed in the lobby", []string{"13:05"}, "understand"},
		{"which zones still burn?", []string{"8 of 10 zones"}, "meter"},
		{"is there light in all the meeting rooms?", []string{"No: 3 of 6 lights"}, "There are"},
		{"which zone has exactly one lamp on?", []string{"Annex gallery 1 of 2 on", "Tower lounge 1 of 1 on"}, "Lobby"},
		{"which zones have more than one lamp on", []string{"Lobby 4 of 4 on"}, "Tower lounge 1"},
		{"compare today's energy of the workshop and the ground floor", []string{"Ground floor used"}, "in the first"},
		{"who did what in the lobby today", []string{"13:05", "09:00"}, "understand"},
		{"how many commands were there today", []string{"commands since"}, "understand"},
		{"is there a zone with all lamps at 100?", []string{"Yes: 1 of 10 zones"}, "No: "},
		{"are the lamps on in every room downstairs?", []string{"No: "}, "Yes"},
		{"is more power going to the workshop than to the ground floor", []string{"Ground floor draws 644 W more"}, "forecast"},
		{"welche Rollos sind weiter offen als 50 Prozent", []string{"2 von 5"}, "verstehe"},
		{"how many degrees are the shades tilted", []string{"o not"}, "Temperature"},
		{"haben wir kaputte Lampen", []string{"Lampenausfall"}, "kenne"},
		{"do I need to replace any bulbs", []string{"lamp failure"}, "understand"},
		{"is it dark anywhere on the ground floor", []string{"Yes: 1 of 3 zones with lights has all their lights off: Canteen"}, "No"},
		{"what's the area of the ground floor", []string{"640 m²"}, "zones"},
		{"what did reception do on Tuesday", []string{"18:30"}, "mean"},
		{"Welche Etage hat die meisten Leuchten?", []string{"Upper floor 20"}, "an,"},
		{"what's the average shade opening in the lobby", []string{"80 % open"}, "moving"},
		{"what happened in the canteen today", []string{"12:00", "07:30"}, "mean"},
		// more down, by how far they are down
		{"lobby or canteen - where are more shades down?", []string{"Lobby has 0 of 2 shades closed", "Canteen has 1 of 2 shades closed"}, ""},
		{"are more shades down in the lobby or in the lounge", []string{"I cannot compare them all"}, ""},
		{"Wie weit sind die Rollos in der Lobby unten?", []string{"Lobby shade 2 (60 % offen)"}, "geschlossen. "},
		{"how far down is Lobby shade 2", []string{"60 % open"}, "nothing called"},
		{"are more blinds up in the lobby than in the canteen", []string{"Lobby has 2 of 2 shades open, wholly or partly (1 of them fully)", "Canteen has 0 of 2 shades open"}, "0 of them"},
		{"sind in der Lobby mehr Rollos oben als in der Kantine?", []string{"2 von 2 Rollos ganz oder teilweise offen (1 davon ganz)"}, "0 davon"},
		// since when something is out of order
		{"since when is open office north 8 faulty", []string{"not answering", "09:05"}, ""},
		{"Seit wann ist open office north 8 gestört?", []string{"09:05"}, ""},
		{"how long has Canteen 3 been broken", []string{"lamp failure", "16 Nov 07:45"}, ""},
		// the most faults
		{"which floor has the most faults", []string{"Ground floor 2 faults"}, "Upper floor 0"},
		{"welche Etage hat die meisten Störungen", []string{"Ground floor 2 Störungen", "Upper floor keine Störung, 1 ohne Antwort"}, ""},
		// the last one is one
		{"who was the last person to change anything on the ground floor", []string{`key "BMS"`, "13:05"}, "Lunch"},
		{"when was the canteen last changed", []string{"12:00"}, "answer; none"},
		{"Wer hat zuletzt im Erdgeschoss etwas geschaltet?", []string{"13:05"}, "Lunch"},
		// a colour is not a colour temperature
		{"which colour do the lobby lights have", []string{"colour of a light is not reported"}, "No light"},
		{"welche Farbe hat die Lobby gerade", []string{"Farbe einer Leuchte wird nicht gemeldet"}, "Keine Leuchte"},
		{"what colour temperature has Alps", []string{"3500 K"}, "not reported"},
		// a position that is not known was read all the same
		{"are the canteen blinds closed", []string{"Canteen shade 2", "position is not known"}, "never read"},
		{"is Canteen shade 2 closed", []string{"the position of Canteen shade 2 is not known"}, "never read"},
		{"Ist das Rollo Canteen shade 2 zu?", []string{"Stellung von Canteen shade 2 ist nicht bekannt"}, "abgelesen"},
	} {
		e.converse(t, fmt.Sprint("manager", i), c.asked, c.want, c.never)
	}
}

// converse asks what somebody says in turns, by " || ", and looks at the last answer.
func (e *Assistant) converse(t *testing.T, session, asked string, want []string, never string) {
	t.Helper()
	var r platform.Reply
	for turn := range strings.SplitSeq(asked, " || ") {
		r = ask(t, e, platform.Inquiry{Session: session, Message: turn, Control: true})
	}
	for _, part := range want {
		if !strings.Contains(r.Text, part) {
			t.Errorf("%q: %q is missing in: %s", asked, part, r.Text)
		}
	}
	if never != "" && strings.Contains(r.Text, never) {
		t.Errorf("%q: %q does not belong in: %s", asked, never, r.Text)
	}
}

// What waits for a yes is never dropped in silence.
func TestAnotherMessageDropsWhatWaitsAndSaysSo(t *testing.T) {
	e := on(sitetest.New())
	for i, c := range []struct{ asked, want, never string }{
		{"close the lobby shades || how bright is the canteen", "Dropped, since you did not say yes: close the shades: Lobby", ""},
		{"schließe die Rollos in der Lobby || Wie hell ist die Kantine?", "Verworfen, weil kein Ja kam: ", ""},
		{"close the lobby shades || and what about some soup", "Dropped, since you did not say yes", ""},
		{"close the lobby shades || no wait, the canteen too", "Dropped, since you did not say yes", ""},
	} {
		e.converse(t, fmt.Sprint("dropped", i), c.asked, []string{c.want}, c.never)
	}
}
