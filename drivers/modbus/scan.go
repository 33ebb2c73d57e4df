package modbus

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/scan"
)

// Time-outs of the probes of a scan, besides the time the answer takes on the wire.
// They are short, as most addresses are empty; a gateway needs longer than the serial
// line behind it.
const (
	probeTimeout    = 100 * time.Millisecond
	probeTCPTimeout = time.Second
)

// Scan asks every unit for holding register 0: any answer, an exception too, means
// that somebody is there. On a serial line whoever answers is then listened to for
// the whole time-out, so that a second device with the same address is heard too.
// Single devices are asked for their nameplate and for the numbers by which profiles
// recognise them.
//
// Before and after, the line is left alone for a while, to hear who talks without
// being asked, and who answers when nobody waits for it any more.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := max(opts.First, 1), opts.Last
	if last == 0 || last > LastUnit {
		last = LastUnit
	}
	return scan.Steps(func(c *scan.Course) {
		s := &search{Course: c, driver: d, all: opts.AllSettings, heard: newEavesdropper(d), bad: make(map[byte]badUnit)}
		c.Overhear(d.line.Recent, s.heard.take)
		s.listen(listenSlices)
		if s.heard.anything() {
			s.listen(suspectsSlices)
		}
		s.tellTalkers(false)
		if opts.FindOut != nil {
			s.findOut(opts.FindOut, first, last)
			return
		}
		for range looks {
			for n := first; n <= last && !s.over(); n++ {
				if !s.heardOf(byte(n)) {
					s.unit(byte(n))
				}
			}
			s.listen(lastSlices) // before anybody is asked again: a late answer is not one to the next question
			if d.codec.tcp || s.mute > 0 || s.heard.noisy() {
				break
			}
		}
		s.again(first, last)
		s.late(first, last)
		s.judgeLine()
		if s.all {
			s.allSettings(first, last)
		}
		s.nobody(first, last)
	})
}

// looks at each address of a line: a question or an answer may be lost once, and a
// device that a scan misses is missed by whoever trusts it.
const looks = 2

// heardOf reports whether an address needs no second look: somebody answered there in
// whatever way, or it is in the site and was asked more than once.
func (s *search) heardOf(n byte) bool {
	_, bad := s.bad[n]
	return s.there[n] || bad || s.heard.late[n] || slices.Contains(s.unsure, n) || s.asked[n] && s.driver.units[n] != nil
}

// search is a scan under way. Its methods do nothing once it is over.
type search struct {
	*scan.Course
	driver *Driver
	heard  *eavesdropper
	all    bool             // other settings are tried, too
	drowns int              // probes in a row that could not be sent, since the line is never silent
	clean  int              // units that answered as they should
	bad    map[byte]badUnit // units whose answers were damaged or several
	unsure []byte           // addresses at which noise and answers cannot be told apart
	there  [256]bool
	asked  [256]bool
	echoed bool // the adapter returns what is sent
	astray int  // units that answered at other settings
	mute   int  // questions that it did not return, though the bus says that it does
}

// badUnit is a unit whose answers were damaged or several.
type badUnit struct {
	found  appliance.Found
	proven bool // several whole answers to one question came more than once
}

// hopeless is how many probes in a row a line that is never silent gets.
const hopeless = 3

// over reports whether there is no use in asking any more.
func (s *search) over() bool { return s.Over() || s.drowns >= hopeless }

// probe is one question of a scan.
type probe struct {
	request
	at      *appliance.LineSettings // nil: those of the bus
	timeout time.Duration
	listen  *rollCall // not nil: hear everybody until the time-out
}

// ask has one question asked, and asked again when the port was lost meanwhile. The
// time is that from the end of the question to the beginning of its answer.
func (s *search) ask(p probe) (answer, time.Duration, error) {
	for i := 0; i < 3; i++ {
		a, took, err := s.askOnce(p)
		if errors.Is(err, appliance.ErrPreempted) { // by a command: once the answer cannot come any more
			i--
			if !s.driver.codec.tcp {
				s.awaitQuiet(p.unit)
			}
			continue
		}
		if !errors.Is(err, appliance.ErrBusDown) {
			return a, took, err
		}
	}
	return answer{}, 0, scan.ErrOver
}

func (s *search) askOnce(p probe) (answer, time.Duration, error) {
	if s.over() {
		return answer{}, 0, scan.ErrOver
	}
	d := s.driver
	echoed := false
	u := &unit{number: p.unit, key: unitKey(p.unit), profile: &Profile{}, timeout: p.timeout, guard: d.guardOf(p.unit)}
	var got answer
	var took time.Duration
	address := unitKey(p.unit)
	if p.at != nil {
		address += " at " + settingsName(*p.at)
	}
	_, failed := s.Ask(address, d.exchange(u, p.request, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		a, reply, err := d.ask(ctx, y, p.request, timing{timeout: p.timeout, guard: u.guard, at: p.at, listen: p.listen, echoed: &echoed})
		got, took = a, max(0, reply.Done.Sub(reply.Sent)-d.characters(len(reply.Frame)))
		return appliance.Result{Sent: reply.Sent}, err
	}))
	if errors.Is(failed, line.ErrBabble) {
		s.drowns++
	} else {
		s.drowns = 0
	}
	switch {
	case errors.Is(failed, line.ErrEcho):
		s.mute++
	case echoed && !s.echoed:
		s.tellEcho(p.request)
	}
	return got, took, failed
}

// guardOf is the silence that a unit needs before a request.
func (d *Driver) guardOf(unit byte) time.Duration {
	if u := d.units[unit]; u != nil {
		return u.guard
	}
	return d.options.guard
}

// patience is how long a scan waits for an answer of n bytes: short for strangers, as
// long as ever for who is in the site.
func (d *Driver) patience(unit byte, n int) time.Duration {
	if u := d.units[unit]; u != nil {
		return u.timeout
	}
	switch {
	case d.options.responseTimeout > 0:
		return d.options.responseTimeout
	case d.codec.tcp:
		return probeTCPTimeout
	}
	return probeTimeout + d.characters(n)
}

// question is what everybody is asked; nobody needs to have the register.
func question(unit byte) request { return request{unit: unit, fn: readHolding, qty: 1} }

// Times that somebody who is in the site is asked before he counts as silent.
const knownTries = 3

// unit looks who is at one address.
func (s *search) unit(n byte) {
	d := s.driver
	s.asked[n] = true
	known := d.units[n]
	tries, missed := 1, 0
	if known != nil {
		tries = knownTries
	}
	q := probe{request: question(n), timeout: d.patience(n, 7)}
	var err error
	for range tries {
		if _, _, err = s.ask(q); !errors.Is(err, appliance.ErrSilent) {
			break
		}
		missed++
	}
	switch {
	case errors.Is(err, scan.ErrOver), errors.Is(err, line.ErrBabble), errors.Is(err, line.ErrEcho):
	case errors.Is(err, appliance.ErrSilent):
		s.missed(n, err)
	case missed > 0 && !s.driver.codec.tcp && (answered(err) || s.heard.late[n]):
		s.heard.late[n] = true // it may have answered an earlier question
	case answered(err), errors.Is(err, appliance.ErrDamaged):
		s.whoIs(n, err)
	}
}

// answered reports whether somebody answered as it should, be it by refusing.
func answered(err error) bool {
	var exception *Exception
	return err == nil || errors.As(err, &exception)
}

// Questions at addresses that were silent, if nobody answered as it should.
const moreTries = 3

// again asks those that did not answer once more, if the line seems sick: nobody
// answered, or not fewer answered badly than well.
func (s *search) again(first, last int) {
	if s.driver.codec.tcp || s.heard.noisy() || s.mute > 0 || s.clean > len(s.bad) {
		return
	}
	for n := first; n <= last && !s.over(); n++ {
		for i := 0; i < moreTries && !s.heard.late[byte(n)] && !s.there[n] && s.driver.units[byte(n)] == nil; i++ {
			_, _, err := s.ask(probe{request: question(byte(n)), timeout: s.driver.patience(byte(n), 7)})
			if answered(err) || errors.Is(err, appliance.ErrDamaged) {
				s.whoIs(byte(n), err)
				break
			}
		}
	}
}

// missed tells of somebody who is in the site and was not heard.
func (s *search) missed(n byte, err error) {
	if s.driver.units[n] == nil {
		return
	}
	f := appliance.Found{Address: unitKey(n), Finding: appliance.FoundSilent, Detail: whySilent(err),
		Advice: "check its power, its connector, its address and its bit rate and parity"}
	if !s.all {
		f.Advice += " (--all-settings tries others)"
	}
	s.Tell(f)
}

// whySilent says why nobody was heard.
func whySilent(err error) string {
	var exception *Exception
	if errors.As(err, &exception) {
		return "the gateway says: " + exceptionName(exception.Code)
	}
	return "does not answer"
}

// whoIs finds out who answered; err is how the first answer was.
func (s *search) whoIs(n byte, err error) {
	quality := ""
	if !s.driver.codec.tcp {
		r := s.callRoll(n, errors.Is(err, appliance.ErrDamaged))
		if s.over() {
			return
		}
		noisy, babble := s.heard.noisy(), s.heard.babbles()
		switch f, wrong := r.trouble(n, babble, noisy); {
		case r.unsure(noisy):
			s.unsure = append(s.unsure, n)
			return
		case r.nobody(babble):
			s.missed(n, nil)
			return
		case wrong:
			s.there[n] = true
			s.bad[n] = badUnit{found: f, proven: r.twice > 1}
			s.Tell(f)
			return
		}
		quality = r.quality(noisy)
	} else if errors.Is(err, appliance.ErrDamaged) {
		s.Tell(appliance.Found{Address: unitKey(n), Finding: appliance.FoundDamaged, Detail: err.Error(),
			Advice: "check what the gateway does with this unit"})
		return
	}
	s.there[n] = true
	s.clean++
	g := s.guesser(n, nil)
	f := g.guess()
	f.Detail += quality
	s.Tell(f)
	if f.Gateway {
		g.gear(f)
	}
}
