// Package shade is all that is known of one shade: where it is, what it was told, and
// what still has to be stopped. It is a pure machine without clock, lock or goroutine:
//
//	Step(State, time, Event) → (State, []Action)
//
// Whoever runs a bus hands in what happened on it, in the order of the wire, and carries
// out the actions. A motor that measures its position and one whose position is computed
// from travel times are the same machine; the former gets no [Route].
//
// # Phases
//
//	Idle      nothing is under way, and nothing has to be stopped
//	Asked     an order is with the engine
//	OnRoute   a run is under way that a route or a calibration ends, or the pause before
//	          the next one
//	Stopping  a stop is pending until a reading proves it
//
// # Must stop
//
// [State.MustStop] holds the directions in which the motor may run on frames that nobody
// but us ends: a relay goes on until the end of the travel, wherever it was to be sent.
// It grows when such a frame is sent, acknowledged or not, and shrinks only when a reading
// proves what the motor does. An order that goes wrong leaves the machine Idle if it is
// empty and Stopping if it is not. Movements that end by themselves (open, close, the way
// of a motor that knows its position) and those that somebody makes at the wall are none
// of it.
//
// # Readings
//
// A reading counts by when its question was asked. One that comes soon after a frame may
// tell of the time before it, since registers lag behind their relays and relays behind
// their orders; see proof.go.
package shade
