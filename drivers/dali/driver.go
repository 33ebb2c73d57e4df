package dali

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

var (
	_ appliance.OpenFunc = Open
	_ appliance.Driver   = (*Driver)(nil)
	_ appliance.Recorder = (*Driver)(nil)
	_ appliance.Linker   = (*Driver)(nil)
	_ appliance.Scanner  = (*Driver)(nil)
	_ appliance.Grouper  = (*Driver)(nil)
	_ Transmitter        = (*Driver)(nil)
)

// Driver speaks DALI on one line.
type Driver struct {
	name    string
	options busOptions
	log     *slog.Logger
	wire    *wire
	shows   chan Send // what Run repeats to gear that shows itself

	commissioning atomic.Bool // somebody gives addresses

	mu    sync.Mutex // guards gears, for whoever is not the bus's goroutine
	gears []*gear    // ascending short address
	byRef map[appliance.Ref]*gear

	groups  []group // that commands may use
	unsure  []*gear // may be in any group
	strange uint16  // groups of gear outside the site, as last surveyed
	spoilt  uint16  // groups that gear set aside is in
}

// Run keeps the port open until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	var own sync.WaitGroup
	own.Go(func() { d.wire.revive(ctx) })
	own.Go(func() { d.showLoop(ctx) })
	err := d.wire.line.Run(ctx)
	own.Wait()
	return err
}

// Link tells whether the port is there and the gateway behind it answers.
func (d *Driver) Link() error { return d.wire.link() }

// Recent returns the last messages to and from the gateway.
func (d *Driver) Recent() []appliance.Frame {
	frames := d.wire.line.Recent()
	for i := range frames {
		frames[i] = d.relabel(frames[i])
	}
	return frames
}

// Follow sends every message from now on.
func (d *Driver) Follow(ctx context.Context) <-chan appliance.Frame {
	in := d.wire.line.Follow(ctx)
	out := make(chan appliance.Frame)
	go func() {
		defer close(out)
		for f := range in { // a slow reader loses frames there, which are counted
			select {
			case out <- d.relabel(f):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// relabel tells a gateway's reports, which are taken off the line one by one, from
// bytes that nobody understood.
func (d *Driver) relabel(f appliance.Frame) appliance.Frame {
	if f.Direction != appliance.FrameDiscarded {
		return f
	}
	if m, n := d.wire.gw.parse(f.Bytes); n == len(f.Bytes) && n > 0 && m.said != saidJunk {
		f.Direction, f.Note = appliance.FrameReceived, ""
	}
	return f
}

// Transmit sends a sequence of frames that nothing comes between, in turn with the
// bus's own traffic. It makes a running bus usable for commissioning. Safe from
// any goroutine.
func (d *Driver) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	answers, _, err := d.wire.transmit(ctx, appliance.Yield{}, seq...)
	return answers, err
}

// gearKey is the device key and the address of a gear.
func gearKey(short int) string { return strconv.Itoa(short) }

// overheard takes messages that nobody asked for off the line: reports of what
// other masters do. They are kept in the recorder; polling finds what they changed.
func overheard(gw gateway, groups *groupSet) func(b []byte) int {
	return func(b []byte) int {
		m, n := gw.parse(b)
		if n > 0 {
			groups.note(m)
		}
		return n
	}
}

// openSilence: somebody who had the port before may have sent a frame, of which the
// gateway has yet to tell what became. Sent twice, with the gaps and the time for an
// answer, it takes a tenth of a second. A gateway that tells to which frame an answer
// belongs needs none.
const openSilence = 200 * time.Millisecond

// newLine makes the serial line to a gateway.
func newLine(cfg appliance.BusConfig, ports *line.Ports, gw gateway, groups *groupSet, port string, settings appliance.LineSettings) (*line.Line, error) {
	calm := openSilence
	if gw.traits().has(ordered) {
		calm = 0
	}
	return line.New(line.Config{Name: cfg.Bus.Name, Port: port, Serial: settings, OpenSilence: calm, Overheard: overheard(gw, groups), Log: cfg.Log, Ports: ports})
}
