package understand

import "time"

// Topic is what a sentence is about.
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
	Report      Topic = "report"  // a bit of everything
	Sources     Topic = "sources" // where answers come from, and how old they are
	Saving      Topic = "saving"  // proposals
	Help        Topic = "help"
	Greeting    Topic = "greet"
	Order       Topic = "order"   // do something
	Confirm     Topic = "confirm" // yes, to what was previewed
	Decline     Topic = "decline" // no, to what was previewed
)

// Op is what is asked of the topic.
type Op string

// The operations. How many, which and is it are answered by the same facts, so they are told apart only by [Frame.Form].
const (
	Tell       Op = ""
	Average    Op = "avg" // mean over things or time
	Most       Op = "max" // the highest, top n
	Least      Op = "min"
	Sum        Op = "sum"     // of several places
	Compare    Op = "compare" // two periods or two places
	Difference Op = "diff"    // how much more or less
	Share      Op = "share"   // which part of a whole
	PerUnit    Op = "per"     // per square metre, per light
	Trend      Op = "trend"
	Since      Op = "since" // since when, how long
	Who        Op = "who"   // did it
	Why        Op = "why"
	Can        Op = "can"   // is able to
	Same       Op = "same"  // are they alike
	Usual      Op = "usual" // more or less than at other times
)

// Form is how it was put; it changes the sentence of an answer and not its facts.
type Form string

// The forms.
const (
	Plain Form = ""
	Count Form = "count" // how many
	List  Form = "list"  // which
	Check Form = "check" // is it, are there

	Imperative Form = "imperative" // an order that begins as one
)

// Kind is a kind of thing or place.
type Kind string

// The kinds.
const (
	Zone       Kind = "zone"
	Floor      Kind = "floor"
	Device     Kind = "device" // a light or a peripheral, as a place; any device, as a kind
	Light      Kind = "light"
	Shade      Kind = "shade"
	Meter      Kind = "meter"
	Peripheral Kind = "peripheral"
	Bus        Kind = "bus"
	Controller Kind = "controller"
	Building   Kind = "site"
	Panel      Kind = "panel"
	Everything Kind = "all"
	Person     Kind = "person" // who gives commands: somebody, a key, a rule
)

// Place is something of the building that a sentence names.
type Place struct {
	Kind Kind   `json:"kind"`
	ID   int64  `json:"id,omitempty"` // of zones, devices and meters
	Name string `json:"name"`
	On   string `json:"on,omitempty"` // the floor of a zone, where it is known
	// Partly tells that only a part of the name was said, so that other places may have been meant as well.
	Partly bool `json:"partly,omitempty"`
	// Mention is the place in the sentence: places of the same mention were said by the same words.
	Mention int `json:"mention,omitempty"`
}

// Name is a word or words that stand for a place, or, with a place of no kind, for the site as a whole.
type Name struct {
	Place Place
	Text  string // what people may call it; a place may have several
}

// Where is what a sentence is about in space.
type Where struct {
	Places []Place `json:"places,omitempty"`
	Except []Place `json:"except,omitempty"` // left out
	// Earlier are the places of the sentence before, which "which of the two" goes back to.
	Earlier []Place `json:"earlier,omitempty"`
}

// Mentioned groups places by the words that named them.
func (w Where) Mentioned() [][]Place {
	var groups [][]Place
	for i, p := range w.Places {
		if i > 0 && p.Mention == w.Places[i-1].Mention {
			groups[len(groups)-1] = append(groups[len(groups)-1], p)
		} else {
			groups = append(groups, []Place{p})
		}
	}
	return groups
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

// Times are what a sentence is about in time.
type Times struct {
	When *Span `json:"when,omitempty"`
	// Against is what When is compared with.
	Against *Span `json:"against,omitempty"`
}

// Unit is the dimension of a condition.
type Unit string

// The units. Durations are in minutes, power in watts, energy in watt-hours.
const (
	Percent  Unit = "%"
	Watt     Unit = "W"
	WattHour Unit = "Wh"
	Kelvin   Unit = "K"
	Minutes  Unit = "m"
	Part     Unit = "% of" // of the things, not of each
	Number   Unit = ""     // of things, of the kind that the condition names
)

// Relation of a value with a bound.
type Relation string

// The relations.
const (
	Above   Relation = ">"
	AtLeast Relation = ">="
	Below   Relation = "<"
	AtMost  Relation = "<="
	Exactly Relation = "="
	Unlike  Relation = "!="
)

// Cond is a condition with a dimension.
type Cond struct {
	Rel   Relation `json:"rel"`
	Value float64  `json:"value"`
	Unit  Unit     `json:"unit,omitempty"`
	Of    Kind     `json:"of,omitempty"` // what is counted, where the unit is [Number]
}

// Holds reports whether v is within the condition. Exactly means to the whole number.
func (c Cond) Holds(v float64) bool {
	switch c.Rel {
	case Above:
		return v > c.Value
	case AtLeast:
		return v >= c.Value
	case Below:
		return v < c.Value
	case AtMost:
		return v <= c.Value
	}
	return (v > c.Value-0.5 && v < c.Value+0.5) != (c.Rel == Unlike)
}

// Having is what a place has, or does not have: rooms with lights and without shades.
type Having struct {
	Kind Kind `json:"kind"`
	Not  bool `json:"not,omitempty"`
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

// What a room is said to be by who complains of nothing else.
const (
	Dark   = "dark"
	Bright = "bright"
	Sunny  = "sunny" // too bright, by the sun
)

// Manner is a set of what else the words say.
type Manner uint32

// What words say besides.
const (
	All      Manner = 1 << iota // "are all of them …"
	Whole                       // the whole building was named
	Future                      // asks for what has not happened yet
	Estimate                    // a calculated figure is accepted
	Follows                     // leans on the sentence before: "and yesterday?"
	Both                        // of the last two that were spoken of
	None                        // "is nothing …": the answer's yes and no change places
	Asked                       // it is put as a question
	Terse                       // said without a verb: "lights off" may be an order or a question
	InKilo                      // figures are wanted in kW or kWh
	InOnes                      // figures are wanted in W or Wh
	Either                      // any of the places that are named: "in the gallery or the workshop"
	Some                        // of some and not of all: "rooms with only some of the lights on"
	Past                        // it was so, or has been: "has it been on all night"
	Still                       // it is so until now: "who left it on"
	More                        // of a comparison: the first place is asked to be more than the second
	Less                        // the first place is asked to be less
	Mostly                      // "are the blinds down": of all of a place, where some would be worth telling
	Others                      // of those that are not as the sentence before asked: "and which are not?"
)

// Is reports whether the words say so.
func (f Frame) Is(m Manner) bool { return f.Manner&m != 0 }

// Set notes whether they do.
func (f *Frame) Set(m Manner, so bool) {
	if f.Manner &^= m; so {
		f.Manner |= m
	}
}

// Assumed is what the asker wants calculated with.
type Assumed struct {
	Watts    float64 `json:"watts,omitempty"`  // of each light; 0: nothing
	PerKWh   float64 `json:"perKWh,omitempty"` // price; 0: nothing
	Currency string  `json:"currency,omitempty"`
}

// Lang is the language of a sentence, which is that of its answer.
type Lang string

// The languages.
const (
	English Lang = "en"
	German  Lang = "de"
)

// Frame is what was understood: every word of the sentence is in one of its fields, is a small word without a meaning of its
// own, or is in Unclear.
type Frame struct {
	Lang   Lang   `json:"lang,omitempty"`
	Topic  Topic  `json:"topic"`
	Op     Op     `json:"op,omitempty"`
	Form   Form   `json:"form,omitempty"`
	Kind   Kind   `json:"kind,omitempty"`   // what is counted or listed
	Actor  string `json:"actor,omitempty"`  // who did what is asked about, as the ledger names them
	Make   string `json:"make,omitempty"`   // what the type of devices is named after: "dali"
	Aspect string `json:"aspect,omitempty"` // of comfort: "temperature", [Dark], [Bright]; of devices: what they can, "dim"
	State  State  `json:"state,omitempty"`
	Manner Manner `json:"manner,omitempty"`
	Where
	Times
	Conds   []Cond   `json:"conds,omitempty"`
	Having  []Having `json:"having,omitempty"`
	By      string   `json:"by,omitempty"`  // "zone", "floor", "meter", "device", "hour", "day", "week", "month"
	Per     string   `json:"per,omitempty"` // "m2", "light"
	Top     int      `json:"top,omitempty"`
	Assumed Assumed  `json:"assumed,omitzero"`
	Do      []Do     `json:"do,omitempty"` // of an order, in the order that they were said
	// Unclear are words that mean something and were not understood, or the reason why an order cannot be done as it was said.
	Unclear *Unclear `json:"unclear,omitempty"`
}

// Do is one thing that an order wants done. Exactly one of Level, Position, Preset, By, Toggle, Stop and Show tells what.
type Do struct {
	Kind    Kind    `json:"kind"`              // light, shade, panel, all
	Switch  string  `json:"switch,omitempty"`  // "on", "off", "toggle", "stop", "show", "dim", "brighten", "set"
	Percent *int    `json:"percent,omitempty"` // of "set": 0 to 100, of a shade how far it is open
	By      *int    `json:"by,omitempty"`      // of "dim" and "brighten": percentage points; nil: a step. Of a shade: percent of its whole way, Toward an end
	Thirds  int     `json:"thirds,omitempty"`  // of a shade that is set to one or two thirds of its opening
	Like    []Place `json:"like,omitempty"`    // lights are set to how bright it is there
	Size    string  `json:"size,omitempty"`    // "little": a step that is small for what there is; [Back]; [ByPart]: By is percent of how bright it is
	Toward  string  `json:"toward,omitempty"`  // the way of a shade that is moved a part of it, "open" or "closed", or "opening" or "closing" to a place; of lights "darker" where a part may be one to dim to
	Way     bool    `json:"way,omitempty"`     // of a shade: all the way up or down was said, and no number
	House   bool    `json:"house,omitempty"`   // the building was named
	Whole   bool    `json:"whole,omitempty"`   // all of the building
	Places  []Place `json:"places,omitempty"`
	Except  []Place `json:"except,omitempty"`
}

// Back is the size of a step up to what was before, if all is off now: "bring the lights back up".
const Back = "back"

// ByPart is the size of a step by a part of what there is: "by half".
const ByPart = "part"

// Reason is why a sentence is not answered or done.
type Reason string

// The reasons.
const (
	Words     Reason = "words"    // they were not understood
	Conflict  Reason = "conflict" // understood, but not together with the rest
	TimeWords Reason = "time words"
	Later     Reason = "time"      // an order for later
	For       Reason = "for"       // an order for a while
	If        Reason = "condition" // an order on a condition
	Elsewhere Reason = "scope"     // an order for what is not known here, or for a part of the things
	SomeOf    Reason = "some"      // an order for one or some of the things of a place
	SceneSet  Reason = "scene"
	Coloured  Reason = "color"
	Heating   Reason = "heating"
	Value     Reason = "value"    // no number that can be set
	ToOrBy    Reason = "either"   // a number that may be one to set or one to change by
	Undo      Reason = "undo"     // back to what was
	Multiple  Reason = "multiple" // so many times as bright
	Contrary  Reason = "contrary" // two states at once
	Negated   Reason = "negated"
	Nowhere   Reason = "what"  // nothing says what is to be done, or with what
	Which     Reason = "which" // a value, and nothing says of what
	Cannot    Reason = "cannot"
	Missing   Reason = "missing" // what it is for is not known here
	Absent    Reason = "absent"  // it is of a kind that buildings have and nobody here tells of; the aspect names it
)

// Unclear says what keeps a sentence from being answered or done.
type Unclear struct {
	Why   Reason   `json:"why"`
	Words []string `json:"words,omitempty"` // as they were said
}
