package assistant

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// Who is asked for comes first, a yes or no where one is asked, and what a comparison rests on is counted of both sides.
func TestAnAnswerBeginsWithWhatWasAsked(t *testing.T) {
	e := on(sitetest.New().Remember())
	for i, c := range []struct {
		asked string
		begin string
		want  []string
		never []string
	}{
		{"which meter shows the highest load?", "Power now: Meter open offices, with " + kw(offices), []string{"; then Meter ground floor with " + kw(ground)}, nil},
		{"which room is the brightest?", "Open office south, with a mean of 100 %; then Annex workshop", nil, nil},
		{"which room is the darkest?", "Meeting room Lakes and Canteen, each with a mean of 0 %; then", nil, nil},
		{"which floor has the most lights on?", "Upper floor, with 15 of 20 on", nil, nil},
		{"welcher Raum ist am hellsten?", "Open office south, mit 100 % im Mittel; dann", nil, nil},

		{"is the lobby brighter than the corridor?", "Yes: Lobby is at 40 %", []string{"7 readings"}, nil},
		{"is the corridor brighter than the lobby?", "No: Corridor", []string{"7 readings"}, nil},
		{"is the corridor darker than the lobby?", "Yes: Corridor", nil, nil},
		{"are more blinds open in the canteen than in the lobby?", "No: Canteen has 0 of 2", []string{"4 readings"}, nil},
		{"are fewer blinds open in the canteen than in the lobby?", "Yes: Canteen has 0 of 2", nil, nil},
		{"does the ground floor draw more than the workshop?", "Yes: Ground floor draws " + kw(ground), []string{"2 readings"}, nil},
		{"did the workshop use less than the ground floor yesterday?", "Yes: ", nil, nil},
		{"ist die Lobby heller als die Kantine?", "Ja: Lobby", nil, nil},
		{"is it brighter in the lobby or in the corridor?", "Lobby is at 40 %", nil, []string{"Yes", "No:"}},
		{"is everything in order?", "No: 1 fault is reported", nil, nil},
		{"is anything broken?", "Yes: 1 fault is reported", nil, nil},
		{"is anything broken in the workshop?", "No: no fault is reported in Annex workshop", nil, nil},
		{"is everything in order in the workshop?", "Yes: no fault is reported in Annex workshop", nil, nil},
		{"gibt es Störungen in der Werkstatt?", "Nein: es ist keine Störung gemeldet in Annex workshop", nil, nil},

		{"how much of that is lights?", "I do not know: it is not measured per kind", nil, []string{" lights are on"}},
		{"welcher Anteil davon ist Licht?", "Ich weiß es nicht: Nach Arten wird nicht gemessen", nil, nil},
		{"are the lobby and the canteen blinds in the same position?", "No: the 4 shades in Lobby and Canteen are at 0 % to 100 %", nil, []string{"shade 1, Lobby shade 2 and"}},
	} {
		r := ask(t, e, platform.Inquiry{Session: fmt.Sprint(i), Message: c.asked})
		if !strings.HasPrefix(r.Text, c.begin) {
			t.Errorf("%q: want %q at the beginning of: %s", c.asked, c.begin, r.Text)
		}
		for _, w := range c.want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%q: %q is missing in: %s", c.asked, w, r.Text)
			}
		}
		for _, w := range c.never {
			if strings.Contains(r.Text, w) {
				t.Errorf("%q: %q has no place in: %s", c.asked, w, r.Text)
			}
		}
	}
}

// An answer is short: things that are told alike are put together, and beyond a bound they are counted.
func TestAnAnswerIsShort(t *testing.T) {
	b := sitetest.New().Remember()
	for i := range 60 { // a zone whose lamps have a level of their own each
		id, level := int64(9000+i), float64(1+i)
		b.DeviceList = append(b.DeviceList, platform.Device{Kind: platform.KindLight, ID: id, Name: fmt.Sprint("Hall lamp ", i+1), Zones: []int64{sitetest.Lobby}, Floor: "Ground floor",
			Online: true, LastSeen: sitetest.Now, ReportedAt: sitetest.Now, Level: &platform.Reading{Value: level, At: sitetest.Now, Source: "measured"}})
	}
	e := on(b)
	for i, message := range []string{"which lights are on?", "which lights are on in the lobby?", "welche Lichter sind an?", "which lights are above 3 %?", "which shades are closed?", "who switched the lights?",
		"which lights were on yesterday?", "since when are the lights on?", "what was switched today?", "what is offline?", "how bright is the lobby?"} {
		r := ask(t, e, platform.Inquiry{Session: fmt.Sprint(i), Message: message})
		const most = 1000
		if n := len([]rune(r.Text)); n > most {
			t.Errorf("%q: %d characters, want at most %d: %s", message, n, most, r.Text)
		}
	}
	says(t, ask(t, e, platform.Inquiry{Session: "cut", Message: "which lights are on in the lobby?"}), "more; ask for one zone or floor to hear the others")
}

// How far off a position may be is told where the controller tells it, also of one that is not of now.
func TestAPositionIsToldWithItsBound(t *testing.T) {
	b := sitetest.New()
	for i := range b.DeviceList {
		switch d := &b.DeviceList[i]; d.Name {
		case "Lobby shade 1":
			d.Position = &platform.Reading{Value: 30, At: sitetest.Now, Source: "estimated", Within: 13}
		case "Lobby shade 2":
			d.Position = &platform.Reading{Value: 0, At: sitetest.Now.Add(-3 * time.Hour), Source: "restored", Within: 8}
		}
	}
	e := on(b)
	says(t, ask(t, e, platform.Inquiry{Session: "1", Message: "how far open are the lobby blinds?"}), "Lobby shade 1 (about 30 % open, ± 13)", "Lobby shade 2 (last known: about 0 % open, ± 8)")
	says(t, ask(t, e, platform.Inquiry{Session: "2", Message: "Wie weit ist Lobby shade 1 offen?"}), "etwa 30 % offen, ± 13")
}

// What nearly is a name of the building is offered once; a word that only rhymes with one is not.
func TestWhatIsOfferedIsNearlyWhatWasSaid(t *testing.T) {
	e := on(sitetest.New())
	for i, c := range []struct{ asked, want, never string }{
		{"is the wall in the lobby painted?", "“wall”", "Hall"},
		{"did the round go well?", "I ", "Ground floor"},
		{"is the worksop bright?", "Annex workshop", "nothing called"},
		{"are the zebras and the zebras on?", "“zebras”", "“zebras” and “zebras”"},
	} {
		r := ask(t, e, platform.Inquiry{Session: fmt.Sprint(i), Message: c.asked})
		if !strings.Contains(r.Text, c.want) || strings.Contains(r.Text, c.never) {
			t.Errorf("%q: want %q, never %q: %s", c.asked, c.want, c.never, r.Text)
		}
	}
}

// Of a period's commands those that failed are told as well.
func TestCommandsOfAPeriodTellWhatFailed(t *testing.T) {
	e := on(sitetest.New().Remember())
	says(t, ask(t, e, platform.Inquiry{Session: "1", Message: "what was switched yesterday?"}), "Not done, though commanded: Open office north 8: switched off, Tue 17 Nov 18:30, by reception")
	r := ask(t, e, platform.Inquiry{Session: "2", Message: "how many commands were there since 6 am?"})
	says(t, r, "commands since", ": ", "by ")
}

// Of what one person did it is not said that what others did since was no command.
func TestWhatOthersDidSinceIsACommand(t *testing.T) {
	r := ask(t, on(sitetest.New().Remember()), platform.Inquiry{Session: "1", Message: "what did reception do?"})
	says(t, r, "switched off, Tue 17 Nov 18:30, by reception")
	if strings.Contains(r.Text, "without a command") {
		t.Errorf("the lobby was commanded since: %s", r.Text)
	}
}
