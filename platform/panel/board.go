package panel

import (
	"maps"
	"sync"

	"svc.internal/controller/cloud/wire"
)

// Board is what panels should show, as their controllers said last.
type Board struct {
	mu      sync.Mutex
	shown   map[spot]map[string]string
	spots   map[string]int // of each controller in shown
	changed chan struct{}  // closed when anything changes, and replaced
	fresh   map[spot]bool  // changed since the writer looked; true: all of it is to be written again
}

// spot is one device of one controller. What another controller says of the device is not believed.
type spot struct{ controller, device string }

// NewBoard makes an empty board.
func NewBoard() *Board {
	return &Board{shown: map[spot]map[string]string{}, spots: map[string]int{}, changed: make(chan struct{}), fresh: map[spot]bool{}}
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
		}
	}
	return nil
}

// Shown notes what a controller said, in answer to a command, that a device's panel should show now.
func (b *Board) Shown(controller, device string, widgets map[string]string) {
	b.set(controller, device, widgets)
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

// of tells what a device's panel should show, and a channel that is closed at the next change of anything.
func (b *Board) of(controller, device string) (map[string]string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown[spot{controller, device}], b.changed
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
