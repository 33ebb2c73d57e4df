package appliance

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	for text, days := range map[string]struct{ in, out []string }{
		"2026-12-24":             {[]string{"2026-12-24"}, []string{"2026-12-23", "2026-12-25", "2027-12-24"}},
		"2026-12-24..2027-01-02": {[]string{"2026-12-24", "2027-01-01", "2027-01-02"}, []string{"2026-12-23", "2027-01-03", "2025-12-30"}},
		"12-25":                  {[]string{"2025-12-25", "2031-12-25"}, []string{"2025-12-24"}},
		"12-24..01-02":           {[]string{"2025-12-24", "2026-01-02", "2030-12-31"}, []string{"2026-01-03", "2026-07-01", "2026-12-23"}},
		"02-29":                  {[]string{"2028-02-29"}, []string{"2027-02-28", "2027-03-01"}},
	} {
		d, err := ParseDates(text)
		if err != nil || d.String() != text {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		var again Dates
		if kept, err := d.MarshalText(); err != nil || again.UnmarshalText(kept) != nil || again != d {
			t.Errorf("%s is kept as %s and read as %v, %v", text, kept, again, err)
		}
		has := func(day string) bool {
			at, err := time.Parse(dateForm, day)
			if err != nil {
				t.Fatal(err)
			}
			return d.Has(at.Date())
		}
		for _, day := range days.in {
			if !has(day) {
				t.Errorf("%s lacks %s", text, day)
			}
		}
		for _, day := range days.out {
			if has(day) {
				t.Errorf("%s has %s", text, day)
			}
		}
	}
	for _, text := range []string{"", "..", "2026-13-01", "12-32", "2026-12-24..12-26", "12-24..2026-12-26", "2026-12-24..2026-12-23", "24.12.", "2026-02-29"} {
		if d, err := ParseDates(text); err == nil {
			t.Errorf("%q was read as %v", text, d)
		}
		if d := new(Dates); d.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q was taken for %v", text, d)
		}
	}
}
