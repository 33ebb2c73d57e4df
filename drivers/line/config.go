package line

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// Config of a line. Name and Port are required.
type Config struct {
	// Name of the bus, for errors and logs.
	Name string
	// Port is a device path ("/dev/ttyUSB0", better "/dev/serial/by-id/…"), or a
	// socket "tcp://host:port" or "rtu+tcp://host:port". On "tcp://" with Silence 0
	// the stream is taken to frame itself: bytes that came before a request are
	// shown to its Scan, because cutting them off could cut a frame in two. On all
	// others they are discarded, so that a late answer is never taken for this one.
	Port string
	// Serial settings, complete; ignored on sockets.
	Serial appliance.LineSettings
	// Silence before and after a frame, such as the 3.5 characters of Modbus RTU;
	// zero on sockets that frame by themselves.
	Silence time.Duration
	// OpenSilence is kept after the port was opened: whoever had it before, such as this
	// program before it was started anew, may have asked something, and where answers do
	// not tell to what, that to an old question would be taken for that to the first of
	// ours. 0: none.
	OpenSilence time.Duration
	// Echo: the adapter returns what is sent; it is read back and compared.
	Echo bool
	// InFlight is how many requests may be out at once, on a stream that frames itself and
	// where answers tell to what: each needs [Request.Own]. 0: one.
	InFlight int
	// Overheard, if not nil, is shown the bytes that came while no exchange was
	// under way, and returns how many of them it used up (0: wait for more). What
	// it leaves is shown again with the next bytes, and discarded after
	// [PartialGap] of silence or when a request goes out. It is called from a
	// goroutine of the line, never twice at once; it must be quick, must not keep
	// b and must not call Exchange. Nil: such bytes are recorded as discarded.
	Overheard func(b []byte) (n int)
	// Log takes changes of the link. Nil: none.
	Log *slog.Logger
	// Ports, if not nil, are those that the line is on instead of this machine's.
	Ports *Ports
	// DevRoot is where serial/by-id and serial/by-path are looked for; empty: /dev.
	DevRoot string
}

// Bounds of a line's own waits.
const (
	// PartialGap is the silence after which an unfinished overheard frame is
	// given up.
	PartialGap = 50 * time.Millisecond
	// BabbleLimit is how long a request waits for a line that never falls silent.
	BabbleLimit = time.Second
	// babbleLeast is how often it must have been heard meanwhile: a single answer that
	// is late, found after the machine itself stood still, is no babble.
	babbleLeast = 4

	lookEvery   = 500 * time.Millisecond // for a port that is gone
	lastDelay   = 5 * time.Second        // for one that hangs up at once, doubling after refusedFew
	reasonsMost = 16                     // reasons for a port that is gone are logged until it is back
	refusedFew  = 2
	dialLimit   = time.Second // for a connection: a shade may have to be stopped behind it
)

// New makes a line. It checks cfg and opens nothing; [Line.Run] does.
func New(cfg Config) (*Line, error) {
	if cfg.Name == "" {
		return nil, errors.New("line: a bus needs a name")
	}
	l := &Line{
		cfg:   cfg,
		where: fmt.Sprintf("bus %s (%s)", cfg.Name, cfg.Port),
		log:   cfg.Log,
		turn:  make(chan struct{}, 1),
		tried: make(chan struct{}),
		ended: make(chan struct{}),
		entry: make(chan struct{}, 1),
		link:  link{why: appliance.ErrOpening},
	}
	l.opener.Ports = cfg.Ports
	l.in.more = make(chan struct{}, 1)
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	l.log = l.log.With("bus", cfg.Name, "port", cfg.Port)
	if l.cfg.DevRoot == "" {
		l.cfg.DevRoot = "/dev"
	}
	if cfg.Silence < 0 || cfg.OpenSilence < 0 {
		return nil, fmt.Errorf("%s: silence %v, after opening %v: want 0 or more", l.where, cfg.Silence, cfg.OpenSilence)
	}
	scheme, addr, isSocket := strings.Cut(cfg.Port, "://")
	if isSocket {
		if scheme != "tcp" && scheme != "rtu+tcp" {
			return nil, fmt.Errorf("%s: port begins with %q: want a device path, tcp://host:port or rtu+tcp://host:port", l.where, scheme+"://")
		}
		if err := checkHostPort(addr); err != nil {
			return nil, fmt.Errorf("%s: %w", l.where, err)
		}
		l.address = addr
		l.framed = scheme == "tcp" && cfg.Silence == 0
		if l.framed && cfg.InFlight > 1 {
			l.in.reader = make(chan struct{}, 1)
		}
		return l, nil
	}
	if !filepath.IsAbs(cfg.Port) {
		return nil, fmt.Errorf("%s: port %q: want a device path from /, tcp://host:port or rtu+tcp://host:port", l.where, cfg.Port)
	}
	if err := CheckPort(cfg.Port); err != nil {
		return nil, fmt.Errorf("%s: %w", l.where, err)
	}
	bits, err := characterBits(cfg.Serial)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.where, err)
	}
	l.charBits = bits
	return l, nil
}

func checkHostPort(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w; want host:port", addr, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("address %q: port %q: want a number from 1 to 65535", addr, port)
	}
	if host == "" {
		return fmt.Errorf("address %q: no host before the colon", addr)
	}
	return nil
}

// characterBits counts the bits of one character on the wire, start bit
// included: 11 for 8E1, 8O1 and 8N2, 10 for 8N1.
func characterBits(s appliance.LineSettings) (int, error) {
	if s.BaudRate < 50 || s.BaudRate > 4_000_000 {
		return 0, fmt.Errorf("baud rate %d: want 50 to 4000000", s.BaudRate)
	}
	if s.DataBits != 7 && s.DataBits != 8 {
		return 0, fmt.Errorf("data bits %d: want 7 or 8", s.DataBits)
	}
	if s.StopBits != 1 && s.StopBits != 2 {
		return 0, fmt.Errorf("stop bits %d: want 1 or 2", s.StopBits)
	}
	bits := 1 + s.DataBits + s.StopBits
	switch s.Parity {
	case "none":
		return bits, nil
	case "even", "odd":
		return bits + 1, nil
	}
	return 0, fmt.Errorf(`parity %q: want "none", "even" or "odd"`, s.Parity)
}

// Airtime is how long n characters last at the line's speed; 0 on sockets.
func (l *Line) Airtime(n int) time.Duration {
	if l.charBits == 0 {
		return 0
	}
	return time.Duration(int64(n) * int64(l.charBits) * int64(time.Second) / int64(l.cfg.Serial.BaudRate))
}
