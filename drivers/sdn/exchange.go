package sdn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

const (
	// usualAnswer is how long a motor takes on average until it answers; it chooses
	// between 5 and 255 ms.
	usualAnswer = 130 * time.Millisecond
	// lateAnswer is how long after its time-out an answer is still reckoned with.
	lateAnswer = 100 * time.Millisecond
)

// question is a frame to one motor and the answer it is due.
type question struct {
	motor *motor
	id    MessageID
	data  []byte
	want  MessageID // the answer; ack for a CTRL or SET
	most  int       // length of the longest answer
	what  string    // for people, "asking for its position"
	// patience to the beginning of the answer, if longer than the option responseTimeout.
	patience time.Duration
	// before is called right before the frame goes out; it may be nil.
	before func()
	// then takes the answer; it may be nil.
	then func(f Frame, at time.Time) ([]appliance.Reading, error)
}

func (q question) frame() Frame {
	return Frame{ID: q.id, Ack: q.want == ack, To: q.motor.kind, Source: q.motor.driver.options.host, Destination: q.motor.address, Data: q.data}
}

// exchange makes a question an exchange.
func (d *Driver) exchange(q question) appliance.Exchange {
	out := d.options.quiet + d.airtime(minFrame+len(q.data))
	back := d.airtime(q.most)
	return appliance.Exchange{
		Device:  q.motor.key,
		Airtime: out + usualAnswer + back,
		Worst:   out + max(d.options.responseTimeout, q.patience) + back,
		Late:    lateAnswer,
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			return d.ask(ctx, y, q)
		},
	}
}

// ask performs a question.
func (d *Driver) ask(ctx context.Context, y appliance.Yield, q question) (appliance.Result, error) {
	frame, err := q.frame().Bytes()
	if err != nil {
		return appliance.Result{}, fmt.Errorf("bus %s: motor %v: %w: %w", d.name, q.motor.address, appliance.ErrRefused, err)
	}
	if q.before != nil {
		q.before()
	}
	ear := &ear{driver: d, question: q}
	timeout := max(d.options.responseTimeout, q.patience) + d.airtime(q.most)
	if d.socket {
		timeout += d.airtime(len(frame)) // the serial server has yet to send it
	}
	reply, err := d.line.Exchange(ctx, line.Request{
		Frame: frame, Scan: ear.scan, Timeout: timeout, Yield: y, Actuates: q.id.moves(),
	})
	result := appliance.Result{Sent: reply.Sent}
	if q.id.moves() && !reply.Sent.IsZero() {
		q.motor.wasOut(reply.Sent)
	}
	err = d.nameBabble(reply.Sent, err)
	if errors.Is(err, appliance.ErrSilent) && !errors.Is(err, appliance.ErrOverslept) && ear.junk > 0 {
		err = fmt.Errorf("%w on bus %s: %d bytes came that make no frame: noise, a collision, or two motors with one address", appliance.ErrDamaged, d.name, ear.junk)
	}
	if err != nil {
		d.mu.Lock()
		q.motor.missed = time.Now()
		d.mu.Unlock()
	} else {
		result.Readings, err = q.take(ear.answer, reply.Done)
	}
	if err != nil {
		return result, fmt.Errorf("motor %v, %s: %w", q.motor.address, q.what, err)
	}
	return result, nil
}

// nameBabble remembers that somebody talked without pause, and says so when a
// command expired because of it.
func (d *Driver) nameBabble(sent time.Time, err error) error {
	switch {
	case errors.Is(err, appliance.ErrDamaged) && sent.IsZero():
		d.babble = babble{err, time.Now()}
	case errors.Is(err, appliance.ErrExpired) && time.Since(d.babble.at) < babbleMemory:
		return fmt.Errorf("%w, since nothing could be sent before: %v", err, d.babble.error)
	}
	return err
}

// babbleMemory is how long a line that never fell silent explains why a command
// came too late.
const babbleMemory = 3 * time.Second

// take uses the answer.
func (q question) take(f Frame, at time.Time) ([]appliance.Reading, error) {
	if f.ID == nack {
		why := reason(0)
		if len(f.Data) > 0 {
			why = reason(f.Data[0])
		}
		if why.passes() {
			return nil, fmt.Errorf("%w: %v", appliance.ErrBusy, why)
		}
		return nil, fmt.Errorf("%w: %v", appliance.ErrRefused, why)
	}
	if q.then == nil {
		return nil, nil
	}
	return q.then(f, at)
}

// ear tells the answer from everything else on the line.
type ear struct {
	driver   *Driver
	question question
	answer   Frame
	junk     int // bytes that make no frame
}

// scan judges what was heard since the question, see [line.Request].
func (e *ear) scan(b []byte) (int, line.Verdict) {
	f, n, ok := peel(b)
	switch {
	case ok && e.fits(f):
		e.answer = f
		return n, line.Accept
	case ok:
		e.driver.hear(f)
		return n, line.Skip
	case n == 0:
		if n = lookAhead(b, e.fits); n == 0 {
			return 0, line.More
		}
	}
	e.junk += n
	return n, line.Skip
}

// fits reports whether a frame is the answer: a sum is a weak check, so everything
// else has to be right as well.
func (e *ear) fits(f Frame) bool {
	q := e.question
	return f.Source == q.motor.address && f.Destination == e.driver.options.host && (f.ID == q.want || f.ID == nack)
}

// shout sends a frame that nobody answers: to a group, or to everybody.
func (d *Driver) shout(f Frame, before func(), after func(sent time.Time)) appliance.Exchange {
	airtime := d.airtime(minFrame + len(f.Data))
	turnaround := time.Duration(0)
	if d.socket {
		turnaround = airtime + d.options.quiet // the serial server has yet to send it
	}
	return appliance.Exchange{
		Airtime: d.options.quiet + airtime, Worst: d.options.quiet + airtime,
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			raw, err := f.Bytes()
			if err != nil {
				return appliance.Result{}, fmt.Errorf("bus %s: %w: %w", d.name, appliance.ErrRefused, err)
			}
			if before != nil {
				before()
			}
			reply, err := d.line.Exchange(ctx, line.Request{Frame: raw, Turnaround: turnaround, Yield: y, Actuates: f.ID.moves()})
			if !reply.Sent.IsZero() && after != nil {
				after(reply.Sent)
			}
			return appliance.Result{Sent: reply.Sent}, err
		},
	}
}
