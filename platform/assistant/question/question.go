package question

import "time"

// Topic is what a question is about.
type Topic string

// The topics.
const (
	Nothing     Topic = ""
	Energy      Topic = "energy"
	Power       Topic = "power"
	Cost        Topic = "cost"
	Carbon      Topic = "carbon"
	Lights      Topic = "lights"
	Colour      Topic = "colour" // of light: kelvin
	Shades      Topic = "shades"
	Faults      Topic = "faults"
	Offline     Topic = "offline" // what is or was out of reach, and what is not
	Inventory   Topic = "inventory"
	Controllers Topic = "controllers"
	Comfort     Topic = "comfort"
	Occupancy   Topic = "occupancy"
	Automation  Topic = "automation"
	Outside     Topic = "outside" // weather and whatever else is not of the building
	Report      Topic = "report"  // a bit of everything
	Sources     Topic = "sources" // where answers come from, and how old they are
	Saving      Topic = "saving"  // proposals
	Help        Topic = "help"
	Greeting    Topic = "greeting"
	Order       Topic = "order"   // do something
	Confirm     Topic = "confirm" // yes, to what was previewed
	Decline     Topic = "decline" // no, to what was previewed
)

// Op is what is asked of the topic.
type Op string

// The operations.
const (
	Tell    Op = ""        // the natural answer of the topic
	Count   Op = "count"   // how many
	List    Op = "list"    // which
	Check   Op = "check"   // is it, are there
	Average Op = "average" // mean over things or time
	Most    Op = "most"    // the highest, top n
	Least   Op = "least"   // the lowest
	Compare Op = "compare" // two periods or two places
	Split   Op = "split"   // by zone, floor, meter, hour, day
	Since   Op = "since"   // since when, how long
)

// PlaceKind says what a name stands for.
type PlaceKind string

// The kinds of places.
const (
	Zone   PlaceKind = "zone"
	Floor  PlaceKind = "floor"
	Device PlaceKind = "device" // a light or a peripheral
	Shade  PlaceKind = "shade"
	Meter  PlaceKind = "meter"
	Bus    PlaceKind = "bus"
)

// Place is something of the building that a question names.
type Place struct {
	Kind PlaceKind `json:"kind"`
	ID   int64     `json:"id,omitempty"` // of zones, devices and meters
	Name string    `json:"name"`
	// Partly tells that only a part of the name was said, so that other places may have been meant as well.
	Partly bool `json:"partly,omitempty"`
	// Mention is the place in the sentence: places of the same mention were said by the same words.
	Mention int `json:"mention,omitempty"`
}

// Mentioned groups places by the words that named them.
func (q Question) Mentioned() [][]Place {
	var groups [][]Place
	for i, p := range q.Places {
		if i > 0 && p.Mention == q.Places[i-1].Mention {
			groups[len(groups)-1] = append(groups[len(groups)-1], p)
		} else {
			groups = append(groups, []Place{p})
		}
	}
	return groups
}

// Name is a word or words that stand for a place, or, with a place of no kind, for the site as a whole.
type Name struct {
	Place Place
	Text  string // what people may call it; a place may have several
}

// Span is a part of time, [From, To).
type Span struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Label string    `json:"label"` // as it was said: "yesterday"
	// Ahead tells that the span was said relative to another one that this sentence does not have: "the day before".
	Ahead bool `json:"ahead,omitempty"`
	// Now is a question about this moment; From and To are then zero.
	Now bool `json:"now,omitempty"`
}

// Bound is a comparison of a value with a number.
type Bound struct {
	Above bool    `json:"above,omitempty"` // else below
	Equal bool    `json:"equal,omitempty"` // the number itself belongs to it
	Value float64 `json:"value"`
	Only  bool    `json:"only,omitempty"` // exactly the number
}

// Holds reports whether v is within the bound.
func (b Bound) Holds(v float64) bool {
	switch {
	case b.Only:
		return v > b.Value-0.5 && v < b.Value+0.5
	case v == b.Value:
		return b.Equal
	}
	return v > b.Value == b.Above
}

// State is a filter on what a thing does at the moment.
type State string

// The states.
const (
	On     State = "on"
	Off    State = "off"
	Open   State = "open"
	Closed State = "closed"
	Moving State = "moving"
	Online State = "online"
	Away   State = "offline"
	Unread State = "unread" // what it does is not known
)

// Do is what an order wants done.
type Do struct {
	Level    *int `json:"level,omitempty"`
	Position *int `json:"position,omitempty"`
	Stop     bool `json:"stop,omitempty"`
	// Unclear is why the order cannot be carried out as it was said.
	Unclear string `json:"unclear,omitempty"`
}

// Manner is a set of what else the words say.
type Manner uint8

// What words say besides.
const (
	All      Manner = 1 << iota // "are all of them …"
	Whole                       // the whole building was named
	Future                      // asks for what has not happened yet
	Estimate                    // a calculated figure is accepted
	Follows                     // leans on the sentence before: "and yesterday?"
	Both                        // of the last two that were spoken of
)

// Is reports whether the words say so.
func (q Question) Is(m Manner) bool { return q.Manner&m != 0 }

// Set notes whether they do.
func (q *Question) Set(m Manner, so bool) {
	if q.Manner &^= m; so {
		q.Manner |= m
	}
}

// Tariff is the price of energy.
type Tariff struct {
	PerKWh   float64 `json:"perKWh"`
	Currency string  `json:"currency,omitempty"`
}

// Question is what was understood.
type Question struct {
	Topic  Topic   `json:"topic"`
	Op     Op      `json:"op,omitempty"`
	Object string  `json:"object,omitempty"` // what is counted or listed: "light", "zone", "floor", "meter", …
	Make   string  `json:"make,omitempty"`   // what the type of devices is named after: "dali"
	State  State   `json:"state,omitempty"`
	Manner Manner  `json:"manner,omitempty"`
	Bound  *Bound  `json:"bound,omitempty"`
	By     string  `json:"by,omitempty"` // "zone", "floor", "meter", "device", "hour", "day"
	Top    int     `json:"top,omitempty"`
	Places []Place `json:"places,omitempty"`
	// Earlier are the places of the sentence before, which "which of the two" goes back to.
	Earlier []Place `json:"earlier,omitempty"`
	Aspect  string  `json:"aspect,omitempty"` // of comfort: "temperature"; of others: the word that told
	When    *Span   `json:"when,omitempty"`
	// Against is what When is compared with.
	Against *Span `json:"against,omitempty"`
	// Missed are words for a time that were not understood.
	Missed string `json:"missed,omitempty"`
	// Watts is what the asker assumes for each light; 0 if nothing.
	Watts float64 `json:"watts,omitempty"`
	// Tariff is what the asker says that energy costs.
	Tariff *Tariff `json:"tariff,omitempty"`
	Do     *Do     `json:"do,omitempty"`
	// Unknown are words that seem to name something that this building does not have.
	Unknown []string `json:"unknown,omitempty"`
	// Sure is how much of the sentence was understood, 0 to 1.
	Sure float64 `json:"sure"`
}
