package shade

import (
	"testing"
	"time"
)

// ended is a shade that we sent up from 50, and that was read at its end at 12.2 s.
func ended(set Settings) (State, []happening) {
	h := then(command(0, 1, Open), told(0, 1, Opening), reads(6000, Opening), reads(12_200, Opening))
	return prepared(set, 50), h
}

func TestReleases(t *testing.T) {
	shade, arrived := ended(relays)
	stays, slow := relays, relays
	stays.Release, slow.Release = -1, 30*time.Second
	holds, _ := ended(stays)
	slower, _ := ended(slow)
	released := then(arrived, tick(22_000))
	whole := then(command(0, 1, Open), told(0, 1, Opening), reads(9000, Opening), reads(18_000, Opening), reads(22_200, Opening))
	untimed := then(command(0, 1, Open), told(0, 1, Opening))
	for ms := 9000; ms < 180_000; ms += 9000 {
		untimed = append(untimed, reads(ms, Opening))
	}
	runStories(t, []story{
		{"the relay of a shade at its end is on for a while", shade, then(arrived, tick(21_999)), "idle"},
		{"then it is released, as late as if its way had been a whole one", shade, released, "send 2 stop; asked"},
		{"after a whole way 5 s later", prepared(relays, 0), then(whole, tick(27_199)), "idle"},
		{"and not later", prepared(relays, 0), then(whole, tick(27_200)), "send 2 stop; asked"},
		{"that is no stop of anybody's, and confirmed like one", shade, then(released, told(22_000, 2, Standing)), "confirm 2; idle"},
		{"once", shade, then(released, told(22_000, 2, Standing), tick(90_000)), "idle"},
		{"what is read before it obeys is no hand at the wall", shade, then(released, sent(22_000, 2), acked(22_001, 2), reads(22_700, Opening)), "asked"},
		{"what runs the other way is", shade, then(released, reads(24_000, Closing)), "cancel 2; idle"},
		{"in vain: a minute later again", shade, then(released, failed(22_500, 2), tick(82_500)), "send 3 stop; asked"},
		{"not sooner", shade, then(released, failed(22_500, 2), tick(82_499)), "idle"},
		{"a command goes first", shade, then(released, command(22_010, 3, Close)), "send 3 close; asked"},
		{"one that the actuator released itself is left alone", shade, then(arrived, reads(15_000, Standing), tick(22_000)), "idle"},
		{"so is one that somebody switched on at the wall since", shade,
			then(arrived, reads(13_000, Standing), reads(14_000, Opening), reads(15_000, Opening), tick(90_000)), "idle"},
		{"and one that somebody turned round at the wall", shade,
			then(arrived, reads(13_000, Closing), reads(22_000, Closing), reads(31_000, Closing), reads(40_000, Closing), tick(90_000)), "idle"},
		{"nothing is sent while the bus is down", shade, then(arrived, at(13_000, Lost{}), tick(22_000)), "idle"},
		{"a profile may say that it stays on", holds, then(arrived, tick(90_000)), "idle"},
		{"or for how long", slower, then(arrived, tick(42_199)), "idle"},
		{"or for how long: then", slower, then(arrived, tick(42_200)), "send 2 stop; asked"},
		{"after a restart nothing is sent", New(relays, moment(-10_000)),
			then(reads(0, Opening), reads(8000, Opening), reads(16_000, Opening), reads(22_000, Opening), tick(90_000)), "idle"},
		{"the slowest have arrived after three minutes, without travel times", prepared(Settings{}, 50),
			then(untimed, tick(180_000)), "send 2 stop; asked"},
		{"not sooner, without", prepared(Settings{}, 50), then(untimed, tick(179_999)), "idle"},
		{"one on its way has not", shade, then(command(0, 1, Open), told(0, 1, Opening), tick(11_000)), "idle"},
		{"a motor that measures its position needs nothing", measured(50),
			then(command(0, 1, Open), sent(0, 1), acked(1, 1), place(300, 60, Opening), place(9000, 100, Standing), tick(90_000)), "idle"},
	})
	turned := relays
	turned.Inverted = true
	s, _, log := story{shade: shade, happens: then(arrived, at(13_000, Configure{turned}), tick(23_000))}.tell(t)
	if s, _ = Step(s, moment(23_100), Read{Asked: moment(23_100), Motion: Closing}); s.Phase != Asked {
		t.Errorf("a shade that is turned round is closed now, and its relay, which is on still, no hand at the wall: %s\n%v", describe(s, nil), log)
	}
	s, _, _ = story{shade: shade, happens: arrived}.tell(t)
	if !s.Wake().Equal(moment(22_000)) {
		t.Errorf("wakes at %v", s.Wake().Sub(dawn))
	}
}
