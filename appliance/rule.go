package appliance

import "time"

// Scene is a set of stored targets, recalled together.
type Scene struct {
	UUID    UUID
	ID      ID
	Name    string
	Cluster ID // the room that it is offered in; 0: the whole building
	Actions []Action
}

// Rule does something by itself when something happens.
type Rule struct {
	UUID     UUID
	ID       ID
	Name     string
	Disabled bool
	When     Trigger
	Actions  []Action
	// Yields is for how long the rule leaves alone what somebody set by hand. Zero: it
	// leaves nothing alone.
	Yields time.Duration
}

// Action is what a scene or a rule does: a command without author and time, or the
// recall of a scene, which only rules may.
type Action struct {
	Scene     ID       `json:"scene,omitempty"` // to recall; 0: the command
	Kind      Kind     `json:"kind,omitempty"`
	Target    Target   `json:"target"`
	Channel   int      `json:"channel,omitempty"`
	Level     Level    `json:"level,omitempty"`
	KeepLevel bool     `json:"keepLevel,omitempty"`
	Kelvin    Kelvin   `json:"kelvin,omitempty"`
	RGBW      RGBW     `json:"rgbw"`
	Position  Position `json:"position,omitempty"`
	// After is how long after the moment of its rule it is done; what somebody set by hand meanwhile is left alone then.
	// 0: at once. Scenes have none.
	After time.Duration `json:"after,omitempty"`
	// Over is how long LightLevel and LightOff take, in steps from the level that each light has when it begins, whole seconds
	// from 4 s to 2 h; what somebody sets by hand meanwhile is left alone from then on. 0: at once. Nothing else has one.
	Over time.Duration `json:"over,omitempty"`
}

// Command is the action as somebody wants it done now.
func (a Action) Command(by Origin) Command {
	return Command{Kind: a.Kind, Target: a.Target, Channel: a.Channel, Level: a.Level, KeepLevel: a.KeepLevel,
		Kelvin: a.Kelvin, RGBW: a.RGBW, Position: a.Position, Origin: by}
}

// TriggerKind says what a rule waits for.
type TriggerKind string

// The kinds of triggers.
const (
	AtTime    TriggerKind = "time"    // Trigger.Minute of the day
	AtSunrise TriggerKind = "sunrise" // Trigger.Minute after it
	AtSunset  TriggerKind = "sunset"
	OnValue   TriggerKind = "value" // of Trigger.Node passes Trigger.Limit
)

// Trigger is what a rule waits for.
type Trigger struct {
	Kind TriggerKind `json:"kind"`
	// Days on which it holds, in the building's time zone; none: every day.
	Days Days `json:"days,omitempty"`
	// Holidays of the building, and days of the rule's own on which it does not act.
	Holidays OnHolidays `json:"holidays,omitempty"`
	Except   []Dates    `json:"except,omitempty"`
	// Minute of the day by the clock on the wall, or minutes after sunrise or sunset,
	// before it if negative.
	Minute int `json:"minute,omitempty"`

	// OnValue: the value of a node or channel goes above the limit, or below it, and
	// stays there for a time.
	Node     ID            `json:"node,omitempty"`
	Channel  int           `json:"channel,omitempty"` // 0: the node's own value
	Quantity Quantity      `json:"quantity,omitempty"`
	Below    bool          `json:"below,omitempty"`
	Limit    float64       `json:"limit,omitempty"`
	For      time.Duration `json:"for,omitempty"`
}

// Quantity is a value of a node that rules can wait for.
type Quantity string

// The quantities: percent, and watts.
const (
	OfLevel Quantity = "level"
	OfPower Quantity = "power"
)

// Days of the week, as bits: 1 is Monday, 64 is Sunday.
type Days uint8

// EveryDay has all seven.
const EveryDay Days = 127

// Has reports whether d is among the days; none means every day.
func (ds Days) Has(d time.Weekday) bool {
	return ds == 0 || ds&(1<<((int(d)+6)%7)) != 0
}

// Place is where a building stands, in degrees: north and east are positive.
type Place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// Due is a moment at which a rule is to act by the clock or the sun.
type Due struct {
	At   time.Time
	Rule ID
	// Clock says what is odd about the moment, where clocks are changed on that day.
	Clock ClockOddity
}

// ClockOddity is what a change of the clocks does to a time of the day.
type ClockOddity string

// The oddities.
const (
	ClockTwice   ClockOddity = "twice"   // it comes twice; only the first counts
	ClockSkipped ClockOddity = "skipped" // it does not come: the moment after the gap counts
)

// RuleRun is one time that a rule had reason to act.
type RuleRun struct {
	At       time.Time
	Rule     ID
	Name     string // of the rule
	Why      string // for people: "07:00", "power of Meter above 3000 W"
	Commands []string
	// Left is why nothing or not everything was done, for people; empty if all was.
	Left string
}

// Hand is something that somebody set by hand, which rules leave alone for a while.
type Hand struct {
	Ref Ref // its Channel is 0
	At  time.Time
	Who string
}
