package engine

import (
	"context"
	"errors"
	"time"

	"svc.internal/controller/appliance"
)

// makeUpFor gives the commands to other devices the time that one took by its silence.
func (s *State) makeUpFor(silent string, took time.Duration) {
	for _, p := range s.pieces {
		if (p.exchange().Device != silent || s.link.doubt) && p.duty == noDuty {
			s.prolong(p, p.expires.Add(took))
		}
	}
}

// keepStops gives the STOPs that wait to be repeated behind others the time that those took.
func (s *State) keepStops(other *appliance.Exchange, took time.Duration) {
	for _, p := range s.pieces {
		if p.stops() && !p.verifying() && p.tries > 0 && p.exchange() != other && p.duty == noDuty {
			s.prolong(p, p.expires.Add(took))
		}
	}
}

// account keeps the health of the device and the counters. What jobs ask is not counted:
// a scan finds nobody at most addresses, which tells nothing of the wiring.
func (s *State) account(t *task, res appliance.Result, err error) {
	if t.isJob() {
		return
	}
	e := t.exchange
	var d *device
	both := []*appliance.BusStats{&s.accounts.stats}
	if e.Device != "" {
		d = s.device(e.Device)
		both = append(both, &d.stats)
	}
	for _, stats := range both {
		count(stats, err)
	}
	if d == nil {
		return
	}
	switch {
	case err == nil && t.writes() && !d.online && d.polled:
		// An adapter that echoes acknowledges most writes: only a read tells.
	case errors.Is(err, appliance.ErrOverslept):
		// It proves nothing; but an answer may still come.
		d.rest(t.writes(), s.now.Add(e.Late))
	case err == nil, errors.Is(err, appliance.ErrRefused), errors.Is(err, appliance.ErrBusy), errors.Is(err, appliance.ErrAccepted):
		if d.success(s.now) {
			s.groups.cameBack(e.Device)
			s.do(Standing{Nodes: s.present(d), Online: true, Seen: s.now})
			s.info("device answers", "device", e.Device)
		}
	case errors.Is(err, appliance.ErrSilent) && errors.Is(err, context.DeadlineExceeded):
		// The command's time was over, not the device's.
		d.rest(t.writes(), s.now.Add(e.Worst+e.Late))
	case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrDamaged):
		if errors.Is(err, appliance.ErrSilent) {
			d.rest(t.writes(), s.now.Add(e.Late))
		}
		s.failed(d, t, err)
	case errors.Is(err, appliance.ErrPreempted) && !res.Sent.IsZero():
		d.rest(t.writes(), s.now.Add(e.Late))
	}
}

// failed notes that a device did not answer, and tells once what follows from it.
func (s *State) failed(d *device, t *task, err error) {
	d.why = err
	switch gone := d.failure(t.kind != taskAttempt, s.now); {
	case gone:
		s.groups.wentAway(d.name)
		s.do(Standing{Nodes: d.nodes})
		s.warn("device is offline", "device", d.name, "why", err)
	case d.lastSeen.IsZero() && d.fails == offlineAfter:
		s.warn("device does not answer", "device", d.name, "why", err)
	}
}

// rest leaves the device alone with questions of one kind.
func (d *device) rest(write bool, until time.Time) {
	if write {
		d.restWrites = later(d.restWrites, until)
		return
	}
	d.restReads = later(d.restReads, until)
}

func count(s *appliance.BusStats, err error) {
	s.Exchanges++
	switch {
	case err == nil, errors.Is(err, appliance.ErrOverslept), errors.Is(err, appliance.ErrAccepted):
	case errors.Is(err, appliance.ErrSilent):
		s.Silent++
	case errors.Is(err, appliance.ErrDamaged):
		s.Damaged++
	case errors.Is(err, appliance.ErrRefused):
		s.Refused++
	case errors.Is(err, appliance.ErrBusy):
		s.Busy++
	case errors.Is(err, appliance.ErrBusDown):
		s.Down++
	case errors.Is(err, appliance.ErrExpired):
		s.Expired++
	case errors.Is(err, appliance.ErrPreempted):
		s.Preempted++
	}
}
