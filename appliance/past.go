package appliance

import (
	"errors"
	"time"
)

// ErrNoPast: what was is not known, since nothing was kept, or is not there yet.
var ErrNoPast = errors.New("there is no history: the controller has just begun, or its disk takes none")

// Aspect of a thing whose past is kept.
type Aspect uint8

// The aspects, with the unit of their values.
const (
	LevelAspect    Aspect = iota + 1 // of a channel, percent
	PowerAspect                      // of a channel, W
	PositionAspect                   // of a shade, percent open
	OnlineAspect                     // of a node (Channel 0) or a shade: 1 it answers, 0 it does not
)

// Track is one aspect of one thing, as it goes on in time.
type Track struct {
	Ref
	Aspect Aspect
}

// Past is what a track was from At on, until the next of the same track.
type Past struct {
	At time.Time
	Track
	Value float64 // means nothing unless Known
	// Known is false while nobody can tell: the thing did not answer or had not been read yet,
	// or nothing was kept.
	Known bool
}

// Word is what an aspect is called: level, power, position, online.
func (a Aspect) Word() string { return wordOf(aspectWords, a) }

var aspectWords = []string{"", "level", "power", "position", "online"}
