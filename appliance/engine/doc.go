// Package engine decides what a bus does: what is sent next, what is asked again, who
// counts as gone, and what becomes of each thing that a command addresses. It is pure,
// without clock, lock, goroutine, port or log:
//
//	actions := state.Step(now, event)
//
// Whoever has the port hands in what happened, in the order of the wire, and carries out
// the actions. The same events bring the same actions. Exchanges are opaque here; the
// chains of them that make things take what is wanted come from a function of the driver's,
// which is given with the configuration and touches no wire.
//
// # Words
//
//	member   what one command wants of one thing, and how far that has come
//	piece    a chain of a command on this bus, waiting or between two exchanges
//	task     the exchange that is done now, and what it gives way to
//	motor    one shade: feeds its machine (package shade) and carries out what that wants
//	device   who is addressed on the wire: online, suspect or offline
package engine
