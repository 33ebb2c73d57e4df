package assistant

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// turns is a conversation by " || ", with what its last answer has to say and must not.
type turns struct {
	asked string
	want  []string
	never string
}

func converse(t *testing.T, e *Assistant, all []turns) {
	t.Helper()
	for i, c := range all {
		var r platform.Reply
		for _, said := range strings.Split(c.asked, " || ") {
			r = ask(t, e, platform.Inquiry{Session: fmt.Sprint(t.Name(), i), Message: said, Control: true})
		}
		for _, want := range c.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%q: %q is missing in: %s", c.asked, want, r.Text)
			}
		}
		if c.never != "" && strings.Contains(r.Text, c.never) {
			t.Errorf("%q: %q has no place in: %s", c.asked, c.never, r.Text)
		}
	}
}

// What is denied or left out changes the answer, wherever its words stand.
func TestNegationsAndExclusionsAreObeyed(t *testing.T) {
	converse(t, on(unchanged()), []turns{
		{"which rooms don't have a single lamp burning", []string{"2 of 10 zones with lights have all their lights off: Canteen 5 of 5 off and Meeting room Lakes"}, ""},
		{"In welchem Raum ist kein einziges Licht an?", []string{"2 von 10 Zonen", "Canteen 5 von 5 aus"}, ""},
		{"which rooms are without any light at the moment", []string{"Canteen 5 of 5 off"}, "no lights"},
		{"Wie viele Räume sind ohne Licht?", []string{"Canteen 5 von 5 aus"}, "keine Leuchten"},
		{"is there a floor where no light is on at all", []string{"no floor has all its lights off"}, ""},
		{"Ist nirgends mehr etwas an?", []string{"Nein: 27 von 39"}, ""},
		{"Kein Licht mehr in der Kantine?", []string{"a: keine der 5 Leuchten in Canteen ist an"}, ""},
		{"is not one of the canteen lamps on?", []string{"none of the 5 lights in Canteen is on"}, "without"},
		{"which zones aren't fully lit", []string{"Open office north 6 of 8 on"}, "Open office south"},
		{"name the rooms in which not everything is on", []string{"Open office north 6 of 8 on"}, "Open office south"},
		{"list every room that isn't dark", []string{"Lobby 4 of 4 on"}, "Canteen"},
		{"which floors have no faults", []string{"No fault is reported in Upper floor and Annex"}, "Ground"},
		{"which rooms never had their lights on today", []string{"“never”"}, "5 of 5"},
		{"leaving the offices aside, how many lamps are on", []string{"15 of 25 lights without Open office north and Open office south are on"}, ""},
		{"how many lamps are on, the lobby excluded", []string{"23 of 35 lights without Lobby are on"}, ""},
		{"tell me what's lit, leaving the corridor out", []string{"24 of 36 lights without Corridor ground floor are on"}, ""},
		{"what else is on besides the lobby", []string{"23 of 35 lights without Lobby are on"}, ""},
		{"Alles zu, nur die Lobby nicht?", []string{"3 Rollos ohne Lobby"}, "in Lobby"},
		{"Bis auf die Büros alles dunkel?", []string{"Nein: ", "ohne Open office north und Open office south"}, ""},
		{"all lamps but those in the lobby, how many are lit", []string{"23 of 35 lights without Lobby are on"}, ""},
		{"is it only the lobby that's still lit?", []string{"No: 23 of 35 lights without Lobby are on"}, ""},
		{"Nur die Lobby ist noch an, oder?", []string{"Nein: 23 von 35 Leuchten ohne Lobby sind an"}, ""},
		{"Ist nur die Lobby an?", []string{"Nein: 23 von 35 Leuchten ohne Lobby sind an"}, ""},
	})
}

// Words that only say "here" or "as a whole" name no place.
func TestFillersNameNoPlace(t *testing.T) {
	converse(t, on(unchanged()), []turns{
		{"what's lit round here", []string{"27 of 39"}, "nothing called"},
		{"what's on right now in this place, I guess", []string{"27 of 39"}, "nothing called"},
		{"any trouble anywhere around?", []string{"Yes: 1 fault"}, "nothing called"},
		{"how much power is the building as such pulling", []string{"What is measured of the building draws"}, "nothing called"},
		{"so what's the state of affairs in general", []string{"Lights: 27 of 39"}, "nothing called"},
	})
}

// "At full" of a place is of all that it has.
func TestPlacesAtFullAreSoThroughout(t *testing.T) {
	converse(t, on(unchanged()), []turns{
		{"which zones are running flat out", []string{"1 of 10 zones with lights has all", "Open office south 6 of 6 at 100 %"}, "workshop 2"},
		{"how many rooms have every lamp at 100 percent", []string{"1 of 10 zones", "Open office south"}, "workshop 2"},
		{"how many of the rooms are lit to the max", []string{"1 of 10 zones", "Open office south"}, "workshop 2"},
		{"which rooms have a lamp at full", []string{"Annex workshop 2 of 4"}, ""},
		{"Ist die Werkstatt voll beleuchtet?", []string{"Nein: 2 von 4"}, ""},
		{"which floor is lit throughout", []string{"1 of 3 floors with lights has all their lights on: Annex 4 of 6 on (2 unknown)"}, "7 of 12"},
		{"how many lamps give everything they have", []string{"“everything”"}, "39"},
		{"is the south office at full", []string{"Yes: all 6"}, ""},
		{"which rooms have half their lights on", []string{"no zone has such a part"}, "6 of 8"},
	})
}

// The second turn is about what the first was about, or it is refused.
func TestSecondTurnsKeepTheirSubject(t *testing.T) {
	b := sitetest.New().Remember()
	b.Controller.Revision = 1
	converse(t, on(b), []turns{
		{"how many lights are on upstairs? || which rooms?", []string{"3 of 4 zones with lights have lights on: Open office north 6 of 8 on"}, "Lobby"},
		{"is anything broken? || on which floor?", []string{"Ground floor 1 fault"}, "There are"},
		{"Ist irgendeine Leuchte ausgefallen? || in welchem Stock?", []string{"Ground floor 1 Störung"}, "Vorhanden"},
		{"which rooms are dark? || and which aren't?", []string{"Lobby 4 of 4 on"}, "Canteen"},
		{"Welche Storen sind zu? || welche nicht?", []string{"Lobby"}, "Canteen"},
		{"which lamps are above 50 percent? || and which are not?", []string{"at or below 50 %"}, ""},
		{"who switched the canteen off? || and the lobby?", []string{"switched off, Tue 17 Nov 18:30"}, "not so"},
		{"which floor was the worst?", []string{"“worst”"}, "m²"},
		{"and which aren't?", []string{"did not understand"}, ""},
	})
}

// A question that has two is answered whole: the second is never dropped.
func TestNoneOfTwoQuestionsIsDropped(t *testing.T) {
	b := sitetest.New().Remember()
	b.Controller.Revision = 1
	converse(t, on(b), []turns{
		{"Seit wann brennt in der Lobby Licht und wie hell ist es?", []string{"an seit 13:05", "40 %"}, ""},
		{"since when are the lobby lights on and how bright are they?", []string{"since 13:05", "40 %"}, ""},
		{"Sind in der Lobby alle Lichter aus und wer hat sie zuletzt geschaltet?", []string{"Nein: ", "BMS"}, ""},
		{"Welche Lampen wurden vom Empfang aus geschaltet?", []string{"„vom Empfang aus“"}, "Leuchten"},
		{"what does running the workshop cost per day at 28 cents", []string{"cannot answer it with “by day”"}, "kWh"},
		{"Was sagen die Zählerstände?", []string{"Den Stand eines Zählers meldet der Controller nicht", "Meter Alps"}, ""},
		{"did the shades in the lobby go down last night", nil, "offline"},
		{"nobody touched the workshop today, right?", []string{"No such command of the controller is reported today"}, "workshop 1"},
		{"Hat heute niemand in der Kantine geschaltet?", []string{"Lunch is over", "07:30"}, ""},
		{"are there lights on that nobody needs", []string{"“nobody”"}, "27"},
		{"Kantine an, mittlere Helligkeit", []string{"Noch nicht ausgeführt", "50 %"}, ""},
		{"canteen on, medium brightness", []string{"Not done yet", "50 %"}, ""},
	})
}

// A motor and the shade that it moves are one fault, which is told in the language of the question as far as it is known.
func TestAMotorAndItsShadeAreOneFault(t *testing.T) {
	b := sitetest.New()
	b.Controller.Revision = 1
	b.Light("Canteen 3", func(d *platform.Device) { d.Trouble = "" })
	b.EventList = nil
	const stuck = "blocked, last down, by the network: obstacle"
	motor := func(id int64, name, trouble string) {
		b.DeviceList = append(b.DeviceList, platform.Device{Controller: sitetest.ID, Kind: platform.KindPeripheral, ID: id, Name: name, Bus: "shades", Online: true, LastSeen: sitetest.Now, ReportedAt: sitetest.Now, Trouble: trouble})
	}
	motor(201, "Lounge drive", stuck)
	b.Light("Lounge shade", func(d *platform.Device) { d.Node, d.Trouble, d.Online = 201, stuck, true })
	b.EventList = []platform.Event{{Code: "node.trouble", Severity: "fault", Kind: "node", Thing: 201, Name: "Lounge drive", Message: "Lounge drive reports: " + stuck, At: at(18, 10)}}
	all := []turns{
		{"how many faults are there", []string{"1 fault is reported: Lounge shade: “blocked, last down, by the network: obstacle” since 10:00"}, "drive"},
		{"Gibt es Störungen?", []string{"Ja: 1 Störung ist gemeldet: Lounge shade: „blockiert, zuletzt abwärts, über das Netz: Hindernis“"}, "blocked"},
		{"what's wrong in the lounge", []string{"1 fault is reported", "since 10:00"}, "drive"},
		{"is the lounge shade fixed", []string{"1 fault is reported"}, "Yes"},
		{"any faults apart from the lounge", []string{"no fault is reported without Tower lounge"}, "drive"},
	}
	converse(t, on(b), all)

	motor(202, "Canteen drives", "locked")
	for _, shade := range []string{"Canteen shade 1", "Canteen shade 2"} {
		b.Light(shade, func(d *platform.Device) { d.Node, d.Trouble = 202, "locked" })
	}
	b.Controller.Revision++
	converse(t, on(b), []turns{
		{"what is broken", []string{"2 faults are reported", "Canteen drives"}, "Canteen shade"},
		{"which shades are faulty", []string{"3 faults are reported", "Canteen shade 2"}, "drives"},
	})
}
