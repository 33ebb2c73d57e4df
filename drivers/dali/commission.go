package dali

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// CommissionOptions narrow what [Commission] does; the zero value gives all gear
// that has no short address of its own the lowest free one.
type CommissionOptions struct {
	// Reserved addresses are not given to anybody.
	Reserved []int
	// Only these addresses are given, if any are named.
	Only []int
	// All takes every gear's address away first. A run that was killed is continued
	// without it.
	All bool
	// DryRun changes no address: what would be given is in the outcome. Which gear
	// would get which is not known before, since gear draws anew in every run.
	DryRun bool
	// Progress, if not nil, is told what happens, from the goroutine that calls
	// Commission.
	Progress func(Progress)
}

// Stage of commissioning.
type Stage string

// The stages, in the order they are reached; searching and assigning alternate.
const (
	StageForget  Stage = "forget" // all gear is told to forget its short address
	StageOpen    Stage = "open"   // gear draws random addresses
	StageSurvey  Stage = "survey" // which addresses are taken, and by several gears
	StageSearch  Stage = "search" // for the next random address
	StageAssign  Stage = "assign" // a short address was given
	StageKeep    Stage = "keep"   // a gear keeps its short address
	StageCheck   Stage = "check"  // whether each address given has one owner
	StageAgain   Stage = "again"  // an address has several owners: once more
	StageFull    Stage = "full"   // no address is left for a gear
	StageFinally Stage = "finished"
)

// Progress of commissioning.
type Progress struct {
	Stage    Stage
	Found    int    // gears so far in this run
	Assigned int    // addresses given so far
	Searched uint32 // random addresses up to here are done, of [lastRandom]
	Short    int    // with StageSurvey, StageAssign, StageKeep and StageCheck; -1 otherwise
	Random   uint32 // with StageAssign, StageKeep and StageFull
}

// Share is how far the search through the random addresses is, 0 to 1.
func (p Progress) Share() float64 { return float64(p.Searched) / lastRandom }

const lastRandom = 0xFFFFFF

// Commissioned is the outcome.
type Commissioned struct {
	// Taken addresses that the survey found, ascending.
	Taken []int
	// Shared are those of them where several gears answered. One gear keeps the
	// address, the others are given new ones.
	Shared []int
	// Assigned addresses, ascending.
	Assigned []int
	// Unplaced counts gear for which no address was left.
	Unplaced int
}

// commissionRounds bounds how often addresses that several gears hold are taken
// apart, and gear that was not met is looked for again; two among 64 draw the same
// random address once in some 8,000 runs.
const commissionRounds = 5

// Commission gives short addresses to gear that has none, and new ones to gear that
// shares its address (IEC 62386-102, clause 9.14). It takes 0.2 s for each address
// that is taken, and 2.5 s for each one that it gives.
//
// The state is in the gear: a run that was killed at any moment is continued by
// starting another one. When it returns, for whatever reason, the gear has left the
// addressing mode if it could be told. The core's traffic may go on in between.
func Commission(ctx context.Context, tx Transmitter, opts CommissionOptions) (out Commissioned, err error) {
	c := &commissioning{ctx: ctx, tx: tx, opts: opts, search: [3]int{-1, -1, -1}}
	// Whoever goes by now: gear must not stay open for addressing for 15 minutes.
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		c.ctx = last
		if _, terr := c.send(Special(OpTerminate, 0)); err == nil && terr != nil {
			err = fmt.Errorf("close the gear for addressing: %w", terr)
		}
	}()
	c.reserve()
	if opts.All && !opts.DryRun {
		if err := c.forget(); err != nil {
			return c.result(), fmt.Errorf("take the short addresses away: %w", err)
		}
	}
	if err := c.survey(); err != nil {
		return c.result(), fmt.Errorf("ask which short addresses are taken: %w", err)
	}
	shared := c.out.Shared
	if opts.All && opts.DryRun {
		shared = c.out.Taken // these gears, too, would be given new ones
		c.reserve()
	}
	for round := 1; ; round++ {
		if err := c.round(shared); err != nil {
			return c.result(), err
		}
		if shared, err = c.check(); err != nil {
			return c.result(), fmt.Errorf("check the addresses that were given: %w", err)
		}
		left := false
		if len(shared) == 0 {
			if left, err = c.left(); err != nil {
				return c.result(), fmt.Errorf("ask whether gear without an address is left: %w", err)
			}
		}
		switch {
		case len(shared) == 0 && !left:
			c.tell(Progress{Stage: StageFinally, Searched: lastRandom})
			return c.result(), nil
		case round == commissionRounds && left:
			return c.result(), fmt.Errorf("%w: gear without an address is still there", appliance.ErrDamaged)
		case round == commissionRounds:
			return c.result(), fmt.Errorf("%w: several gears still answer at addresses %v", appliance.ErrDamaged, shared)
		}
		c.tell(Progress{Stage: StageAgain})
	}
}

// commissioning is one run.
type commissioning struct {
	ctx  context.Context
	tx   Transmitter
	opts CommissionOptions

	taken  [Shorts]bool // not to be given
	out    Commissioned
	search [3]int // search address that all gear holds, by byte; -1: not known
	found  int
	// owner is the random address of the gear that was met with a short address in
	// this round.
	owner map[int]uint32
}

func (c *commissioning) result() Commissioned {
	slices.Sort(c.out.Assigned)
	return c.out
}

func (c *commissioning) tell(p Progress) {
	if c.opts.Progress == nil {
		return
	}
	switch p.Stage {
	case StageSurvey, StageAssign, StageKeep, StageCheck:
	default:
		p.Short = -1
	}
	p.Found, p.Assigned = c.found, len(c.out.Assigned)
	c.opts.Progress(p)
}

// sendTries is how often a frame of commissioning is tried: a serial line that
// damages one message in ten must not end it.
const sendTries = 5

// send puts a sequence on the line and returns the last answer.
func (c *commissioning) send(seq ...Send) (Answer, error) {
	for try := 1; ; try++ {
		answers, err := c.tx.Transmit(c.ctx, seq...)
		switch {
		case err == nil && len(answers) > 0:
			return answers[len(answers)-1], nil
		case err == nil:
			return Answer{}, nil
		case c.ctx.Err() != nil:
			return Answer{}, c.ctx.Err()
		case try == sendTries || !errors.Is(err, appliance.ErrDamaged) && !errors.Is(err, appliance.ErrSilent):
			return Answer{}, err
		}
	}
}

// confirm asks a yes/no question whose "no" would have consequences: silence may
// also be an answer that was lost, so that it must come twice.
func (c *commissioning) confirm(s Send) (bool, error) {
	a, err := c.insist(s)
	return a.Yes(), err
}

func (c *commissioning) insist(s Send) (a Answer, err error) {
	for range 2 {
		if a, err = c.send(s); err != nil || a.Yes() {
			break
		}
	}
	return a, err
}

// open lets gear draw random addresses.
func (c *commissioning) open(who ...byte) error {
	c.search = [3]int{-1, -1, -1} // gear that was not open has not followed it
	seq := []Send{Special(OpTerminate, 0)}
	for _, w := range who {
		seq = append(seq, Special(OpInitialise, w))
	}
	for _, s := range seq {
		if _, err := c.send(s); err != nil {
			return fmt.Errorf("open the gear for addressing: %w", err)
		}
	}
	return nil
}

// draw lets open gear draw new random addresses.
func (c *commissioning) draw() error {
	c.tell(Progress{Stage: StageOpen})
	if _, err := c.send(Special(OpRandomise, 0)); err != nil {
		return fmt.Errorf("let the gear draw random addresses: %w", err)
	}
	return line.Wait(c.ctx, randomTime)
}

// randomTime is what gear may take to draw a random address.
const randomTime = 100 * time.Millisecond

// reserve marks the addresses that nobody may be given, and no others.
func (c *commissioning) reserve() {
	for n := range c.taken {
		c.taken[n] = slices.Contains(c.opts.Reserved, n) || len(c.opts.Only) > 0 && !slices.Contains(c.opts.Only, n)
	}
}

// forget takes the short address of all gear away. Gear that does not hear it keeps
// its own; the survey finds it.
func (c *commissioning) forget() error {
	c.tell(Progress{Stage: StageForget})
	for range 2 {
		// One sequence: another's DTR0 in between would give everybody one address.
		if _, err := c.send(Special(OpDTR0, Mask), Command(Broadcast, OpSetShort)); err != nil {
			return err
		}
	}
	return nil
}

// survey finds the addresses that are taken, and those that several gears share.
func (c *commissioning) survey() error {
	if err := c.open(0); err != nil {
		return err
	}
	if err := c.draw(); err != nil {
		return err
	}
	for n := range Shorts {
		yes, err := c.confirm(Command(Short(n), OpQueryPresent))
		if err != nil {
			return err
		}
		if !yes {
			continue
		}
		c.taken[n] = true
		c.out.Taken = append(c.out.Taken, n)
		several, err := c.several(n)
		if err != nil {
			return err
		}
		if several {
			c.out.Shared = append(c.out.Shared, n)
		}
		c.tell(Progress{Stage: StageSurvey, Short: n})
	}
	return nil
}

// several reports whether more than one gear answers at an address. Equal answers
// of two can pass for one; what they drew at random differs.
func (c *commissioning) several(n int) (bool, error) {
	for _, op := range []byte{OpQueryRandomLow, OpQueryRandomMid, OpQueryRandomHigh} {
		a, err := c.send(Command(Short(n), op))
		if err != nil || a.Kind == AnswerGarbled {
			return a.Kind == AnswerGarbled, err
		}
	}
	return false, nil
}

// round goes through the gear that has no address or shares one, in ascending
// order of its random addresses.
func (c *commissioning) round(shared []int) error {
	c.owner, c.out.Unplaced = map[int]uint32{}, 0
	who := []byte{Mask}
	for _, n := range shared {
		who = append(who, byte(n<<1|1))
	}
	if err := c.open(who...); err != nil {
		return err
	}
	low, met := uint32(0), 0
	for {
		random, has, any, err := c.next(low)
		if err != nil {
			return fmt.Errorf("search from %06X: %w", low, err)
		}
		if !any {
			return nil
		}
		if met++; random != low {
			met = 1
		}
		if met > sendTries {
			return fmt.Errorf("%w: gear at random address %06X does not withdraw", appliance.ErrRefused, random)
		}
		if err := c.settle(random, has); err != nil {
			return fmt.Errorf("gear at random address %06X: %w", random, err)
		}
		if _, err := c.send(Special(OpWithdraw, 0)); err != nil {
			return err
		}
		low = random // once more from here: gear that missed the WITHDRAW is met again
	}
}

// check finds addresses of this round that several gears hold: they drew the same
// random address, were taken for one, and draw differently now.
func (c *commissioning) check() (shared []int, err error) {
	if len(c.owner) == 0 || c.opts.DryRun {
		return nil, nil
	}
	if err := c.draw(); err != nil {
		return nil, err
	}
	for n := range Shorts {
		if _, ok := c.owner[n]; !ok {
			continue
		}
		several, err := c.several(n)
		if err != nil {
			return nil, err
		}
		if several {
			shared = append(shared, n)
		}
		c.tell(Progress{Stage: StageCheck, Short: n, Searched: lastRandom})
	}
	return shared, nil
}

// left reports whether gear is there that has no address and could be given one. Gear
// stays open for addressing for 15 minutes: on a busy line some may not have had its
// turn by then, and has fallen silent.
func (c *commissioning) left() (bool, error) {
	if c.opts.DryRun || c.out.Unplaced > 0 {
		return false, nil
	}
	if err := c.open(Mask); err != nil {
		return false, err
	}
	return c.compare(lastRandom, true)
}

// next finds the lowest random address that has not been withdrawn, from low on if
// none below is left, and what short address the gear there has. The search
// address points at it.
func (c *commissioning) next(low uint32) (random uint32, has Answer, any bool, err error) {
	for range sendTries {
		any, err = c.compare(lastRandom, true)
		if err != nil || !any {
			return 0, has, false, err
		}
		high := uint32(lastRandom)
		for from := low; from < high; {
			middle := from + (high-from)/2
			yes, err := c.compare(middle, false)
			if err != nil {
				return 0, has, false, err
			}
			if yes {
				high = middle
			} else {
				from = middle + 1
			}
			c.tell(Progress{Stage: StageSearch, Searched: from})
		}
		if err := c.point(high); err != nil {
			return 0, has, false, err
		}
		// A lost answer on the way leads past the gear: then nobody is exactly here.
		if has, err = c.insist(Special(OpQueryShort, 0)); err != nil || has.Yes() {
			return high, has, true, err
		}
		low = 0
	}
	return 0, has, false, fmt.Errorf("%w: the answers contradict each other", appliance.ErrDamaged)
}

// compare asks whether gear that has not been withdrawn has a random address up to
// this one.
func (c *commissioning) compare(to uint32, sure bool) (bool, error) {
	if err := c.point(to); err != nil {
		return false, err
	}
	ask := Special(OpCompare, 0)
	if sure {
		return c.confirm(ask)
	}
	a, err := c.send(ask)
	return a.Yes(), err
}

// point sets the search address, sending only the bytes that change.
func (c *commissioning) point(to uint32) error {
	ops := [3]byte{OpSearchHigh, OpSearchMid, OpSearchLow}
	for i, op := range ops {
		b := int(to >> (16 - 8*i) & 0xFF)
		if c.search[i] == b {
			continue
		}
		c.search[i] = -1
		if _, err := c.send(Special(op, byte(b))); err != nil {
			return err
		}
		c.search[i] = b
	}
	return nil
}

// settle gives the gear at a random address, which the search address points at,
// a short address unless it has one to itself.
func (c *commissioning) settle(random uint32, has Answer) error {
	for _, planned := range c.owner {
		if c.opts.DryRun && planned == random {
			return nil // it missed the WITHDRAW, and nothing was written to tell it by
		}
	}
	n := int(has.Value >> 1)
	if has.Kind != AnswerValue || has.Value&0x81 != 1 || c.opts.All && c.opts.DryRun {
		// No address; or a garbled answer of several, who get the same one and are
		// told apart by the check.
		return c.assign(random)
	}
	owner, met := c.owner[n]
	switch {
	case met && owner == random:
		return nil // it missed the WITHDRAW
	case met:
		return c.assign(random)
	}
	c.owner[n] = random
	c.taken[n] = true
	c.found++
	c.tell(Progress{Stage: StageKeep, Searched: random, Random: random, Short: n})
	return nil
}

// assign gives the selected gear a free short address.
func (c *commissioning) assign(random uint32) error {
	c.found++
	n := slices.Index(c.taken[:], false)
	if n < 0 {
		c.out.Unplaced++
		c.tell(Progress{Stage: StageFull, Searched: random, Random: random})
		return nil
	}
	for try := 1; !c.opts.DryRun; try++ {
		if _, err := c.send(Special(OpProgramShort, byte(n<<1|1))); err != nil {
			return err
		}
		is, err := c.send(Special(OpQueryShort, 0))
		if err != nil {
			return err
		}
		if is.Kind == AnswerValue && is.Value == byte(n<<1|1) {
			break
		}
		if try == sendTries {
			return fmt.Errorf("%w: it does not take short address %d (%v)", appliance.ErrRefused, n, is)
		}
	}
	c.taken[n], c.owner[n] = true, random
	c.out.Assigned = append(c.out.Assigned, n)
	c.tell(Progress{Stage: StageAssign, Searched: random, Random: random, Short: n})
	return nil
}
