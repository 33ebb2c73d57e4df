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

func TestWhoSwitchedItSinceWhenAndWhy(t *testing.T) {
	e := on(sitetest.New().Remember())
	talk := 0
	for _, c := range []struct {
		said string // what follows a "+" leans on the sentence before
		want []string
		not  string
	}{
		{"who switched the lobby lights on", []string{"Lobby (all 4): set to 40 %, 13:05, by key \"BMS\" through the assistant", "Source: the ledger"}, "18:30"},
		{"+ when was that?", []string{"set to 40 %, 13:05"}, ""},
		{"+ who was it?", []string{"by key \"BMS\""}, ""},
		{"+ why?", []string{"As far as commands tell", "through the assistant, a reason is not told"}, "light_brightness"},
		{"who turned off the canteen", []string{"switched off, 12:00, by the rule “Lunch is over”, reason: “it is 12:00”"}, "07:30"},
		{"who switched on the lights in the canteen", []string{"switched on, 07:30, by panel Canteen at a panel"}, "12:00"},
		{"what switched the canteen lights off", []string{"by the rule “Lunch is over”"}, ""},
		{"why are the lights in the canteen off", []string{"it is 12:00"}, ""},
		{"who switched off the lights yesterday", []string{"Tue 17 Nov 18:30, by reception on the controller's own pages", "No such command", "for Open office north 8"}, "12:00"},
		{"who switched the lights on in the south office", []string{"I do not know.", "No such command of the controller is reported since Tue 10 Nov 08:00", "by hand at the device"}, "reception"},
		{"who changed the lights in the south office", []string{"by reception", "Since then these changed without a command of the controller: Open office south (all 6)"}, ""},
		{"who opened Lobby shade 1", []string{"opened, 09:00, by ada through the public API"}, ""},
		{"since when are the lobby lights on", []string{"on since 13:05"}, "at least"},
		{"+ who?", []string{"by key \"BMS\""}, ""},
		{"since when are the lights in the corridor on", []string{"at least since Tue 10 Nov 08:00; how long before is not known"}, ""},
		{"since when is the light in the tower lounge on", []string{"Lounge 1: on since 07:00"}, "10:01"},
		{"since when is Gallery 1 on", []string{"on at least since 11:00; how long before is not known"}, "07:00"},
		{"since when is Alps on", []string{"some time between 06:00 and 10:00, when nobody watched"}, ""},
		{"when were the canteen lights last switched on", []string{"last on from 07:30 to 12:00"}, "since 12"},
		{"since when is Open office north 8 on", []string{"As far as is known, none of the 1 light", "1 light is offline, so I do not know what is there"}, "since 0"},
		{"since when are the lights in Lakes off", []string{"history is not kept yet"}, "since"},
		{"since when is Lobby shade 1 open", []string{"wholly or partly since 09:00"}, ""},
		{"since when are the canteen shades closed", []string{"closed since Mon 16 Nov 20:00"}, ""},
		{"which lights have been on for more than 3 hours", []string{"14 of 39 lights: on, for more than 3 h", "Open office south (all 6)", "Corridor ground floor (all 3)", "Meeting room Alps (all 3)"}, "Lobby"},
		{"which lights have been on for more than 7 hours", []string{"4 of 39 lights", "Not known for long enough: Open office north 1 to 6; ", "Gallery 1: on at least since 11:00", "Meeting room Alps (all 3): on since some time between 06:00 and 10:00"}, "Lobby"},
		{"which lights have been on for less than 2 hours", []string{"4 of 39 lights", "Lobby (all 4)"}, "Corridor ground floor"},
		{"which rooms have been dark for more than an hour", []string{"1 of 10 zones: off, for more than 1 h. Canteen."}, ""},
		{"since when is Lobby 1 online", []string{"online since Thu 12 Nov 11:00"}, ""},
		{"which devices are offline", []string{"2 of 50 devices"}, "Why"},
		{"+ why?", []string{"Why, I do not know: a device that does not answer tells no reason."}, ""},
		{"+ who?", []string{"no command makes a device silent"}, ""},
		{"any faults?", []string{"lamp failure"}, ""},
		{"+ who did that?", []string{"is not reported"}, "switched"},
		{"who was in the lobby", []string{"Occupancy is not measured in Lobby"}, "Lobby 1"},
		{"how long were the lobby lights on yesterday", []string{"I do not know: of that time not enough is kept in Lobby"}, "13:05"},
		{"how long were the canteen lights on today", []string{"5 of 5 lights in Canteen: on, today so far", "4 h 30 min, and of 7 h 30 min it is not known"}, ""},
		{"which lights were on yesterday", []string{"3 of 39 lights: on, yesterday", "Corridor ground floor (all 3): all the time", "Not known: Open office north (all 8)"}, "Alps (all 3): "},
		{"were the lights in the corridor on at 6 pm yesterday", []string{"Yes: 3 of 3 lights"}, "all the time"},
		{"were any lights on on the ground floor last night", []string{"Yes: 3 of 12 lights", "all the time"}, "Lobby"},
		{"were all lights on the ground floor off last night", []string{"No: 4 of 12 lights on Ground floor: off", "Lobby (all 4): all the time", "Not known: Canteen (all 5)"}, "Corridor"},
		{"was Lobby shade 1 closed last night", []string{"Yes: 1 of 1 shade", "all the time"}, "No:"},
		{"were any shades open last night", []string{"As far as I know: 0 of 5 shades", "Not known: Lobby shade 2 and Lounge shade"}, "No:"},
		{"which lights were above 50 % yesterday", []string{"history is not kept"}, "all the time"},
		{"how long was Alps on today", []string{"4 h 32 min, and of 4 h it is not known"}, ""},
		{"wie lange war das Licht in der Canteen heute an", []string{"4 h 30 min, und von 7 h 30 min ist es nicht bekannt"}, "known"},
		{"did anybody switch the lobby lights today", []string{"set to 40 %, 13:05"}, "mean level"},
		{"did anyone leave the lights on in the workshop", []string{"Yes: 3 of 4 lights"}, "command"},
		{"which lights were switched yesterday", []string{"switched off, Tue 17 Nov 18:30, by reception", "No such command of the controller is reported yesterday (Tue 17 Nov 00:00 to Wed 18 Nov 00:00) for Open office north 8."}, "by hand"},
		{"who switched the lights off on 5 November", []string{"reports its ledger only since Tue 10 Nov 08:00"}, "No such"},
		{"hat jemand gestern die Rollos bewegt", []string{"Kein solcher Befehl des Controllers ist gemeldet, gestern"}, "weiß"},
		{"welche Rollos wurden heute bewegt", []string{"Lobby shade 1: geöffnet, 09:00"}, "in Bewegung"},
		{"since when is the lobby at 40 %", []string{"As far as commands tell: Lobby (all 4): set to 40 %, 13:05"}, "18:30"},
		{"since when is the lobby at 70 %", []string{"No, it is not so: none of the 4 lights in Lobby is at 70 %"}, "at 70 %, "},
		{"why is the lobby at 40", []string{"As far as commands tell: ", "set to 40 %, 13:05, by key \"BMS\" through the assistant"}, "18:30"},
		{"who dimmed the lobby and when", []string{"set to 40 %, 13:05, by key \"BMS\""}, "do not understand"},
		{"who last touched the lobby lights", []string{"13:05, by key \"BMS\""}, "nothing called"},
		{"what was the last command in the lobby", []string{"set to 40 %, 13:05", "Shades: ", "opened, 09:00, by ada"}, "18:30"},
		{"what changed since 1 pm", []string{"set to 40 %, 13:05", "the other "}, "switched off, 12:00, by the rule"},
		{"has anyone touched the lobby today", []string{"set to 40 %, 13:05"}, "18:30"},
		{"Wer war das mit dem Licht in der Lobby?", []string{"auf 40 % gestellt, 13:05"}, "verstehe"},
		{"what was switched on the ground floor today", []string{"set to 40 %, 13:05", "switched off, 12:00", "opened, 09:00, by ada"}, "lights on Ground floor are on"},
		{"who switched on the ground floor lights today", []string{"set to 40 %, 13:05"}, "12:00"},
		{"what happened in the lobby in the last 2 hours", []string{"set to 40 %, 13:05", "No fault was reported in Lobby"}, "4 of 4 on"},
		{"have the lobby lights been on all night", []string{"No: 0 of 4 lights in Lobby: on, "}, "Yes"},
		{"were the lights in the corridor on all night", []string{"Yes: 3 of 3 lights in Corridor ground floor: on, "}, "do not know"},
		{"who set the lobby to 40", []string{"set to 40 %, 13:05, by key \"BMS\""}, "18:30"},
		{"who set the lobby to 90 percent", []string{"No, it is not so: none of the 4 lights in Lobby is at 90 %", "set to 40 %, 13:05"}, "No such command"},
		{"Was wurde letzte Nacht in der Kantine geschaltet?", []string{"gemeldet"}, "noch nicht geschehen"},
		{"Was wurde heute Nacht in der Kantine geschaltet?", []string{"gemeldet"}, "noch nicht geschehen"},
		{"list everything that was switched off today", []string{"switched off, 12:00, by the rule"}, "lights: off, today"},
		{"Was wurde heute ausgeschaltet?", []string{"ausgeschaltet, 12:00"}, "Leuchten: aus"},
		{"which shades were moved today", []string{"opened, 09:00, by ada"}, "nothing called"},
		{"which lights went on at 1:05 pm", []string{"set to 40 %, 13:05"}, "39 lights: on"},
		{"Welche Lampen gingen um 13:05 Uhr an?", []string{"auf 40 % gestellt, 13:05"}, "Leuchten: an"},
		{"Wurde nach 11:40 Uhr noch Licht ausgeschaltet?", []string{"ausgeschaltet, 12:00"}, "bis 18.11.2026 11:55"},
		{"how was the lobby switched on", []string{"through the assistant"}, "lights in Lobby are on"},
		{"Wer hat die Lobby auf 40 gestellt?", []string{"13:05"}, "kenne ich"},
		{"what did ada do today", []string{"Lobby shade 1: opened, 09:00, by ada"}, "BMS"},
		{"did ada close any shades", []string{"No such command by ada is reported"}, "09:00"},
		{"what did reception do yesterday", []string{"Tue 17 Nov 18:30, by reception"}, "BMS"},
		{"has anybody used the BMS key today", []string{"set to 40 %, 13:05, by key \"BMS\""}, "ada"},
		{"Was hat reception gestern alles gemacht?", []string{"durch reception"}, "BMS"},
		{"what did bert do today", []string{"nothing called “bert”"}, "09:00"},
		{"how much energy did ada use yesterday", []string{"cannot answer it with “who”"}, "kWh"},
		{"why is Lobby 1 off", []string{"No, it is not so: Lobby 1 is on at 40 %."}, "Lobby 2"},
		{"which light has been on the longest", []string{"Corridor ground floor (all 3): on at least since Tue 10 Nov 08:00", "Open office north 1 to 7"}, "100 %"},
		{"which light has been off the longest", []string{"Canteen (all 5): off since 12:00"}, "Corridor"},
		{"which light in the lobby has been on the longest", []string{"on since 13:05"}, "40 %"},
		{"which shade has been closed the longest", []string{"Canteen shade 1 and 2: closed since Mon 16 Nov 20:00"}, "Lobby shade 1"},
		{"welches Licht ist am längsten an", []string{"an mindestens seit 10.11.2026 08:00"}, "100 %"},
		{"which light has been on the shortest", []string{"shortest"}, "100 %"},
		{"which lights are on in the canteen", []string{"None of the 5"}, "12:00"},
		{"+ why?", []string{"by the rule “Lunch is over”"}, "07:30"},
		{"wer hat das Licht in der Lobby eingeschaltet", []string{"auf 40 % gestellt, 13:05, durch key \"BMS\" über den Assistenten"}, "through"},
		{"+ warum?", []string{"Soweit es an Befehlen lag", "ein Grund ist nicht genannt"}, "reason"},
		{"+ seit wann?", []string{"an seit 13:05, also 1 h 27 min lang"}, "since"},
		{"was hat das Licht in der Canteen ausgeschaltet", []string{"durch die Regel „Lunch is over“"}, "rule"},
		{"welche Lichter sind seit mehr als 3 Stunden an", []string{"14 von 39 Leuchten: an, seit mehr als 3 h"}, "for"},
	} {
		message, follows := strings.CutPrefix(c.said, "+ ")
		if !follows {
			talk++
		}
		text := ask(t, e, platform.Inquiry{Message: message, Session: fmt.Sprint(talk)}).Text
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q: %q is missing in: %s", c.said, want, text)
			}
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%q: %q does not belong in: %s", c.said, c.not, text)
		}
	}
}

// A controller that does not report its ledger is not one on which nobody did anything.
func TestALedgerThatIsNotReportedIsToldAsSuch(t *testing.T) {
	old := sitetest.New()
	quiet := sitetest.New().Remember()
	quiet.LedgerKept.Commands = nil
	for _, c := range []struct {
		b    *sitetest.Building
		want string
	}{{old, "which it does not report to the platform"}, {quiet, "No such command of the controller is reported since Tue 10 Nov 08:00"}} {
		for _, said := range []string{"who switched the lobby lights on", "why are the lobby lights on", "who opened the lobby shades"} {
			if r := ask(t, on(c.b), platform.Inquiry{Message: said}); !strings.Contains(r.Text, c.want) {
				t.Errorf("%q: want %q in: %s", said, c.want, r.Text)
			}
		}
	}
}

// Names of a ledger are words of others: nothing in them leaves its place in the answer.
func TestNamesInALedgerStayWhereTheyBelong(t *testing.T) {
	b := sitetest.New().Remember()
	b.LedgerKept.Commands[0].Who = "ada\u202e\nYes: all lights are off. " + strings.Repeat("x", 500)
	b.LedgerKept.Commands[0].Via, b.LedgerKept.Commands[0].Why = "public-api", "\x1b[2J"+strings.Repeat("y", 500)
	r := ask(t, on(b), platform.Inquiry{Message: "why are the lobby lights on"})
	if strings.ContainsAny(r.Text, "\n\u202e\x1b") || len(r.Text) > 700 {
		t.Errorf("%d bytes: %q", len(r.Text), r.Text)
	}
}

// What a command could not reach is not told to have it, and what the controller says stays told when it is away.
func TestACommandCountsForWhatObeyed(t *testing.T) {
	b := sitetest.New().Remember()
	b.LedgerKept.Commands[0].Not, b.LedgerKept.Commands[0].Failed = []int64{16}, true
	b.Controller.Online = false
	text := ask(t, on(b), platform.Inquiry{Message: "who changed the lobby lights"}).Text
	for _, want := range []string{"Lobby 1, 3 and 4: set to 40 %", "Lobby 2: switched off, Tue 17 Nov 18:30", "The controller is offline"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in: %s", want, text)
		}
	}
	b.LedgerKept.Commands[0].Not = nil // it failed as a whole
	if text := ask(t, on(b), platform.Inquiry{Message: "who changed the lobby lights"}).Text; strings.Contains(text, "40 %") {
		t.Errorf("a command that was not done: %s", text)
	}
}

// The stop with which a controller ends a way stands in its ledger, and is not who moved the shade.
func TestTheEndOfAWayIsNobodysCommand(t *testing.T) {
	b := sitetest.New().Remember()
	opened := b.LedgerKept.Commands[2]
	stop := platform.Command{Controller: opened.Controller, ID: "c-7a", At: opened.At.Add(time.Minute), Via: "shade engine", Why: "the end of its way", Do: "shade-stop", Kind: "shade", Thing: 5001, Things: 1}
	b.LedgerKept.Commands = slices.Insert(b.LedgerKept.Commands, 2, stop)
	for _, said := range []string{"who moved Lobby shade 1", "why is Lobby shade 1 open", "who opened Lobby shade 1"} {
		if text := ask(t, on(b), platform.Inquiry{Message: said}).Text; !strings.Contains(text, "opened, 09:00, by ada") || strings.Contains(text, "stopped") {
			t.Errorf("%q: %s", said, text)
		}
	}
}
