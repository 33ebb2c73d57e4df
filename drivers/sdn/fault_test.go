package sdn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// floor is 24 motors in four groups of six, and one group of all, on a real line:
// 4800 baud, answers after 5 to 255 ms.
func floor() sdnsim.Config {
	list := motors(24)
	for i := range list {
		list[i].Groups = []string{fmt.Sprintf("01.01.%02X", 0x10+i/6), "01.01.20"}
	}
	return sdnsim.Config{Motors: list, Quiet: 25 * time.Millisecond, Seed: 7}
}

func TestFloorMovesAsOneAndStragglersAreRepaired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Without broadcast, so that the group of all is used.
		h := build(t, plan{sim: floor(), options: map[string]string{"broadcast": "false"}})
		h.awake()

		n := h.mark()
		began := time.Now()
		h.must(moveTo(everything, 50))
		t.Logf("24 motors, one group frame: all proven after %v", time.Since(began).Round(time.Millisecond))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one group frame", many, alone)
		}
		h.must(kind(appliance.ShadeStop, everything))

		// Three miss the frame, and can be reached again two seconds later.
		h.wait(60*time.Second, "all seen at rest where they are", func() bool {
			devices := h.sim.Devices()
			for i, sh := range h.ctl.Snapshot().Shades {
				off := devices[i].Position - float64(sh.Position.Value)
				if sh.Motion != appliance.Stopped || off < -1 || off > 1 {
					return false
				}
			}
			return true
		})
		for _, i := range []int{3, 11, 19} {
			if err := h.sim.SetTrouble(address(i), sdnsim.Trouble{Deaf: 2 * time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		n = h.mark()
		began = time.Now()
		h.must(kind(appliance.ShadeClose, everything))
		t.Logf("three of them deaf for 2 s: all proven after %v", time.Since(began).Round(time.Millisecond))
		alone, many := h.orders(n)
		if many != 1 || alone < 3 || alone > 12 {
			t.Errorf("%d frames to several and %d to one, want one group frame and about three repairs", many, alone)
		}
		for _, d := range h.sim.Devices() {
			if !d.Moving && d.Position > 0 {
				t.Errorf("reported as closing: %+v", d)
			}
		}
	})
}

func TestMotorsThatStayDeafAreNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(5))
		for i := range list {
			list[i].Groups = []string{"01.01.05"}
		}
		h := build(t, plan{sim: quick(list)})
		h.awake()
		if err := h.sim.SetTrouble(address(3), sdnsim.Trouble{Deaf: time.Minute}); err != nil {
			t.Fatal(err)
		}
		e := h.do(kind(appliance.ShadeClose, everything))
		if e.OK() || !strings.Contains(e.Err, address(3)) || strings.Contains(e.Err, address(2)) {
			t.Errorf("%q, want %s named and no other", e.Err, address(3))
		}
		for i, m := range e.Members {
			if ok := m.Stage == appliance.StageObserved; ok != (i != 3) {
				t.Errorf("member %d: %+v", i, m)
			}
		}
		// Once it counts as offline nobody waits for it.
		h.wait(20*time.Second, "offline", func() bool {
			h.do(moveTo(one(3), 50))
			return !h.shade(3).Online
		})
		began := time.Now()
		if e := h.do(kind(appliance.ShadeOpen, everything)); !e.OK() || !e.Members[3].Offline {
			t.Errorf("%q, %+v; want the rest to be good enough", e.Err, e.Members[3])
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("took %v because of a motor that is known to be dead", took)
		}
	})
}

func TestDamagedAndMissingAnswersNeverLie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(3)))})
		h.awake()
		for i := range 3 {
			if err := h.sim.SetTrouble(address(i), sdnsim.Trouble{Garble: 0.2, Dumb: 0.2}); err != nil {
				t.Fatal(err)
			}
		}
		good := 0
		for n := range 18 {
			i, p := n%3, appliance.Position(10+n*5%80)
			e := h.do(moveTo(one(i), p))
			if !e.OK() {
				continue
			}
			good++
			d := h.sim.Devices()[i]
			if at := int(d.Position + 0.5); !d.Moving && at != int(p) {
				t.Errorf("reported as sent to %d, and the motor does %+v", p, d)
			}
		}
		if good < 10 {
			t.Errorf("%d of 18 got through", good)
		}
	})
}

func TestLateAnswersAreNotTakenForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(2)))})
		h.awake()
		if err := h.sim.SetTrouble(address(0), sdnsim.Trouble{Late: 400 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		for _, p := range []appliance.Position{80, 90, 20, 60} {
			began := h.mark()
			if !h.do(moveTo(one(0), p)).OK() {
				continue
			}
			// Reported as done: then the motor must have heard of it, and be on its way.
			heard := false
			for _, m := range h.sim.Heard(began) {
				heard = heard || m.Message.ID == 3 && m.Message.Data[1] == byte(100-p)
			}
			if d := h.sim.Devices()[0]; !heard || !d.Moving && int(d.Position+0.5) != int(p) {
				t.Errorf("reported as sent to %d, heard of it: %v, and does %+v", p, heard, d)
			}
		}
		if err := h.sim.SetTrouble(address(0), sdnsim.Trouble{}); err != nil {
			t.Fatal(err)
		}
		h.must(moveTo(one(1), 50))
		h.must(moveTo(one(0), 20))
	})
}

func TestNoiseAndForeignFramesDoNotDisturb(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(2)))})
		h.awake()
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			ticker := time.NewTicker(170 * time.Millisecond)
			defer ticker.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-ticker.C:
				}
				if n%2 == 0 {
					h.sim.Noise([]byte{0xFF, 0xF4, byte(n)})
				} else {
					h.sim.Say(sdnsim.Message{ID: 0x0E, Src: 0x7F7F7F, Dst: 0x123456})
				}
			}
		}()
		good := 0
		for n := range 20 {
			if h.do(moveTo(one(n%2), appliance.Position(20+3*n))).OK() {
				good++
			}
		}
		close(stop)
		<-done
		if good < 19 {
			t.Errorf("%d of 20 commands got through the noise", good)
		}
	})
}

func TestBabblingBusIsSaidToBabble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(1)))})
		h.awake()
		h.sim.Babble(6 * time.Second)
		e := h.do(moveTo(one(0), 50))
		if e.OK() || e.Err == "" {
			t.Errorf("%+v", e)
		}
		// Either it got no chance to speak, or it did and heard nonsense.
		if !strings.Contains(e.Err, "silent") && !strings.Contains(e.Err, "damaged answer") {
			t.Errorf("%q does not say what is wrong with the line", e.Err)
		}
		h.wait(20*time.Second, "usable again", func() bool { return h.do(moveTo(one(0), 50)).OK() })
	})
}

func TestEchoingAdapter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(2))), options: map[string]string{"echo": "true"}})
		h.sim.Echo(true)
		h.awake()
		h.must(moveTo(one(1), 30))
		h.must(kind(appliance.ShadeClose, everything))
	})
}

func TestHostAddressIsAnOption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(motors(1)), options: map[string]string{"hostAddress": "7F.7F.7F"}})
		h.awake()
		for _, m := range h.sim.Heard(0) {
			if m.Message.Src != 0x7F7F7F {
				t.Fatalf("sent from %06X", m.Message.Src)
			}
		}
	})
}

func TestOneDeadMotorCostsTheOthersLittle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(motors(6)), options: map[string]string{"broadcast": "false"}})
		h.awake()
		// A motor that has to turn round takes its time, whoever is dead.
		slowest := func() (worst time.Duration) {
			for n := range 20 {
				began := time.Now()
				h.must(moveTo(one(2+n%4), appliance.Position(95-5*n)))
				worst = max(worst, time.Since(began))
			}
			return worst
		}
		whole := slowest()
		for i := range 2 {
			if err := h.sim.SetTrouble(address(i), sdnsim.Trouble{Deaf: time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		h.wait(40*time.Second, "both offline", func() bool {
			h.do(moveTo(one(0), 50))
			h.do(moveTo(one(1), 50))
			return !h.shade(0).Online && !h.shade(1).Online
		})
		worst := slowest()
		t.Logf("two of six motors dead: a command to another took %v at most, %v with all of them well", worst.Round(time.Millisecond), whole.Round(time.Millisecond))
		if worst > whole+400*time.Millisecond { // one question to a dead one may be under way
			t.Errorf("took %v, %v with all motors well", worst, whole)
		}
		const span = 8 * time.Second
		n := h.mark()
		<-time.After(span)
		probes := 0
		for _, m := range h.sim.Heard(n) {
			if m.Message.Dst == 0x061A00 || m.Message.Dst == 0x061A01 {
				probes++
			}
		}
		// A probe costs a third of a second; 5 % of the span is one, and one may have been
		// saved up.
		if probes > 2 {
			t.Errorf("dead motors were asked %d times in %v", probes, span)
		}
	})
}

// An answer that comes late once, as through a serial server that was busy, falls into
// the next call, which its motor answers as well: that is one motor.
func TestOneLateAnswerMakesNoTwins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const answer = 100 * time.Millisecond
		h := build(t, plan{sim: sdnsim.Config{Motors: motors(1), Seed: 3, AnswerMin: answer, AnswerMax: answer}})
		h.wait(10*time.Second, "the bus is up", func() bool { return h.shade(0).Online })
		twice := 0
		slow := func(what string) {
			if strings.Contains(what, "everybody, round 2") {
				h.sim.SetTrouble(address(0), sdnsim.Trouble{Late: 270 * time.Millisecond})
				twice++
				return
			}
			h.sim.SetTrouble(address(0), sdnsim.Trouble{})
		}
		var found appliance.Found
		if err := h.ctl.Scan(t.Context(), "shades", appliance.ScanOptions{}, slow, func(f appliance.Found) { found = f }); err != nil {
			t.Fatal(err)
		}
		if twice == 0 || found.Address != address(0) || found.Finding.Trouble() {
			t.Errorf("answered late %d times: %+v, want one motor and no trouble", twice, found)
		}
	})
}

func TestScanFindsEveryMotorAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(9)
		list[0].Groups, list[0].Label = []string{"01.01.05", "01.01.06"}, "Lobby south"
		list[1].Type = 9
		list[2].Limit = -1
		list[8].Address = list[7].Address // twins
		h := build(t, plan{sim: sdnsim.Config{Motors: list, BaudRate: 19200, Seed: 3, AnswerMin: 5 * time.Millisecond, AnswerMax: 120 * time.Millisecond}, strange: 5})
		found := map[string]appliance.Found{}
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		h.wait(10*time.Second, "the bus is up", func() bool { return h.shade(0).Online })
		err := h.ctl.Scan(ctx, "shades", appliance.ScanOptions{}, func(string) {}, func(f appliance.Found) { found[f.Address] = f })
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if _, ok := found[address(i)]; !ok {
				t.Errorf("%s was not found", address(i))
			}
		}
		if len(found) != 8 {
			t.Errorf("found %v", found)
		}
		for i, words := range map[int][]string{
			0: {"Sonesse 30 DC", "01.01.05 01.01.06", "limits set (10000 pulses)", "0 % closed"},
			1: {"40 mm AC"}, 2: {"limits not set"}, 7: {"TWO MOTORS"},
		} {
			for _, w := range words {
				if !strings.Contains(found[address(i)].Detail, w) {
					t.Errorf("%s: %q, want %q in it", address(i), found[address(i)].Detail, w)
				}
			}
		}
		if f := found[address(0)]; f.Label != "Lobby south" || !slices.Equal(f.Groups, []string{"01.01.05", "01.01.06"}) || f.Finding.Trouble() {
			t.Errorf("%+v, want its label and its groups, and no trouble", f)
		}
		if f := found[address(7)]; f.Finding != appliance.FoundCollision || f.Advice == "" {
			t.Errorf("twins: %+v", f)
		}
		if strings.Contains(found[address(5)].Detail, "TWO") {
			t.Errorf("%+v is one motor", found[address(5)])
		}
		if found[address(0)].Kind != "somfy-sdn-30dc" || found[address(1)].Kind != "somfy-sdn-40ac" {
			t.Errorf("kinds %q and %q", found[address(0)].Kind, found[address(1)].Kind)
		}
	})
}

func TestScanTellsNoiseFromSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, noisy := range []bool{false, true} {
			h := build(t, plan{sim: quick([]sdnsim.Motor{}), strange: 0})
			h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
			ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
			var found []appliance.Found
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				ticker := time.NewTicker(100 * time.Millisecond)
				defer ticker.Stop()
				for noisy {
					select {
					case <-stop:
						return
					case <-ticker.C:
						h.sim.Noise([]byte{0x5A, 0xFF, 0x00, 0x11})
					}
				}
			}()
			err := h.ctl.Scan(ctx, "shades", appliance.ScanOptions{}, func(string) {}, func(f appliance.Found) { found = append(found, f) })
			cancel()
			close(stop)
			<-done
			if err != nil {
				t.Fatal(err)
			}
			want := "NOBODY ANSWERED"
			if noisy {
				want = "no frame is whole"
			}
			if len(found) != 1 || !found[0].Finding.Trouble() || !strings.Contains(found[0].Detail, want) {
				t.Errorf("noise %v: found %+v", noisy, found)
			}
		}
	})
}

// A search with many motors takes minutes: who was heard is told then, and not when nobody is missing any more.
func TestMotorsAreToldAsTheyAreHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := floor()
		h := build(t, plan{sim: list})
		h.awake()
		began := time.Now()
		first := map[string]time.Duration{}
		if err := h.ctl.Scan(t.Context(), "shades", appliance.ScanOptions{}, func(string) {}, func(f appliance.Found) {
			if _, known := first[f.Address]; !known && f.Address != "" {
				first[f.Address] = time.Since(began)
			}
		}); err != nil {
			t.Fatal(err)
		}
		all := time.Since(began)
		soon, earliest := 0, all
		for _, at := range first {
			if earliest = min(earliest, at); at < all/3 {
				soon++
			}
		}
		t.Logf("%d motors, the first after %v, %d of them within a third of %v", len(first), earliest.Round(time.Second), soon, all.Round(time.Second))
		if len(first) < len(list.Motors) || soon < len(list.Motors)/2 || earliest > 15*time.Second {
			t.Errorf("told when, of a scan of %v: %v", all, first)
		}
	})
}

// Motors that arrive one after the other while they are asked cost one question each, not
// two: the floor is proven before anybody gives up waiting.
func TestFloorThatArrivesMeanwhileIsProvenInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := floor()
		for i := range list.Motors {
			list.Motors[i].Up, list.Motors[i].Down = 12*time.Second, 12*time.Second
		}
		h := build(t, plan{sim: list, options: map[string]string{"broadcast": "false"}})
		h.awake()
		h.must(moveTo(everything, 60))
		h.must(kind(appliance.ShadeStop, everything))
		n := h.mark()
		h.must(moveTo(everything, 50))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one group frame", many, alone)
		}
		asked := 0
		for _, m := range h.sim.Heard(n) {
			if !m.Foreign && m.Message.ID > 6 {
				asked++
			}
		}
		if asked > 32 {
			t.Errorf("%d questions prove 24 motors, want little more than one each", asked)
		}
	})
}
