package store

import (
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
)

// Report says what an import did, or with [ImportOptions].Preview would do.
type Report struct {
	Preview   bool
	Settings  bool     // the site's name, its settings or the order of its buses changed
	Site      []string // what of these, in words for people
	Created   []Item   // new, with the IDs they were given
	Returned  []Item   // retired before, back under the ID they had
	Changed   []Item
	Unchanged []Item
	Retired   []Item // removed; their IDs are never used again
}

// ofSite notes what changed of the site itself, if it did.
func (r *Report) ofSite(what string, changed bool) {
	if !changed {
		return
	}
	r.Settings = true
	if !slices.Contains(r.Site, what) {
		r.Site = append(r.Site, what)
	}
}

// Item is one entry of a report. Buses have no ID.
type Item struct {
	Family  Family // [Nodes], [Shades], [Clusters], or [Buses]
	ID      appliance.ID
	UUID    appliance.UUID
	Name    string
	Changes []KeyChange
}

// Buses is the word for buses in reports.
const Buses Family = "bus"

// Writes reports whether anything changed.
func (r *Report) Writes() bool {
	return r.Settings || len(r.Created)+len(r.Returned)+len(r.Changed)+len(r.Retired) > 0
}

// Problem is one reason why an import was refused.
type Problem struct {
	Entry   string // "nodes[2] (Lobby)": counted from 0 in the imported site
	Key     string // "address"; empty: the entry as a whole
	Message string
}

func (p Problem) String() string {
	if p.Key == "" {
		return p.Entry + ": " + p.Message
	}
	return p.Entry + ": " + p.Key + ": " + p.Message
}

// Refused is the error of an import that changed nothing.
type Refused struct{ Problems []Problem }

// Fields tells, for forms, which key of an entry is wrong and how.
func (r *Refused) Fields() (keys, messages []string) {
	for _, p := range r.Problems {
		keys, messages = append(keys, p.Key), append(messages, p.Message)
	}
	return keys, messages
}

func (r *Refused) Error() string {
	lines := make([]string, 0, len(r.Problems)+1)
	lines = append(lines, fmt.Sprintf("import refused, nothing was changed (%d problems)", len(r.Problems)))
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}
