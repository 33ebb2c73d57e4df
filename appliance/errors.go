package appliance

import "errors"

// What callers branch on. Compare with errors.Is; the text around them says what
// was attempted, on which bus and node.
var (
	// Outcomes of an exchange, set by drivers and lines.

	// ErrSilent: the device did not answer in time. Retried.
	ErrSilent = errors.New("no answer")
	// ErrGateway, beside ErrSilent: a gateway answered that the device does not. So the gateway
	// is there.
	ErrGateway = errors.New("the gateway answers for it")
	// ErrDamaged: an answer came and was not valid (checksum, length, echo). Retried.
	ErrDamaged = errors.New("damaged answer")
	// ErrRefused: the device answered that it will not do this. Never retried.
	ErrRefused = errors.New("refused by the device")
	// ErrBusy: the device asked to be tried again later.
	ErrBusy = errors.New("device busy")
	// ErrAccepted: the device acknowledged a write and needs time to carry it out. It is not
	// told again, and read until it is done.
	ErrAccepted = errors.New("accepted, and not done yet")
	// ErrBusDown: the port or connection is not there. Nothing was sent, unless a
	// serial adapter was pulled just after the frame went out.
	ErrBusDown = errors.New("bus down")
	// ErrOpening: the first attempt to open the port or connection has not ended yet.
	// What waits for the bus waits on, until its own expiry.
	ErrOpening = errors.New("not opened yet")
	// ErrExpired: the deadline would have passed before the frame was out; nothing
	// was sent.
	ErrExpired = errors.New("expired")
	// ErrPreempted: given up for something more urgent, before a byte of the frame was
	// out or, with a device that is presumed dead, before any answer began.
	ErrPreempted = errors.New("preempted")

	// ErrOverslept: we woke so late ourselves that the outcome proves nothing about anybody,
	// beside one of the others. What was asked is asked again.
	ErrOverslept = errors.New("we woke too late to tell")

	// Outcomes of a command.

	// ErrNotFound: no such cluster, node, shade or channel.
	ErrNotFound = errors.New("not found")
	// ErrUnable: none of the targets has the ability asked for.
	ErrUnable = errors.New("not possible")
	// ErrOutOfRange: a value outside its documented bounds.
	ErrOutOfRange = errors.New("out of range")
	// ErrSuperseded: a newer command for the same thing took its place before it
	// was on the wire.
	ErrSuperseded = errors.New("superseded by a newer command")
	// ErrOverloaded: too many commands are waiting already.
	ErrOverloaded = errors.New("too many commands waiting")
	// ErrInUse: something else hangs off what was to be removed.
	ErrInUse = errors.New("something hangs off it")
	// ErrUnreachable: the device is offline.
	ErrUnreachable = errors.New("offline")
	// ErrMismatch: the device acknowledged, and then reported another value.
	ErrMismatch = errors.New("device reports another value")
)
