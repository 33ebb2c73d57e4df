package sdn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
)

var (
	_ appliance.Servicer = (*Driver)(nil)
	_ appliance.Troubled = (*Driver)(nil)
)

// Services are what an installer does with one motor at a time.
func (d *Driver) Services() []appliance.Service {
	address := appliance.Input{Name: "address", About: "of the motor, as on its label", Required: true}
	priority := appliance.Input{Name: "priority", About: "of the lock, 0 to 255; 10 without it. A lock is changed by the same priority or a higher one"}
	job := func(name, about string, changes bool, do func(*bench) error, inputs ...appliance.Input) appliance.Service {
		return appliance.Service{Name: name, About: about, Changes: changes, Inputs: append([]appliance.Input{address}, inputs...),
			Run: func(ctx context.Context, s appliance.Session) error {
				a, err := d.motorAddress(s.Inputs["address"])
				if err != nil {
					return err
				}
				return do(&bench{ctx, d, s, a})
			}}
	}
	return []appliance.Service{
		job("motor", "read what a motor tells: label, version, limits, position, status, groups", false, (*bench).motor),
		job("label", "read a motor's label, or write it", true, (*bench).label,
			appliance.Input{Name: "text", About: "new label, up to 16 plain characters"}),
		job("lock", "lock a motor where it stands: it refuses orders until it is unlocked", true, (*bench).lock, priority),
		job("unlock", "let a motor obey again", true, (*bench).unlock, priority),
		job("jog", "move a motor a little, to see which way it turns", false, (*bench).jog,
			appliance.Input{Name: "direction", About: "up or down", Required: true},
			appliance.Input{Name: "pulses", About: "how far, 1 to 1000", Required: true}),
		job("intermediate", "send a motor to one of its intermediate positions", false, (*bench).intermediate,
			appliance.Input{Name: "number", About: "1 to 16", Required: true}),
	}
}

// motorAddress is that of one motor.
func (d *Driver) motorAddress(text string) (Address, error) {
	a, err := ParseAddress(text)
	if err != nil || a == Nobody || a == Everybody || a.IsGroup() {
		return a, fmt.Errorf("address %q: want that of one motor as printed on its label, such as 06.1A.2B", text)
	}
	return a, nil
}

// bench is a motor that somebody works on.
type bench struct {
	ctx     context.Context
	driver  *Driver
	session appliance.Session
	address Address
}

// benchTries is how often something is tried that does the same twice as once.
const benchTries = 3

// ask performs an exchange that may be repeated.
func (b *bench) ask(e appliance.Exchange) error {
	for try := 1; ; try++ {
		_, err := b.session.Perform(b.ctx, e)
		passes := errors.Is(err, appliance.ErrSilent) || errors.Is(err, appliance.ErrDamaged) || errors.Is(err, appliance.ErrBusy)
		if !passes || try == benchTries {
			return err
		}
	}
}

func (b *bench) tell(facts ...appliance.Fact) {
	b.session.Tell(appliance.ServiceStep{Address: b.address.String(), Facts: facts})
}

// number reads an input between bounds; def stands for one that is not there.
func (b *bench) number(name string, low, high, def int) (int, error) {
	text := b.session.Inputs[name]
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%q: %w, want %d to %d", name, text, appliance.ErrOutOfRange, low, high)
	}
	return n, nil
}

// motor reads everything. What a type of motor does not know is left out.
func (b *bench) motor() error {
	d, a := b.driver, b.address
	var facts []appliance.Fact
	add := func(name string, value any) { facts = append(facts, appliance.Fact{Name: name, Value: value}) }
	var label, version string
	var limits Limits
	var at position
	var how status
	for _, q := range []struct {
		step     string
		exchange appliance.Exchange
		take     func()
	}{
		{"label", d.ReadLabel(a, &label), func() { add("label", label) }},
		{"version", d.ReadVersion(a, &version), func() { add("version", version) }},
		{"limits", d.ReadLimits(a, &limits), func() {
			if add("limits_set", limits.Set); limits.Set {
				add("down_limit_pulses", limits.Down)
			}
		}},
		{"position", d.readOf(a, getMotorPosition, postMotorPosition, 5, "asking for its position", func(data []byte) { at, _ = readPosition(data) }), func() {
			if at.known() {
				add("position_percent_open", int(d.motorAt(a).positionOf(at.Percent)))
				add("position_pulses", int(at.Pulses))
			}
		}},
		{"status", d.readOf(a, getMotorStatus, postMotorStatus, 4, "asking for its status", func(data []byte) { how, _ = readStatus(data) }), func() { add("status", how.String()) }},
	} {
		b.session.Tell(appliance.ServiceStep{Step: "asking for its " + q.step})
		switch err := b.ask(q.exchange); {
		case err == nil:
			q.take()
		case !errors.Is(err, appliance.ErrRefused):
			return err
		}
	}
	groups, err := b.groups()
	if err != nil {
		return err
	}
	add("groups", strings.Join(groups, " "))
	b.tell(facts...)
	return nil
}

// groups reads the group table, up to a stretch of empty entries or the table's end.
func (b *bench) groups() (list []string, err error) {
	var g Address
	for i, empty := 0, 0; i < maxGroups && empty < emptyEntries; i++ {
		b.session.Tell(appliance.ServiceStep{Step: fmt.Sprintf("asking for group %d", i)})
		switch err := b.ask(b.driver.ReadGroup(b.address, i, &g)); {
		case errors.Is(err, appliance.ErrRefused):
			return list, nil
		case err != nil:
			return list, err
		case g == Nobody:
			empty++
		default:
			list, empty = append(list, g.String()), 0
		}
	}
	return list, nil
}

// label writes the label, if there is a new one, and tells what it is then.
func (b *bench) label() error {
	text, given := b.session.Inputs["text"]
	if given {
		e, err := b.driver.SetLabel(b.address, text)
		if err != nil {
			return err
		}
		if err := b.ask(e); err != nil {
			return err
		}
	}
	var is string
	if err := b.ask(b.driver.ReadLabel(b.address, &is)); err != nil {
		return err
	}
	b.tell(appliance.Fact{Name: "label", Value: is})
	if given && is != strings.TrimRight(text, " ") {
		return fmt.Errorf("motor %v acknowledged label %q: %w: %q", b.address, text, appliance.ErrMismatch, is)
	}
	return nil
}

func (b *bench) lock() error   { return b.setLock(LockHere) }
func (b *bench) unlock() error { return b.setLock(Unlock) }

// setLock locks or unlocks, and tells what the motor says it is then.
func (b *bench) setLock(how Lock) error {
	priority, err := b.number("priority", 0, 0xFF, 10)
	if err != nil {
		return err
	}
	if err := b.ask(b.driver.SetLock(b.address, how, 0, uint8(priority))); err != nil {
		return err
	}
	var is status
	read := b.driver.readOf(b.address, getMotorStatus, postMotorStatus, 4, "asking for its status", func(data []byte) { is, _ = readStatus(data) })
	if err := b.ask(read); err != nil {
		return err
	}
	b.tell(appliance.Fact{Name: "locked", Value: is.State == stateLocked}, appliance.Fact{Name: "status", Value: is.String()})
	return nil
}

// jog moves a motor once. It is not repeated: a motor whose acknowledgement was lost
// would go twice as far.
func (b *bench) jog() error {
	pulses, err := b.number("pulses", 1, 1000, 0)
	if err != nil {
		return err
	}
	by, ok := map[string]MoveOf{"up": JogUpPulses, "down": JogDownPulses}[b.session.Inputs["direction"]]
	if !ok {
		return fmt.Errorf("direction=%q: want up or down", b.session.Inputs["direction"])
	}
	_, err = b.session.Perform(b.ctx, b.driver.Jog(b.address, by, uint16(pulses)))
	return err
}

func (b *bench) intermediate() error {
	n, err := b.number("number", 1, 16, 0)
	if err != nil {
		return err
	}
	e, err := b.driver.GoToIntermediate(b.address, n)
	if err != nil {
		return err
	}
	return b.ask(e)
}
