package dali

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
)

var (
	_ appliance.Servicer = (*Driver)(nil)
	_ appliance.Troubled = (*Driver)(nil)
)

// Services are commissioning, and reading the scenes.
func (d *Driver) Services() []appliance.Service {
	return []appliance.Service{
		{
			Name: "commission", About: "give short addresses to gear that has none or shares its own", Changes: true,
			Inputs: []appliance.Input{
				{Name: "all", About: "yes: take every gear's address away first"},
				{Name: "dry", About: "yes: change no address, only tell what would be done"},
				{Name: "addresses", About: "those that may be given, such as 7 or 10-20,30; without it all that the site does not use"},
			},
			Run: d.commission,
		},
		{
			Name: "scenes", About: "read which levels gear holds for its scenes",
			Inputs: []appliance.Input{{Name: "address", About: "short address of one gear; without it all gear of the site on this line"}},
			Run:    d.readScenes,
		},
	}
}

// performed puts sequences on the line between the bus's own exchanges.
type performed struct {
	driver  *Driver
	session appliance.Session
}

// Transmit sends one sequence as one exchange.
func (p performed) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	var got []Answer
	if _, err := p.session.Perform(ctx, p.driver.probe(seq, &got)); err != nil {
		return nil, err // got may still be written to
	}
	return got, nil
}

// commission runs [Commission] and then asks each gear that was given an address
// what it is.
func (d *Driver) commission(ctx context.Context, s appliance.Session) error {
	if !d.commissioning.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: gear is being commissioned already", appliance.ErrBusy)
	}
	defer d.commissioning.Store(false)
	opts, err := d.commissionOptions(s)
	if err != nil {
		return err
	}
	out, err := Commission(ctx, performed{d, s}, opts)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	d.tellCommissioned(ctx, s, opts, out)
	if err == nil && out.Unplaced > 0 {
		err = fmt.Errorf("%w: no address was left for %d gears", appliance.ErrOutOfRange, out.Unplaced)
	}
	return err
}

func (d *Driver) commissionOptions(s appliance.Session) (opts CommissionOptions, err error) {
	if opts.All, err = yes(s, "all"); err != nil {
		return opts, err
	}
	if opts.DryRun, err = yes(s, "dry"); err != nil {
		return opts, err
	}
	if opts.Only, err = parseShorts(s.Inputs["addresses"]); err != nil {
		return opts, fmt.Errorf("addresses: %w", err)
	}
	if len(opts.Only) == 0 && !opts.All {
		// A lamp that is dark or taken down for repair comes back to its own address.
		for _, g := range d.known() {
			opts.Reserved = append(opts.Reserved, g.short)
		}
	}
	opts.Progress = func(p Progress) { s.Tell(appliance.ServiceStep{Step: p.String(), Share: p.Share()}) }
	return opts, nil
}

func yes(s appliance.Session, name string) (bool, error) {
	switch text := s.Inputs[name]; text {
	case "", "no":
		return false, nil
	case "yes":
		return true, nil
	default:
		return false, fmt.Errorf("%s: %q: want yes or no", name, text)
	}
}

// parseShorts reads short addresses and ranges of them, such as 3,10-12.
func parseShorts(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := parseShort(low)
		if err != nil {
			return nil, err
		}
		last, err := parseShort(high)
		if err != nil {
			return nil, err
		}
		if first > last {
			return nil, fmt.Errorf("%q: the first must not be above the last", part)
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}

// String tells people what is being done.
func (p Progress) String() string {
	switch p.Stage {
	case StageForget:
		return "gear forgets its addresses"
	case StageOpen:
		return "gear draws random addresses"
	case StageSurvey:
		return fmt.Sprintf("address %d is taken", p.Short)
	case StageSearch:
		return fmt.Sprintf("searching: %d found", p.Found)
	case StageAssign:
		return fmt.Sprintf("gear %06X: address %d", p.Random, p.Short)
	case StageKeep:
		return fmt.Sprintf("gear %06X keeps address %d", p.Random, p.Short)
	case StageCheck:
		return fmt.Sprintf("address %d is checked", p.Short)
	case StageAgain:
		return "an address has several owners: once more"
	case StageFull:
		return fmt.Sprintf("gear %06X: no address is left", p.Random)
	}
	return "finished"
}

// tellCommissioned tells what became of each address, and what gear is there.
func (d *Driver) tellCommissioned(ctx context.Context, s appliance.Session, opts CommissionOptions, out Commissioned) {
	what := make(map[int]string)
	for _, n := range out.Taken {
		what[n] = "kept"
		if opts.All { // a dry run, since otherwise all have forgotten theirs
			what[n] = "would be given up"
		}
	}
	for _, n := range out.Shared {
		what[n] = "shared, now of one gear"
		if opts.DryRun {
			what[n] = "shared by several gears"
		}
	}
	for _, n := range out.Assigned {
		what[n] = "assigned"
		if opts.DryRun {
			what[n] = "would be assigned"
		}
	}
	for n := range Shorts {
		if what[n] == "" {
			continue
		}
		facts := []appliance.Fact{{Name: "outcome", Value: what[n]}}
		if there := !opts.DryRun || slices.Contains(out.Taken, n); there && ctx.Err() == nil {
			s.Tell(appliance.ServiceStep{Step: fmt.Sprintf("asking address %d what it is", n), Share: 1})
			var f appliance.Found
			gear := &resident{short: n, send: func(seq ...Send) (got []Answer, err error) {
				_, err = s.Perform(ctx, d.probe(seq, &got))
				return got, err
			}}
			if words := gear.describe(&f); gear.asked > 0 {
				facts = append(facts, appliance.Fact{Name: "profile", Value: f.Kind}, appliance.Fact{Name: "detail", Value: strings.Join(words, "; ")})
			}
		}
		s.Tell(appliance.ServiceStep{Address: gearKey(n), Facts: facts})
	}
}

// readScenes asks gear for the level of each of its scenes.
func (d *Driver) readScenes(ctx context.Context, s appliance.Session) error {
	var shorts []int
	if text := s.Inputs["address"]; text != "" {
		n, err := parseShort(text)
		if err != nil {
			return err
		}
		shorts = append(shorts, n)
	} else {
		for _, g := range d.known() {
			shorts = append(shorts, g.short)
		}
	}
	if len(shorts) == 0 {
		return errors.New("the site has no gear on this line; name one with address=")
	}
	for i, n := range shorts {
		s.Tell(appliance.ServiceStep{Step: fmt.Sprintf("asking address %d", n), Share: float64(i) / float64(len(shorts))})
		facts, err := d.scenesOf(ctx, s, n)
		if err != nil && (len(shorts) == 1 || ctx.Err() != nil || errors.Is(err, appliance.ErrBusDown)) {
			return err
		}
		if err != nil {
			facts = []appliance.Fact{{Name: "error", Value: err.Error()}}
		}
		s.Tell(appliance.ServiceStep{Address: gearKey(n), Facts: facts})
	}
	return nil
}

// scenesOf reads the scenes of one gear; those that it takes no part in are left
// out.
func (d *Driver) scenesOf(ctx context.Context, s appliance.Session, n int) ([]appliance.Fact, error) {
	curve := curves["standard"]
	if g := d.gearAt(n); g != nil {
		curve = g.curve
	}
	tx, facts := performed{d, s}, []appliance.Fact{}
	for scene := range Scenes {
		ask := Command(Short(n), OpQueryScene+byte(scene))
		answers, err := tx.Transmit(ctx, ask)
		if err == nil && answers[0].Kind == AnswerNone {
			answers, err = tx.Transmit(ctx, ask) // an answer may be lost
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("short address %d, scene %d: %w", n, scene, err)
		case answers[0].Kind == AnswerGarbled:
			return nil, fmt.Errorf("short address %d: %w: several gears answer", n, appliance.ErrDamaged)
		case answers[0].Kind == AnswerNone:
			return nil, fmt.Errorf("short address %d: %w: check its supply and its DALI wires; 'bus scan' shows who is there", n, appliance.ErrSilent)
		case answers[0].Value != Mask:
			v := answers[0].Value
			facts = append(facts, appliance.Fact{Name: "scene" + strconv.Itoa(scene), Value: fmt.Sprintf("%d (%d %%)", v, curve.levelOf(v))})
		}
	}
	return facts, nil
}
