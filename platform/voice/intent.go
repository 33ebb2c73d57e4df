package voice

// MaxText is the longest sentence in characters; longer ones are refused by [Parse] as unknown.
const MaxText = 500

// Intent is what a sentence wants.
type Intent string

// The intents that act.
const (
	LightsOn       Intent = "lights.on"
	LightsOff      Intent = "lights.off"
	LightsToggle   Intent = "lights.toggle"
	LightsSet      Intent = "lights.set"      // Slots.Percent
	LightsDim      Intent = "lights.dim"      // Slots.By, or a step of the product's own
	LightsBrighten Intent = "lights.brighten" // likewise
	ShadesOpen     Intent = "shades.open"
	ShadesClose    Intent = "shades.close"
	ShadesSet      Intent = "shades.set"    // Slots.Percent, 100 = fully open
	ShadesPreset   Intent = "shades.preset" // Slots.Preset
	ShadesStop     Intent = "shades.stop"
	PanelShow      Intent = "panel.show"
)

// The intents that must not move anything.
const (
	Question Intent = "question" // Slots.Agent should answer
	Compound Intent = "compound" // Slots.Reason, and Slots.Actions where all of them are understood
	Unknown  Intent = "unknown"
)

// Why a sentence is [Compound].
const (
	Multi     = "multi"     // several actions
	Schedule  = "schedule"  // later, or for a while
	Condition = "condition" // if, when
	Scope     = "scope"     // another room, or only some of the lights
	Scene     = "scene"
	Color     = "color"
)

// The agents that a [Question] may be for.
const (
	EnergyAgent        = "energyAgent"
	ComfortAgent       = "comfortAgent"
	MaintenanceAgent   = "maintenanceAgent"
	SiteAssetAgent     = "siteAssetAgent"
	UserAssistantAgent = "userAssistantAgent"
)

// Slots are the particulars of an intent; those that it does not have are absent.
type Slots struct {
	Percent *int    `json:"percent,omitempty"` // 0 to 100
	By      *int    `json:"by,omitempty"`      // percentage points, of shades that open or close those of their whole way
	Part    bool    `json:"-"`                 // By is a part of what there is, in percent of it: "by half"
	Back    bool    `json:"-"`                 // brighter: on as it was, if all is off
	Little  bool    `json:"-"`                 // of shades: not the whole way
	Toward  string  `json:"-"`                 // the way to Percent or Preset that was said, as [understand.Do] has it
	Preset  string  `json:"preset,omitempty"`  // "one_third", "two_thirds" of the opening
	Agent   string  `json:"agent,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Actions []Heard `json:"actions,omitempty"` // in spoken order
}

// Heard is what was understood of a sentence.
type Heard struct {
	Intent Intent `json:"intent"`
	Slots  Slots  `json:"slots"`
}

// Acts reports whether h is one action that a room can do.
func (h Heard) Acts() bool {
	switch h.Intent {
	case Question, Compound, Unknown:
		return false
	}
	return true
}
