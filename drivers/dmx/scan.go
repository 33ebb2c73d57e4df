package dmx

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

// Scan finds RDM devices (through a USB Pro) and asks each what it is. Found are
// their start slots, with the UID as serial number; First and Last narrow the start
// slots shown. Fixtures without RDM cannot be found by anybody, so that nobody who is
// missing is called silent.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := opts.First, opts.Last
	if last == 0 {
		last = UniverseSlots
	}
	return scan.Steps(func(c *scan.Course) {
		s := &search{Course: c, driver: d, first: first, last: last, owner: make(map[int]fixture), seen: make(map[int]bool)}
		if opts.AllSettings {
			s.Tell(appliance.Found{Finding: appliance.FoundNote, Detail: "DMX has one bit rate: there are no other settings to try"})
		}
		if opts.FindOut != nil {
			s.findOut()
			return
		}
		if !s.discover() {
			return
		}
		for _, uid := range s.devices.found {
			s.describe(uid)
		}
		s.conclude()
	})
}

// findOut tells whether a widget is there, which is asked for its parameters. An Open DMX port is
// silent whatever is on it.
func (s *search) findOut() {
	if err := s.ask("widget", func(ctx context.Context) error {
		if err := s.driver.take(ctx); err != nil {
			return err
		}
		defer s.driver.give()
		_, err := s.driver.out.check(ctx, appliance.Yield{})
		return err
	}); err == nil && s.driver.options.kind == interfacePro {
		s.Tell(appliance.Found{Gateway: true, Detail: "a DMX widget, Enttec DMX USB Pro or compatible"})
	}
}

// search is a scan under way.
type search struct {
	*scan.Course
	driver      *Driver
	first, last int // start slots
	devices     discovery
	owner       map[int]fixture // of each slot
	seen        map[int]bool    // start slots of devices
}

// fixture is an RDM device and its slots.
type fixture struct {
	uid         UID
	start, size int
}

// ask does one transaction; its error says how it ended.
func (s *search) ask(address string, do func(context.Context) error) error {
	d := s.driver
	airtime, worst := d.out.busy(d.slots())
	_, err := s.Ask(address, appliance.Exchange{
		Device: d.device, Airtime: airtime, Worst: worst + d.options.rdmTimeout,
		Do: func(ctx context.Context, _ appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, do(ctx)
		},
	})
	return err
}

// discover searches for UIDs; false: there is no use in going on.
func (s *search) discover() bool {
	for lost := 0; ; {
		step, ok := s.devices.next()
		if !ok {
			return !s.Over()
		}
		var h heard
		err := s.ask(step.String(), func(ctx context.Context) (err error) {
			h, err = s.driver.perform(ctx, step)
			return err
		})
		switch {
		case s.Over():
			return false
		case lost < rdmTries && (errors.Is(err, appliance.ErrSilent) || errors.Is(err, appliance.ErrDamaged)):
			lost++ // in a row: it is asked again
			continue
		case err != nil:
			s.Tell(failed(err))
			return false
		}
		s.devices.heard(step, h)
		lost = 0
	}
}

// failed ends a scan. An interface that has no RDM is no trouble of the bus.
func failed(err error) appliance.Found {
	if errors.Is(err, appliance.ErrRefused) || errors.Is(err, appliance.ErrUnable) {
		return appliance.Found{Finding: appliance.FoundNote, Detail: err.Error() + "; fixtures cannot be found through it, and that says nothing about them or the wiring"}
	}
	return appliance.Found{Finding: appliance.FoundHindered, Detail: err.Error(), Advice: "check the interface and its USB cable; 'bus list' tells how it is doing"}
}

// describe asks a device what it is.
func (s *search) describe(uid UID) {
	var info DeviceInfo
	if err := s.ask(uid.String(), func(ctx context.Context) (err error) {
		info, err = s.driver.DeviceInfo(ctx, uid)
		return err
	}); err != nil {
		s.Tell(appliance.Found{Address: uid.String(), Finding: appliance.FoundDamaged, Serial: uid.String(),
			Detail: "is there, but does not say what it is: " + err.Error(), Advice: "scan again; if it stays so, check termination at the end of the line"})
		return
	}
	var label string
	_ = s.ask(uid.String(), func(ctx context.Context) (err error) { // not every device has one
		label, err = s.driver.Label(ctx, uid)
		return err
	})
	f := appliance.Found{Address: strconv.Itoa(info.StartAddress), Label: label, Serial: uid.String(), Detail: explain(uid, info)}
	f.Kind, f.Others, f.Lights = s.driver.candidates(info.Footprint)
	if info.Software != 0 {
		f.Version = fmt.Sprintf("%08X", info.Software)
	}
	if info.Footprint == 0 {
		f.Address = uid.String()
	}
	s.seen[info.StartAddress] = true
	s.overlap(&f, fixture{uid, info.StartAddress, info.Footprint})
	s.compare(&f, info)
	if info.StartAddress == 0 || info.StartAddress >= s.first && info.StartAddress <= s.last {
		s.Tell(f)
	}
}

// overlap says with whom a fixture shares slots. Fixtures of one size at one start
// slot are meant to do the same; all others disturb each other.
func (s *search) overlap(f *appliance.Found, me fixture) {
	for slot := me.start; slot < me.start+me.size; slot++ {
		other, taken := s.owner[slot]
		s.owner[slot] = me
		if !taken || other.uid == me.uid || f.Finding != "" {
			continue
		}
		if other.start == me.start && other.size == me.size {
			f.Detail += fmt.Sprintf("; has the slots of %v and does the same", other.uid)
			return
		}
		f.Finding = appliance.FoundCollision
		f.Detail += fmt.Sprintf("; OVERLAPS with %v at slot %d", other.uid, slot)
		f.Advice = "give one of them another start slot"
	}
}

// compare says so if the site has a fixture of another size at this start slot.
func (s *search) compare(f *appliance.Found, info DeviceInfo) {
	p := s.driver.starts[info.StartAddress]
	switch {
	case p == nil || info.Footprint == 0 || f.Finding != "":
	case p.Slots == info.Footprint:
		f.Kind, f.Others, f.Lights = p.Name, nil, len(p.lights) // the number of slots is all that a guess goes by
	default:
		f.Finding = appliance.FoundProfile
		f.Detail += fmt.Sprintf(", and the site says %s, which takes %d", p.Name, p.Slots)
		f.Advice = "change the profile in the site file, or the fixture's personality"
	}
}

// conclude tells what the search as a whole showed.
func (s *search) conclude() {
	for _, o := range s.devices.odd {
		f := appliance.Found{Finding: o.finding, Detail: "RDM discovery: " + o.text, Advice: "scan again; if it stays so, check termination at the end of the line"}
		if o.finding == appliance.FoundCollision {
			f.Advice = "unplug one of the devices with this UID; its maker gave it out twice"
		}
		if o.uid != 0 {
			f.Address = o.uid.String()
		}
		s.Tell(f)
	}
	if s.devices.steps > searchSteps {
		s.Tell(appliance.Found{Finding: appliance.FoundHindered, Detail: s.devices.err().Error(), Advice: "check termination and wiring; unplug half of the fixtures and scan again"})
		return
	}
	missing := 0
	for start := range s.driver.starts {
		if !s.seen[start] && start >= s.first && start <= s.last {
			missing++
		}
	}
	switch {
	case len(s.devices.found) == 0:
		s.Tell(appliance.Found{Finding: appliance.FoundNote,
			Detail: "no RDM device answered. Dimmers and fixtures without RDM, or with RDM switched off, cannot be found by a scan; that nobody answers says nothing about the wiring"})
	case missing > 0:
		s.Tell(appliance.Found{Finding: appliance.FoundNote,
			Detail: fmt.Sprintf("%d start slots of the site have no RDM device: their fixtures have no RDM, or another start slot. 'bus identify' shows who listens to a slot", missing)})
	}
}

// usual are what fixtures with so many slots mostly are.
var usual = map[int]string{1: "dmx-dimmer", 3: "dmx-rgb", 4: "dmx-rgbw"}

// candidates are the profiles with so many slots, the most usual one first. It is a
// guess: what the slots mean only the fixture's manual says. Lights are those of kind.
func (d *Driver) candidates(slots int) (kind string, others []string, lights int) {
	profiles := maps.Clone(d.library.Own)
	for _, info := range Profiles() {
		if p, err := d.library.Find(info.Name); err == nil {
			profiles[info.Name] = p
		}
	}
	kind = usual[slots]
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		switch {
		case profiles[name].Slots != slots || name == kind:
		case kind == "":
			kind = name
		default:
			others = append(others, name)
		}
	}
	if p := profiles[kind]; p != nil {
		lights = len(p.lights)
	}
	return kind, others, lights
}

func explain(uid UID, info DeviceInfo) string {
	if info.Footprint == 0 {
		return fmt.Sprintf("RDM device %v, model %04X, takes no slots", uid, info.Model)
	}
	return fmt.Sprintf("RDM device %v, model %04X, slots %d to %d, personality %d of %d",
		uid, info.Model, info.StartAddress, info.StartAddress+info.Footprint-1, info.Personality, info.Personalities)
}
