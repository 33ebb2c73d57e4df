package modbus

import (
	"slices"
	"testing"
)

// What the status of a gear tells of itself (IEC 62386-102:2014, table 16).
func TestStatusOfGear(t *testing.T) {
	const gear, lamp = "THE GEAR HAS FAILED", "THE LAMP HAS FAILED"
	for status, want := range map[int][]string{0: nil, 1: {gear}, 2: {lamp}, 3: {gear, lamp}, 0xFC: nil} {
		if got := failures(status); !slices.Equal(got, want) {
			t.Errorf("status %#x: %v, want %v", status, got, want)
		}
	}
}
