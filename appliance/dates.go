package appliance

import (
	"fmt"
	"strings"
	"time"
)

// Dates are days of the calendar, from one to another, both included: of one year, or of every year.
type Dates struct {
	Yearly   bool
	From, To time.Time // midnight in UTC; of every year, the year is 2000, which has all days
}

// dateForms are how a day is written, with and without its year.
const (
	dateForm   = "2006-01-02"
	yearlyForm = "01-02"
)

// ParseDates reads "2026-12-24", "2026-12-24..2027-01-02", "12-25" or "12-24..01-02"; the last two are of every year.
func ParseDates(text string) (Dates, error) {
	first, last, several := strings.Cut(text, "..")
	if !several {
		last = first
	}
	var d Dates
	var err error
	if d.From, err = time.Parse(dateForm, first); err != nil {
		d.Yearly = true
		d.From, err = time.Parse(dateForm, "2000-"+first)
	}
	if err == nil {
		if d.Yearly {
			last = "2000-" + last
		}
		d.To, err = time.Parse(dateForm, last)
	}
	switch {
	case err != nil:
		return d, fmt.Errorf(`%q are no days: want "2026-12-24", "12-25" for every year, or two of one kind with ".." between them`, text)
	case !d.Yearly && d.To.Before(d.From):
		return d, fmt.Errorf("%q ends before it begins", text)
	}
	return d, nil
}

// String writes them as [ParseDates] reads them.
func (d Dates) String() string {
	form := dateForm
	if d.Yearly {
		form = yearlyForm
	}
	if d.From.Equal(d.To) {
		return d.From.Format(form)
	}
	return d.From.Format(form) + ".." + d.To.Format(form)
}

// MarshalText implements [encoding.TextMarshaler].
func (d Dates) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Dates) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDates(string(text))
	return err
}

// Has reports whether a day is among them.
func (d Dates) Has(year int, month time.Month, day int) bool {
	if !d.Yearly {
		at := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		return !at.Before(d.From) && !at.After(d.To)
	}
	at := time.Date(2000, month, day, 0, 0, 0, 0, time.UTC)
	if d.To.Before(d.From) { // over the turn of the year
		return !at.Before(d.From) || !at.After(d.To)
	}
	return !at.Before(d.From) && !at.After(d.To)
}

// Holiday is a day, or some in a row, on which a building is used otherwise.
type Holiday struct {
	Name  string `json:"name,omitempty"` // for people
	Dates Dates  `json:"dates"`
}

// OnHolidays says what a rule makes of the building's holidays.
type OnHolidays string

// A rule acts on holidays as on all days, not on them, or only on them.
const (
	Always       OnHolidays = ""
	NotHolidays  OnHolidays = "not"
	OnlyHolidays OnHolidays = "only"
)
