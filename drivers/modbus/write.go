package modbus

import (
	"cmp"
	"context"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// op is one number to be written for a thing.
type op struct {
	things []*thing // whose state it changes; several for a group register
	at     point
	n      int
	phase  int // ops of a later phase are written after all of an earlier one
	// words to write. late ones are worked out when the frame goes out.
	words []uint16
	late  func() []uint16
	// done notes what was asked, once the frame has been sent.
	done func()
}

func (o op) value() []uint16 {
	if o.late != nil {
		return o.late()
	}
	return o.words
}

// frame is one write frame: ops of one phase at neighbouring addresses.
type frame struct {
	unit *unit
	ops  []op
}

func (f frame) at() point { return f.ops[0].at }

func (f frame) len() int {
	n := 0
	for _, o := range f.ops {
		n += o.n
	}
	return n
}

// fixed reports whether the frame's content is known now.
func (f frame) fixed() bool {
	return !slices.ContainsFunc(f.ops, func(o op) bool { return o.late != nil })
}

// request of the frame, to its unit or, with unit 0, to everybody.
func (f frame) request(unit byte, values []uint16) request {
	r := request{unit: unit, addr: f.at().addr}
	if f.at().table.bits() {
		for _, v := range values {
			r.bits = append(r.bits, v != 0)
		}
		if r.fn = writeCoils; len(values) == 1 && !f.unit.profile.Limits.WriteMultiple {
			r.fn = writeCoil
		}
		return r
	}
	r.values = values
	if r.fn = writeRegisters; len(values) == 1 && !f.unit.profile.Limits.WriteMultiple {
		r.fn = writeRegister
	}
	return r
}

func (f frame) values() []uint16 {
	var values []uint16
	for _, o := range f.ops {
		values = append(values, o.value()...)
	}
	return values
}

// frames joins ops at neighbouring addresses, phase by phase.
func (d *Driver) frames(u *unit, ops []op) []frame {
	slices.SortStableFunc(ops, func(a, b op) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(b.at.table, a.at.table), cmp.Compare(a.at.addr, b.at.addr))
	})
	limits := u.profile.Limits
	var list []frame
	for _, o := range ops {
		most := lowest(limits.WriteRegisters, maxWriteRegisters)
		if o.at.table.bits() {
			most = lowest(limits.WriteBits, maxWriteBits)
		}
		if i := len(list) - 1; i >= 0 {
			f := list[i]
			if f.ops[0].phase == o.phase && f.at().table == o.at.table && int(f.at().addr)+f.len() == int(o.at.addr) && f.len()+o.n <= most {
				list[i].ops = append(list[i].ops, o)
				continue
			}
		}
		list = append(list, frame{unit: u, ops: []op{o}})
	}
	return list
}

// writeExchange sends a frame. What the registers held is unknown from the moment
// it goes out until it is read again.
func (d *Driver) writeExchange(f frame) appliance.Exchange {
	var values []uint16
	known := f.fixed()
	if known {
		values = f.values()
	} else {
		values = make([]uint16, f.len())
	}
	q := f.request(f.unit.number, values)
	return d.exchange(f.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		q := q // the exchange may be repeated, with other values
		if !known {
			q = f.request(f.unit.number, f.values())
		}
		_, reply, err := d.ask(ctx, y, q, timing{timeout: f.unit.timeout, guard: f.unit.guard, actuates: true})
		if !reply.Sent.IsZero() {
			f.sent()
		}
		return appliance.Result{Sent: reply.Sent}, err
	})
}

func (f frame) sent() {
	for _, o := range f.ops {
		for _, t := range o.things {
			t.forget()
		}
		if o.done != nil {
			o.done()
		}
	}
}

// broadcastExchange sends the same frame of several units once, to everybody.
func (d *Driver) broadcastExchange(same []frame) appliance.Exchange {
	first := same[0]
	var guard time.Duration // what all need that are to hear it
	for _, f := range same {
		guard = max(guard, f.unit.guard)
	}
	q := first.request(0, first.values())
	return d.exchange(first.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		_, reply, err := d.ask(ctx, y, q, timing{guard: guard, actuates: true})
		if !reply.Sent.IsZero() {
			for _, f := range same {
				f.sent()
			}
		}
		return appliance.Result{Sent: reply.Sent}, err
	})
}
