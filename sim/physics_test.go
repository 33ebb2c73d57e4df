package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// rig is one bus whose devices are asked directly, at any moment a test likes.
type rig struct {
	*bus
	t *testing.T
}

func newRig(t *testing.T, s *site, opts Options) *rig {
	t.Helper()
	bd, err := New(s.Site, opts)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{bd.buses[0], t}
}

// send has a unit execute a request, and fails the test if it is refused.
func (r *rig) send(at time.Time, unit byte, pdu ...byte) []byte {
	r.t.Helper()
	rep := r.handle(at, pdu, unit, pdu, func(_ byte, pdu []byte) []byte { return pdu })
	if len(rep.bytes) > 0 && rep.bytes[0]&exceptionBit != 0 {
		r.t.Fatalf("unit %d refused % x with exception %02x", unit, pdu, rep.bytes[1])
	}
	return rep.bytes
}

func (r *rig) set(at time.Time, unit byte, addr int, v uint16) {
	r.t.Helper()
	r.send(at, unit, fnWriteRegister, byte(addr>>8), byte(addr), byte(v>>8), byte(v))
}

func (r *rig) coil(at time.Time, unit byte, addr int, on bool) {
	r.t.Helper()
	v := byte(0)
	if on {
		v = 0xFF
	}
	r.send(at, unit, fnWriteCoil, byte(addr>>8), byte(addr), v, 0)
}

func (r *rig) get(at time.Time, unit byte, fn byte, addr int) uint16 {
	r.t.Helper()
	out := r.send(at, unit, fn, byte(addr>>8), byte(addr), 0, 1)
	if fn == fnReadCoils || fn == fnReadDiscrete {
		return uint16(out[2])
	}
	return be(out[2:])
}

func (r *rig) float(at time.Time, unit byte, addr int) float64 {
	r.t.Helper()
	out := r.send(at, unit, fnReadInput, byte(addr>>8), byte(addr), 0, 2)
	return float64(math.Float32frombits(uint32(be(out[2:]))<<16 | uint32(be(out[4:]))))
}

// refused sends a request and returns the exception.
func (r *rig) refused(at time.Time, unit byte, pdu ...byte) exception {
	r.t.Helper()
	rep := r.handle(at, pdu, unit, pdu, func(_ byte, pdu []byte) []byte { return pdu })
	if len(rep.bytes) != 2 || rep.bytes[0]&exceptionBit == 0 {
		return noException
	}
	return exception(rep.bytes[1])
}

func (r *rig) device(at time.Time, id appliance.ID) Device {
	r.t.Helper()
	for _, d := range r.devices(at) {
		if d.NodeID == id {
			return d
		}
	}
	r.t.Fatalf("no node %d", id)
	return Device{}
}

func TestDimmerRampsWhileItsRegisterHoldsTheTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("5", "wirenboard-wb-mdm3"), Options{})
	r.set(noon, 5, 140, 20) // 20 ms per percent up
	r.set(noon, 5, 4, 80)
	half := noon.Add(800 * time.Millisecond)
	if v := r.get(half, 5, fnReadHolding, 0); v != 80 {
		t.Errorf("register %d during the ramp, want 80", v)
	}
	c := r.device(half, 1).Channels[0]
	if c.Level != 40 || c.TargetLevel != 80 || !c.On {
		t.Errorf("half way: %+v", c)
	}
	if want := 0.5 + 75*0.4; math.Abs(c.Power-want) > 0.01 {
		t.Errorf("power %v W half way, want %v", c.Power, want)
	}
	late := noon.Add(time.Minute)
	r.coil(late, 5, 0, false)
	after := r.device(late.Add(time.Second), 1).Channels[0]
	if after.Level != 0 || after.On || r.get(late, 5, fnReadHolding, 0) != 80 {
		t.Errorf("off by coil: %+v; the level register must stay", after)
	}
}

func TestShadeTravelsAtItsTrueTimes(t *testing.T) {
	t.Parallel()
	s := newSite(t).serial("b", 9600, "none").node("6", "wirenboard-wb-mr6c").shade(1, 20*time.Second, 10*time.Second)
	r := newRig(t, s, Options{})
	now := noon
	at := func(d time.Duration) DeviceShade { now = now.Add(d); return r.device(now, 1).Shades[0] }
	at(0)
	r.coil(now, 6, 17, true)
	if sh := at(2 * time.Second); sh.Position != 30 || !sh.Moving || sh.Motion != "closing" {
		t.Errorf("after 2 of 10 s down from 50: %+v", sh)
	}
	r.coil(now, 6, 16, true) // reversal: dead time 500 ms first
	if sh := at(400 * time.Millisecond); sh.Moving || sh.Position != 30 {
		t.Errorf("within the dead time: %+v", sh)
	}
	if r.get(now, 6, fnReadDiscrete, 96)+r.get(now, 6, fnReadDiscrete, 97) != 0 {
		t.Error("a relay is on within the dead time")
	}
	if sh := at(100*time.Millisecond + 4*time.Second); sh.Position != 50 || sh.Motion != "opening" {
		t.Errorf("4 of 20 s up from 30: %+v", sh)
	}
	r.coil(now, 6, 16, false)
	if sh := at(time.Second); sh.Position != 50 || sh.Moving {
		t.Errorf("stopped: %+v", sh)
	}
	r.coil(now, 6, 16, true)
	if sh := at(15 * time.Second); sh.Position != 100 || sh.Moving {
		t.Errorf("upper end: %+v", sh)
	}
	if r.get(now, 6, fnReadCoils, 16) != 1 {
		t.Error("the relay dropped at the end stop, which it cannot see")
	}
	at(10 * time.Second) // open time is 22 s
	if r.get(now, 6, fnReadCoils, 16) != 0 {
		t.Error("the relay still holds after its open time")
	}
	if exc := r.refused(now, 6, fnWriteCoil, 0, 0, 0xFF, 0); exc != illegalValue {
		t.Errorf("relay of a shade pair driven directly: exception %v", exc)
	}
	r.coil(now, 6, 2, true) // pair 2 has no shade
	if r.get(now, 6, fnReadDiscrete, 98) != 1 {
		t.Error("free relay did not close")
	}
}

func TestInvertedMotorRunsTheOtherWay(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("b").node("6", "wirenboard-wb-mr6c").shade(2, 10*time.Second, 10*time.Second)
	s.Shades[0].Inverted = true
	r := newRig(t, s, Options{})
	r.coil(noon, 6, 18, true)
	if sh := r.device(noon.Add(time.Second), 1).Shades[0]; sh.Motion != "closing" || sh.Position != 40 {
		t.Errorf("opening coil of an inverted motor: %+v", sh)
	}
}

func TestMotorNeverHasBothDirectionsOnWhateverIsWritten(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	m := &motor{up: 20 * time.Second, down: 15 * time.Second, openTime: 22, closeTime: 17, deadTime: 500, position: 50}
	now := noon
	lastOn, lastDir := time.Time{}, still
	for i := range 20000 {
		now = now.Add(time.Duration(rng.IntN(900)) * time.Millisecond)
		c := m.coil([]direction{opening, closing}[rng.IntN(2)])
		c.set(now, uint16(rng.IntN(2)))
		if m.relay != still {
			if lastDir == -m.relay && now.Sub(lastOn) < 0 {
				t.Fatalf("step %d: reversed too early", i)
			}
			lastOn, lastDir = now, m.relay
		}
		if up, down := m.coil(opening).get(now), m.coil(closing).get(now); up+down > 1 {
			t.Fatalf("step %d: both coils on", i)
		}
		if m.relay != still && m.last == -m.relay {
			if begun := m.drop.Add(-time.Duration(map[direction]uint16{opening: 22, closing: 17}[m.relay]) * time.Second); begun.Sub(m.stopped) < 500*time.Millisecond {
				t.Fatalf("step %d: reversed %v after the other direction", i, begun.Sub(m.stopped))
			}
		}
		if m.position < 0 || m.position > 100 {
			t.Fatalf("step %d: position %v", i, m.position)
		}
	}
}

func TestMeterReadsWhatItsBusDraws(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("b").node("9", "eastron-sdm630").node("10", "waveshare-relay-8ch").node("11", "eastron-sdm120").node("12", "eastron-sdm72")
	r := newRig(t, s, Options{BaseLoad: 40})
	r.account(noon)
	r.coil(noon, 10, 0x00FF, true) // 8 × 60 W
	hour := noon.Add(time.Hour)
	for _, c := range []struct {
		unit byte
		addr int
		want float64
	}{{9, 0x0034, 520}, {9, 0x000C, 260}, {9, 0x000E, 156}, {9, 0x0010, 104}, {11, 0x000C, 520}, {12, 0x0034, 520}} {
		if got := r.float(hour, c.unit, c.addr); math.Abs(got-c.want) > 0.01 {
			t.Errorf("unit %d register %#x: %v W, want %v", c.unit, c.addr, got, c.want)
		}
	}
	if got := r.float(hour, 9, 0x0156); math.Abs(got-(firstKWh+0.52)) > 0.001 {
		t.Errorf("%v kWh after an hour at 520 W", got)
	}
	if v := r.float(hour, 9, 0); v < 225 || v > 235 {
		t.Errorf("voltage %v", v)
	}
	if f := r.float(hour, 9, 0x0046); f < 49.9 || f > 50.1 {
		t.Errorf("frequency %v", f)
	}
	for _, c := range []struct {
		what string
		pdu  []byte
		want exception
	}{
		{"62 registers at once", []byte{fnReadInput, 0, 0, 0, 62}, illegalValue},
		{"half a float", []byte{fnReadInput, 0, 1, 0, 2}, illegalAddress},
		{"phase voltage of the first SDM72", []byte{fnReadInput, 0, 0, 0, 2}, illegalAddress},
		{"a holding register that it has not", []byte{fnReadHolding, 0, 0, 0, 1}, illegalAddress},
	} {
		if exc := r.refused(hour, 12, c.pdu...); exc != c.want {
			t.Errorf("%s: exception %d, want %d", c.what, exc, c.want)
		}
	}
}

func TestColourStripAnswersInRGBAndHSV(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("20", "wirenboard-wb-led-rgbw"), Options{})
	r.send(noon, 20, fnWriteRegisters, 2011>>8, 2011&0xFF, 0, 3, 6, 0, 255, 0, 128, 0, 0)
	r.coil(noon, 20, 9, true)
	late := noon.Add(time.Second)
	c := r.device(late, 1).Channels[0]
	if c.RGBW != "255:128:0:0" || c.Level != 100 || !c.On {
		t.Errorf("%+v", c)
	}
	if h, s, v := r.get(late, 20, fnReadHolding, 2014), r.get(late, 20, fnReadHolding, 2015), r.get(late, 20, fnReadHolding, 2016); h != 30 || s != 100 || v != 100 {
		t.Errorf("HSV %d %d %d, want 30 100 100", h, s, v)
	}
	r.set(late, 20, 2016, 50)
	if c := r.device(late.Add(time.Second), 1).Channels[0]; c.RGBW != "128:64:0:0" || c.Level != 50 {
		t.Errorf("half brightness: %+v", c)
	}
	r.coil(late, 20, 3, true)
	r.set(late, 20, 2003, 100)
	if c := r.device(late.Add(time.Second), 1).Channels[0]; c.RGBW != "128:64:0:255" || c.Level != 100 {
		t.Errorf("with white: %+v", c)
	}
	if v := r.get(late, 20, fnReadHolding, 4000); v != 256 {
		t.Errorf("mode %d", v)
	}
	if v := r.get(late, 20, fnReadHolding, 2007); v != notInThisMode {
		t.Errorf("CCT register in RGBW mode: %d", v)
	}
}

func TestHSVOfEveryColourLeadsBackToIt(t *testing.T) {
	t.Parallel()
	near := func(a, b uint8) bool { return math.Abs(float64(a)-float64(b)) <= 4 }
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				r2, g2, b2 := toRGB(toHSV(uint8(r), uint8(g), uint8(b)))
				if !near(r2, uint8(r)) || !near(g2, uint8(g)) || !near(b2, uint8(b)) {
					t.Fatalf("%d %d %d came back as %d %d %d", r, g, b, r2, g2, b2)
				}
			}
		}
	}
}

func TestTunableStripTakesPercentOfItsRange(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("b").node("20", "wirenboard-wb-led-cct", outputs(1)).node("20", "wirenboard-wb-led-cct", outputs(2), func(n *appliance.Node) {
		n.Options = map[string]string{"kelvinMin": "3000", "kelvinMax": "5000"}
	})
	r := newRig(t, s, Options{})
	r.set(noon, 20, 2007, 50)
	r.set(noon, 20, 2009, 50)
	if k := r.device(noon, 1).Channels[0].ColorTemp; k != 4600 {
		t.Errorf("CCT1 at half of 2700–6500 K: %d", k)
	}
	if k := r.device(noon, 2).Channels[0].ColorTemp; k != 4000 {
		t.Errorf("CCT2 at half of 3000–5000 K: %d", k)
	}
}

func TestLegacyStripHasGreenFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("3", "wirenboard-wb-mrgbw-d-legacy"), Options{})
	r.send(noon, 3, fnWriteRegisters, 0, 0, 0, 4, 8, 0, 10, 0, 20, 0, 30, 0, 40)
	if c := r.device(noon, 1).Channels[0]; c.RGBW != "20:10:30:40" {
		t.Errorf("green 10, red 20, blue 30, white 40 gave %s", c.RGBW)
	}
}

func TestAnalogueOutputFollowsLevel(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("4", "wirenboard-wb-mao4"), Options{})
	r.set(noon, 4, 17, 35)
	if mv := r.get(noon, 4, fnReadHolding, 1); mv != 0 {
		t.Errorf("%d mV while off", mv)
	}
	r.coil(noon, 4, 17, true)
	if mv := r.get(noon, 4, fnReadHolding, 1); mv != 3500 {
		t.Errorf("%d mV at 35 %%", mv)
	}
}

func TestRelayBoardTogglesAndMoves(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("1", "waveshare-relay-8ch"), Options{})
	r.send(noon, 1, fnWriteCoil, 0, 2, 0x55, 0)
	if !r.device(noon, 1).Channels[2].On {
		t.Error("5500 did not toggle")
	}
	r.set(noon, 1, 0x4000, 7)
	if r.get(noon, 7, fnReadHolding, 0x4000) != 7 {
		t.Error("the board is not at its new address")
	}
	if exc := r.refused(noon, 1, fnReadCoils, 0, 0, 0, 8); exc != targetNoResponse {
		t.Errorf("the old address answers %d", exc)
	}
}

func TestWatchdogCountsWhenNobodyPolls(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("5", "wirenboard-wb-mdm3"), Options{})
	r.get(noon, 5, fnReadHolding, 8)
	if r.device(noon.Add(9*time.Second), 1).Safe || !r.device(noon.Add(11*time.Second), 1).Safe {
		t.Error("safe state not after 10 s without polling")
	}
	r.get(noon.Add(12*time.Second), 5, fnReadHolding, 8)
	if d := r.device(noon.Add(12*time.Second), 1); d.Safe || d.Safes != 1 {
		t.Errorf("after polling again: %+v", d)
	}
}

func TestBroadcastReachesEveryDeviceThatHasTheAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t).rtuTCP("b").node("1", "wirenboard-wb-mdm3").node("2", "wirenboard-wb-mdm3").node("3", "eastron-sdm120")
	r := newRig(t, s, Options{})
	if out := r.send(noon, 0, fnWriteRegister, 0, 4, 0, 50); out != nil {
		t.Errorf("a broadcast was answered: % x", out)
	}
	for id := appliance.ID(1); id <= 2; id++ {
		if c := r.device(noon.Add(time.Second), id).Channels[0]; c.Level != 50 {
			t.Errorf("node %d: %+v", id, c)
		}
	}
}
