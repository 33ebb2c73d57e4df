package dali

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// wish is a want with its gear.
type wish struct {
	appliance.Want
	gear *gear
}

// hasLight is what tells a level.
const hasLight = appliance.CanDim | appliance.CanSwitch

func (w wish) wantsLevel() bool { return w.Has&hasLight != 0 }

// kelvin held to what the fixture can do.
func (w wish) kelvin() appliance.Kelvin {
	return max(w.gear.profile.kelvinMin, min(w.gear.profile.kelvinMax, w.Kelvin))
}

// key tells wishes apart that need different frames.
type key struct {
	has      appliance.Ability // of a level, a colour temperature and a colour
	arc      byte
	switches bool
	mirek    uint16
	rgbw     [4]byte
}

func (w wish) key() key {
	k := key{has: w.Has & (appliance.CanTune | appliance.CanColour)}
	if w.wantsLevel() {
		k.has |= hasLight
		k.arc = w.gear.arcOf(w.Level)
		k.switches = !w.gear.profile.abilities.Has(appliance.CanDim)
	}
	if k.has.Has(appliance.CanTune) {
		k.mirek = mirek(w.kelvin())
	}
	if k.has.Has(appliance.CanColour) {
		k.rgbw = componentsOf(w.RGBW)
	}
	return k
}

// frames that carry out a key at an address, as sequences that must not be
// interrupted: first the colour, so that lamps come on in the right one.
func (k key) frames(to Address) (colour, level []Send) {
	if k.has.Has(appliance.CanTune) {
		colour = append(colour, ColourTemperature(to, k.mirek)...)
	}
	if k.has.Has(appliance.CanColour) {
		colour = append(colour, ColourRGBW(to, k.rgbw)...)
	}
	switch {
	case k.has&hasLight == 0:
	case k.switches && k.arc == 0:
		level = []Send{Command(to, OpOff)}
	case k.switches:
		level = []Send{Command(to, OpRecallMax)}
	default:
		level = []Send{Arc(to, k.arc)}
	}
	return colour, level
}

// Plan makes the fewest frames: one to the whole line or to a group where they
// cover exactly gear that wants the same, else one to each gear.
func (d *Driver) Plan(want []appliance.Want) []appliance.Chain { return d.plan(want, true) }

// Repair makes a frame for each gear.
func (d *Driver) Repair(want []appliance.Want) []appliance.Chain { return d.plan(want, false) }

func (d *Driver) plan(want []appliance.Want, together bool) []appliance.Chain {
	crowds := make(map[key][]wish)
	var order []key
	for _, w := range want {
		g := d.byRef[w.Ref]
		if g == nil {
			continue // the core never wants what Open did not offer
		}
		one := wish{w, g}
		k := one.key()
		if crowds[k] == nil {
			order = append(order, k)
		}
		crowds[k] = append(crowds[k], one)
	}
	var chains []appliance.Chain
	for _, k := range order {
		rest := crowds[k]
		if together {
			var shared []appliance.Chain
			shared, rest = d.shared(k, rest)
			chains = append(chains, shared...)
		}
		for _, w := range rest {
			chains = append(chains, d.single(k, w))
		}
	}
	return chains
}

// shared takes the broadcast address if a crowd is all gear of the line, else the
// largest groups that lie inside it. Members that did not answer when last asked
// get the frame too, but nobody waits for them: they come back with the rest.
func (d *Driver) shared(k key, crowd []wish) (chains []appliance.Chain, rest []wish) {
	if len(crowd) < 2 {
		return nil, crowd
	}
	rest = crowd
	take := func(to Address, inside func(*gear) bool) {
		var live, other []wish
		for _, w := range rest {
			if inside(w.gear) && w.gear.silent == 0 {
				live = append(live, w)
			} else {
				other = append(other, w)
			}
		}
		if len(live) < 2 {
			return
		}
		rest = other
		chains = append(chains, d.chain(k, to, live))
	}
	if d.options.broadcast && len(crowd) == d.concerned(k) {
		take(Broadcast, func(*gear) bool { return true })
		return chains, rest
	}
	for _, in := range d.groupsInside(k, crowd) {
		take(Group(in.n), func(g *gear) bool { return slices.Contains(in.members, g) })
	}
	return chains, rest
}

// concerned counts the gear that frames of k would change.
func (d *Driver) concerned(k key) int {
	n := 0
	for _, g := range d.gears {
		if k.concerns(g) {
			n++
		}
	}
	return n
}

// concerns reports whether frames of k change anything at g. Colour commands are
// ignored by gear without that colour.
func (k key) concerns(g *gear) bool {
	return k.has&hasLight != 0 || k.has&g.profile.abilities != 0
}

// groupsInside lists the groups all of whose gear that k concerns is in the crowd,
// largest first. Where gear whose groups are not known is not, there are none: it
// might be lit along.
func (d *Driver) groupsInside(k key, crowd []wish) []group {
	outside := func(g *gear) bool {
		return k.concerns(g) && !slices.ContainsFunc(crowd, func(w wish) bool { return w.gear == g })
	}
	if slices.ContainsFunc(d.unsure, outside) {
		return nil
	}
	var found []group
	for _, in := range d.groups {
		if !slices.ContainsFunc(in.members, outside) {
			found = append(found, in)
		}
	}
	slices.SortStableFunc(found, func(a, b group) int { return len(b.members) - len(a.members) })
	return found
}

// single is a chain for one gear. One that did not answer when last asked must
// answer before anything else is made of it: its chain is one exchange, which the
// core spares where the gear counts as offline.
func (d *Driver) single(k key, w wish) appliance.Chain {
	if w.gear.silent == 0 {
		return d.chain(k, Short(w.gear.short), []wish{w})
	}
	colour, level := k.frames(Short(w.gear.short))
	return appliance.Chain{
		Wants: []appliance.Want{w.Want}, Steps: []appliance.Exchange{d.tellingAndAsking(append(colour, level...), w)}, Verify: d.verify(w),
	}
}

// chain is what carries out k at an address. The gateway confirms that the frames
// went out, nobody that they were obeyed: reading the members is what acknowledges
// them, and each that was left behind is sent its own.
func (d *Driver) chain(k key, to Address, wishes []wish) appliance.Chain {
	c := appliance.Chain{Group: true}
	for _, w := range wishes {
		c.Wants = append(c.Wants, w.Want)
		c.Verify = append(c.Verify, d.verify(w)...)
	}
	colour, level := k.frames(to)
	if len(colour) > 0 {
		c.Steps = append(c.Steps, d.telling(colour, func(at time.Time) {
			for _, w := range wishes {
				w.gear.sentColour(w, at)
			}
		}))
	}
	if len(level) > 0 {
		c.Steps = append(c.Steps, d.telling(level, func(at time.Time) {
			for _, w := range wishes {
				w.gear.told(w.Level, at)
			}
		}))
	}
	return c
}

// telling is a sequence that nobody answers; told is called when any of it went
// out.
func (d *Driver) telling(seq []Send, told func(at time.Time)) appliance.Exchange {
	return appliance.Exchange{
		Airtime: d.wire.airtime(seq...), Worst: d.wire.worst(seq...),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			_, sent, err := d.wire.transmit(ctx, y, seq...)
			if !sent.IsZero() {
				told(sent)
			}
			return appliance.Result{Sent: sent}, err
		},
	}
}

// tellingAndAsking sends a sequence to one gear and reads at once what became of
// it. What it reads acknowledges, nothing less: where the core finds a step
// acknowledged, it believes it even if the verification fails afterwards.
func (d *Driver) tellingAndAsking(seq []Send, w wish) appliance.Exchange {
	checks := d.verify(w)
	e := d.telling(seq, func(at time.Time) { d.note(w, at) })
	tell := e.Do
	e.Device = w.gear.key
	for _, c := range checks {
		e.Airtime, e.Worst = e.Airtime+c.Airtime, e.Worst+c.Worst
	}
	e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		res, err := tell(ctx, y)
		for _, c := range checks {
			if err != nil {
				return res, err
			}
			var got appliance.Result
			got, err = c.Do(ctx, appliance.Yield{})
			res.Readings = append(res.Readings, got.Readings...)
		}
		for _, r := range res.Readings {
			if err == nil && !w.isIn(r.Values) {
				err = fmt.Errorf("%s: %w: it answers and has another value", w.gear, appliance.ErrDamaged)
			}
		}
		return res, err
	}
	return e
}

// note remembers all that was sent for a wish.
func (d *Driver) note(w wish, at time.Time) {
	if w.Has&(appliance.CanTune|appliance.CanColour) != 0 {
		w.gear.sentColour(w, at)
	}
	if w.wantsLevel() {
		w.gear.told(w.Level, at)
	}
}

// isIn reports whether what was read is what is wished, as far as both tell.
func (w wish) isIn(v appliance.Values) bool {
	both := w.Has & v.Has
	return (both&hasLight == 0 || v.Level == w.Level) &&
		(!both.Has(appliance.CanTune) || v.Kelvin == w.Kelvin) &&
		(!both.Has(appliance.CanColour) || v.RGBW == w.RGBW)
}
