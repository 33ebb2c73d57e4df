package assistant

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// What people asked who had never seen the grammar, by kinds: each line stands for one.
func TestWhatStrangersAsked(t *testing.T) {
	e := on(unchanged())
	for i, c := range []struct {
		asked string // turns of a conversation, by " || "
		want  []string
		never string
	}{
		// the clause behind a superlative
		{"what is the dimmest zone that is still on", []string{"Annex gallery, with a mean of 10 % of 1 that are on"}, "Canteen"},
		{"which room is the brightest of those that are on", []string{"Open office south, with a mean of 100 %", "Annex workshop with a mean of 97 % of 3"}, "of 4 on"},
		{"which zone has the fewest lights on", []string{"Canteen with 0 of 5 on"}, "mean"},
		{"dimmest lamp that is on in the offices", []string{"60 %"}, "(0 %)"},
		{"the brightest lamp below 50 %", []string{"Lobby (all 4, 40 %)"}, "100 %"},
		// superlatives over meters
		{"Which meter shows the least?", []string{"Power now: Meter Alps, with " + kw(alps)}, "5 meters"},
		{"welcher Zähler zeigt am meisten", []string{"Meter open offices, mit " + strings.Replace(kw(offices), ".", ",", 1)}, "5 Messstellen"},
		{"which floor has the most meters", []string{"cannot answer it with “by floor”"}, "5 meters"},
		{"which meter reads the highest energy counter", []string{"counter stands at is not reported"}, "kW"},
		// what does not is no future
		{"why won't Lobby 1 respond", []string{"Lobby 1"}, "forecast"},
		// nobody measures what is wasted
		{"how much of our light is wasted in the corridor", []string{"do not understand “wasted”"}, "proposal"},
		{"how much energy do we waste at night", []string{"do not understand “waste”"}, "kWh"},
		{"where do we waste energy", []string{"proposal"}, "do not understand"},
		// a check without a verb
		{"Everything off except the offices?", []string{"No: "}, "Yes"},
		// parts of all
		{"are more than half of the lights on?", []string{"Yes: 27 of 39"}, "No"},
		{"are at least 80 percent of the lights on?", []string{"o: 27 of 39"}, "Yes"},
		{"sind mehr als die Hälfte der Rollos zu?", []string{"2 von 5 Rollos sind geschlossen"}, "Canteen"},
		{"are less than a third of the blinds open", []string{"No: 2 of 5 shades are open"}, "Yes"},
		// of two
		{"which of the two open offices is brighter", []string{"Open office north is at", "Open office south is at 100 %", "Open office south has"}, "do not understand"},
		{"what does the workshop draw? || is that more than the ground floor?", []string{"Annex workshop draws " + kw(workshop), "Ground floor draws " + kw(ground), "Ground floor draws 644 W more"}, ""},
		{"how bright is the lobby? || is it brighter than the corridor?", []string{"Lobby is at 40 %", "Corridor ground floor is at 25 %"}, ""},
		{"is that more than the ground floor?", []string{"did not understand"}, "kW"},
		{"which floor draws more, the ground floor or the upper floor", []string{"Power now: Upper floor", "(not all of it is measured)"}, ""},
		// of the things of a place
		{"are the blinds in the lobby closed?", []string{"No: "}, "Partly"},
		{"are the lights in the gallery on?", []string{"Yes, as far as I know: 1 of 2"}, "Partly"},
		{"are the lights in the workshop above 95 %?", []string{"2 of 4"}, ""},
		// units
		{"what does Alps draw in kW", []string{"0.172 kW"}, ""},
		{"wie viel zieht Alps, in Kilowatt?", []string{"0,172 kW"}, ""},
		{"power of the ground floor in watts", []string{"1940 W"}, "kW"},
		{"watts per square metre by floor", []string{"Ground floor 3.03 W per m²", "Not measured as a whole, or without an area: Upper floor and Annex."}, "I do not know"},
		{"Zählerstand Erdgeschoss?", []string{"Den Stand eines Zählers meldet der Controller nicht", "1,94 kW"}, "The "},
		// what is said besides
		{"I'm about to lock up. Is the lobby dark?", []string{"Left out: “I'm about to lock up”.", "No: none of the 4 lights"}, "nothing called"},
		{"The sauna is broken. Is the lobby dark?", []string{"“sauna”"}, "4 lights"},
		{"Don't mind the canteen. Is the lobby dark?", []string{"o not"}, "4 lights"},
		{"could you please tell me whether the lobby lights are on", []string{"Yes: all 4 lights in Lobby are on"}, "nothing called"},
		{"Könnten Sie mir bitte kurz sagen, wie hell es in der Lobby ist?", []string{"40 %"}, "kenne ich"},
		{"mich würde interessieren ob im Erdgeschoss noch Licht brennt", []string{"Ja: 7 von 12"}, "kenne ich"},
		// how many there are, said again
		{"are all four lobby lamps on", []string{"Yes: all 4 lights in Lobby are on"}, "Lobby 4 is"},
		{"how many of the 5 lamps in the canteen are lit", []string{"None of the 5 lights in Canteen is on"}, "nothing called"},
		// places that things are asked of
		{"which rooms downstairs still have light", []string{"2 of 3 zones with lights have lights on: Lobby 4 of 4 on"}, "Canteen"},
		{"where is there still light on the ground floor", []string{"Lobby 4 of 4 on"}, "Canteen"},
		{"which of the offices is the brightest", []string{"Open office south, with a mean of 100 %"}, "Open office south ("},
		{"percentage of lamps on per floor", []string{"Ground floor 7 of 12 on (58 %)"}, ""},
		{"how bright is the corridor on the ground floor", []string{"Each is at 25 %"}, "12 lights"},
		{"which lights are on in the canteen upstairs", []string{"nothing called “canteen upstairs”"}, "lights are on"},
		{"Wie hell ist es im Flur unten?", []string{"25 %"}, "kenne ich"},
		// what does not answer
		{"Was antwortet gerade nicht und seit wann?", []string{"2 von 50 Komponenten sind offline", "Open office north 8 (zuletzt gesehen vor"}, "Ausf"},
		{"list everything offline with since when", []string{"2 of 50 devices are offline"}, "do not understand"},
		{"when did open office north 8 stop responding", []string{"last seen 5 h 27 min ago"}, "nothing called"},
		// what is counted is what was said
		{"what is the average level of the lamps in the building that are on", []string{"The mean level of the 27 lights that are on is 66 %"}, "36 lights"},
		{"are there rooms where everything is off", []string{"2 of 10 zones", "Canteen 5 of 5 off"}, "of 8 off"},
		{"Is the corridor brighter than the one on the upper floor?", []string{"do not understand “one on the upper floor”"}, " %"},
		{"ist der Flur heller als der im Obergeschoss", []string{"verstehe „der im Obergeschoss“"}, " %"},
		{"which lights are between 50 and 70 percent", []string{"5 of 39 lights are at or above 50 % and at or below 70 %"}, "nothing called"},
		{"welche Rollos stehen zwischen 20 und 80 Prozent", []string{"1 von 5 Rollos", "Lobby shade 2"}, "kenne ich"},
		{"are the canteen blinds lower than the lobby blinds", []string{"Yes: Canteen is 0 % open on average and Lobby is 80 % open on average"}, "cannot"},
		{"wie weit ist Rollo 2 in der Lobby offen", []string{"Lobby shade 2 ist 60 % offen"}, "Lobby 2"},
		{"how many lights are on in Alps and Lakes together", []string{"3 of 6 lights"}, "cannot"},
		// which meters measure what
		{"do we measure the annex", []string{"Partly: Annex is measured by meter “Meter workshop”.", "Not measured: Annex gallery."}, "lights"},
		{"wird die Lounge gemessen?", []string{"Nein: keine Messstelle misst Tower lounge für sich."}, "noch nicht geschehen"},
		{"when was the highest consumption on the ground floor today", []string{"The hour with the highest use of Ground floor today"}, "zone"},
		{"list the zones of the ground floor with the number of lamps", []string{"Lobby 4, Canteen 5 and Corridor ground floor 3"}, "do not understand"},
		// shares of power
		{"what percentage of the power goes into the workshop", []string{"Annex workshop draws " + kw(workshop) + ", which is 21 % of the " + kw(ground, offices, workshop, alps)}, "Meter ground floor"},
		{"does the ground floor draw more than a third of the power", []string{"No: Ground floor draws " + kw(ground) + ", which is 31 %"}, ""},
		{"does the ground floor draw more than a quarter of the power", []string{"As far as it is measured: yes: Ground floor draws"}, ""},
		{"what do the ground floor and the upper floor draw together", []string{"As far as it is measured: together 4.95 kW", "Not measured and not in it: Meeting room Lakes"}, "not known"},
		// a negation of the whole question leaves nothing out
		{"why doesn't open office north 8 answer", []string{"Open office north 8 is offline"}, "without"},
		{"isn't the lobby dark?", []string{"No: none of the 4 lights in Lobby is off"}, "without"},
		{"aren't the lobby lights on?", []string{"Yes: all 4 lights in Lobby are on"}, "without"},
		{"which lights in Alps are not at 55 percent", []string{"1 of 3 lights in Meeting room Alps is not at 55 %. Alps 3"}, "nothing called"},
		{"Seit wann antwortet open office north 8 nicht mehr?", []string{"offline", "5 h 27 min"}, "verstehe"},
		// the second question leans on the first
		{"is the canteen lit and are its blinds open", []string{"No: none of the 5 lights in Canteen is on", "known position in Canteen is open"}, "Lobby"},
		{"is the controller online and how fresh is the data?", []string{"Yes: 1 of 1 controller", "Levels of lights: "}, ""},
		// of meters
		{"total of all meters right now", []string{"What is measured of the building draws"}, "There are"},
		{"which of the five meters shows the most", []string{"Power now: Meter open offices"}, "nothing called"},
		{"how many meters are there in total", []string{"5 meters"}, "draws"},
		{"what does the workshop cost per hour at 30 cents per kWh", []string{"An hour at the power of now is " + kw(workshop) + "h × 0.3 per kWh, as you say, which makes 0.389"}, "do not"},
		{"Was kostet die Werkstatt pro Stunde, wenn die kWh 27 Rappen kostet?", []string{"0,27 CHF je kWh", "das macht 0,350 CHF"}, "kenne ich"},
		{"which is the biggest floor", []string{"Areas as entered: Upper floor 910 m², Ground floor"}, "zones"},
		{"which lights on the upper floor are brighter than 80", []string{"6 of 20 lights on Upper floor are above 80 %"}, "without a unit"},
		{"why is the lobby only at 40", []string{"ledger"}, "nothing called"},
		{"were the lights in the lobby on all night", []string{"I do not know"}, "4 of 4 on."},
		{"Hat jemand in der Lobby das Licht vergessen?", []string{"Ja: alle 4 Leuchten in Lobby sind an"}, "Belegung"},
		// by place
		{"give me the mean brightness per zone on the ground floor", []string{"Lobby mean 40 %, Canteen mean 0 % and Corridor ground floor mean 25 %"}, "of 4 on"},
		{"Wie hell ist jede Zone im Erdgeschoss im Schnitt?", []string{"Lobby im Mittel 40 %"}, "4 von 4 an"},
		{"does any room have only some of its lamps on", []string{"1 of 10 zones", "Open office north 6 of 8 on"}, "Lobby"},
		{"how many faults are there per floor", []string{"1 fault, 0 without an answer", "0 faults, 1 without an answer"}, "cannot"},
		{"tell me the level of each lamp in the workshop", []string{"Workshop 1 and 2 (100 %) and Workshop 3 (90 %)"}, "nothing called"},
		{"tell me the level of each lamp in open office north", []string{"Off: Open office north 7."}, "Lobby"},
		// exceptions that are states, and what is neither
		{"which lights are at the lowest level, not counting those that are off", []string{"The dimmest (on): Gallery 1 (10 %)"}, "Canteen"},
		{"count the blinds that are neither open nor closed", []string{"1 of 5 shades"}, "do not understand"},
		{"Welche Storen sind nicht ganz offen?", []string{"3 von 5 Rollos sind unter 100 % offen"}, "kenne ich"},
		{"are the blinds mostly closed?", []string{"2 of 5 shades are closed"}, "nothing called"},
		{"how many lamps are on and how many are off in the offices?", []string{"12 of 14 lights"}, "do not understand"},
		{"is the ground floor drawing more than half a kilowatt", []string{"Yes: Ground floor draws " + kw(ground) + ", which is above 500 W"}, "percentage"},
		{"minimum and maximum power yesterday", []string{"at most", "at least"}, "do not understand"},
		{"Auf wie viel Prozent stehen die Storen in der Lobby?", []string{"Lobby shade 2 (60 % offen)"}, "nichts getan"},
		{"are the meters functional", []string{"Yes: no fault is reported"}, "nothing called"},
		// names of things, and numbers beside names
		{"lobby lamp 4 - what level?", []string{"Lobby 4 is on at 40 %"}, "Open office"},
		{"how bright is lamp 6 in open office north", []string{"Open office north 6 is on at 60 %"}, "Lobby"},
		{"how many lamps are off in the whole house", []string{"9 of 39 lights are off"}, "house"},
		{"are more blinds open in the lobby than in the canteen", []string{"Lobby has 2 of 2 shades open", "Canteen has 0 of 2 shades open"}, "average"},
		{"how big is the ground floor and how many lamps does it have", []string{"Ground floor 640 m²", "12 lights on Ground floor"}, ""},
		{"what's burning downstairs", []string{"7 of 12 lights"}, "nothing called"},
		{"which floor has the most unreachable devices", []string{"Upper floor 1 offline"}, "cannot"},
		{"list zones by brightness", []string{"Open office south mean 100 %"}, "of 8 on"},
		{"how did the lobby end up at 40 percent", []string{"ledger"}, "nothing called"},
		// one or the other
		{"is there a light on in the canteen or the lobby", []string{"Yes: 4 of 9 lights"}, "No"},
		{"Brennt Licht in der Kantine oder im Flur?", []string{"Ja: 3 von 8"}, "Nein"},
		{"are the lights on in the canteen and the lobby", []string{"No: 4 of 9 lights"}, "Yes"},
		{"what share of the power has the upper floor", []string{"What is measured of Upper floor draws", "which is 48 % of the"}, "now. By"},
		{"what do you know about Lobby 3", []string{"Lobby 3 is on at 40 %"}, "I answer questions"},
		{"highest and lowest meter right now", []string{"Power now: Meter open offices, with", "Meter Alps with"}, "do not understand"},
		{"Läuft der Controller?", []string{"1 von 1 Controller ist online"}, "verstehe"},
		{"what does the workshop cost per hour at 0.3 per kWh", []string{"0.3 per kWh, as you say, which makes 0.389"}, "nothing called"},
		{"Welche Lampen stehen genau auf 40 Prozent?", []string{"4 von 39 Leuchten sind bei 40 %"}, "kenne ich"},
		{"which zones are half lit", []string{"1 of 10 zones", "Open office north 6 of 8 on"}, "Lobby"},
		{"are the lights in the workshop at 100", []string{"Partly: 2 of 4"}, "Yes"},
		{"are there zones with all blinds closed", []string{"Canteen 2 of 2 closed"}, "Lobby"},
		{"how many zones have a meter", []string{"3 of 10 zones have a meter of their own: Lobby, Meeting room Alps and Annex workshop.", "Measured together with others only"}, "none"},
		{"how many watts per square meter on the ground floor", []string{"3.03 W per m²"}, "nothing called"},
		{"Welche Lampen reagieren nicht?", []string{"1 von 39 Leuchten ist offline"}, "kenne ich"},
		{"did we leave anything on in the lobby", []string{"Yes: all 4 lights"}, "nothing called"},
		{"what level have the corridor lamps on the ground floor", []string{"3 of 3 lights in Corridor ground floor"}, "12"},
		{"which floors have more than 10 lamps on", []string{"1 of 3 floors with lights has lights on: Upper floor 15 of 20 on"}, "20 lights"},
		{"Ist eine Lampe in der Kantine ausgefallen?", []string{"Canteen 3", "Lampenausfall"}, "antworten"},
		{"welche Geräte sind ausgefallen", []string{"2 von 50 Komponenten sind offline"}, "lamp failure"},
		{"compare the brightness of the two offices", []string{"Open office north is at", "Open office south is at"}, "nothing called"},
		{"how much of yesterday's energy comes from the workshop in percent", []string{"Annex workshop used " + kwh(at(17, 0), at(18, 0), workshop), "of the"}, "nothing called"},
		{"are there lamps running at less than 30 percent in the corridor", []string{"Yes: all 3 lights"}, "do not understand"},
		{"which devices are not ok", []string{"lamp failure"}, "nothing called"},
		{"what share of the lit lamps is on the upper floor", []string{"do not understand “lit lamps”"}, "15 of"},
		{"which room has the lowest blinds", []string{"Canteen, with 0 % open on average; then Lobby with 80 % open on average"}, "by zone"},
		{"Nenne die zwei dunkelsten Lampen im Büro Nord, die an sind", []string{"Open office north 5 und 6 (60 %)."}, "Open office north 7"},
		{"which rooms have lights between 30 and 60", []string{"Lobby 4 of 4"}, "nothing called"},
		{"Was geht im Erdgeschoss nicht?", []string{"Lampenausfall"}, "kenne ich"},
		// what an answer would drop is told
		{"which lamp has the highest colour temperature", []string{"Alps 3 (4000 K) and Lakes 3 (4000 K)."}, "Alps 1"},
		{"how much does the ground floor draw on average", []string{"On average Ground floor drew"}, "now"},
		{"does the ground floor draw more?", []string{"do not understand “more”"}, "kW"},
		{"are the lobby blinds more open than yesterday", []string{"Compared with what?"}, " % open"},
		{"how much energy do we use with everything off", []string{"o not"}, "kWh"},
		{"which are the 2 brightest zones", []string{"Open office south mean 100 % and Annex workshop mean 97 %"}, "Lobby"},
		{"are the lobby lamps all at the same level", []string{"Yes: the 4 lights in Lobby are at 40 %."}, "nothing called"},
		{"are the lights in the gallery all at the same level", []string{"As far as I know: the 1 light in Annex gallery is at", "Annex gallery"}, "Yes"},
		{"do the lobby and the corridor have the same brightness", []string{"No: the 7 lights in Lobby and Corridor ground floor are at 25 % to 40 %"}, "nothing called"},
		{"Sind die Rollos in der Lobby gleich weit offen?", []string{"Nein: 2 Rollos in Lobby, von 60 % bis 100 %"}, "kenne ich"},
		{"how many lamps and shades does the ground floor have", []string{"Ground floor has 12 lights", "4 shades"}, "do not understand"},
		{"which rooms upstairs are brighter than the lobby", []string{"do not understand “than the lobby”"}, "points more"},
		{"which zones does the ground floor meter cover", []string{"Meter ground floor covers Lobby, Canteen and Corridor ground floor."}, "no zone"},
		{"In welchen Zonen antworten Geräte nicht?", []string{"Open office north 1 offline"}, "online"},
		{"which three zones have the most lamps on", []string{"Open office north 6 of 8 on"}, "nothing called"},
		{"Wie viele Lampen sind unter 50 gedimmt?", []string{"unter 50 %"}, "kenne ich"},
		{"which lamps are not dimmable", []string{"0 of 39 lights cannot be dimmed."}, "nothing called"},
		{"which room has only lights", []string{"7 of 10 zones have lights and no shades"}, "Canteen"},
		{"Welche Zone hat nur Rollos?", []string{"0 von 10 Zonen"}, "Lobby"},
		{"how many lamps would I have to switch off in the lobby", []string{"do not understand “switch off”"}, "None"},
		{"which lamps in Alps differ from 55 percent", []string{"Alps 3 (70 %)"}, "Alps 1 "},
		{"Which two lamps in the open office north are brightest?", []string{"(80 %)"}, "nothing called"},
		{"did someone forget the lights in the lobby?", []string{"Yes: all 4 lights"}, "nothing called"},
		{"Gibt es dunkle Räume im Erdgeschoss?", []string{"Canteen"}, "kenne ich"},
		{"is the corridor as bright as the lobby", []string{"Corridor ground floor is at 25 % on average and Lobby is at 40 % on average"}, "7 of 7"},
		{"Ist mein Sitzungszimmer Alps so hell wie die Lobby?", []string{"Meeting room Alps hat im Mittel 60 % und Lobby hat im Mittel 40 %"}, "kenne ich"},
		{"did somebody leave the lights on upstairs?", []string{"Yes: 15 of 20 lights"}, "do not understand"},
		{"what does the workshop draw? || is that more than the ground floor? || and Alps?", []string{"Meeting room Alps draws " + kw(alps) + " now"}, "Compared with what"},
		{"What does it cost us to run the workshop for an hour at 30 cents per kWh?", []string{"An hour at the power of now"}, "do not understand"},
		// what leans on the sentence before
		{"are the blinds in the lobby open? || how far?", []string{"Lobby shade 2 (60 % open)"}, "Canteen"},
		{"Sind die Rollos in der Lobby offen? || Wie weit?", []string{"Lobby shade 2 (60 % offen)"}, "Canteen"},
		{"what does the workshop draw? || and the ground floor? || compare them", []string{"Annex workshop draws " + kw(workshop), "Ground floor draws 644 W more"}, "Meter:"},
		{"compare them", []string{"did not understand"}, "kW"},
		{"Was zieht die Werkstatt? || Und das Erdgeschoss? || Was davon mehr?", []string{"Ground floor zieht 644 W mehr"}, "Messstelle:"},
		{"Welche Geräte sind offline? || Welche davon sind Lampen?", []string{"1 von 39 Leuchten ist offline"}, "Vorhanden"},
		{"how much did the workshop use yesterday? || what would that cost at 30 cents per kWh?", []string{kwh(at(17, 0), at(18, 0), workshop) + " × 0.3"}, "building"},
		{"since when are the lobby lights on? || and how bright are they?", []string{"Each is at 40 %"}, "since"},
		// words that were not understood are named, with what is near
		{"is the lobbby bar open", []string{"nothing called “bar”"}, "Open office north, Open office south"},
		{"how bright is the corridoor", []string{"25 %"}, ""},
		{"is the workbench lit", []string{"nothing called “workbench”"}, "The zones are"},
	} {
		var r platform.Reply
		for _, turn := range strings.Split(c.asked, " || ") {
			r = ask(t, e, platform.Inquiry{Session: fmt.Sprint("stranger", i), Message: turn})
		}
		for _, want := range c.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%q: %q is missing in: %s", c.asked, want, r.Text)
			}
		}
		if c.never != "" && strings.Contains(r.Text, c.never) {
			t.Errorf("%q: %q does not belong in: %s", c.asked, c.never, r.Text)
		}
	}
}

// Of what does not report nothing is told as none.
func TestNothingKnownIsNotNone(t *testing.T) {
	b := sitetest.New()
	b.Controller.Online, b.Controller.LastSeen = false, sitetest.Now.Add(-time.Hour)
	e := on(b)
	for _, text := range []string{"which rooms have lights on?", "name the three brightest zones", "where are blinds closed?", "what is going on in the lobby?", "Wo brennt noch Licht?", "percentage of lamps on per floor"} {
		r := ask(t, e, platform.Inquiry{Message: text})
		if !strings.Contains(r.Text, "I do not know") && !strings.Contains(r.Text, "Ich weiß es nicht") || strings.Contains(r.Text, "0 of 4 on") || strings.Contains(r.Text, "None") {
			t.Errorf("%q: %s", text, r.Text)
		}
	}
}
