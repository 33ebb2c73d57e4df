package dmx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// errNobody: the widget said that no RDM device answered.
var errNobody = fmt.Errorf("%w from the RDM device", appliance.ErrSilent)

// rdmTries of a question whose answer did not come or came damaged.
const rdmTries = 3

// settled is how long the widget is left alone after a discovery answer: firmware
// before 4.15 reports a time-out behind it, and must not be spoken to before.
const settled = 10 * time.Millisecond

// DeviceInfo is what an RDM device says of itself (E1.20, 10.5.1).
type DeviceInfo struct {
	Model         uint16
	Category      uint16
	Software      uint32
	Footprint     int // slots it takes; 0: it listens to none
	Personality   int // in use, from 1
	Personalities int
	StartAddress  int // 1 to 512; 0: none
	SubDevices    int
	Sensors       int
}

// Discover finds the RDM devices on the bus, in the order in which they answered.
// It takes about 20 ms per device and per collision, between which the universe is
// sent and commands pass. Safe to call from any goroutine while Run runs.
func (d *Driver) Discover(ctx context.Context) ([]UID, error) {
	var search discovery
	for {
		step, ok := search.next()
		if !ok {
			return search.found, search.err()
		}
		heard, err := d.perform(ctx, step)
		if err != nil {
			return search.found, fmt.Errorf("RDM discovery, %v: %w", step, err)
		}
		search.heard(step, heard)
	}
}

// DeviceInfo asks an RDM device what it is.
func (d *Driver) DeviceInfo(ctx context.Context, uid UID) (DeviceInfo, error) {
	data, err := d.get(ctx, uid, pidDeviceInfo)
	if err != nil {
		return DeviceInfo{}, err
	}
	if len(data) != 19 {
		return DeviceInfo{}, fmt.Errorf("device info of %v: %w: %d bytes, want 19", uid, appliance.ErrDamaged, len(data))
	}
	word := func(i int) int { return int(binary.BigEndian.Uint16(data[i:])) }
	info := DeviceInfo{
		Model: uint16(word(2)), Category: uint16(word(4)), Software: binary.BigEndian.Uint32(data[6:]),
		Footprint: word(10), Personality: int(data[12]), Personalities: int(data[13]), StartAddress: word(14),
		SubDevices: word(16), Sensors: int(data[18]),
	}
	if info.StartAddress > UniverseSlots {
		info.StartAddress = 0 // FFFF: it has no slots
	}
	return info, nil
}

// StartAddress asks an RDM device for its start slot; 0: it has none.
func (d *Driver) StartAddress(ctx context.Context, uid UID) (int, error) {
	data, err := d.get(ctx, uid, pidStartAddress)
	if err != nil {
		return 0, err
	}
	if len(data) != 2 {
		return 0, fmt.Errorf("start address of %v: %w: %d bytes, want 2", uid, appliance.ErrDamaged, len(data))
	}
	if n := int(binary.BigEndian.Uint16(data)); n <= UniverseSlots {
		return n, nil
	}
	return 0, nil
}

// SetStartAddress gives an RDM device another start slot, 1 to 512.
func (d *Driver) SetStartAddress(ctx context.Context, uid UID, slot int) error {
	if slot < 1 || slot > UniverseSlots {
		return fmt.Errorf("start address %d: %w: 1 to 512", slot, appliance.ErrOutOfRange)
	}
	return d.set(ctx, uid, pidStartAddress, []byte{byte(slot >> 8), byte(slot)})
}

// ShowItself makes an RDM device show itself, usually by blinking, or stop it. It
// goes on until it is stopped. [BroadcastUID] means all, of whom nobody answers.
func (d *Driver) ShowItself(ctx context.Context, uid UID, on bool) error {
	data := []byte{0}
	if on {
		data[0] = 1
	}
	return d.set(ctx, uid, pidIdentify, data)
}

// Label asks an RDM device for the name it was given.
func (d *Driver) Label(ctx context.Context, uid UID) (string, error) {
	data, err := d.get(ctx, uid, pidLabel)
	return strings.ToValidUTF8(string(data), "?"), err
}

// SetLabel names an RDM device, 32 ASCII characters at most.
func (d *Driver) SetLabel(ctx context.Context, uid UID, name string) error {
	if len(name) > 32 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("label %q: %w: 32 ASCII characters at most", name, appliance.ErrOutOfRange)
	}
	return d.set(ctx, uid, pidLabel, []byte(name))
}

func (d *Driver) get(ctx context.Context, uid UID, p parameter) ([]byte, error) {
	return d.ask(ctx, rdmPacket{to: uid, class: classGet, parameter: p})
}

func (d *Driver) set(ctx context.Context, uid UID, p parameter, data []byte) error {
	_, err := d.ask(ctx, rdmPacket{to: uid, class: classSet, parameter: p, data: data})
	return err
}

// ask puts a question to one device, again if need be, and returns the data of its
// answer.
func (d *Driver) ask(ctx context.Context, q rdmPacket) ([]byte, error) {
	what := fmt.Sprintf("bus %s: RDM device %v: %v %v", d.name, q.to, q.class, q.parameter)
	for try := 1; ; try++ {
		a, err := d.transact(ctx, labelSendRDM, q)
		if q.to == BroadcastUID && errors.Is(err, errNobody) {
			return nil, nil
		}
		if err == nil {
			err = judge(a.packet)
		}
		switch {
		case err == nil:
			return a.packet.data, nil
		case try < rdmTries && (errors.Is(err, errNobody) || errors.Is(err, appliance.ErrDamaged)):
			continue
		}
		return nil, fmt.Errorf("%s: %w", what, err)
	}
}

// judge turns an answer's type into an error.
func judge(a rdmPacket) error {
	switch a.port {
	case rdmAck:
		return nil
	case rdmAckTimer:
		wait := "later"
		if len(a.data) == 2 {
			wait = "in " + (time.Duration(binary.BigEndian.Uint16(a.data)) * 100 * time.Millisecond).String()
		}
		return fmt.Errorf("%w: it answers %s; ask again then", appliance.ErrBusy, wait)
	case rdmNack:
		return fmt.Errorf("%w: %s", appliance.ErrRefused, nackReason(a.data))
	case rdmAckOverflow:
		return fmt.Errorf("%w: its answer is longer than one packet", appliance.ErrRefused)
	}
	return fmt.Errorf("%w: answer type %d", appliance.ErrDamaged, a.port)
}

// nackReason puts a reason into words (E1.20, table A-17).
func nackReason(data []byte) string {
	if len(data) != 2 {
		return "without a reason"
	}
	reasons := []string{
		"it does not know this parameter", "the request's form is wrong", "a fault in its hardware",
		"it is reached through another device", "write protected", "it does not do this with this parameter",
		"the value is out of range", "its memory is full", "the packet is too long for it",
		"no such sub-device", "it waits for another answer",
	}
	code := int(binary.BigEndian.Uint16(data))
	if code < len(reasons) {
		return reasons[code]
	}
	return fmt.Sprintf("reason %04X", code)
}

// rdmAnswer is what came back: a packet, or the raw bytes of a discovery answer.
type rdmAnswer struct {
	packet rdmPacket
	raw    []byte
}

// transact sends one RDM packet, waits for the outcome, and sends the universe
// again: everything but labels 3 and 6 stops the widget's output. Nothing is sent
// before the widget has told the outcome, as it would get confused; nobody can
// therefore pre-empt it, and it holds the bus for rdmTimeout at most.
func (d *Driver) transact(ctx context.Context, l label, q rdmPacket) (rdmAnswer, error) {
	p, ok := d.out.(*pro)
	if !ok {
		return rdmAnswer{}, fmt.Errorf("bus %s: %w speak RDM: an Open DMX interface cannot listen; a DMX USB Pro can", d.name, appliance.ErrUnable)
	}
	if err := d.take(ctx); err != nil {
		return rdmAnswer{}, err
	}
	defer d.give()
	if err := p.introduce(ctx); err != nil {
		return rdmAnswer{}, err
	}
	if err := p.outwait(ctx, appliance.Yield{}, p.lateRDM); err != nil {
		return rdmAnswer{}, err
	}
	p.number++
	q.from, q.number, q.port = p.uid, p.number, 1
	reply, err := p.exchange(ctx, line.Request{
		Frame: widgetFrame{l, q.encode()}.encode(nil), Timeout: p.options.rdmTimeout,
		Scan: scanFor(func(f widgetFrame) bool { return concerns(f, l, q) }),
	})
	answered := err == nil && label(reply.Frame[1]) == labelReceived
	if !reply.Sent.IsZero() {
		if err != nil {
			p.lateRDM = reply.Sent.Add(2 * p.options.rdmTimeout)
		}
		if l == labelDiscovery && answered {
			p.guard = settled
		}
		if p.restore(ctx) != nil {
			p.doubt()
		}
	}
	switch {
	case err != nil && q.to == BroadcastUID && l != labelDiscovery && errors.Is(err, appliance.ErrSilent):
		return rdmAnswer{}, errNobody // some firmware reports no time-out where no answer is due
	case err != nil:
		return rdmAnswer{}, fmt.Errorf("widget: %w", err)
	case !answered:
		return rdmAnswer{}, errNobody
	}
	return readAnswer(reply.Frame, l)
}

// concerns reports whether a widget frame is the outcome of a question.
func concerns(f widgetFrame, l label, q rdmPacket) bool {
	switch {
	case f.label == labelRDMTimeout:
		return true
	case f.label != labelReceived || len(f.data) < 2:
		return false
	case l == labelDiscovery:
		return f.data[1] != 0 // not DMX of another sender
	}
	a, err := parseRDM(f.data[1:])
	if err != nil {
		return f.data[1] == rdmStartCode // damaged: no use in waiting on
	}
	return a.number == q.number && a.to == q.from && a.from == q.to && a.class == q.class+1 && a.parameter == q.parameter
}

func readAnswer(frame []byte, l label) (rdmAnswer, error) {
	f, err := parseFrame(frame)
	if err != nil {
		return rdmAnswer{}, fmt.Errorf("%w: %w", appliance.ErrDamaged, err)
	}
	if l == labelDiscovery {
		return rdmAnswer{raw: f.data[1:]}, nil
	}
	a, err := parseRDM(f.data[1:])
	if err != nil {
		return rdmAnswer{}, fmt.Errorf("%w: %w", appliance.ErrDamaged, err)
	}
	return rdmAnswer{packet: a}, nil
}

// makerEnttec is the maker part of UIDs that belong to ENTTEC; a widget's own UID
// is made of it and its serial number.
const makerEnttec = 0x454E

// introduce learns once who the widget is. Called with the driver's turn.
func (p *pro) introduce(ctx context.Context) error {
	if p.known() == nil {
		if _, err := p.check(ctx, appliance.Yield{}); err != nil {
			return err
		}
	}
	if w := p.known(); !w.RDM() {
		return fmt.Errorf("bus %s: %w: the widget's firmware %d.%d has no RDM; load ENTTEC's RDM firmware (2.x) into it", p.driver.name, appliance.ErrRefused, w.FirmwareHigh, w.FirmwareLow)
	}
	if p.uid != 0 {
		return nil
	}
	reply, err := p.exchange(ctx, line.Request{
		Frame: widgetFrame{label: labelSerial}.encode(nil), Timeout: p.options.responseTimeout,
		Scan: scanFor(func(f widgetFrame) bool { return f.label == labelSerial && len(f.data) == 4 }),
	})
	if !reply.Sent.IsZero() {
		p.doubt() // label 10 stops the output; what follows starts it again
	}
	if err != nil {
		return fmt.Errorf("serial number of the widget: %w", err)
	}
	p.uid = UID(makerEnttec)<<32 | UID(binary.LittleEndian.Uint32(reply.Frame[4:]))
	return nil
}
