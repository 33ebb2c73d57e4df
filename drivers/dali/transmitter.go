package dali

import "context"

// Transmitter puts frames on a DALI line. [Driver] is one.
type Transmitter interface {
	// Transmit sends a sequence that nothing else may come between and returns the
	// answer to each frame. An error means that the sequence, or a part of it, is
	// not known to have been on the line.
	Transmit(ctx context.Context, seq ...Send) ([]Answer, error)
}
