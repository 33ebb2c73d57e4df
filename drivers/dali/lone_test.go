package dali

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
)

// lone is one gear without a short address, as commissioning meets it.
type lone struct {
	random, search uint32
	open, withdrew bool
	short          byte // address·2+1, or Mask
	garbled        bool // where it is asked for its random address, others answer, too
	stays          bool // it takes no address
	left           int  // questions until one fails; below 0: none does
	err            error
	closed         bool // TERMINATE was the last that it heard
}

func (l *lone) Transmit(_ context.Context, seq ...Send) ([]Answer, error) {
	var answers []Answer
	for _, s := range seq {
		l.closed = s.Frame.AddressByte() == OpTerminate
		if l.left--; l.left == -1 {
			return nil, l.err
		}
		a := Answer{Kind: AnswerNone}
		yes := Answer{Kind: AnswerValue, Value: 0xFF}
		data := s.Frame.Data()
		mine := l.short != Mask && s.Frame == Command(Short(int(l.short>>1)), data).Frame
		switch op := s.Frame.AddressByte(); {
		case mine && data == OpQueryPresent:
			a = yes
		case mine && l.garbled:
			a = Answer{Kind: AnswerGarbled}
		case mine:
			a = Answer{Kind: AnswerValue, Value: byte(l.random)}
		case op == OpTerminate:
			l.open = false
		case op == OpInitialise && (data == 0 || data == Mask && l.short == Mask || data == l.short):
			l.open, l.withdrew = true, false
		case !l.open:
		case op == OpSearchHigh:
			l.search = l.search&0xFFFF | uint32(data)<<16
		case op == OpSearchMid:
			l.search = l.search&0xFF00FF | uint32(data)<<8
		case op == OpSearchLow:
			l.search = l.search&0xFFFF00 | uint32(data)
		case l.withdrew:
		case op == OpCompare && l.random <= l.search:
			a = yes
		case l.random != l.search:
		case op == OpQueryShort:
			a = Answer{Kind: AnswerValue, Value: l.short}
		case op == OpProgramShort && !l.stays:
			l.short = data
		case op == OpVerifyShort && l.short == data:
			a = yes
		case op == OpWithdraw:
			l.withdrew = true
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// Whatever question fails, commissioning ends with that, and closes the gear that it has opened.
func TestCommissioningEndsWithWhatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		for _, opts := range []CommissionOptions{{}, {DryRun: true}, {All: true}, {All: true, DryRun: true}} {
			for n := 0; ; n++ {
				l := &lone{random: 0x2A5F01, short: Mask, left: n, err: broken}
				if opts.All {
					l.short = 7<<1 | 1
				}
				out, err := Commission(t.Context(), l, opts)
				if l.left >= 0 { // nothing has failed
					if err != nil || len(out.Assigned) != 1 && !opts.All || n < 150 {
						t.Errorf("%+v: %+v, %v after %d questions", opts, out, err, n)
					}
					break
				}
				if !errors.Is(err, broken) || !l.closed {
					t.Fatalf("%+v: question %d failed, and it ends with %+v, %v", opts, n, out, err)
				}
			}
		}
	})
}

// Addresses that several gears hold after all rounds are named; gear that takes none is told of as what it is.
func TestCommissioningThatComesToNoEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lone{random: 0x2A5F01, short: Mask, left: -1, garbled: true}
		rounds := 0
		if _, err := Commission(t.Context(), l, CommissionOptions{Progress: func(p Progress) {
			if p.Stage == StageAgain {
				rounds++
			}
		}}); !errors.Is(err, appliance.ErrDamaged) || !strings.Contains(err.Error(), "several gears still answer at addresses [0]") || rounds != commissionRounds-1 {
			t.Errorf("%v after %d more rounds", err, rounds)
		}
		if _, err := Commission(t.Context(), &lone{random: 0x2A5F01, short: Mask, left: -1, stays: true}, CommissionOptions{}); err == nil || strings.Contains(err.Error(), "several gears") {
			t.Errorf("gear that takes no address: %v", err)
		}
	})
}

// The data of special commands, as people read them.
func TestDataOfSpecialCommands(t *testing.T) {
	for _, row := range []struct {
		op, data byte
		address  string
		arg      int // -1: none
	}{
		{OpInitialise, 0, "", -1}, {OpInitialise, Mask, Unaddressed.String(), -1}, {OpInitialise, 7<<1 | 1, Short(7).String(), -1},
		{OpProgramShort, 7<<1 | 1, "", 7}, {OpProgramShort, Mask, "", Mask}, {OpVerifyShort, 1, "", 0}, {OpVerifyShort, Mask, "", Mask},
		{OpSearchHigh, 0x2A, "", 0x2A}, {OpDTR0, 5, "", 5}, {OpTerminate, 0, "", -1}, {OpRandomise, 0, "", -1}, {OpCompare, 0, "", -1}, {OpWithdraw, 0, "", -1}, {OpQueryShort, 0, "", -1},
	} {
		d := DecodeForward(NewFrame(row.op, row.data), 0)
		arg := -1
		if d.Arg != nil {
			arg = *d.Arg
		}
		if d.Address != row.address || arg != row.arg {
			t.Errorf("%s %02X: %q, %d; want %q, %d", d.Command, row.data, d.Address, arg, row.address, row.arg)
		}
	}
}

// What was read is what was wished as far as both tell.
func TestWhetherGearIsAsWished(t *testing.T) {
	red, green := appliance.RGBW{R: 255}, appliance.RGBW{G: 255}
	all := appliance.Values{Has: appliance.CanDim | appliance.CanTune | appliance.CanColour, Level: 40, Kelvin: 3000, RGBW: red}
	with := func(change func(*appliance.Values)) appliance.Values { v := all; change(&v); return v }
	for name, row := range map[string]struct {
		read appliance.Values
		is   bool
	}{
		"the same":              {all, true},
		"another level":         {with(func(v *appliance.Values) { v.Level = 41 }), false},
		"another temperature":   {with(func(v *appliance.Values) { v.Kelvin = 3100 }), false},
		"another colour":        {with(func(v *appliance.Values) { v.RGBW = green }), false},
		"no level":              {with(func(v *appliance.Values) { v.Has, v.Level = appliance.CanTune|appliance.CanColour, 0 }), true},
		"no temperature":        {with(func(v *appliance.Values) { v.Has, v.Kelvin = appliance.CanDim|appliance.CanColour, 0 }), true},
		"no colour":             {with(func(v *appliance.Values) { v.Has, v.RGBW = appliance.CanDim|appliance.CanTune, green }), true},
		"nothing":               {appliance.Values{}, true},
		"switched, as far as 0": {with(func(v *appliance.Values) { v.Has, v.Level = appliance.CanSwitch, 0 }), true},
	} {
		if got := (wish{Want: appliance.Want{Values: all}}).isIn(row.read); got != row.is {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What became of addresses is told in words, and gear is asked what it is where it is there.
func TestWhatBecameOfAddresses(t *testing.T) {
	out := Commissioned{Taken: []int{1, 2, 3}, Shared: []int{2}, Assigned: []int{3, 5}}
	for opts, want := range map[[2]bool]string{ // dry run, all
		{false, false}: "1 kept asked, 2 shared, now of one gear asked, 3 assigned asked, 5 assigned asked",
		{true, false}:  "1 kept asked, 2 shared by several gears asked, 3 would be assigned asked, 5 would be assigned",
		{true, true}:   "1 would be given up asked, 2 shared by several gears asked, 3 would be assigned asked, 5 would be assigned",
	} {
		for _, left := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d := running(t, 0, func(string) string { return "N" })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if left {
					cancel()
				}
				var told []string
				asked := map[string]bool{}
				d.tellCommissioned(ctx, appliance.Session{
					Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
						return e.Do(ctx, appliance.Yield{})
					},
					Tell: func(s appliance.ServiceStep) {
						if at, _, ok := strings.Cut(strings.TrimPrefix(s.Step, "asking address "), " what it is"); ok {
							asked[at] = true
							return
						}
						word := s.Address + " " + fmt.Sprint(s.Facts[0].Value)
						if asked[s.Address] {
							word += " asked"
						}
						told = append(told, word)
					},
				}, CommissionOptions{DryRun: opts[0], All: opts[1]}, out)
				want := want
				if left { // nobody waits for it
					want = strings.ReplaceAll(want, " asked", "")
				}
				if got := strings.Join(told, ", "); got != want {
					t.Errorf("dry %v, all %v, left %v: %s\nwant %s", opts[0], opts[1], left, got, want)
				}
			})
		}
	}
}

// What a gateway that tells everything says while something is searched for is another's: nobody answers a search address.
func TestAnAnswerToASearchAddressIsSomebodyElses(t *testing.T) {
	for name, gw := range gateways {
		tells := gw.traits().has(explicit)
		for op, searches := range map[byte]bool{OpSearchHigh: true, OpSearchMid: true, OpSearchLow: true, OpProgramShort: false, OpDTR0: false} {
			h := &hearing{gw: gw, send: Special(op, 1)}
			h.take(message{said: saidAnswer, value: 0xFF})
			if conflict := errors.Is(h.err, errConflict); conflict != (tells && searches) {
				t.Errorf("%s, %02X: %v", name, op, h.err)
			}
			h = &hearing{gw: gw, send: Special(op, 1)}
			h.take(message{said: saidGarbled})
			if conflict := errors.Is(h.err, errConflict); conflict != tells {
				t.Errorf("%s, %02X, garbled: %v", name, op, h.err)
			}
		}
	}
}

// What was known of gear before a restart is what its next level is reckoned from.
func TestLastLevelOfGearIsTakenOver(t *testing.T) {
	for _, known := range []bool{false, true} {
		var net cable.Net
		o, err := OpenOn(appliance.BusConfig{
			Bus: appliance.Bus{Name: "hall", Driver: "dali", Port: "/dev/virtual", Options: map[string]string{"gateway": "atx"}}, Nodes: nodesOf(1, "dali-dt6"),
			Last: func(ref appliance.Ref) (appliance.Values, bool) {
				return appliance.Values{Has: appliance.CanDim, Level: 40}, known && ref == appliance.Ref{Node: 1, Channel: 1}
			},
		}, net.Ports())
		if err != nil {
			t.Fatal(err)
		}
		g := o.Driver.(*Driver).gears[0]
		if (g.asked.values.Level == 40) != known || (g.asked.arc > 0) != known {
			t.Errorf("known %v: %+v", known, g.asked)
		}
	}
}

// To find out what a port is nothing else is asked. Who follows a bus is shown what is said on it, until he goes.
func TestWhatIsAskedToFindOutAndWhoFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := running(t, 0, func(string) string { asked++; return "N" })
		ctx, cancel := context.WithCancel(t.Context())
		frames := d.Follow(ctx)
		var seen []appliance.Frame
		over := make(chan struct{})
		go func() {
			defer close(over)
			for f := range frames {
				seen = append(seen, f)
			}
		}()
		var found []appliance.Found
		for step := range d.Scan(appliance.ScanOptions{FindOut: []appliance.LineSettings{}}) {
			res, err := step.Exchange.Do(t.Context(), appliance.Yield{})
			if f, ok := step.Judge(res, err); ok {
				found = append(found, f)
			}
		}
		if asked != 4 || len(found) != 1 || !found[0].Gateway {
			t.Errorf("asked %d times, told %+v", asked, found)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		cancel()
		select {
		case <-over:
		case <-time.After(time.Second):
			t.Fatal("it is followed still")
		}
		if n := len(slices.DeleteFunc(seen, func(f appliance.Frame) bool { return f.Direction != appliance.FrameSent })); n != asked {
			t.Errorf("%d frames were shown, %d sent", n, asked)
		}
	})
}

// What a service sends in vain has no answer.
func TestASequenceOfAServiceThatFails(t *testing.T) {
	d, _ := still(t, 0, nil)
	broken := errors.New("broken")
	p := performed{d, appliance.Session{Perform: func(context.Context, appliance.Exchange) (appliance.Result, error) {
		return appliance.Result{}, broken
	}}}
	if got, err := p.Transmit(t.Context(), Special(OpTerminate, 0)); !errors.Is(err, broken) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}
