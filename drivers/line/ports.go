package line

import (
	"context"
	"net"
	"time"

	"svc.internal/controller/appliance"
)

// Ports opens what lines are on. Nil are the serial ports and the network of this machine.
//
// A line on others waits with package time alone, so that a line in memory may run on virtual time
// (testing/synctest).
type Ports struct {
	// Serial opens a serial port with complete settings, for nobody else.
	Serial func(path string, settings appliance.LineSettings) (SerialPort, error)
	// Dial connects to host:port. The end of ctx ends the attempt, not the connection.
	Dial func(ctx context.Context, address string) (Connection, error)
}

// SerialPort is an open serial port. Its methods may be called by several goroutines.
type SerialPort interface {
	// Take reads what has come; nothing is no error.
	Take(b []byte) (n int, err error)
	// Wait returns when there is something to take, or the adapter was unplugged; its error
	// says that the port was closed.
	Wait() error
	// Waiting counts the bytes that can be taken, as far as the adapter tells.
	Waiting() int
	// Write hands bytes to the adapter, which has to take them before the deadline.
	Write(b []byte, deadline time.Time) (written int, err error)
	// Unsent counts the bytes in the adapter's driver; one that cannot tell counts as empty.
	Unsent() int
	// Tune sets bit rate, parity, data and stop bits.
	Tune(to appliance.LineSettings) error
	// Break holds the line in its break condition.
	Break(t time.Duration) error
	// Abort closes the port and throws away what is unsent.
	Abort()
	Close()
}

// Connection is a connection that one goroutine reads.
type Connection interface {
	net.Conn
	// Take reads what has come already, whatever the deadline; nothing is no error.
	Take(b []byte) (n int, err error)
	// Unsent counts the bytes that the other side has not acknowledged.
	Unsent() int
	// Abort closes the connection and throws away what is unsent.
	Abort()
}

// SleepUntil waits for t, or returns the error of ctx when that ends before: with [SleepUntil] on
// this machine's ports.
func (p *Ports) SleepUntil(ctx context.Context, t time.Time) error {
	if p == nil {
		return SleepUntil(ctx, t)
	}
	return Wait(ctx, time.Until(t))
}

// linger waits for t, whatever ends meanwhile: a few milliseconds only.
func (p *Ports) linger(t time.Time) {
	if p == nil {
		sharpUntil(t)
		return
	}
	time.Sleep(time.Until(t))
}
