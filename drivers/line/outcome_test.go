package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// ending is a port of which it is known how it was closed, and what it has not sent.
type ending struct {
	sleeper
	stuck int
	how   string
}

func (p *ending) unsent() int { return p.stuck }
func (p *ending) abort()      { p.how = "aborted" }
func (p *ending) close()      { p.how = "closed" }

// How an exchange ended without an answer is what the caller is told, and whether the line is kept, and comes to rest first.
func TestWhatIsLeftOfAnExchangeThatFailed(t *testing.T) {
	damage := fmt.Errorf("%w: something", appliance.ErrDamaged)
	broken := errors.New("reset by peer")
	for name, row := range map[string]struct {
		serial   bool
		inFlight bool
		buffered string
		stuck    int
		actuates bool
		err      error
		want     error
		not      error
		how      string // the port was closed
		rest     bool
	}{
		"silence":                                {err: appliance.ErrSilent, want: appliance.ErrSilent},
		"overslept":                              {err: appliance.ErrOverslept, want: appliance.ErrOverslept},
		"damage on a connection that is kept":    {err: failure{error: damage, resync: true}, want: appliance.ErrDamaged, rest: true},
		"damage on a connection that is not":     {err: failure{error: damage, resync: true, drop: true}, want: appliance.ErrDamaged, rest: true, how: "closed"},
		"damage on a port":                       {serial: true, err: failure{error: damage, resync: true, drop: true}, want: appliance.ErrDamaged, rest: true},
		"damage after which nothing comes":       {err: failure{error: damage}, want: appliance.ErrDamaged},
		"gave way":                               {err: appliance.ErrPreempted, want: appliance.ErrPreempted},
		"caller left":                            {err: context.Canceled, want: context.Canceled, not: appliance.ErrSilent, rest: true},
		"deadline":                               {err: context.DeadlineExceeded, want: appliance.ErrSilent, rest: true},
		"caller left within an answer":           {buffered: "ab", err: context.Canceled, want: context.Canceled, not: appliance.ErrSilent, rest: true, how: "closed"},
		"caller left within an answer on a port": {serial: true, buffered: "ab", err: context.Canceled, want: context.Canceled, rest: true},
		"connection reset":                       {err: broken, want: appliance.ErrSilent, not: appliance.ErrBusDown, how: "closed"},
		"port pulled":                            {serial: true, err: broken, want: appliance.ErrBusDown, not: appliance.ErrSilent, how: "closed"},
		"a command is stuck":                     {stuck: 3, actuates: true, err: appliance.ErrSilent, want: appliance.ErrSilent, how: "aborted"},
		"a question is stuck":                    {stuck: 3, err: appliance.ErrSilent, want: appliance.ErrSilent},
		"a command that went out":                {actuates: true, err: appliance.ErrSilent, want: appliance.ErrSilent},

		"of several: silence":                      {inFlight: true, err: errTimeUp, want: appliance.ErrSilent},
		"of several: half an answer long ago":      {inFlight: true, buffered: "ab", err: errTimeUp, want: appliance.ErrDamaged, not: appliance.ErrSilent, how: "closed"},
		"of several: damage":                       {inFlight: true, err: damage, want: appliance.ErrDamaged},
		"of several: gave way":                     {inFlight: true, err: appliance.ErrPreempted, want: appliance.ErrPreempted, not: appliance.ErrSilent},
		"of several: deadline":                     {inFlight: true, err: context.DeadlineExceeded, want: appliance.ErrSilent},
		"of several: caller left":                  {inFlight: true, err: context.Canceled, want: context.Canceled, not: appliance.ErrSilent},
		"of several: connection reset":             {inFlight: true, err: broken, want: appliance.ErrSilent, how: "closed"},
		"of several: a command is stuck":           {inFlight: true, stuck: 3, actuates: true, err: errTimeUp, want: appliance.ErrSilent, how: "aborted"},
		"of several: a command that went out":      {inFlight: true, actuates: true, err: errTimeUp, want: appliance.ErrSilent},
		"of several: caller left, another's comes": {inFlight: true, buffered: "ab", err: context.Canceled, want: context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newIdle(t)
			if row.serial {
				l.address = ""
			}
			p := &ending{stuck: row.stuck}
			l.link.port = p
			l.in.buf, l.in.at = []byte(row.buffered), time.Now()
			sent := time.Now()
			time.Sleep(PartialGap)
			r := Request{Actuates: row.actuates, Timeout: PartialGap}
			var err error
			if row.inFlight {
				err = l.unheard(p, &talk{Request: r, err: row.err}, sent)
			} else {
				err = l.settle(p, r, row.err)
			}
			if !errors.Is(err, row.want) || row.not != nil && errors.Is(err, row.not) {
				t.Errorf("%s: %v, want %v", name, err, row.want)
			}
			if f := (failure{}); errors.As(err, &f) {
				t.Errorf("%s: the caller is given %#v", name, f)
			}
			if p.how != row.how || (l.current() == nil) != (row.how != "") {
				t.Errorf("%s: the port was %q, want %q", name, p.how, row.how)
			}
			if l.pace.dirty.IsZero() == row.rest {
				t.Errorf("%s: comes to rest first: %v, want %v", name, !row.rest, row.rest)
			}
			if !row.inFlight && row.rest && len(l.in.buf) > 0 && errors.Is(row.err, context.Canceled) {
				t.Errorf("%s: %q is left for the next", name, l.in.buf)
			}
		})
	}
}

// Of several questions that are out, one whose answer is damaged is told so, and the others get theirs; after one that cannot be
// told from the next, nobody is answered on that connection.
func TestDamageAmongSeveral(t *testing.T) {
	for name, row := range map[string]struct {
		answer string
		other  error
	}{"damaged": {"bad\n", nil}, "broken": {"broken\n", appliance.ErrSilent}} {
		g := newGateway(t, "127.0.0.1:0")
		l := g.line(func(c *Config) { c.InFlight = 2 })
		c := g.accept()
		exchange := func(text string) <-chan error {
			r := ask(text)
			r.Own = func(b []byte) bool { return text == "one" == (b[0] == 'b') }
			done := make(chan error, 1)
			go func() {
				_, err := l.Exchange(within(t, patience), r)
				done <- err
			}()
			readFrom(t, c, 4)
			return done
		}
		one, two := exchange("one"), exchange("two")
		io.WriteString(c, row.answer)
		if err := <-one; !errors.Is(err, appliance.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		io.WriteString(c, "two\n")
		if err := <-two; !errors.Is(err, row.other) {
			t.Errorf("%s: the other: %v, want %v", name, err, row.other)
		}
	}
}

// Whoever reads for all is not accused of what damaged another's answer.
func TestDamageIsOnlyItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newIdle(t)
		l.in.reader = make(chan struct{}, 1)
		p := &ending{}
		l.link.port = p
		talk := func(text string) *talk {
			r := ask(text)
			r.Own = func(b []byte) bool { return text == "one" == (b[0] == 'b') }
			t := &talk{Request: r, over: make(chan struct{})}
			l.in.talks = append(l.in.talks, t)
			return t
		}
		one, two := talk("one"), talk("two")
		l.in.buf, l.in.at = []byte("broken\n"), time.Now()
		sent := Reply{Sent: time.Now()}
		if _, err := l.hear(t.Context(), p, two, sent); !errors.Is(err, appliance.ErrSilent) || errors.Is(err, appliance.ErrDamaged) {
			t.Errorf("who read: %v", err)
		}
		if _, err := l.hear(t.Context(), p, one, sent); !errors.Is(err, appliance.ErrDamaged) {
			t.Errorf("whose answer it was: %v", err)
		}
		if p.how != "closed" {
			t.Errorf("the connection was %q", p.how)
		}
	})
}
