package shade

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// shown is what readers see: what it does, where it is and how certainly, how that is
// known, and how old it is.
func shown(v View, now time.Time) string {
	motions := [...]string{"unknown", "standing", "opening", "closing", "moving"}
	if v.Source == 0 {
		return motions[v.Motion] + ", nowhere"
	}
	sources := [...]string{"", "measured", "estimated", "restored"}
	return fmt.Sprintf("%s, %.0f ± %.0f, %s %.0f s ago", motions[v.Motion], math.Round(v.Position), v.Uncertainty, sources[v.Source], now.Sub(v.At).Seconds())
}

func TestWhatIsShown(t *testing.T) {
	turned, slower := relays, relays
	turned.Inverted = true
	slower.TravelUp = 2 * relays.TravelUp
	opening := then(command(0, 1, Open), told(0, 1, Opening))
	watched := func(until int) []happening {
		h := opening
		for ms := 1000; ms <= until; ms += 1000 {
			h = then(h, reads(ms, Opening))
		}
		return h
	}
	for _, s := range []struct {
		name    string
		shade   State
		happens []happening
		at      int
		want    string
	}{
		{"nothing is known at first", New(relays, dawn), nil, 0, "unknown, nowhere"},
		{"that its relay is on says nothing of where, nor whether it moves", New(relays, moment(-10_000)), then(reads(0, Opening), reads(1000, Opening)), 1000, "unknown, nowhere"},
		{"until it has been on for long", New(relays, moment(-10_000)), then(reads(0, Opening), reads(10_000, Opening), reads(19_000, Opening), reads(22_000, Opening)), 22_000, "standing, 100 ± 0, estimated 0 s ago"},
		{"or is off", New(relays, moment(-10_000)), then(reads(0, Opening), reads(1000, Standing)), 1000, "standing, nowhere"},
		{"what we set going moves, wherever it is", New(relays, moment(-10_000)), then(reads(-5000, Standing), opening), 20, "opening, nowhere"},
		{"it moves as fast as it was timed", resting(0), watched(5000), 5000, "opening, 25 ± 1, estimated 0 s ago"},
		{"nobody has read it for a while", resting(0), watched(5000), 14_000, "opening, 70 ± 1, estimated 0 s ago"},
		{"or for longer than that", resting(0), watched(5000), 16_000, "opening, 80 ± 1, estimated 11 s ago"},
		{"at the end it is certain, once its uncertainty has passed, too", resting(50), watched(12_000), 12_100, "opening, 100 ± 1, estimated 0 s ago"},
		{"then, if it is read to run still", resting(50), then(watched(12_000), reads(12_201, Opening)), 12_201, "standing, 100 ± 0, estimated 0 s ago"},
		{"its relay may have dropped by itself since, so that it need not wait before it turns", resting(50),
			then(watched(12_000), reads(12_300, Opening), command(12_900, 2, Close), told(12_900, 2, Closing)), 13_300, "closing, 100 ± 4, estimated 0 s ago"},
		{"only since it was read", resting(50),
			then(watched(12_000), reads(12_500, Opening), command(12_700, 2, Close), told(12_700, 2, Closing)), 13_200, "closing, 100 ± 3, estimated 0 s ago"},
		{"and until it was read off", resting(50),
			then(watched(12_000), reads(12_300, Opening), reads(12_800, Standing), command(12_900, 2, Close), told(12_900, 2, Closing)), 13_300, "closing, 100 ± 4, estimated 0 s ago"},
		{"though an order of two frames is out", resting(50),
			then(watched(12_000), reads(12_300, Opening), command(12_880, 2, Close), sent(12_880, 2), reads(12_890, Standing), told(12_900, 2, Closing)), 13_300, "closing, 100 ± 4, estimated 0 s ago"},
		{"not sooner", resting(50), then(watched(12_000), reads(12_199, Opening)), 12_300, "opening, 100 ± 1, estimated 0 s ago"},
		{"a power cut may have stopped it when it is read not to", resting(0), then(watched(18_000), reads(22_500, Standing)), 22_500, "standing, 100 ± 26, estimated 0 s ago"},
		{"anywhere, after a longer one", resting(0), then(watched(3000), reads(23_000, Standing)), 23_000, "standing, nowhere"},
		{"where it is shown nowhere meanwhile", resting(0), then(watched(3000)), 22_001, "unknown, nowhere"},
		{"one that was not read for long may have been stopped meanwhile, and sent on", prepared(Settings{TravelUp: 60 * time.Second, TravelDown: 60 * time.Second}, 0),
			then(watched(3000), reads(14_000, Opening)), 14_000, "opening, 23 ± 20, estimated 0 s ago"},
		{"though it runs again", resting(0), then(watched(3000), reads(23_000, Opening)), 23_000, "opening, nowhere"},
		{"if it was read on its way", resting(0), then(command(0, 1, Open), told(0, 1, MotionUnknown)), 23_000, "unknown, nowhere"},
		{"though it was read standing just before", resting(95), then(reads(-1000, Standing), command(0, 1, Open), told(0, 1, MotionUnknown)), 4000, "unknown, nowhere"},
		{"and lately", resting(0), watched(12_000), 22_202, "unknown, nowhere"},
		{"and no other frame is in doubt", resting(0), then(watched(5000), command(5000, 2, Stop), sent(5000, 2), failed(6000, 2), reads(15_000, Opening), sent(15_001, 2)), 23_000, "unknown, nowhere"},
		{"a stop that is heard ends the estimate", resting(0), then(watched(5000), command(5000, 2, Stop), sent(5000, 2), acked(5001, 2)), 9000, "standing, 25 ± 2, estimated 4 s ago"},
		{"a stop that is not heard may have been obeyed", resting(0),
			then(watched(5000), command(5000, 2, Stop), sent(5000, 2), failed(6000, 2), reads(9000, Standing)), 9000, "standing, 45 ± 24, estimated 0 s ago"},
		{"one that is heard late may have been obeyed before", resting(0),
			then(watched(5000), command(5000, 2, Stop), sent(5000, 2), sent(6000, 2), sent(7000, 2), acked(7001, 2)), 7000, "standing, 35 ± 14, estimated 0 s ago"},
		{"one that was heard and is sent again need not have been obeyed", resting(0),
			then(watched(5000), command(5000, 2, Stop), sent(5000, 2), acked(5001, 2), sent(6800, 2), acked(6801, 2)), 6801, "standing, 25 ± 12, estimated 0 s ago"},
		{"one that is repeated to a shade that stands costs nothing", resting(40),
			then(command(0, 1, Stop), told(0, 1, Standing), command(9000, 2, Stop), told(9000, 2, Standing)), 9100, "standing, 40 ± 0, estimated 0 s ago"},
		{"while nobody has read whether a run that nobody heard has begun, it may be on its way", resting(40),
			then(reads(-500, Standing), command(0, 1, Open), sent(0, 1), failed(450, 1)), 3000, "standing, 40 ± 17, estimated 4 s ago"},
		{"anywhere, in the end", resting(40),
			then(reads(-500, Standing), command(0, 1, Open), sent(0, 1), failed(450, 1)), 18_000, "standing, nowhere"},
		{"a run that nobody heard may have begun", resting(40),
			then(reads(-500, Standing), command(0, 1, Open), sent(0, 1), failed(450, 1), reads(3000, Standing)), 3000, "standing, 40 ± 17, estimated 0 s ago"},
		{"and ended, if something else was sent, too", resting(10),
			then(watched(2000), command(2000, 2, Close), sent(2000, 2), command(2100, 3, Open), sent(2100, 3), failed(2200, 3), reads(4000, Opening)), 4000, "opening, 30 ± 13, estimated 0 s ago"},
		{"a run that nobody has read may not have been", resting(40),
			then(command(0, 1, Open), sent(0, 1), acked(1, 1), command(4000, 2, Stop), sent(4000, 2), acked(4001, 2)), 4000, "standing, 60 ± 22, estimated 0 s ago"},
		{"a surprise costs what it may have moved since it was read", resting(40),
			then(reads(0, Standing), reads(4000, Opening), reads(4900, Opening)), 4900, "opening, 45 ± 23, estimated 0 s ago"},
		{"and a little at least", resting(40),
			then(reads(0, Standing), reads(100, Opening)), 100, "opening, 40 ± 5, estimated 0 s ago"},
		{"after the whole travel the position is unknown", resting(40),
			then(reads(0, Standing), reads(18_000, Opening)), 18_000, "opening, nowhere"},
		{"less than that is not", resting(40),
			then(reads(0, Standing), reads(17_900, Opening)), 17_900, "opening, 40 ± 100, estimated 0 s ago"},
		{"one that goes on as it did has not obeyed", resting(0),
			then(watched(5000), command(5000, 2, Close), sent(5000, 2), acked(5001, 2), reads(5300, Opening), reads(6000, Opening)), 6000, "opening, 29 ± 7, estimated 0 s ago"},
		{"soon after a frame a surprise may be of before", resting(0),
			then(watched(5000), command(5000, 2, Stop), sent(5000, 2), acked(5001, 2), reads(5240, Opening)), 5300, "standing, 25 ± 2, estimated 0 s ago"},
		{"but it did move then", resting(50),
			then(command(5000, 2, Stop), sent(5000, 1), acked(5001, 1), reads(5100, Closing)), 5300, "standing, 50 ± 84, estimated 0 s ago"},
		{"at an end the relay stays on", resting(100), then(reads(-9000, Opening), reads(0, Opening)), 0, "standing, 100 ± 0, estimated 0 s ago"},
		{"which is no news at the first look", resting(100), then(reads(0, Opening)), 0, "standing, 100 ± 0, estimated 0 s ago"},
		{"nor at the other end", resting(0), then(reads(0, Closing)), 0, "standing, 0 ± 0, estimated 0 s ago"},
		{"the actuator waits before it turns round", resting(50),
			then(watched(2000), command(2000, 2, Close), sent(2000, 2), acked(2001, 2), reads(2600, Closing)), 4300, "closing, 50 ± 2, estimated 0 s ago"},
		{"it has waited already if it stood", resting(50),
			then(watched(2000), command(2000, 2, Stop), told(2000, 2, Standing), reads(4000, Standing), command(4000, 3, Close), told(4000, 3, Closing)), 5800, "closing, 50 ± 3, estimated 0 s ago"},
		{"since it was first told to", resting(50),
			then(watched(2000), command(2000, 2, Stop), told(2000, 2, Standing), reads(3000, Standing), command(4000, 3, Stop), told(4000, 3, Standing),
				command(4100, 4, Close), told(4100, 4, Closing)), 5900, "closing, 50 ± 3, estimated 0 s ago"},
		{"so is one at the end that it goes to first", New(relays, moment(-10_000)),
			then(command(0, 1, MoveTo, 40), told(0, 1, Standing), tick(501), told(501, 2, Closing), reads(15_000, Closing), reads(20_301, Closing)), 20_305, "moving, 0 ± 0, estimated 0 s ago"},
		{"one that may have turned round on a frame that nobody acknowledged may be as far away as both ways", resting(80),
			then(command(0, 1, Close), told(0, 1, Closing), command(2000, 2, Open), sent(2000, 2), command(2100, 3, Stop), sent(6000, 3), acked(6001, 3)), 6001, "standing, 47 ± 47, estimated 0 s ago"},
		{"one that nobody has answered for may be on its way", resting(0),
			then(command(0, 1, Open), sent(0, 1), failed(1000, 1)), 5000, "standing, 0 ± 28, estimated 15 s ago"},
		{"a shade that pauses on its way is moving", resting(0), pausing(), 8100, "moving, 40 ± 2, estimated 0 s ago"},
		{"of one that nobody has heard of for long nothing is known", resting(0), then(watched(2000)), 300_000, "unknown, nowhere"},
		{"without travel times it is where it was seen", prepared(Settings{}, 40), then(reads(0, Standing)), 0, "standing, 40 ± 0, estimated 0 s ago"},
		{"until it moves", prepared(Settings{}, 40), then(command(0, 1, Open), told(0, 1, Opening)), 20, "opening, nowhere"},
		{"new travel times leave it where it was", resting(0), then(watched(5000), at(5000, Configure{slower}), reads(9000, Opening)), 9000, "opening, 35 ± 1, estimated 0 s ago"},
		{"a shade that is turned round is where it was", resting(30), then(at(1000, Configure{turned})), 1000, "standing, 70 ± 0, estimated 11 s ago"},
		{"a person saw where it stands", New(relays, dawn), then(at(1000, Stood{100})), 1500, "unknown, 100 ± 0, estimated 0 s ago"},
		{"of before a restart", New(relays, dawn), then(at(1000, Restored{40, 2, moment(-5000)})), 1500, "unknown, 40 ± 7, restored 6 s ago"},
		{"a motor that measures knows better than a person", measured(30), then(at(1000, Stood{100})), 1000, "standing, 30 ± 0, measured 11 s ago"},
		{"that it moves makes its position no fresher", measured(30), then(reads(3000, Opening)), 4000, "opening, 30 ± 0, measured 14 s ago"},
		{"nor a measured one of one that was kept over a restart", New(motor, dawn), then(at(0, Restored{70, 0, dawn}), reads(3000, Closing)), 4000, "closing, 70 ± 0, restored 4 s ago"},
		{"one that says that it runs while its position stands is shown standing after a while", measured(30),
			then(place(0, 30, Closing), place(1000, 29, Closing), place(4000, 29, Closing), place(6000, 29, Closing)), 6000, "standing, 29 ± 0, measured 0 s ago"},
		{"not sooner", measured(30),
			then(place(0, 30, Closing), place(1000, 29, Closing), place(4000, 29, Closing), place(5999, 29, Closing)), 5999, "closing, 29 ± 0, measured 0 s ago"},
		{"nor when it was only just sent somewhere", measured(30),
			then(command(0, 1, Open), sent(0, 1), acked(1, 1), place(4000, 30, Opening)), 4000, "opening, 30 ± 0, measured 0 s ago"},
		{"nor while nobody reads its position", measured(30),
			then(place(0, 31, Closing), reads(9000, Closing)), 9000, "closing, 31 ± 0, measured 9 s ago"},
		{"one that goes on is shown so", measured(30),
			then(place(0, 31, Closing), place(9000, 31, Closing), place(10_000, 30, Closing)), 10_000, "closing, 30 ± 0, measured 0 s ago"},
		{"it is moving until it says that it stands", measured(30),
			then(command(0, 1, Open), sent(0, 1), acked(1, 1), command(1000, 2, Stop), sent(1000, 2), acked(1001, 2)), 1002, "opening, 30 ± 0, measured 11 s ago"},
		{"or nothing is heard of it for long", measured(30), then(command(0, 1, MoveTo, 50), sent(0, 1), acked(1, 1)), 180_001, "unknown, 30 ± 0, measured 190 s ago"},
	} {
		t.Run(s.name, func(t *testing.T) {
			state, _, log := story{shade: s.shade, happens: s.happens}.tell(t)
			if got := shown(state.View(moment(s.at)), moment(s.at)); got != s.want {
				t.Errorf("shown %s\nwant  %s\n%s", got, s.want, strings.Join(log, "\n"))
			}
		})
	}
}

// A shade that may have obeyed what nobody acknowledged is read often, until a reading has told.
func TestWatchedUntilItIsKnownWhetherItObeyed(t *testing.T) {
	tried := then(command(0, 1, Open), sent(0, 1), failed(1000, 1))
	s, _, _ := story{shade: resting(0), happens: tried}.tell(t)
	if s.Phase != Idle || !s.Watch() {
		t.Errorf("%v, watched %t", s.Phase, s.Watch())
	}
	s, _ = Step(s, moment(9100), Read{Asked: moment(9100), Motion: Standing})
	if s.Watch() {
		t.Errorf("watched still, when it is known to stand")
	}
}

// A shade that runs to its end is to be asked about it then, once.
func TestWakesAtTheEndOfTheTravel(t *testing.T) {
	s, _, _ := story{shade: resting(0), happens: then(command(0, 1, Open), told(0, 1, Opening))}.tell(t)
	if want := moment(22_000); !s.Wake().Equal(want) {
		t.Errorf("wakes at %v, want %v", s.Wake().Sub(dawn), want.Sub(dawn))
	}
	s, _ = Step(s, moment(15_000), Read{Asked: moment(15_000), Motion: Opening})
	if s, _ = Step(s, moment(22_000), Tick{}); !s.Wake().After(moment(22_000)) {
		t.Errorf("and again at %v", s.Wake().Sub(dawn))
	}
}

// Every step is one of a value: whoever kept the state before has it still.
func TestStepChangesNoOtherState(t *testing.T) {
	before := resting(0)
	kept := before
	Step(before, dawn, Command{Seq: 1, Kind: MoveTo, Position: 50})
	if before != kept {
		t.Errorf("the state before is %+v now, was %+v", before, kept)
	}
}
