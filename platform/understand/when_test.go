package understand

import (
	"testing"
	"time"
)

// In spring a day of Berlin has 23 hours, in autumn 25; a day stays a day.
func TestDaysOfSummerTime(t *testing.T) {
	monday := time.Date(2026, 10, 26, 12, 0, 0, 0, berlin)
	q := Read("energy yesterday", Names{}, monday)
	if got := q.When.To.Sub(q.When.From); got != 25*time.Hour {
		t.Errorf("the last Sunday of October has %v, want 25h", got)
	}
	if got := Before(*q.When); got.To.Sub(got.From) != 24*time.Hour {
		t.Errorf("the day before it has %v, want 24h", got.To.Sub(got.From))
	}
}

// Times are said in many ways, and in both languages alike.
func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"energy since monday 8 am":                                     "1116T0800-1118T1432",
		"energy since 11 pm":                                           "1117T2300-1118T1432", // the last one
		"energy since 11 pm yesterday":                                 "1117T2300-1118T1432",
		"energy on 17 November between 08:00 and 12:00":                "1117T0800-1117T1200",
		"energy from 2026-11-10 to 2026-11-12":                         "1110T0000-1113T0000",
		"energy between 22 and 6":                                      "1117T2200-1118T0600",
		"energy between 2026-11-10T08:00:00Z and 2026-11-10T10:00:00Z": "1110T0900-1110T1100",
		"consumption last quarter":                                     "0701T0000-1001T0000",
		"consumption in 2025":                                          "0101T0000-0101T0000",
		"energy over the past three days":                              "1115T1432-1118T1432",
		"energy use yesterday evening":                                 "1117T1800-1117T2200",
		"Verbrauch gestern Abend":                                      "1117T1800-1117T2200",
		"Verbrauch letzten Monat":                                      "1001T0000-1101T0000",
		"Verbrauch vorgestern zwischen 8 und 12 Uhr":                   "1116T0800-1116T1200",
		"Verbrauch vor zwei Wochen":                                    "1102T0000-1109T0000",
		"Verbrauch vom 9. bis 13. November":                            "1109T0000-1114T0000",
		"energy used between 7 and 10 yesterday evening":               "1117T1900-1117T2200",
		"Verbrauch gestern Abend nach 22 Uhr":                          "1117T2200-1118T0000",
		"energy yesterday evening after 8":                             "1117T2000-1117T2200",
		"Verbrauch am 12. November zwischen 2 und 4 Uhr früh":          "1112T0200-1112T0400",
		"energy from Monday on":                                        "1116T0000-1118T1432",
		"Verbrauch ab Montag":                                          "1116T0000-1118T1432",
		"energy overnight yesterday":                                   "1117T2200-1118T0600",
		"Verbrauch am Wochenende":                                      "1114T0000-1116T0000",
	} {
		f := Read(text, Names{}, now)
		if f.When == nil || f.Unclear != nil {
			t.Errorf("%q: %s, want %s", text, f, want)
			continue
		}
		if got := f.When.From.Format("0102T1504") + "-" + f.When.To.Format("0102T1504"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Who is up before six and speaks of this morning means today's.
func TestTheMorningOfWhoIsUpEarly(t *testing.T) {
	early := time.Date(2026, 11, 18, 4, 23, 0, 0, berlin)
	for _, text := range []string{"energy this morning", "Verbrauch heute Morgen", "Verbrauch heute früh"} {
		f := Read(text, Names{}, early)
		if f.When == nil || f.Unclear != nil || !f.When.From.Equal(time.Date(2026, 11, 18, 0, 0, 0, 0, berlin)) || f.When.To.Before(early) {
			t.Errorf("%q: %s", text, f)
		}
	}
	if f := Read("energy in the morning", Names{}, early); f.When == nil || f.When.To.After(early) {
		t.Errorf("the morning: %s", f)
	}
}
