package wire

import "time"

// ControlsPanel is the ID of the panel that the platform deploys on room devices.
const ControlsPanel = "platformControls"

// The widgets of [ControlsPanel].
const (
	LightPower      = "light_power"      // toggle: changed, "on" or "off"
	LightBrightness = "light_brightness" // slider: changed, released, "0" to "255"
	ShadePosition   = "shade_position"   // slider: changed, released, "0" to "255", 255 = fully open
	ShadePreset     = "shade_preset"     // group: released, [PresetOneThird] or [PresetTwoThirds]
	ShadeStop       = "shade_stop"       // button: clicked
	SceneRecall     = "scene"            // a button for each of [PanelValue.Scenes]: clicked, its ID
)

// The buttons of [ShadePreset]: parts of the opening.
const (
	PresetOneThird  = "one_third"
	PresetTwoThirds = "two_thirds"
)

// Gesture is the device's own word for what happened to a widget.
type Gesture string

// The gestures.
const (
	Pressed  Gesture = "pressed"
	Changed  Gesture = "changed"
	Released Gesture = "released"
	Clicked  Gesture = "clicked"
)

// Where a widget action came from.
const (
	OriginPanel = "panel"
	OriginVoice = "voice"
	OriginAPI   = "api"
)

// WidgetAction is a tap on a panel, or a spoken command in the same form.
type WidgetAction struct {
	DeviceID      string  `json:"deviceId"`
	WorkspaceName string  `json:"workspaceName"`
	PanelID       string  `json:"panelId"`
	WidgetID      string  `json:"widgetId"`
	Action        Gesture `json:"action"`
	// Value is the device's string, untouched; where Percent says something else, Value wins.
	Value string `json:"value"`
	// Percent of a slider's value, 0 to 100; nil for other widgets.
	Percent *int   `json:"percent,omitempty"`
	Origin  string `json:"origin"`
	// By is who asked, for people, such as ada or key "BMS"; empty: a platform from before there was this.
	By string `json:"by,omitempty"`
	// Cluster is what an action of [OriginAPI] acts on, in place of a deployed panel's clusters. Of other origins it is
	// not read.
	Cluster int64 `json:"cluster,omitempty"`
	// Accept asks for an answer [Accepted] if the outcome is not known at once; older controllers do not read it.
	Accept bool `json:"accept,omitempty"`
	// Utterance is what was said, only where the site allows it to be kept: it is personal data.
	Utterance string `json:"utterance,omitempty"`
}

// PercentOf turns a slider's value, 0 to 255, into percent, and SliderOf percent into a slider's value. Every percent
// comes back unchanged.
func PercentOf(slider int) int { return (slider*100 + 127) / 255 }

// SliderOf is the inverse of [PercentOf].
func SliderOf(percent int) int { return (percent*255 + 50) / 100 }

// AckStatus is what became of a message.
type AckStatus string

// What may become of a message.
const (
	Accepted  AckStatus = "accepted"  // under way; the answer that tells the outcome follows. Only to who asked for it
	Applied   AckStatus = "applied"   // done, the hardware has it
	Duplicate AckStatus = "duplicate" // this ID was here before
	Expired   AckStatus = "expired"   // too late, nothing was done
	Stale     AckStatus = "stale"     // something newer was applied; Detail "superseded" if it came while this one waited
	Rejected  AckStatus = "rejected"  // cannot be understood or is not for here
	Failed    AckStatus = "failed"    // tried, and not done or not by all
)

// Ack answers a message; the envelope's corr names it.
type Ack struct {
	Status AckStatus `json:"status"`
	// First is, of a [Duplicate], what became of the first; absent while that is under way, whose own answer follows.
	First AckStatus `json:"first,omitempty"`
	// Detail is for people: why, or who did not obey.
	Detail string `json:"detail,omitempty"`
	// Command is the entry of the controller's ledger, if there is one; of several clusters, all of them with ", " between.
	Command string `json:"command,omitempty"`
	// Offline is how many members of the addressed clusters are offline; they do not make the command fail.
	Offline int `json:"offline,omitempty"`
	// Things is how many lights or shades the action addressed, offline ones included; 0: the controller does not say, as
	// older ones do not.
	Things int `json:"things,omitempty"`
	// Not are those of them that do not have it, by ID, at most [NotMost].
	Not []Exception `json:"not,omitempty"`
	// Within is how many milliseconds the command had for its outcome, from when it was begun: 2,000 and the bus time of its
	// fan-out, at most until its exp. 0: the controller does not say, as older ones do not, or nothing was begun.
	Within int64 `json:"within,omitempty"`
	// Widgets is what the panel should show now, widget ID to value in the panel's words.
	Widgets map[string]string `json:"widgets,omitempty"`
}

// Time is [Ack.Within], as far as it can be true: 0 to [Lifetime].
func (a Ack) Time() time.Duration {
	return time.Duration(min(max(0, a.Within), Lifetime.Milliseconds())) * time.Millisecond
}

// NotMost bounds the exceptions of an acknowledgement, for its size.
const NotMost = 100

// Exception is a thing that did not do what it was told, and why.
type Exception struct {
	Kind Kind   `json:"kind"` // [KindNode] or [KindShade]
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Why  Why    `json:"why"`
}

// Why a thing did not do what it was told.
type Why string

// The reasons. Whoever reads another one takes it for [WhyFailed].
const (
	WhyOffline     Why = "offline"     // was offline before, and not waited for
	WhySilent      Why = "silent"      // does not answer
	WhyRefused     Why = "refused"     // answered that it will not
	WhyElsewhere   Why = "elsewhere"   // acknowledged, and then reported another value
	WhyLate        Why = "late"        // the bus did not come to it in time, nothing was sent
	WhyBus         Why = "bus"         // its port or connection is not there
	WhySuperseded  Why = "superseded"  // something newer took its place
	WhyUnconfirmed Why = "unconfirmed" // sent, and not confirmed in time
	WhyFailed      Why = "failed"      // something else
)

// Order asks a controller to do something about the link itself.
type Order struct {
	Do string `json:"do"` // [Rebirth] or [Resync]
}

// The orders.
const (
	Rebirth = "rebirth" // announce yourself and send your whole state
	Resync  = "resync"  // send your whole state
)

// Config is the retained map of panels and rooms of one controller. It replaces the one before, whole.
type Config struct {
	Rev    int64   `json:"rev"` // counts up; an older one is ignored
	Panels []Panel `json:"panels"`
}

// Panel is a control panel deployed on one device.
type Panel struct {
	DeviceID      string  `json:"deviceId"`
	WorkspaceName string  `json:"workspaceName"`
	PanelID       string  `json:"panelId"`
	Clusters      []int64 `json:"clusters"` // what it acts on
}

// PanelValues is what panels should show now: all of them after a birth, later those that changed.
type PanelValues struct {
	Panels []PanelValue `json:"panels"`
}

// PanelValue is what one panel should show.
type PanelValue struct {
	DeviceID string `json:"deviceId"`
	PanelID  string `json:"panelId"`
	// Widgets are values in the panel's words by widget ID. An empty value means that none of a group's buttons is
	// right; a widget whose value is not known is absent.
	Widgets map[string]string `json:"widgets"`
	// Scenes are those that [SceneRecall] recalls there, at most [ScenesMost]; absent: none, or a controller from before there was this.
	Scenes []Scene `json:"scenes,omitempty"`
}

// ScenesMost bounds the scenes of a panel, SceneName the characters of their names: 50 panels of few scenes fit a message.
const (
	ScenesMost = 12
	SceneName  = 40
)

// Scene is one that is recalled as a whole.
type Scene struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	// Lights and Shades tell what it sets: one of them at least.
	Lights bool `json:"lights,omitempty"`
	Shades bool `json:"shades,omitempty"`
}

// Lifetime is how long a command of a panel or a voice is worth doing, and the longest that one may claim is MaxLifetime. A tap of which
// it is known when the finger was there is worth TapLife.
const (
	TapLife     = 3 * time.Second
	Lifetime    = 10 * time.Second
	MaxLifetime = 60 * time.Second
)
