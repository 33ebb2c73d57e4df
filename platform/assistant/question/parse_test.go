package question

import (
	"fmt"
	"strings"
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

// told sums a question up in one line.
func told(q Question) string {
	var parts []string
	for _, p := range q.Places {
		parts = append(parts, string(p.Kind)+":"+p.Name)
	}
	for k, s := range []*Span{q.When, q.Against} {
		switch {
		case s == nil:
		case s.Now:
			parts = append(parts, "now")
		default:
			parts = append(parts, []string{"", "vs "}[k]+s.From.Format("0102T1504")+"-"+s.To.Format("0102T1504"))
		}
	}
	for _, extra := range []string{string(q.State), q.By} {
		if extra != "" {
			parts = append(parts, extra)
		}
	}
	if len(q.Unknown) > 0 {
		parts = append(parts, fmt.Sprintf("unknown %q", q.Unknown))
	}
	return strings.TrimSpace(fmt.Sprintf("%s/%s %s", q.Topic, q.Op, strings.Join(parts, " ")))
}

func TestPartsOfASentence(t *testing.T) {
	names := demoNames()
	for text, want := range map[string]string{
		"How much energy did the lobby use yesterday?":                 "energy/ zone:Lobby 1117T0000-1118T0000",
		"enrgy yeterday lobby":                                         "energy/ zone:Lobby 1117T0000-1118T0000",
		"which lights are on":                                          "lights/list on",
		"Which lights are on on the ground floor?":                     "lights/list floor:Ground floor on",
		"how many lights are on the ground floor":                      "inventory/count floor:Ground floor",
		"what is on in the corridor on the ground floor":               "lights/ zone:Corridor ground floor on",
		"energy since monday 8 am":                                     "energy/ 1116T0800-1118T1432",
		"energy on 17 November between 08:00 and 12:00":                "energy/ 1117T0800-1117T1200",
		"energy from 2026-11-10 to 2026-11-12":                         "energy/ 1110T0000-1113T0000",
		"energy between 22 and 6":                                      "energy/ 1117T2200-1118T0600",
		"energy between 2026-11-10T08:00:00Z and 2026-11-10T10:00:00Z": "energy/ 1110T0900-1110T1100",
		"consumption last quarter":                                     "energy/ 0701T0000-1001T0000",
		"consumption in 2025":                                          "energy/ 0101T0000-0101T0000",
		"energy over the past three days":                              "energy/ 1115T1432-1118T1432",
		"energy use yesterday evening":                                 "energy/ 1117T1800-1117T2200",
		"did we use more energy today than yesterday":                  "energy/compare 1118T0000-1119T0000 vs 1117T0000-1118T0000",
		"is consumption higher than last week?":                        "energy/compare 1116T0000-1123T0000 vs 1109T0000-1116T0000",
		"top 3 zones by energy last month":                             "energy/most 1001T0000-1101T0000 zone",
		"hourly consumption yesterday":                                 "energy/split 1117T0000-1118T0000 hour",
		"what is the power draw right now":                             "power/ now",
		"how much power is the sauna using":                            "power/ unknown [\"sauna\"]",
		"open the lobby shades halfway":                                "order/ zone:Lobby",
		"are any blinds open in the lobby":                             "shades/check zone:Lobby open",
		"meeting rooms lights":                                         "lights/ zone:Meeting room Alps zone:Meeting room Lakes",
		"third floor lights on?":                                       "lights/ on unknown [\"third floor\"]",
		"is light 35 on":                                               "lights/check device:Lobby 3 on",
		"which lights are not on in the lobby":                         "lights/list zone:Lobby off",
		"and yesterday?":                                               "/ 1117T0000-1118T0000",
		"yes, go ahead":                                                "confirm/",
		"no, never mind":                                               "decline/",
		"How warm is it in the lobby?":                                 "comfort/ zone:Lobby",
		"which devices are not responding":                             "offline/list offline",
		"is anything broken upstairs or downstairs?":                   "faults/check",
		"what is the brightness of lobby 3":                            "lights/ device:Lobby 3",
		"who won the world cup":                                        "/ unknown [\"world cup\"]",
	} {
		if got := told(Parse(text, names, now)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// In spring a day of Berlin has 23 hours, in autumn 25; a day stays a day.
func TestDaysOfSummerTime(t *testing.T) {
	monday := time.Date(2026, 10, 26, 12, 0, 0, 0, berlin)
	q := Parse("energy yesterday", Names{}, monday)
	if got := q.When.To.Sub(q.When.From); got != 25*time.Hour {
		t.Errorf("the last Sunday of October has %v, want 25h", got)
	}
	if got := Before(*q.When); got.To.Sub(got.From) != 24*time.Hour {
		t.Errorf("the day before it has %v, want 24h", got.To.Sub(got.From))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"energy between 8 and 12 yesterday", "turn off the lobby", "lights above 50 % in \u202e lobby 3", "since", "between and", "to 5 pm from", "last 0 days", "9999 days ago", "between 10 and yesterday", "dim the lobby to -30% and dont"} {
		f.Add(s)
	}
	names := demoNames()
	f.Fuzz(func(t *testing.T, text string) {
		q := Parse(text, names, now)
		if q.Sure < 0 || q.Sure > 1 {
			t.Errorf("sure is %v", q.Sure)
		}
		if q.When != nil && !q.When.Now && q.When.To.Before(q.When.From) {
			t.Errorf("%q: a span ends before it starts: %v", text, q.When)
		}
		q.After(q)
		Separate(text)
	})
}
