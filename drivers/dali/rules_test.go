package dali

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim/dalisim"
)

// still is a driver of so many gears on a line in memory, that does not run.
func still(t *testing.T, n int, options map[string]string) (*Driver, *cable.Serial) {
	t.Helper()
	var net cable.Net
	end, err := net.Plug("/dev/virtual")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"gateway": "atx"}
	for k, v := range options {
		all[k] = v
	}
	o, err := OpenOn(appliance.BusConfig{
		Bus: appliance.Bus{Name: "hall", Driver: "dali", Port: "/dev/virtual", Options: all}, Nodes: nodesOf(n, "dali-dt6"),
	}, net.Ports())
	if err != nil || len(o.BrokenNodes) > 0 {
		t.Fatal(err, o.BrokenNodes)
	}
	return o.Driver.(*Driver), end
}

// levels wants one of so many gears, from the first on.
func levels(l appliance.Level, n int) (want []appliance.Want) {
	for i := range n {
		want = append(want, appliance.Want{
			Ref: appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l},
		})
	}
	return want
}

// Of groups that lie in one another the largest saves most frames.
func TestLargestGroupGoesFirst(t *testing.T) {
	d, _ := still(t, 4, nil)
	d.UseGroups(appliance.GroupUse{Groups: []appliance.Group{
		{Name: "1", Members: []string{"0", "1"}}, {Name: "2", Members: []string{"0", "1", "2"}},
	}})
	if chains := d.Plan(levels(40, 3)); len(chains) != 1 || len(chains[0].Wants) != 3 {
		t.Errorf("%d chains, the first for %d gears; want one for all three", len(chains), len(chains[0].Wants))
	}
}

// Gear that did not answer gets the frame with the others and is waited for apart from them:
// its own frame counts only with the answer to it.
func TestSilentGearIsToldWithTheOthersAndHasToAnswerByItself(t *testing.T) {
	d, _ := still(t, 4, nil)
	d.gears[1].silent = 1
	chains := d.Plan(levels(40, 4))
	if len(chains) != 2 || len(chains[0].Wants) != 3 || len(chains[1].Wants) != 1 {
		t.Fatalf("chains %+v, want one for the three that answer and one for the other", chains)
	}
	alone := chains[1]
	if alone.Wants[0].Node != 2 || len(alone.Steps) != 1 || alone.Steps[0].Device != d.gears[1].key {
		t.Errorf("the silent one: %+v, want one exchange that it has to answer", alone)
	}
	for _, s := range chains[0].Steps {
		if s.Device != "" {
			t.Errorf("the others wait for %s", s.Device)
		}
	}
}

// running is a driver whose gateway says what answer gives to each frame, on virtual time.
func running(t *testing.T, n int, answer func(frame string) string) *Driver {
	t.Helper()
	d, end := still(t, n, nil)
	t.Cleanup(func() { end.Close() })
	go d.Run(t.Context())
	go func() {
		for in := bufio.NewScanner(end); in.Scan(); {
			text := in.Text()
			said := answer(text[1:]) + "\n"
			if text[0] == 't' {
				said += said
			}
			fmt.Fprint(end, said)
		}
	}()
	time.Sleep(time.Minute)
	return d
}

// What is urgent waits for the end of a sequence that has begun: between two of its frames another's would change what the
// second writes.
func TestNothingComesBetweenTheFramesOfASequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		urgent := make(chan struct{})
		var frames []string
		d := running(t, 1, func(frame string) string {
			if frames = append(frames, frame); len(frames) == 1 {
				close(urgent)
			}
			return "N"
		})
		_, sent, err := d.wire.transmit(t.Context(), appliance.Yield{Begin: urgent}, Special(OpDTR0, 7), Command(Short(0), OpSetShort))
		if err != nil || sent.IsZero() || len(frames) != 2 {
			t.Errorf("frames %v, %v; want both", frames, err)
		}
	})
}

// What a gear's groups are decides what is written to it. Where answers carry no checksum one
// that was heard wrong once shows in the other.
func TestGroupsThatReadDifferentlyAreDamaged(t *testing.T) {
	for name, answers := range map[string][]string{"the same": {"J01", "J01", "J00", "J00"}, "another": {"J01", "J03", "J00", "J00"}} {
		synctest.Test(t, func(t *testing.T) {
			d := running(t, 1, func(string) string {
				said := answers[0]
				answers = answers[1:]
				return said
			})
			var held []string
			var damaged bool
			for e := range d.ReadGroups("0", func(h []string) { held = h }) {
				if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
					damaged = errors.Is(err, appliance.ErrDamaged)
					break
				}
			}
			if damaged != (name == "another") || !damaged && strings.Join(held, " ") != "0" {
				t.Errorf("%s: damaged is %v, groups %v", name, damaged, held)
			}
		})
	}
}

// Silence, several answers at once and one clear answer are three things.
func TestWhatAnAnswerTells(t *testing.T) {
	for said, want := range map[string]struct {
		err    error
		silent int
	}{"J7F": {nil, 0}, "N": {appliance.ErrSilent, 2}, "X": {appliance.ErrDamaged, 0}} {
		synctest.Test(t, func(t *testing.T) {
			d := running(t, 1, func(string) string { return said })
			d.gears[0].silent = 1
			v, _, err := d.askByte(t.Context(), appliance.Yield{}, d.gears[0], OpQueryMax)
			if !errors.Is(err, want.err) || err == nil && v != 0x7F || d.gears[0].silent != want.silent {
				t.Errorf("after %q: %d, %v, silent %d times; want %v, %d", said, v, err, d.gears[0].silent, want.err, want.silent)
			}
		})
	}
}

// A level that is news is asked for twice where answers carry no checksum, and told if both
// are the same.
func TestLevelThatIsNewsComesTwice(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []string
		asked   int
		damaged bool
	}{
		"as before":      {[]string{"J40"}, 1, false},
		"news":           {[]string{"J50", "J50"}, 2, false},
		"once and never": {[]string{"J50", "J40"}, 2, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := running(t, 1, func(string) string { asked++; return tc.answers[asked-1] })
			g := d.gears[0]
			g.last = raw{0x40, true}
			_, _, err := d.askLevel(t.Context(), appliance.Yield{}, g)
			if asked != tc.asked || errors.Is(err, appliance.ErrDamaged) != tc.damaged || (err != nil) != tc.damaged {
				t.Errorf("%s: asked %d times, %v; want %d times, damaged %v", name, asked, err, tc.asked, tc.damaged)
			}
		})
	}
}

// A fade is that of the last level only if the gear was at rest before, or must have been.
func TestAFadeThatBeganBeforeIsNotOurs(t *testing.T) {
	for name, tc := range map[string]struct {
		settled bool
		later   time.Duration
		ours    bool
	}{"on its way": {false, time.Second, false}, "at rest": {true, time.Second, true}, "long ago": {false, longestFade + time.Second, true}} {
		g := &gear{profile: profiles["dali-dt6"], curve: curves["standard"]}
		g.told(100, testTime)
		g.settled = tc.settled
		g.told(10, testTime.Add(tc.later))
		if g.asked.fadeKnown != tc.ours || g.settled {
			t.Errorf("%s: a fade seen now is ours: %v, want %v; at rest: %v", name, g.asked.fadeKnown, tc.ours, g.settled)
		}
	}
}

// One that fades is where it was sent only if the fade is known to be that one; else nobody
// can tell yet.
func TestWhoFadesIsBelievedOnlyOnTheWayItWasSent(t *testing.T) {
	for name, tc := range map[string]struct {
		known bool
		sent  appliance.Level
		err   error
	}{"ours": {true, 40, nil}, "perhaps an older one": {false, 40, appliance.ErrBusy}, "to another level": {true, 70, appliance.ErrBusy}} {
		synctest.Test(t, func(t *testing.T) {
			answers := map[string]string{}
			for op, said := range map[byte]string{OpQueryStatus: "J14", OpQueryMin: "J01", OpQueryMax: "JFE"} {
				answers[Command(Short(0), op).Frame.String()] = said
			}
			d := running(t, 1, func(frame string) string { return answers[frame] })
			g := d.gears[0]
			g.told(tc.sent, time.Now())
			g.asked.fadeKnown = tc.known
			w := wish{levels(40, 1)[0], g}
			if _, err := d.verifiedLevel(t.Context(), w, 200); !errors.Is(err, tc.err) {
				t.Errorf("%s: %v, want %v", name, err, tc.err)
			}
		})
	}
}

// What was read before a fade was over is not where it ended: the level is asked for again.
func TestWhereAFadeEndedIsReadAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[string]string{
			Command(Short(0), OpQueryStatus).Frame.String(): "J04", Command(Short(0), OpQueryActualLevel).Frame.String(): "JFE",
		}
		d := running(t, 1, func(frame string) string { return answers[frame] })
		g := d.gears[0]
		g.told(50, time.Now())
		l, ok, err := d.polledLevel(t.Context(), g, 100, time.Now())
		if l != 100 || !ok || err != nil {
			t.Errorf("%v %%, %v, %v; want 100, which it told once it stood", l, ok, err)
		}
	})
}

func TestStatusIsPutIntoWords(t *testing.T) {
	for status, want := range map[byte]string{
		0: "answers", StatusLampOn: "answers, lamp on", StatusGearFailure | StatusPowerCycled: "answers, gear failure, power was cycled", StatusFading: "answers",
	} {
		if got := describeStatus(status); got != want {
			t.Errorf("%02X: %q, want %q", status, got, want)
		}
	}
}

// forgetful is gear that does not tell the address it was given, so often.
type forgetful struct {
	Transmitter
	left  int
	given bool // it was just given one
}

func (f *forgetful) Transmit(ctx context.Context, seq ...Send) ([]Answer, error) {
	answers, err := f.Transmitter.Transmit(ctx, seq...)
	is := seq[len(seq)-1].Frame.AddressByte()
	if err == nil && f.left > 0 && f.given && is == OpQueryShort {
		f.left--
		answers[len(answers)-1] = Answer{}
	}
	f.given = is == OpProgramShort
	return answers, err
}

// An address that gear did not take is given again, and not for ever.
func TestAddressThatWasNotTakenIsGivenAgain(t *testing.T) {
	t.Parallel()
	for lost, want := range map[int]error{sendTries - 1: nil, 100: appliance.ErrRefused} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(2), Speed: 100, Seed: 5})
			out, err := Commission(t.Context(), &forgetful{Transmitter: r.driver("atx"), left: lost}, CommissionOptions{})
			if !errors.Is(err, want) || want == nil && len(out.Assigned) != 2 {
				t.Errorf("%d answers lost: %+v, %v; want %v", lost, out, err, want)
			}
		})
	}
}

// A sequence that cannot be out before the deadline is not begun.
func TestSequenceIsBegunOnlyIfItCanBeOutInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := running(t, 1, func(string) string { asked++; return "N" })
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		_, _, err := d.wire.transmit(ctx, appliance.Yield{}, Arc(Short(0), 1), Arc(Short(0), 2), Arc(Short(0), 3))
		if !errors.Is(err, appliance.ErrExpired) || asked > 0 {
			t.Errorf("%d frames went out, %v; want none, and %v", asked, err, appliance.ErrExpired)
		}
	})
}

// Of a colour that was sent nothing is known of the level; it is not taken for a level of 0.
func TestAColourTellsNothingOfTheLevel(t *testing.T) {
	g := &gear{profile: profiles["dali-dt6"], curve: curves["standard"]}
	g.told(40, testTime)
	(&Driver{}).note(wish{appliance.Want{Values: appliance.Values{Has: appliance.CanTune, Kelvin: 3000}}, g}, testTime.Add(time.Second))
	if g.asked.values.Level != 40 || !g.asked.at.Equal(testTime) {
		t.Errorf("told %v at %v", g.asked.values.Level, g.asked.at)
	}
	(&Driver{}).note(wish{levels(0, 1)[0], g}, testTime.Add(time.Minute))
	if g.asked.values.Level != 0 || !g.asked.at.Equal(testTime.Add(time.Minute)) {
		t.Errorf("told %v at %v", g.asked.values.Level, g.asked.at)
	}
}

// A gateway that leaves one frame unconfirmed is not called sick; the third in a row it is, until it says something.
func TestAGatewayThatSaysNothingIsSick(t *testing.T) {
	w := &wire{}
	for round := range 2 {
		for i := 1; i <= muteLimit; i++ {
			w.ready = testTime
			if err := w.muted(appliance.ErrSilent); !errors.Is(err, appliance.ErrSilent) || !w.stray || !w.ready.IsZero() {
				t.Errorf("%v, what comes is strange: %v", err, w.stray)
			}
			if sick := w.sick.Load() != nil; sick != (i >= muteLimit) {
				t.Errorf("round %d: sick after %d: %v", round, i, sick)
			}
		}
		if w.heard(); w.sick.Load() != nil {
			t.Error("sick though it was heard")
		}
	}
}
