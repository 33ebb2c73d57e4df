package offsite

import (
	"time"
)

// Settings are for whom backups are encrypted, and where copies of them are kept.
type Settings struct {
	Series  string   `json:"series"` // 8 hexadecimal digits, for ever
	Key     string   `json:"key"`    // public; empty: no copies are made
	Keep    int      `json:"keep"`   // of the newest in each place
	Stick   *Copies  `json:"stick,omitempty"`
	Server  *Copies  `json:"server,omitempty"`
	Address *Address `json:"address,omitempty"` // of the server; nil with it
}

// Bounds of Settings.Keep: as many as one asks a bucket for at once, and fewer.
const (
	KeepUsual = 14
	KeepMost  = 400
)

// Copies are how it stands with those of one place.
type Copies struct {
	Since  time.Time `json:"since"`  // wanted
	Last   time.Time `json:"last"`   // made and read back; zero: never
	File   string    `json:"file"`   // the last
	Size   int64     `json:"size"`   // of it
	Failed time.Time `json:"failed"` // the last try did; zero: it did not
	Why    string    `json:"why"`    // it failed
	Note   string    `json:"note"`   // what went wrong besides, when the last was made
}

// overdueAfter is how old the newest copy is before somebody is bothered.
const overdueAfter = 3 * 24 * time.Hour

// Overdue reports whether somebody has to look why there is no newer copy, and since when there is none.
func (c *Copies) Overdue(now time.Time) (since time.Time, yes bool) {
	if c == nil {
		return time.Time{}, false
	}
	since = c.Last
	if since.IsZero() {
		since = c.Since
	}
	return since, now.Sub(since) > overdueAfter
}
