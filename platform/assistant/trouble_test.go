package assistant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// The motor of a shade is a device of its own, with a fault of its own.
func TestAFaultOfAShadesMotorIsTold(t *testing.T) {
	b := sitetest.New().Remember()
	for i := range 3 {
		d := platform.Device{Controller: sitetest.ID, Kind: platform.KindPeripheral, ID: int64(900 + i), Name: fmt.Sprint("Canteen motor ", i+1), Zones: []int64{sitetest.Canteen}, Online: true}
		if i == 1 {
			d.Trouble = "blocked"
		}
		b.DeviceList = append(b.DeviceList, d)
	}
	e := on(b)
	for i, question := range []string{"Is there a shade motor that's stuck?", "fault in any shade motor?", "is any canteen motor stuck?", "Klemmt ein Motor?"} {
		reply := ask(t, e, platform.Inquiry{Session: fmt.Sprint("motors ", i), Message: question})
		if !strings.Contains(reply.Text, "Canteen motor 2") || strings.HasPrefix(reply.Text, "No") {
			t.Errorf("%q: %s", question, reply.Text)
		}
	}
}

// broken is the building with a bus that is down, a shade that is stuck, lamps that mix colours and a rule that acted.
func broken() *sitetest.Building {
	b := unchanged()
	at := sitetest.Now.Add(-6 * time.Minute)
	for i := range b.DeviceList {
		if d := &b.DeviceList[i]; d.Zones != nil && slices.Contains(d.Zones, sitetest.South) {
			d.Bus, d.Online, d.LastSeen = "south line", false, at
		}
	}
	b.Light("Gallery 1", func(d *platform.Device) { d.Abilities = append(d.Abilities, "colour") })
	b.Light("Canteen shade 2", func(d *platform.Device) {
		d.Trouble = "blocked"
		d.Position = &platform.Reading{Value: 55, At: sitetest.Now.Add(-9 * time.Second), Source: "measured"}
	})
	b.EventList = append([]platform.Event{{Code: "bus.down", Severity: "fault", Kind: "bus", Name: "south line", Message: "connection refused", At: at},
		{Code: "shade.blocked", Severity: "fault", Kind: "shade", Thing: 5004, Name: "Canteen shade 2", Message: "blocked", At: at}}, b.EventList...)
	twenty, fifty := 20.0, 50.0
	b.LedgerKept = platform.Ledger{Since: sitetest.Now.Add(-30 * time.Hour), Until: sitetest.Now, Commands: []platform.Command{
		{ID: "9", At: at.Add(time.Minute), Who: "Ann", Via: "public-api", Do: "shade-move-to", Value: &twenty, Kind: "cluster", Thing: sitetest.Canteen, Things: 2},
		{ID: "8", At: at.Add(-time.Minute), Who: "Ann", Via: "public-api", Do: "light-level", Value: &fifty, Kind: "cluster", Thing: sitetest.South, Things: 6, Failed: true},
		{ID: "7", At: at.Add(-2 * time.Minute), Who: `key "Night guard"`, Via: "assistant", Do: "light-off", Kind: "cluster", Thing: sitetest.Lakes, Things: 3},
		{ID: "6", At: at.Add(-3 * time.Minute), Who: "Lunch is over", Via: "automation", Do: "light-off", Kind: "cluster", Thing: sitetest.Canteen, Things: 5},
		{ID: "5", At: at.Add(-4 * time.Minute), Who: "Ann", Via: "public-api", Do: "light-on", Kind: "cluster", Thing: sitetest.Workshop, Things: 4},
		{ID: "4", At: at.Add(-5 * time.Minute), Who: "reception", Via: "panel", Do: "light-level", Value: &fifty, Kind: "cluster", Thing: sitetest.Lobby, Things: 4},
	}}
	return b
}

// What people asked of a building with faults in it, by kinds: each line stands for one.
func TestAskedWhereSomethingIsBroken(t *testing.T) {
	e := on(broken())
	for i, c := range []struct {
		asked string // turns of a conversation, by " || "
		want  []string
		never string
	}{
		// why something cannot be done is what stands in the way, not what was commanded
		{"Why can't I switch the south office lights?", []string{"south line", "connection refused", "not answering"}, "As far as commands tell"},
		{"why won't the light in the south office come on", []string{"south line"}, "As far as commands tell"},
		{"Warum lässt sich das Licht im open office south nicht dimmen?", []string{"south line"}, "Soweit"},
		{"warum kann ich die Rollos in der Kantine nicht bewegen", []string{"Canteen shade 2", "blockiert"}, "Soweit"},
		{"why is the workshop on", []string{"As far as commands tell: Workshop 1 to 3"}, "south line"},
		// a bus that is down is a fault of the places on it
		{"any faults in the south office?", []string{"1 fault is reported", "south line"}, "No fault"},
		{"any faults in the lobby?", []string{"no fault is reported in Lobby"}, "south line"},
		{"Is the gateway in the south office dead?", []string{"south line", "connection refused"}, "cannot answer"},
		{"Ist das Gateway im open office south wieder in Ordnung?", []string{"Nein: ", "south line"}, "Ort"},
		{"list all faults, newest first", []string{"faults are reported: Canteen shade 2"}, "nothing called"},
		{"why can I not see the lobby lights", []string{"Lobby"}, "Workshop"},
		// what does not move
		{"which blinds are not moving?", []string{"Canteen shade 2"}, "No shade"},
		{"Welches Rollo bewegt sich nicht mehr?", []string{"Canteen shade 2"}, "Kein Rollo"},
		// colours are not the colour temperature of white
		{"which lights can be coloured?", []string{"1 of 39 lights can be set in colours. Gallery 1."}, "temperature"},
		{"can the gallery lights be turned green?", []string{"Yes: 1 of 2", "Gallery 1"}, "temperature"},
		{"Kann die Werkstatt blau leuchten?", []string{"Nein: 0 von 4"}, "Farbtemperatur"},
		{"which lamps can change their colour temperature", []string{"6 of 39 lights can be tuned in colour temperature"}, "in colours"},
		// the sum of what was asked one by one
		{"what does the workshop draw || and Alps? || and the two together?", []string{"Together " + kw(workshop, alps)}, "Meter:"},
		{"Was zieht die Werkstatt || und Alps || Und insgesamt?", []string{"Zusammen jetzt " + strings.Replace(kw(workshop, alps), ".", ",", 1)}, "Messstelle:"},
		{"what does the workshop draw || together?", []string{"did not understand"}, "kW"},
		// a sum is one side of a comparison, where there are three places
		{"does the workshop use more than Alps and the lobby together?", []string{"Annex workshop", "Meeting room Alps and Lobby "}, "cannot compare"},
		// what a meter stands at
		{"Wie viele kWh zeigt der Zähler der Werkstatt?", []string{"Den Stand eines Zählers meldet der Controller nicht"}, "verbraucht"},
		{"how many kilowatt hours are on the Alps meter?", []string{"counter stands at is not reported"}, "used"},
		{"what did the Alps meter show yesterday in kWh", []string{kwh(at(17, 0), at(18, 0), alps)}, "counter"},
		// a rule, whatever it goes by
		{"Wieso ist die Regel bei Dämmerung in der Lobby abgeschaltet?", []string{"Von Szenen, Regeln und Zeitplänen erfahre ich nichts"}, "Beleuchtungsstärke"},
		{"what scenes has the lobby got", []string{"of scenes, rules and schedules I am told nothing", "panel"}, "do not report"},
		// what the ledger calls done and is not
		{"did any command go wrong?", []string{"Open office south (all 6): set to 50 %", "not as it was told: Canteen shade 2: moved to 20 % open"}, "Canteen shade 1"},
		{"welche Befehle sind fehlgeschlagen", []string{"Canteen shade 2: auf 20 % offen gefahren"}, "Canteen shade 1"},
		// who did what
		{"Show me everything the user Ann did today", []string{"Open office south", "moved to 20 % open", "by Ann"}, "reception"},
		{"Was hat der Benutzer Ann heute gemacht?", []string{"durch Ann"}, "reception"},
		{"which user gave the most commands today?", []string{"5 commands since 00:00: 2 by Ann, "}, "do not understand"},
		{"Wer hat heute am meisten geschaltet", []string{"5 Befehle seit 00:00: 2 durch Ann"}, "verstehe"},
		{"Was it a person or a rule that switched the canteen off?", []string{"by the rule “Lunch is over”"}, "do not understand"},
		{"War es ein Mensch oder eine Regel, die in Lakes das Licht ausgeschaltet hat?", []string{"Night guard"}, "verstehe"},
		{"Are there lights nobody switched on today?", []string{"Annex workshop (all 4): switched on", "No such command of the controller is reported today"}, "do not understand"},
		{"did the last command to the south office work?", []string{"did not do what they were told: Open office south (all 6)"}, "do not understand"},
		{"hat der letzte Befehl in der Kantine geklappt?", []string{"nicht, wie es sein sollte: Canteen shade 2"}, "verstehe"},
		{"Hat der Nachtwächter etwas geschaltet?", []string{"Lakes", "Night guard"}, "kenne ich"},
		{"Which switches at the wall were pressed?", []string{"done by hand at a device or at a wall switch is not measured"}, "do not understand"},
		{"who turned the light in Lakes down", []string{"Lakes", "Night guard"}, "nothing called"},
		{"who sent the elephant", []string{"“elephant”"}, "commands"},
		// what nobody here tells, by its name
		{"When is sunset?", []string{"when the sun rises and sets I am not told"}, "Illuminance"},
		{"Wann geht morgen die Sonne auf?", []string{"erfahre ich nicht"}, "Beleuchtungsstärke"},
		{"what is the installed load of the lobby", []string{"The connected load is not measured"}, "draws"},
		{"who is in the workshop", []string{"Occupancy is not measured in Annex workshop"}, "As far as commands"},
		{"Wer ist noch im Gebäude?", []string{"Belegung wird nicht gemessen"}, "nicht verstanden"},
		{"Gib mir eine knappe Übersicht für die Übergabe", []string{"Leuchten"}, "kenne ich"},
		{"Störungen letzte Woche pro Etage", []string{"nach Etage"}, "Keine Störung"},
		// the first of a row is told first
		{"which floor uses the least energy per square metre", []string{"Ground floor, with "}, "I do not know"},
		{"energy per square metre by floor", []string{"Ground floor "}, "Ground floor, with"},
		{"what colour is the workshop and how bright is it", []string{"colour of a light is not reported", "mean level of the 3 lights in Annex workshop"}, "do not understand"},
		// words cut in two are named whole
		{"Ist die Lobby dunkel oder brennt das Büroklammerlicht?", []string{"„Büroklammerlicht“"}, "„“"},
	} {
		e.converse(t, fmt.Sprint("broken", i), c.asked, c.want, c.never)
	}
}
