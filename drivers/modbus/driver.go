package modbus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/profile"
)

var (
	_ appliance.OpenFunc = Open
	_ appliance.Driver   = (*Driver)(nil)
	_ appliance.Recorder = (*Driver)(nil)
	_ appliance.Linker   = (*Driver)(nil)
	_ appliance.Scanner  = (*Driver)(nil)
)

// Driver speaks Modbus on one bus.
type Driver struct {
	name    string
	options busOptions
	log     *slog.Logger
	line    *line.Line
	codec   *codec
	silence time.Duration // t3.5; 0 on Modbus TCP
	// settings of a serial port, complete; zero on sockets.
	settings appliance.LineSettings
	library  *profile.Library[*Profile]

	units  map[byte]*unit
	order  []*unit // ascending number
	things map[appliance.Ref]*thing
	gossip gossip
	peer   patience
}

// settle puts units and things in order once all are placed.
func (d *Driver) settle() {
	for _, number := range slices.Sorted(maps.Keys(d.units)) {
		u := d.units[number]
		slices.SortStableFunc(u.things, func(a, b *thing) int {
			if a.address.line != b.address.line {
				return a.address.line - b.address.line
			}
			return a.address.gear - b.address.gear
		})
		d.order = append(d.order, u)
	}
}

// Run keeps the port open until ctx ends.
func (d *Driver) Run(ctx context.Context) error { return d.line.Run(ctx) }

// Link tells whether the port or connection is there.
func (d *Driver) Link() error { return d.line.Link() }

// Recent returns the last frames.
func (d *Driver) Recent() []appliance.Frame { return d.line.Recent() }

// Follow sends every frame from now on.
func (d *Driver) Follow(ctx context.Context) <-chan appliance.Frame { return d.line.Follow(ctx) }

// timing of one conversation with a unit.
type timing struct {
	timeout, guard time.Duration
	actuates       bool
	at             *appliance.LineSettings // nil: the line's own
	listen         *rollCall               // not nil: hears everybody, and nothing is an answer
	echoed         *bool                   // not nil, in a scan of reads: an echo is put aside, and told here
}

// ask sends a request and takes its answer apart.
func (d *Driver) ask(ctx context.Context, y appliance.Yield, r request, t timing) (answer, line.Reply, error) {
	frame, err := d.codec.encode(r)
	if err != nil {
		return answer{}, line.Reply{}, fmt.Errorf("bus %s: %w: %w", d.name, appliance.ErrRefused, err)
	}
	listener := listener{codec: d.codec, request: r, frame: frame, echoed: t.echoed}
	q := d.lineRequest(y, &listener, t)
	least, most := q.Timeout, q.Timeout
	server := d.codec.tcp || d.line.Airtime(1) == 0 // somebody is in between who takes what it is sent
	if server && t.echoed == nil {                  // a scan has its own patience
		if r.writes() {
			d.peer.late(d.line, q.Timeout)
			q.Guard = max(q.Guard, d.peer.drain(time.Now()))
		}
		q.Patience = func() time.Duration {
			d.peer.late(d.line, least)
			most = d.peer.timeout(least, time.Now())
			return most
		}
	}
	drained := q.Guard > t.guard
	reply, err := d.line.Exchange(ctx, q)
	if drained && errors.Is(err, line.ErrBabble) {
		err = fmt.Errorf("bus %s: %w: the serial server is slow, and answers still what it was asked before; nothing was sent", d.name, appliance.ErrDamaged)
	}
	if server && !reply.Sent.IsZero() {
		d.waited(frame, reply, err, least)
		switch {
		case err == nil && r.writes() && r.unit != 0:
			d.peer.owed = 0 // nothing says the same as its answer
		case errors.Is(err, appliance.ErrSilent):
			d.peer.unanswered(most, listener.passed == "", time.Now())
		}
	}
	if listener.returned {
		d.line.Echoes()
	}
	if listener.foreign.master(nil, frame) && err != nil {
		d.gossip.voided.note(r.unit, listener.foreign.asks, time.Now())
	}
	if err != nil {
		if u := d.units[r.unit]; u != nil && !r.writes() && !reply.Sent.IsZero() {
			u.doubtful = time.Now().Add(d.late(u)) // the answer may still come
		}
		return answer{}, reply, d.explain(r, &listener, err)
	}
	if r.unit == 0 {
		return answer{}, reply, nil
	}
	a, err := d.codec.decode(r, reply.Frame)
	if err != nil {
		return answer{}, reply, fmt.Errorf("bus %s: %w", d.name, err)
	}
	if t.echoed == nil && t.listen == nil && !d.codec.tcp && !r.writes() && d.units[r.unit] != nil {
		if d.gossip.listen(d); d.gossip.twins(r.unit) {
			return answer{}, reply, fmt.Errorf("bus %s: unit %d: %w: %w", d.name, r.unit, appliance.ErrDamaged, errTwins)
		}
	}
	return a, reply, nil
}

// lineRequest is a question as the line takes it.
func (d *Driver) lineRequest(y appliance.Yield, l *listener, t timing) line.Request {
	q := line.Request{
		Frame: l.frame, Scan: l.scan, Timeout: t.timeout, Guard: t.guard,
		Yield: y, Actuates: t.actuates, At: t.at, Own: l.own, Length: l.length,
	}
	if t.listen != nil {
		*t.listen = rollCall{unit: t.listen.unit, sent: l.frame, echoed: t.echoed} // it may be asked again
		q.Scan, q.Length = t.listen.scan, nil
	}
	if l.request.unit == 0 {
		q.Scan, q.Timeout, q.Turnaround = nil, 0, d.options.turnaround
	}
	if d.line.Airtime(1) == 0 { // the line cannot know when a serial server has sent it
		behind := d.characters(len(l.frame))
		q.Timeout, q.Turnaround = q.Timeout+behind, q.Turnaround+behind
	}
	return q
}

// waited notes how long the gateway took, for this answer or for earlier ones.
func (d *Driver) waited(frame []byte, reply line.Reply, err error, timeout time.Duration) {
	what := binary.BigEndian.Uint16(frame)
	d.peer.sent(what, reply.Sent)
	d.peer.late(d.line, timeout)
	if err == nil {
		d.peer.answered(what, reply.Done, timeout, false)
	}
}

// explain adds to a line's error what was asked and what was heard instead. An
// answer to another question is damage, not silence.
func (d *Driver) explain(r request, l *listener, err error) error {
	what := fmt.Sprintf("unit %d: %v", r.unit, r)
	switch {
	case l.passed == "" || errors.Is(err, appliance.ErrBusDown) || errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, appliance.ErrSilent) && !errors.Is(err, appliance.ErrOverslept) && l.garbled:
		return fmt.Errorf("bus %s: %s: %w: %s", d.name, what, appliance.ErrDamaged, l.passed)
	}
	return fmt.Errorf("%s: %w: %s", what, err, l.passed)
}

// lateLeast is the least time after a time-out in which an answer may still come, unless settings say
// otherwise.
const lateLeast = 400 * time.Millisecond

// late is how long after a time-out a unit's answer may still come and be taken
// for the next one. Transaction numbers make that impossible on Modbus TCP.
func (d *Driver) late(u *unit) time.Duration {
	switch {
	case d.codec.tcp:
		return 0
	case d.options.lateAnswer >= 0:
		return d.options.lateAnswer
	case u.profile.Timing.LateAnswer > 0:
		return u.profile.Timing.LateAnswer
	}
	return max(lateLeast, 2*u.timeout)
}

// tcpAirtime stands for one exchange on a socket, whose real time is that of the
// network and of the device.
const tcpAirtime = 2 * time.Millisecond

// airtime is how long the line is busy with a request and its answer: their
// characters, a silence before each.
func (d *Driver) airtime(r request, guard time.Duration) time.Duration {
	if d.codec.tcp {
		return tcpAirtime
	}
	n := r.requestLen() + 3
	if r.unit == 0 {
		return d.characters(n) + max(d.silence, guard) + d.options.turnaround
	}
	return max(d.characters(n+r.answerLen()+3)+d.silence+max(d.silence, guard), tcpAirtime)
}

// characters is how long n characters take, at the speed of a serial server if
// the installer told it.
func (d *Driver) characters(n int) time.Duration {
	if rate := d.options.serverBaudRate; rate > 0 {
		return time.Duration(n) * 11 * time.Second / time.Duration(rate)
	}
	return d.line.Airtime(n)
}

// worst is the same when nobody answers.
func (d *Driver) worst(r request, u *unit) time.Duration {
	if r.unit == 0 {
		return d.airtime(r, u.guard)
	}
	return max(d.characters(r.requestLen()+3)+max(d.silence, u.guard)+u.timeout, d.airtime(r, u.guard))
}

// exchange makes an exchange of a request with a unit.
func (d *Driver) exchange(u *unit, r request, do func(context.Context, appliance.Yield) (appliance.Result, error)) appliance.Exchange {
	e := appliance.Exchange{Airtime: d.airtime(r, u.guard), Worst: d.worst(r, u), Do: do}
	if r.unit != 0 {
		e.Device, e.Late = u.key, d.late(u)
	}
	return e
}

// unitKey is the device key and the address of a unit.
func unitKey(number byte) string { return fmt.Sprint(number) }
