package panel

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"svc.internal/controller/cloud/wire"
)

// Board is what panels should show, as their controllers said last.
type Board struct {
	mu      sync.Mutex
	shown   map[spot]map[string]string
	scenes  map[spot][]wire.Scene // of those in shown that have some
	spots   map[string]int        // of each controller in shown
	at      map[spot]time.Time    // when a command there was answered last
	changed chan struct{}         // closed when anything changes, and replaced
	fresh   map[spot]bool         // changed since the writer looked; true: all of it is to be written again
	told    map[spot][3]saying    // what panels say besides
}

// spot is one device of one controller. What another controller says of the device is not believed.
type spot struct{ controller, device string }

// saying is a sentence on a panel, and when it was put there.
type saying struct {
	text string
	at   time.Time
}

// saidFor is how long a panel says what became of something that was done there.
const saidFor = time.Minute

// NewBoard makes an empty board.
func NewBoard() *Board {
	return &Board{shown: map[spot]map[string]string{}, scenes: map[spot][]wire.Scene{}, spots: map[string]int{}, at: map[spot]time.Time{}, changed: make(chan struct{}), fresh: map[spot]bool{}, told: map[spot][3]saying{}}
}

// Bounds of what controllers may make the board remember: one alone cannot take the places of the others.
const (
	spotsMost = 20_000
	spotsOne  = 500 // of one controller
)

// Take takes a report of a controller.
func (b *Board) Take(controller string, payload []byte) error {
	env, err := wire.Open(payload)
	if err != nil {
		return err
	}
	var values wire.PanelValues
	if err := env.Read(&values); err != nil {
		return err
	}
	for _, v := range values.Panels {
		if v.PanelID == wire.ControlsPanel {
			b.set(controller, v.DeviceID, v.Widgets)
			b.offer(controller, v.DeviceID, v.Scenes)
		}
	}
	return nil
}

// offer notes which scenes can be recalled at a device: none, of a controller that does not say.
func (b *Board) offer(controller, device string, told []wire.Scene) {
	scenes := usable(told)
	at := spot{controller, device}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.shown[at]; !known || slices.Equal(b.scenes[at], scenes) { // within the bounds of what is shown
		return
	}
	if b.scenes[at] = scenes; scenes == nil {
		delete(b.scenes, at)
	}
	b.note(at, false)
}

// usable are the scenes of a report that can be shown, within the bounds of the wire.
func usable(told []wire.Scene) (scenes []wire.Scene) {
	for _, s := range told {
		if s.Name = strings.TrimSpace(s.Name); utf8.RuneCountInString(s.Name) > wire.SceneName {
			s.Name = string([]rune(s.Name)[:wire.SceneName])
		}
		if s.ID > 0 && s.Name != "" && (s.Lights || s.Shades) && len(scenes) < wire.ScenesMost {
			scenes = append(scenes, s)
		}
	}
	return scenes
}

// Scenes are those that can be recalled at a device.
func (b *Board) Scenes(controller, device string) []wire.Scene {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.scenes[spot{controller, device}]
}

// Shown notes what a controller said, in answer to a command, that a device's panel should show now.
func (b *Board) Shown(controller, device string, widgets map[string]string) {
	b.set(controller, device, widgets)
	b.answered(controller, device, widgets)
}

// answered notes that a command at a device was answered with what its panel should show.
func (b *Board) answered(controller, device string, widgets map[string]string) {
	at := spot{controller, device}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.shown[at]; known && widgets != nil { // within the bounds of what is shown
		b.at[at] = time.Now()
	}
}

// Answered is what a device's panel should show, and when a command there was answered last; zero: never.
func (b *Board) Answered(controller, device string) (widgets map[string]string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown[spot{controller, device}], b.at[spot{controller, device}]
}

// Late notes what became of an action at a device whose answer came when nobody waited for it any more: the panel says it for a
// minute, or until somebody taps what it is about.
func (b *Board) Late(controller string, a wire.WidgetAction, ack wire.Ack) {
	b.set(controller, a.DeviceID, ack.Widgets)
	b.answered(controller, a.DeviceID, ack.Widgets)
	if mistaken(ack) {
		b.again(controller, a.DeviceID)
	}
	if ack.Status == wire.Stale { // what came after it tells of itself
		return
	}
	text := inWords(ack)
	if ack.Status == wire.Applied {
		text = strings.TrimSpace("Done. " + text)
	}
	b.tell(controller, a.DeviceID, about(a.WidgetID), text)
}

// What a panel speaks of.
const (
	ofLights = iota
	ofShades
	ofScenes
)

// about is what a widget is for.
func about(widget string) int {
	switch widget {
	case wire.LightPower, wire.LightBrightness:
		return ofLights
	case wire.SceneRecall:
		return ofScenes
	}
	return ofShades
}

// tell has a panel say something about its lights, its shades or its scenes; empty: nothing.
func (b *Board) tell(controller, device string, of int, text string) {
	at := spot{controller, device}
	b.mu.Lock()
	defer b.mu.Unlock()
	says := b.told[at]
	if _, known := b.shown[at]; !known || says[of].text == "" && text == "" { // within the bounds of what is shown
		return
	}
	says[of] = saying{text, time.Now()}
	b.told[at] = says
	b.note(at, false)
}

// set notes what a device's panel should show; nil widgets are those that nobody said anything of.
func (b *Board) set(controller, device string, widgets map[string]string) {
	if widgets == nil {
		return
	}
	at := spot{controller, device}
	b.mu.Lock()
	defer b.mu.Unlock()
	old, known := b.shown[at]
	switch {
	case known && maps.Equal(old, widgets):
		return
	case !known && (len(b.shown) >= spotsMost || b.spots[controller] >= spotsOne):
		return
	case !known:
		b.spots[controller]++
	}
	b.shown[at] = widgets
	b.note(at, false)
}

// note wakes whoever waits for changes. b.mu is held.
func (b *Board) note(at spot, full bool) {
	b.fresh[at] = b.fresh[at] || full
	close(b.changed)
	b.changed = make(chan struct{})
}

// again has a device's values written once more, whatever it was thought to show.
func (b *Board) again(controller, device string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(spot{controller, device}, true)
}

// of tells what a device's panel should show and say, and a channel that is closed at the next change of anything.
func (b *Board) of(controller, device string) (widgets map[string]string, told string, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := spot{controller, device}
	told, _ = saidAfter(b.told[at], time.Time{})
	return b.shown[at], told, b.changed
}

// saidSince is what a device's panel says that was put there after a moment, and when the last of it was.
func (b *Board) saidSince(at spot, moment time.Time) (told string, last time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return saidAfter(b.told[at], moment)
}

func saidAfter(says [3]saying, moment time.Time) (told string, last time.Time) {
	for of, said := range says {
		if said.text != "" && time.Since(said.at) < saidFor && said.at.After(moment) {
			told += [...]string{" Lights: ", " Shades: ", " Scene: "}[of] + said.text
			if said.at.After(last) {
				last = said.at
			}
		}
	}
	return strings.TrimSpace(told), last
}

// take returns the devices that changed since the last call, with whether all of their widgets must be written again, and a
// channel that is closed at the next change.
func (b *Board) take() (map[spot]bool, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.fresh
	b.fresh = map[spot]bool{}
	return out, b.changed
}
