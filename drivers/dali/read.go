package dali

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// ask sends a sequence to one gear, whose first query it must answer. at is when
// the last answer was complete.
func (d *Driver) ask(ctx context.Context, y appliance.Yield, g *gear, seq ...Send) (answers []Answer, at time.Time, err error) {
	answers, sent, err := d.wire.transmit(ctx, y, seq...)
	if err != nil {
		return nil, sent, fmt.Errorf("%s: %w", g, err)
	}
	at = time.Now()
	first := answers[slices.IndexFunc(seq, func(s Send) bool { return s.Asks })]
	switch first.Kind {
	case AnswerNone:
		g.silent++
		return nil, sent, fmt.Errorf("bus %s: %s: %w: check its supply, its DALI wires and its address", d.name, g, appliance.ErrSilent)
	case AnswerGarbled:
		g.silent = 0
		return nil, sent, fmt.Errorf("bus %s: %s: %w: several gears answer at this address, or the line picks up noise; a scan tells", d.name, g, appliance.ErrDamaged)
	}
	g.silent = 0
	if !tookSelector(seq, answers) {
		return nil, at, fmt.Errorf("bus %s: %s: %w: it did not take the frame that selects a value", d.name, g, appliance.ErrDamaged)
	}
	return answers, at, nil
}

// askByte asks one gear one thing.
func (d *Driver) askByte(ctx context.Context, y appliance.Yield, g *gear, op byte) (byte, time.Time, error) {
	answers, at, err := d.ask(ctx, y, g, Command(Short(g.short), op))
	if err != nil {
		return 0, at, err
	}
	return answers[0].Value, at, nil
}

// askLevel asks for the level. Where answers carry no checksum, one that differs
// from the last must come twice.
func (d *Driver) askLevel(ctx context.Context, y appliance.Yield, g *gear) (byte, time.Time, error) {
	v, at, err := d.askByte(ctx, y, g, OpQueryActualLevel)
	if err != nil || !d.wire.gw.traits().has(unchecked) || g.last.known && v == g.last.level {
		g.remember(v, err)
		return v, at, err
	}
	again, at, err := d.askByte(ctx, appliance.Yield{}, g, OpQueryActualLevel)
	if err == nil && again != v && !g.moving() {
		g.last.known = false
		return 0, at, fmt.Errorf("bus %s: %s: %w: it answers %d, then %d", d.name, g, appliance.ErrDamaged, v, again)
	}
	g.remember(again, err)
	return again, at, err
}

func (g *gear) remember(v byte, err error) {
	if err == nil {
		g.last = raw{v, true}
	}
}

// moving reports whether two levels read one after the other may differ.
func (g *gear) moving() bool { return !g.settled && time.Since(g.asked.at) < longestFade }

// status asks a gear how it is.
func (d *Driver) status(ctx context.Context, g *gear) (byte, error) {
	s, _, err := d.askByte(ctx, appliance.Yield{}, g, OpQueryStatus)
	if err == nil {
		d.noteStatus(g, s)
	}
	return s, err
}

// noteStatus tells once that a lamp failed or works again.
func (d *Driver) noteStatus(g *gear, status byte) {
	failure := ""
	if status&(StatusLampFailure|StatusGearFailure) != 0 {
		failure = statusFailure(status)
	}
	switch had := g.failure; {
	case had == failure:
		return
	case failure != "":
		d.log.Warn("gear reports a failure", "node", g.ref.Node, "address", g.short, "what", failure)
	default:
		d.log.Info("gear reports no failure any more", "node", g.ref.Node, "address", g.short)
	}
	g.failure = failure
}

// Troubles gives the gear that reports a failure of its lamp or its own.
func (d *Driver) Troubles() map[string]string {
	out := make(map[string]string)
	for _, g := range d.gears {
		if g.failure != "" {
			out[gearKey(g.short)] = g.failure
		}
	}
	return out
}

func statusFailure(status byte) string {
	switch {
	case status&StatusLampFailure != 0 && status&StatusGearFailure != 0:
		return "lamp and gear failure"
	case status&StatusGearFailure != 0:
		return "gear failure"
	}
	return "lamp failure"
}

// verifiedLevel judges the level that a gear told after it was sent w, in percent:
// that of w if the gear has it, as far as its own limits let it, or is on its way
// there.
//
// ErrBusy: it fades and it cannot be told where to. ErrRefused: a lamp failed.
func (d *Driver) verifiedLevel(ctx context.Context, w wish, raw byte) (appliance.Level, error) {
	g := w.gear
	target := g.arcOf(w.Level)
	if g.failure != "" && target != 0 { // its level says nothing of its light
		status, err := d.status(ctx, g)
		if err == nil && g.failure != "" {
			err = fmt.Errorf("bus %s: %s: %w: it reports a %s", d.name, g, appliance.ErrRefused, statusFailure(status))
		}
		if err != nil {
			return 0, err
		}
	}
	if raw == g.held(target) {
		g.settled = true
		return w.Level, nil
	}
	if raw != 0 && raw != Mask && target != 0 && (g.found.min == 0 || g.found.max == 0) {
		if err := d.askLimits(ctx, g); err != nil {
			return 0, err
		}
		if raw == g.held(target) {
			g.settled = true
			return w.Level, nil
		}
	}
	status, err := d.status(ctx, g)
	switch {
	case err != nil:
		return 0, err
	case status&StatusFading != 0 && g.asked.fadeKnown && g.asked.arc == target:
		return w.Level, nil
	case status&StatusFading != 0:
		return 0, fmt.Errorf("bus %s: %s: %w: it is fading", d.name, g, appliance.ErrBusy)
	case status&(StatusLampFailure|StatusGearFailure) != 0:
		return 0, fmt.Errorf("bus %s: %s: %w: it reports a %s", d.name, g, appliance.ErrRefused, statusFailure(status))
	case raw == Mask:
		return 0, fmt.Errorf("bus %s: %s: %w: its lamp is starting", d.name, g, appliance.ErrBusy)
	}
	g.settled = true
	return g.levelOf(raw), nil
}

// askLimits reads between which levels the gear holds its light.
func (d *Driver) askLimits(ctx context.Context, g *gear) error {
	low, _, err := d.askByte(ctx, appliance.Yield{}, g, OpQueryMin)
	if err != nil {
		return err
	}
	high, _, err := d.askByte(ctx, appliance.Yield{}, g, OpQueryMax)
	if err != nil {
		return err
	}
	g.found.min, g.found.max = low, high
	return nil
}

// polledLevel judges a level that was read in passing. ok is false while nothing
// can be said: the lamp failed or is starting, or the gear is fading.
func (d *Driver) polledLevel(ctx context.Context, g *gear, raw byte, now time.Time) (l appliance.Level, ok bool, err error) {
	switch {
	case raw == Mask:
		return 0, false, nil
	case g.asked.values.Has&hasLight != 0 && raw == g.held(g.asked.arc):
		g.settled = true
	case g.fading(now):
		return 0, false, nil
	case g.moving():
		status, err := d.status(ctx, g)
		if err != nil {
			return 0, false, err
		}
		if status&StatusFading != 0 {
			return 0, false, nil
		}
		// What was read before the fade ended is not where it ended.
		if raw, _, err = d.askLevel(ctx, appliance.Yield{}, g); err != nil || raw == Mask {
			return 0, false, err
		}
		g.settled = true
	}
	return g.levelOf(raw), true, nil
}

// verify reads back what a wish is about.
func (d *Driver) verify(w wish) []appliance.Exchange {
	g := w.gear
	var list []appliance.Exchange
	switch {
	case w.Has.Has(appliance.CanTune):
		list = append(list, d.reading(g, readColour16(g.short, selectTc), nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
			return d.verifyTune(ctx, y, w, r)
		}))
	case w.Has.Has(appliance.CanColour):
		for i := range g.colour {
			list = append(list, d.reading(g, readComponent(g.short, selectRed+byte(i)), nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
				return d.verifyComponent(ctx, y, w, i, r)
			}))
		}
	case w.wantsLevel():
		list = append(list, d.reading(g, []Send{Command(Short(g.short), OpQueryActualLevel)}, nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
			raw, at, err := d.askByte(ctx, y, g, OpQueryActualLevel)
			r.At = at
			if err == nil {
				g.remember(raw, nil)
				err = d.addVerified(ctx, w, raw, r)
			}
			return err
		}))
	}
	return list
}

// reading is an exchange that ends in one reading of a gear. seq is what it
// usually sends, for the books; more what it may have to ask besides.
func (d *Driver) reading(g *gear, seq, more []Send, do func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error) appliance.Exchange {
	return appliance.Exchange{
		Device: g.key, Airtime: d.wire.airtime(seq...), Worst: d.wire.worst(seq...) + d.wire.airtime(more...),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			r := appliance.Reading{Ref: g.ref}
			err := do(ctx, y, &r)
			res := appliance.Result{Sent: r.At}
			if err == nil && r.Has != 0 {
				res.Readings = []appliance.Reading{r}
			}
			return res, err
		},
	}
}

func (d *Driver) addVerified(ctx context.Context, w wish, raw byte, r *appliance.Reading) error {
	l, err := d.verifiedLevel(ctx, w, raw)
	if err == nil {
		r.Has |= w.gear.light()
		r.Level = l
	}
	return err
}

func (d *Driver) verifyTune(ctx context.Context, y appliance.Yield, w wish, r *appliance.Reading) error {
	g := w.gear
	answers, at, err := d.ask(ctx, y, g, readColour16(g.short, selectTc)...)
	r.At = at
	if err != nil {
		return err
	}
	if w.wantsLevel() {
		if err := d.addVerified(ctx, w, answers[0].Value, r); err != nil {
			return err
		}
	}
	got, ok := value16(answers)
	if !ok {
		return d.noColour(g)
	}
	r.Kelvin, err = d.verifiedKelvin(ctx, w, got)
	if err == nil {
		r.Has |= appliance.CanTune
	}
	return err
}

// noColour explains a gear that answers, but not about its colour.
func (d *Driver) noColour(g *gear) error {
	return fmt.Errorf("bus %s: %s: %w to tell its colour: is it gear of device type 8 with this kind of colour?", d.name, g, appliance.ErrRefused)
}

// verifiedKelvin judges a colour temperature as verifiedLevel does a level.
func (d *Driver) verifiedKelvin(ctx context.Context, w wish, got uint16) (appliance.Kelvin, error) {
	g := w.gear
	target := mirek(w.kelvin())
	if got == target {
		return w.Kelvin, nil
	}
	if err := d.askColourLimits(ctx, g); err != nil {
		return 0, err
	}
	if g.found.coolest > 0 && g.found.warmest > 0 && got == min(max(target, g.found.coolest), g.found.warmest) {
		return w.Kelvin, nil
	}
	status, err := d.status(ctx, g)
	switch {
	case err != nil:
		return 0, err
	case status&StatusFading != 0 && g.asked.colourKnown:
		return w.Kelvin, nil
	case status&StatusFading != 0:
		return 0, fmt.Errorf("bus %s: %s: %w: it is fading", d.name, g, appliance.ErrBusy)
	}
	if k := kelvin(got); k != 0 {
		return k, nil
	}
	return 0, d.noColour(g)
}

// askColourLimits reads between which colour temperatures the gear can go, once.
func (d *Driver) askColourLimits(ctx context.Context, g *gear) error {
	f := &g.found
	if f.coolest > 0 && f.warmest > 0 {
		return nil
	}
	for _, q := range []struct {
		selector byte
		value    *uint16
	}{{selectCoolest, &f.coolest}, {selectWarmest, &f.warmest}} {
		answers, _, err := d.ask(ctx, appliance.Yield{}, g, readColour16(g.short, q.selector)...)
		if err != nil {
			return err
		}
		if v, ok := value16(answers); ok && v != 0 && v != 0xFFFF {
			*q.value = v
		}
	}
	return nil
}

// verifyComponent reads one colour component; with the last of them the colour is
// known.
func (d *Driver) verifyComponent(ctx context.Context, y appliance.Yield, w wish, i int, r *appliance.Reading) error {
	g := w.gear
	level, err := d.askComponent(ctx, y, g, i, r)
	if err != nil {
		return err
	}
	if i == 0 && w.wantsLevel() {
		if err := d.addVerified(ctx, w, level, r); err != nil {
			return err
		}
	}
	if i < len(g.colour)-1 {
		return nil
	}
	if got, want := g.components(), w.key().rgbw; got == want {
		r.RGBW = w.RGBW
	} else {
		r.RGBW = g.rgbw()
	}
	r.Has |= appliance.CanColour
	return nil
}

func (d *Driver) askComponent(ctx context.Context, y appliance.Yield, g *gear, i int, r *appliance.Reading) (level byte, err error) {
	answers, at, err := d.ask(ctx, y, g, readComponent(g.short, selectRed+byte(i))...)
	r.At = at
	if err != nil {
		return 0, err
	}
	last := answers[len(answers)-1]
	if last.Kind != AnswerValue {
		return 0, d.noColour(g)
	}
	g.colour[i] = reading8{last.Value, at}
	return answers[0].Value, nil
}

func (g *gear) components() (c [4]byte) {
	for i := range c {
		c[i] = g.colour[i].value
	}
	return c
}

// rgbw is the colour last read; what was asked for, as long as that explains it.
func (g *gear) rgbw() appliance.RGBW {
	c := g.components()
	if a := g.asked.values; a.Has.Has(appliance.CanColour) && c == componentsOf(a.RGBW) {
		return a.RGBW
	}
	return appliance.RGBW{R: componentOf(c[0]), G: componentOf(c[1]), B: componentOf(c[2]), W: componentOf(c[3])}
}
