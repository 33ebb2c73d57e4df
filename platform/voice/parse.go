package voice

import (
	"time"
	"unicode/utf8"

	"svc.internal/controller/platform/understand"
)

// Parse understands a sentence of at most [MaxText] characters, said in a room: it names no place, since the room is the
// caller's own.
func Parse(text string) Heard {
	h, _ := read(text)
	return h
}

// read is [Parse] with the frame that it is from, which tells the language and why something is not done.
func read(text string) (Heard, understand.Frame) {
	if utf8.RuneCountInString(text) > MaxText {
		return Heard{Intent: Unknown}, understand.Frame{}
	}
	f := understand.Read(text, understand.Names{}, time.Now())
	return heardIn(f), f
}

func heardIn(f understand.Frame) Heard {
	switch {
	case f.Topic == understand.Order && f.Unclear == nil:
		return heardAll(f.Do)
	case f.Topic == understand.Order:
		if reason, ok := reasons[f.Unclear.Why]; ok {
			return Heard{Intent: Compound, Slots: Slots{Reason: reason}}
		}
		if f.Unclear.Why == understand.Heating {
			return Heard{Intent: Question, Slots: Slots{Agent: ComfortAgent}}
		}
		return Heard{Intent: Unknown}
	}
	if agent := agentOf(f); agent != "" {
		return Heard{Intent: Question, Slots: Slots{Agent: agent}}
	}
	return Heard{Intent: Unknown}
}

// reasons are why an order cannot be done as it was said, in the words of this room.
var reasons = map[understand.Reason]string{
	understand.Later: Schedule, understand.For: Schedule, understand.If: Condition, understand.Elsewhere: Scope, understand.SomeOf: Scope,
	understand.SceneSet: Scene, understand.Coloured: Color,
}

// heardAll are the actions of an order.
func heardAll(todo []understand.Do) Heard {
	var actions []Heard
	for _, d := range todo {
		h, ok := heard(d)
		if !ok {
			return Heard{Intent: Compound, Slots: Slots{Reason: Scope}}
		}
		actions = append(actions, h)
	}
	if len(actions) == 1 {
		return actions[0]
	}
	return Heard{Intent: Compound, Slots: Slots{Reason: Multi, Actions: actions}}
}

// heard is one action; false for what is not of this room.
func heard(d understand.Do) (Heard, bool) {
	if d.Kind == understand.Everything || d.House || len(d.Places)+len(d.Except) > 0 {
		return Heard{}, false
	}
	light := d.Kind == understand.Light
	switch d.Switch {
	case "on":
		return Heard{Intent: LightsOn}, true
	case "off":
		return Heard{Intent: LightsOff}, true
	case "toggle":
		return Heard{Intent: LightsToggle}, true
	case "dim":
		return Heard{Intent: LightsDim, Slots: Slots{By: d.By, Part: d.Size == understand.ByPart}}, true
	case "brighten":
		return Heard{Intent: LightsBrighten, Slots: Slots{By: d.By, Part: d.Size == understand.ByPart, Back: d.Size == understand.Back}}, true
	case "stop":
		return Heard{Intent: ShadesStop}, true
	case "show":
		return Heard{Intent: PanelShow}, true
	}
	switch {
	case d.Kind == understand.Shade && d.By != nil:
		return Heard{Intent: map[string]Intent{"closed": ShadesClose, "open": ShadesOpen}[d.Toward], Slots: Slots{By: d.By}}, true
	case d.Thirds > 0:
		return Heard{Intent: ShadesPreset, Slots: Slots{Preset: presets[d.Thirds], Toward: d.Toward}}, true
	case light:
		return Heard{Intent: LightsSet, Slots: Slots{Percent: d.Percent, Toward: d.Toward}}, true
	case d.Way:
		return Heard{Intent: map[int]Intent{0: ShadesClose, 100: ShadesOpen}[*d.Percent], Slots: Slots{Little: d.Size == "little"}}, true
	}
	return Heard{Intent: ShadesSet, Slots: Slots{Percent: d.Percent, Toward: d.Toward}}, true
}

var presets = map[int]string{1: "one_third", 2: "two_thirds"}

// agentOf is whose question a sentence is; empty if nobody's.
func agentOf(f understand.Frame) string {
	statement := !f.Is(understand.Asked)
	if f.Aspect == "timezone" || statement && f.Topic != understand.Comfort && f.Topic != understand.Faults && f.Topic != understand.Offline && f.Topic != understand.Help {
		return ""
	}
	switch {
	case f.Op == understand.Why && (f.Topic == understand.Lights || f.Topic == understand.Shades) && f.State == "":
		return MaintenanceAgent // "why won't the shades move"
	case f.Topic == understand.Offline && f.State == understand.Online:
		return SiteAssetAgent
	}
	switch f.Topic {
	case understand.Energy, understand.Power, understand.Cost, understand.Carbon, understand.Saving:
		return EnergyAgent
	case understand.Comfort:
		return ComfortAgent
	case understand.Faults, understand.Offline:
		return MaintenanceAgent
	case understand.Lights, understand.Shades, understand.Inventory, understand.Controllers, understand.Occupancy, understand.Colour, understand.Automation:
		return SiteAssetAgent
	case understand.Help, understand.Report, understand.Sources:
		return UserAssistantAgent
	}
	return ""
}
