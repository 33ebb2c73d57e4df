// Package cable is copper in memory: serial lines and a network within one process, with nothing of the
// kernel in them. All waits are those of package time and of channels, so that a program and the devices it
// talks to can run on virtual time (testing/synctest).
//
// A serial line is what a pseudo-terminal is ([svc.internal/controller/drivers/line/pty]): it carries bytes
// at once and keeps what the program set, and whoever plays the devices keeps its speed. A connection is
// what one over loopback is: what was written has arrived, and a port where nobody listens refuses.
package cable
