package sim

import (
	"math"
	"time"
)

// buildMR6C is the Wiren Board WB-MR6C v.3: six relays, of which pairs can be
// shade motors.
//
//	coil 0–5             relays K1–K6; off-only 100–105, on-only 108–113, toggle 116–121
//	discrete 96–101      contact really closed (firmware ≥ 1.24)
//	holding 1280–1282    pair p: 0 two relays, 1 shade (odd output opens, even closes)
//	coil 16/17 18/19 20/21  open / close of pair p
//	holding 1328+p, 1332+p  open, close time in s; 1336+p dead time in ms (50–10000, 500)
//	holding 1284+p, 1288+p  action on power-up, when polling stops: 0 none, 1 open, 2 close
//
// Source: wirenboard/wb-mqtt-serial 2.260.3. This model's choices: pairs with a
// shade in the site come set to pair mode, with run times a tenth longer than the
// travel; relay coils of such a pair refuse writes with exception 03; writing 0 to
// the coil of the direction that runs stops the motor.
func buildMR6C(u *unit, f *fitting) error {
	u.wirenBoard("WBMR6C")
	pairs := make([]*pair, 3)
	for p := range pairs {
		pairs[p] = newPair(u, f, p)
	}
	for k := range 6 {
		pairs[k/2].relayCells(u, k)
	}
	return nil
}

type pair struct {
	mode              uint16
	relays            [2]*lamp
	motor             *motor
	powerUp, pollStop uint16
}

func newPair(u *unit, f *fitting, p int) *pair {
	shade, wired := f.shades[p+1]
	q := &pair{mode: bit(wired), motor: &motor{up: shade.TravelUp, down: shade.TravelDown,
		inverted: shade.Inverted, watts: 120, deadTime: 500, position: 50}}
	m := q.motor
	if m.up <= 0 {
		m.up = defaultTravel
	}
	if m.down <= 0 {
		m.down = defaultTravel
	}
	opens, closes := m.up, m.down
	if m.inverted {
		opens, closes = closes, opens
	}
	m.openTime, m.closeTime = runTime(opens), runTime(closes)
	for i := range q.relays {
		q.relays[i] = &lamp{nominal: 60, percent: 100}
		u.lamps = append(u.lamps, q.relays[i])
	}
	u.motors = append(u.motors, m)

	mode := stored(&q.mode, upTo(1))
	mode.set = func(now time.Time, v uint16) {
		q.mode = v
		m.run(now, still)
		for _, r := range q.relays {
			r.setOn(now, false)
		}
	}
	u.at(holding, 1280+p, mode)
	u.at(holding, 1284+p, stored(&q.powerUp, upTo(2)))
	u.at(holding, 1288+p, stored(&q.pollStop, upTo(2)))
	u.at(holding, 1328+p, stored(&m.openTime, nil))
	u.at(holding, 1332+p, stored(&m.closeTime, nil))
	u.at(holding, 1336+p, stored(&m.deadTime, within(50, 10000)))
	for i, dir := range []direction{opening, closing} {
		c := m.coil(dir)
		c.ok = func(uint16) bool { return q.mode == 1 }
		u.at(coils, 16+2*p+i, c)
	}
	return q
}

// runTime is what an installer would set: the travel and a tenth, in seconds.
func runTime(travel time.Duration) uint16 {
	return uint16(min(math.Ceil(1.1*travel.Seconds()), math.MaxUint16))
}

// relayCells puts the cells of relay k (0–5).
func (q *pair) relayCells(u *unit, k int) {
	l := q.relays[k%2]
	dir := opening
	if k%2 == 1 {
		dir = closing
	}
	closed := func(now time.Time) uint16 {
		if q.mode == 1 {
			q.motor.advance(now)
			return bit(q.motor.relay == dir)
		}
		return bit(l.on)
	}
	free := func(uint16) bool { return q.mode == 0 }
	zero := func(time.Time) uint16 { return 0 }
	u.at(discrete, 96+k, cell{get: closed})
	u.at(coils, k, cell{get: closed, ok: free,
		set: func(now time.Time, v uint16) { l.setOn(now, v != 0) }})
	u.at(coils, 100+k, cell{get: zero, ok: free, set: func(now time.Time, v uint16) {
		if v != 0 {
			l.setOn(now, false)
		}
	}})
	u.at(coils, 108+k, cell{get: zero, ok: free, set: func(now time.Time, v uint16) {
		if v != 0 {
			l.setOn(now, true)
		}
	}})
	u.at(coils, 116+k, cell{get: zero, ok: free, set: func(now time.Time, v uint16) {
		if v != 0 {
			l.setOn(now, !l.on)
		}
	}})
}
