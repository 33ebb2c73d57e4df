// Package sdnsim plays a bus of Somfy SDN shade motors at wire level.
//
// A [Bus] stands behind a port, usually the master end of a pseudo-terminal, and
// does there what motors would do: characters take as long as the line's speed
// says, a motor answers when it likes to, and two that answer at once garble each
// other. The motors have positions in pulses, limits, speeds, groups, labels and
// troubles. Framing and meaning are written down here a second time, independently
// of the driver, from the same public sources and checked against frames recorded
// from other implementations, so that a mistake of one is not a mistake of both.
package sdnsim
