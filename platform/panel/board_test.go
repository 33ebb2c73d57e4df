package panel

import (
	"fmt"
	"testing"
)

// A controller that reports more devices than a house has leaves the places of the others free.
func TestOneControllerCannotFillTheBoard(t *testing.T) {
	b := NewBoard()
	for i := range spotsMost + 1 {
		b.set("greedy", fmt.Sprint("device-", i), map[string]string{"light_power": "on"})
	}
	b.set("house", "lobby", map[string]string{"light_power": "on"})
	if got, _ := b.of("house", "lobby"); got["light_power"] != "on" {
		t.Errorf("the lobby shows %v after another controller reported %d devices, want its light on", got, spotsMost+1)
	}
	if n := len(b.shown); n > spotsOne+1 {
		t.Errorf("%d devices are remembered, want at most %d", n, spotsOne+1)
	}
	b.set("greedy", "device-0", map[string]string{"light_power": "off"})
	if got, _ := b.of("greedy", "device-0"); got["light_power"] != "off" {
		t.Errorf("a device that is known shows %v, want its light off", got)
	}
}
