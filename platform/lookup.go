package platform

import (
	"context"
	"time"
)

// Reader answers typed questions about one site and carries out typed orders, for programs that want no sentences. Its errors are
// those of [Asker]; [ErrInvalid] names what there is instead.
type Reader interface {
	// Look answers with a [Page] of the rows that [Lookup.What] stands for, or with [Abilities].
	Look(ctx context.Context, in Lookup) (Found, error)
	// Order previews an order, does one that was previewed, drops it, or tells how it stands.
	Order(ctx context.Context, in OrderWish) (Found, error)
}

// Found is an answer: what it says in a sentence, and what it is.
type Found struct {
	Text string
	Data any
}

// What can be looked up.
type What string

// The things.
const (
	LookPlaces    What = "places"       // [PlaceRow]
	LookLights    What = "lights"       // [LightRow]
	LookShades    What = "shades"       // [ShadeRow]
	LookMeters    What = "meters"       // [MeterRow]
	LookEnergy    What = "energy"       // [EnergyRow]
	LookFaults    What = "faults"       // [FaultRow]
	LookLedger    What = "ledger"       // [LedgerRow]
	LookAbilities What = "capabilities" // [Abilities]
)

// Bounds of a page.
const (
	PageDefault = 50
	PageMost    = 200
)

// Lookup is a typed question. Empty members filter nothing.
type Lookup struct {
	What    What
	Site    string // ID or name; empty: the only one
	Place   string // name of a zone, floor, light, shade or meter; empty: the whole building
	State   string // of lights "on", "off", "unknown"; of shades "open", "closed", "moving", "unknown"; of places "zone", "floor"; of faults "present", "past"
	Sort    string // "brightest", "dimmest"; empty: by ID
	By      string // of energy: "", "meter", "hour", "day"
	Period  *Period
	Limit   int    // rows; 0: [PageDefault]
	Cursor  string // of the page before; empty: the first page
	Control bool   // the asker may order
}

// Page is a part of the rows that were looked up.
type Page[T any] struct {
	Site  SiteRef  `json:"site"`
	Total int      `json:"total" jsonschema:"rows of all pages"`
	Items []T      `json:"items"`
	Next  string   `json:"next,omitempty" jsonschema:"cursor of the next page; missing on the last"`
	Notes []string `json:"notes,omitempty" jsonschema:"what has to be known beside the rows, such as what is not measured"`
}

// SiteRef is the site that an answer is about.
type SiteRef struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Online   bool      `json:"online" jsonschema:"its controller reports now; if not, readings are of before"`
	LastSeen time.Time `json:"lastSeen,omitzero"`
	Now      time.Time `json:"now" jsonschema:"local time there"`
}

// PlaceRow is a zone or floor. Means are of current readings; without one there is none.
type PlaceRow struct {
	ID           int64    `json:"id,omitempty" jsonschema:"of a zone"`
	Kind         string   `json:"kind" jsonschema:"zone or floor"`
	Name         string   `json:"name"`
	Floor        string   `json:"floor,omitempty"`
	Lights       int      `json:"lights"`
	LightsOn     int      `json:"lightsOn"`
	MeanLevel    *float64 `json:"meanLevel,omitempty" jsonschema:"percent, of the lights with a current reading"`
	LightsUnread int      `json:"lightsUnread,omitempty" jsonschema:"lights without a current reading"`
	Shades       int      `json:"shades"`
	MeanOpen     *float64 `json:"meanOpen,omitempty" jsonschema:"percent open, of the shades with a current reading"`
	Watts        *float64 `json:"watts,omitempty" jsonschema:"drawn now; missing where no meter covers exactly this place"`
}

// Read is a value with when and how it was read.
type Read struct {
	At        *time.Time `json:"at,omitempty" jsonschema:"when it was read"`
	Source    string     `json:"source,omitempty" jsonschema:"measured, acknowledged, estimated, sent or restored"`
	Condition string     `json:"condition" jsonschema:"current; stale, offline or unknown: not known now, and the value is the last known one"`
}

// LightRow is one light.
type LightRow struct {
	ID      int64    `json:"id"`
	Name    string   `json:"name"`
	Zones   []string `json:"zones"`
	Floor   string   `json:"floor,omitempty"`
	Level   *float64 `json:"level,omitempty" jsonschema:"percent, 0 is off"`
	Kelvin  *float64 `json:"kelvin,omitempty"`
	Can     []string `json:"can"`
	Trouble string   `json:"trouble,omitempty"`
	Read
}

// ShadeRow is one shade.
type ShadeRow struct {
	ID      int64    `json:"id"`
	Name    string   `json:"name"`
	Zones   []string `json:"zones"`
	Floor   string   `json:"floor,omitempty"`
	Open    *float64 `json:"open,omitempty" jsonschema:"percent open, 0 is closed"`
	Motion  string   `json:"motion,omitempty"`
	Trouble string   `json:"trouble,omitempty"`
	Read
}

// MeterRow is one meter.
type MeterRow struct {
	ID     int64    `json:"id"`
	Name   string   `json:"name"`
	Covers string   `json:"covers,omitempty"`
	Zones  []string `json:"zones" jsonschema:"what it measures; empty: the whole building, or nobody entered it"`
	Watts  *float64 `json:"watts,omitempty"`
	Read
}

// EnergyRow is energy of a stretch of time or of one meter.
type EnergyRow struct {
	Meter           string    `json:"meter,omitempty" jsonschema:"empty: all meters of the place together"`
	From            time.Time `json:"from"`
	To              time.Time `json:"to" jsonschema:"not after now"`
	KWh             *float64  `json:"kWh,omitempty" jsonschema:"missing: not measured"`
	MeasuredSeconds float64   `json:"measuredSeconds" jsonschema:"of the stretch; what was not measured is not in kWh"`
}

// FaultRow is something that is wrong, or was.
type FaultRow struct {
	Kind     string     `json:"kind" jsonschema:"node, shade or bus"`
	ID       int64      `json:"id"`
	Name     string     `json:"name"`
	Message  string     `json:"message"`
	Severity string     `json:"severity"`
	Present  bool       `json:"present"`
	Since    *time.Time `json:"since,omitempty" jsonschema:"missing: not known"`
	Until    *time.Time `json:"until,omitempty"`
}

// LedgerRow is a command that was carried out.
type LedgerRow struct {
	ID     string    `json:"id" jsonschema:"in the ledger of the controller"`
	At     time.Time `json:"at" jsonschema:"when it was accepted"`
	Who    string    `json:"who,omitempty" jsonschema:"person, key or rule"`
	Via    string    `json:"via,omitempty" jsonschema:"through what"`
	Why    string    `json:"why,omitempty"`
	Do     string    `json:"do"`
	Value  *float64  `json:"value,omitempty" jsonschema:"percent or kelvin"`
	For    string    `json:"for" jsonschema:"name of the zone, light or shade; the site's for all of it"`
	Things int       `json:"things" jsonschema:"lights or shades that were addressed"`
	Not    []string  `json:"not,omitempty" jsonschema:"who does not have it, the first of them"`
	Failed bool      `json:"failed,omitempty"`
}

// Abilities are what can be known of a site, and done there.
type Abilities struct {
	Site        SiteRef        `json:"site"`
	Lights      map[string]int `json:"lights" jsonschema:"how many lights can do what"`
	Shades      map[string]int `json:"shades"`
	Meters      int            `json:"meters"`
	NotMeasured []string       `json:"notMeasured"`
	NotKept     []string       `json:"notKept" jsonschema:"what is known as it is now only"`
	MayOrder    bool           `json:"mayOrder" jsonschema:"this key may set lights and shades"`
	Orders      []string       `json:"orders"`
}

// OrderWish is a typed order, or what is to become of one. With ID everything else but Confirm is empty.
type OrderWish struct {
	Owner   string
	Control bool // the asker may order
	ID      string
	Confirm *bool // of an ID: true does it, false drops it, nil asks how it stands

	Site    string
	Places  []string
	Except  []string
	Things  string // "lights", "shades"
	Do      string // "on", "off", "set", "brighten", "dim", "toggle", "open", "close", "stop"
	Percent *int
}

// OrderFound is how an order stands.
type OrderFound struct {
	ID         string      `json:"order"`
	State      string      `json:"state" jsonschema:"previewed, done, on its way, not done or dropped"`
	ValidUntil *time.Time  `json:"validUntil,omitempty" jsonschema:"of a preview: until when confirm does it"`
	Zones      []OrderZone `json:"zones"`
}

// OrderZone is what an order is in one zone.
type OrderZone struct {
	ID     int64    `json:"id"`
	Name   string   `json:"name"`
	What   string   `json:"what"`
	State  string   `json:"state"`
	Things int      `json:"things,omitempty" jsonschema:"lights or shades that were addressed; missing: not known"`
	Not    []string `json:"not,omitempty" jsonschema:"who does not have it, and why"`
	Error  string   `json:"error,omitempty"`
}
