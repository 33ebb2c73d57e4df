package operations

import (
	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers"
	"svc.internal/controller/site/recording"
)

// Recorded is a frame that passed on a bus as recordings have it, explained.
func Recorded(bus, protocol string, f api.Frame) recording.Frame {
	r := recording.Frame{At: f.At, Bus: bus, Protocol: protocol, Direction: f.Direction, Hex: f.Hex, Note: f.Note, Lost: f.Lost}
	r.Explain(drivers.Decoders[protocol])
	return r
}
