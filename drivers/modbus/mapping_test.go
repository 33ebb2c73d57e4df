package modbus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// What number stands for a level, and what level for a number, by each way a profile may map them. Whoever counts the other way is
// mirrored; what is on is 1 % at least.
func TestNumbersOfLevels(t *testing.T) {
	for _, row := range []struct {
		what  string
		spec  valueSpec
		curve string
		level appliance.Level
		raw   float64
	}{
		{"percent", valueSpec{Map: "percent"}, "", 40, 40},
		{"percent, turned", valueSpec{Map: "percent", Invert: true}, "", 40, 60},
		{"a range", valueSpec{Min: 0, Max: 255}, "", 40, 102},
		{"a range from somewhere", valueSpec{Min: 100, Max: 300}, "", 25, 150},
		{"a range from somewhere, turned", valueSpec{Min: 100, Max: 300, Invert: true}, "", 25, 250},
		{"arc power", valueSpec{Map: "dali"}, "", 100, 254},
		{"arc power", valueSpec{Map: "dali"}, "", 10, 170},
		{"arc power", valueSpec{Map: "dali"}, "", 1, 85},
		{"arc power, turned", valueSpec{Map: "dali", Invert: true}, "", 10, 84},
		{"linear arc power", valueSpec{Map: "dali"}, "linear", 50, 127},
		{"linear arc power, turned", valueSpec{Map: "dali", Invert: true}, "linear", 100, 0},
		{"off", valueSpec{Map: "dali"}, "", 0, 0},
		{"off in a range", valueSpec{Min: 100, Max: 300}, "", 0, 100},
	} {
		if got := row.spec.levelRaw(row.level, row.curve); got != row.raw {
			t.Errorf("%s: %d %% is %v, want %v", row.what, row.level, got, row.raw)
		}
		if got := row.spec.levelOf(row.raw, row.curve); got != row.level {
			t.Errorf("%s: %v is %d %%, want %d", row.what, row.raw, got, row.level)
		}
	}
	for _, row := range []struct {
		spec valueSpec
		raw  float64
		want appliance.Level
	}{
		{valueSpec{Max: 1000}, 1, 1}, {valueSpec{Max: 1000}, 16, 2}, {valueSpec{Max: 1000}, 1100, 100}, {valueSpec{Max: 1000}, -5, 0}, {valueSpec{Map: "dali"}, 1, 1}, {valueSpec{Map: "dali"}, -1, 0},
	} {
		if got := row.spec.levelOf(row.raw, ""); got != row.want {
			t.Errorf("%+v: %v is %d %%, want %d", row.spec, row.raw, got, row.want)
		}
	}
	if arcPower(0) != 0 || arcPower(-1) != 0 || arcPercent(0) != 0 || math.Abs(arcPercent(1)-0.1) > 1e-9 || math.Abs(arcPercent(254)-100) > 1e-9 {
		t.Error("the ends of the dimming curve")
	}
}

// The same of colour temperatures, of a fixture from 2700 K to 6500 K.
func TestNumbersOfColourTemperatures(t *testing.T) {
	const low, high = 2700, 6500
	for _, row := range []struct {
		what   string
		spec   valueSpec
		kelvin appliance.Kelvin
		raw    float64
		back   appliance.Kelvin
	}{
		{"kelvin", valueSpec{Map: "kelvin"}, 3000, 3000, 3000},
		{"kelvin, held to what it takes", valueSpec{Map: "kelvin", Min: 2000, Max: 4000}, 5000, 4000, 4000},
		{"kelvin, held to what it takes", valueSpec{Map: "kelvin", Min: 3000, Max: 4000}, 2700, 3000, 3000},
		{"mirek", valueSpec{Map: "mirek", Max: 370}, 4000, 250, 4000},
		{"mirek, held to what it takes", valueSpec{Map: "mirek", Max: 300}, 2700, 300, 3333},
		{"a range", valueSpec{Map: "range", Max: 100}, 2700, 0, 2700},
		{"a range", valueSpec{Map: "range", Max: 100}, 3650, 25, 3650},
		{"a range from somewhere", valueSpec{Map: "range", Min: 100, Max: 200}, 3650, 125, 3650},
		{"a range, turned", valueSpec{Map: "range", Max: 100, Invert: true}, 3650, 75, 3650},
		{"beyond a range", valueSpec{Map: "range", Max: 100}, 9000, 100, 6500},
		{"below a range", valueSpec{Map: "range", Max: 100}, 1000, 0, 2700},
		{"a range of mirek", valueSpec{Map: "mirek-range", Max: 1000}, 6500, 0, 6500},
		{"a range of mirek", valueSpec{Map: "mirek-range", Max: 1000}, 2700, 1000, 2700},
		{"a range of mirek", valueSpec{Map: "mirek-range", Max: 1000}, 4000, 444, 4000},
		{"a range of mirek from somewhere", valueSpec{Map: "mirek-range", Min: 1000, Max: 2000}, 4000, 1444, 4000},
	} {
		if got := row.spec.kelvinRaw(row.kelvin, low, high); got != row.raw {
			t.Errorf("%s: %d K is %v, want %v", row.what, row.kelvin, got, row.raw)
		}
		if got := row.spec.kelvinOf(row.raw, low, high); got < row.back-1 || got > row.back+1 {
			t.Errorf("%s: %v is %d K, want %d", row.what, row.raw, got, row.back)
		}
	}
	for _, row := range []struct {
		spec valueSpec
		raw  float64
	}{{valueSpec{Map: "mirek"}, 0}, {valueSpec{Map: "mirek"}, -1}, {valueSpec{Map: "kelvin"}, 0}, {valueSpec{Map: "kelvin"}, 100_001}} {
		if got := row.spec.kelvinOf(row.raw, low, high); got != 0 {
			t.Errorf("%v stands for %d K, want none", row.raw, got)
		}
	}
	if (&valueSpec{Map: "mirek"}).kelvinOf(10, low, high) != 100_000 {
		t.Error("the highest that counts")
	}
}

// A component of a colour holds the level, too; a measured number is scaled and shifted.
func TestNumbersOfColoursAndMeters(t *testing.T) {
	for _, row := range []struct {
		spec  valueSpec
		c     uint8
		level appliance.Level
		raw   float64
		back  float64
	}{
		{valueSpec{Max: 255}, 255, 40, 102, 102}, {valueSpec{Map: "percent"}, 255, 40, 40, 102}, {valueSpec{Min: 10, Max: 110}, 255, 50, 60, 127.5},
		{valueSpec{Min: 10, Max: 110, Invert: true}, 255, 100, 10, 255}, {valueSpec{Map: "percent", Invert: true}, 255, 40, 60, 102}, {valueSpec{Max: 255}, 51, 100, 51, 51},
	} {
		if got := row.spec.componentRaw(row.c, row.level); got != row.raw {
			t.Errorf("%+v: %d at %d %% is %v, want %v", row.spec, row.c, row.level, got, row.raw)
		}
		if got := row.spec.componentOf(row.raw); math.Abs(got-row.back) > 0.01 {
			t.Errorf("%+v: %v is %v, want %v", row.spec, row.raw, got, row.back)
		}
	}
	if v := (&valueSpec{Max: 255}); v.componentOf(300) != 255 || v.componentOf(-3) != 0 {
		t.Error("a component has bounds")
	}
	for _, row := range []struct {
		spec valueSpec
		want float64
	}{{valueSpec{}, 30}, {valueSpec{Scale: 0.1}, 3}, {valueSpec{Scale: 0.1, Offset: -5}, -2}, {valueSpec{Offset: 5}, 35}} {
		if got := row.spec.plainOf(30); got != row.want {
			t.Errorf("%+v: %v, want %v", row.spec, got, row.want)
		}
	}
	if clamp(5, 0, 0) != 5 || clamp(-5, 0, 0) != 0 || clamp(5, 0, 4) != 4 || clamp(5, 0, 6) != 5 {
		t.Error("bounds")
	}
}

// How numbers lie in registers, and are held to what fits in.
func TestNumbersInRegisters(t *testing.T) {
	for _, row := range []struct {
		kind  cellType
		order string
		x     float64
		words []uint16
		back  float64
	}{
		{"", "", 40_000, []uint16{40_000}, 40_000}, {"", "", 70_000, []uint16{0xFFFF}, 65535}, {"", "", -1, []uint16{0}, 0},
		{"s16", "", -2, []uint16{0xFFFE}, -2}, {"s16", "", 40_000, []uint16{0x7FFF}, 32767}, {"s16", "", -40_000, []uint16{0x8000}, -32768},
		{"u32", "", 0x12345678, []uint16{0x1234, 0x5678}, 0x12345678}, {"u32", "low-first", 0x12345678, []uint16{0x5678, 0x1234}, 0x12345678},
		{"u32", "", 1e12, []uint16{0xFFFF, 0xFFFF}, math.MaxUint32}, {"u32", "", -1, []uint16{0, 0}, 0},
		{"s32", "", -3, []uint16{0xFFFF, 0xFFFD}, -3}, {"s32", "low-first", -3, []uint16{0xFFFD, 0xFFFF}, -3}, {"s32", "", 1e12, []uint16{0x7FFF, 0xFFFF}, math.MaxInt32}, {"s32", "", -1e12, []uint16{0x8000, 0}, math.MinInt32},
		{"float32", "", -87.25, []uint16{0xC2AE, 0x8000}, -87.25}, {"float32", "low-first", -87.25, []uint16{0x8000, 0xC2AE}, -87.25},
	} {
		c := &cellSpec{Type: row.kind, WordOrder: row.order}
		if got := c.pack(row.x); !slices.Equal(got, row.words) || len(got) != c.words() {
			t.Errorf("%s %s: %v lies in %04X, want %04X", row.kind, row.order, row.x, got, row.words)
		}
		if got := c.number(row.words); got != row.back {
			t.Errorf("%s %s: %04X is %v, want %v", row.kind, row.order, row.words, got, row.back)
		}
	}
}

// What is no answer to a question is not taken for one.
func TestWhatIsNoAnswer(t *testing.T) {
	identified := []byte{byte(readDeviceID), meiDeviceID, 1, 1, 0, 0, 2, 0, 3, 'a', 'b', 'c', 1, 2, 'd', 7}
	for _, row := range []struct {
		what string
		r    request
		pdu  []byte
		why  string // empty: it is one
	}{
		{"two registers", request{fn: readHolding, qty: 2}, []byte{3, 4, 1, 2, 3, 4}, ""},
		{"one register", request{fn: readHolding, qty: 2}, []byte{3, 2, 1, 2}, "carries 2 bytes"},
		{"a byte count that lies", request{fn: readHolding, qty: 2}, []byte{3, 2, 1, 2, 3, 4}, "byte count 2"},
		{"a byte too many", request{fn: readHolding, qty: 2}, []byte{3, 4, 1, 2, 3, 4, 5}, "carries 5 bytes"},
		{"another function", request{fn: readHolding, qty: 2}, []byte{4, 4, 1, 2, 3, 4}, "function 04"},
		{"next to nothing", request{fn: readHolding, qty: 2}, []byte{3}, "too short"},
		{"nine coils", request{fn: readCoils, qty: 9}, []byte{1, 2, 1, 1}, ""},
		{"eight of nine coils", request{fn: readCoils, qty: 9}, []byte{1, 1, 1}, "carries 1 bytes"},
		{"a write, repeated", request{fn: writeRegister, addr: 7, values: []uint16{9}}, []byte{6, 0, 7, 0, 9}, ""},
		{"another value", request{fn: writeRegister, addr: 7, values: []uint16{9}}, []byte{6, 0, 7, 0, 8}, "does not repeat"},
		{"another place", request{fn: writeRegister, addr: 7, values: []uint16{9}}, []byte{6, 0, 6, 0, 9}, "does not repeat"},
		{"several, by their number", request{fn: writeRegisters, addr: 7, values: []uint16{9, 9}}, []byte{16, 0, 7, 0, 2}, ""},
		{"fewer than that", request{fn: writeRegisters, addr: 7, values: []uint16{9, 9}}, []byte{16, 0, 7, 0, 1}, "does not repeat"},
		{"a mask", request{fn: maskWrite, addr: 7, values: []uint16{1, 2}}, []byte{22, 0, 7, 0, 1, 0, 2}, ""},
		{"half a mask", request{fn: maskWrite, addr: 7, values: []uint16{1, 2}}, []byte{22, 0, 7, 0, 1}, "does not repeat"},
		{"an identification", request{fn: readDeviceID}, identified, ""},
		{"one that is cut", request{fn: readDeviceID}, identified[:len(identified)-1], "wrong length"},
		{"one with something behind it", request{fn: readDeviceID}, append(slices.Clone(identified), 1), "wrong length"},
		{"one without objects", request{fn: readDeviceID}, identified[:6], "wrong length"},
	} {
		if got := row.r.mismatch(row.pdu); (got == "") != (row.why == "") || !strings.Contains(got, row.why) {
			t.Errorf("%s: %q, want %q", row.what, got, row.why)
		}
	}
	for tcp, good := range map[bool]request{false: {unit: 3, fn: readHolding, qty: 1}, true: {unit: 3, fn: readHolding, qty: 1}} {
		c := newCodec(tcp, false)
		frame := rtuFrame(3, []byte{3, 2, 1, 2})
		if tcp {
			frame = []byte{0, 1, 0, 0, 0, 5, 3, 3, 2, 1, 2}
		}
		if a, err := c.decode(good, frame); err != nil || a.word() != 0x0102 {
			t.Errorf("tcp %v: %+v, %v", tcp, a, err)
		}
		if a, err := c.decode(request{unit: 3, fn: readHolding, qty: 2}, frame); !errors.Is(err, appliance.ErrDamaged) || len(a.words) > 0 {
			t.Errorf("tcp %v: one register of two: %+v, %v", tcp, a, err)
		}
	}
	for _, row := range []struct {
		unit     byte
		tolerant bool
		want     line.Verdict
	}{{3, false, line.Accept}, {0, false, line.Reject}, {255, false, line.Reject}, {7, false, line.Reject}, {3, true, line.Accept}, {0, true, line.Accept}, {255, true, line.Accept}, {7, true, line.Reject}} {
		l := &listener{codec: newCodec(true, row.tolerant), request: request{unit: 3, fn: readHolding, qty: 1}, frame: []byte{0, 1}}
		if n, got := l.scan([]byte{0, 1, 0, 0, 0, 5, row.unit, 3, 2, 1, 2}); got != row.want || n != 11 {
			t.Errorf("an answer of unit %d to one for 3, tolerated %v: %v of %d bytes", row.unit, row.tolerant, got, n)
		}
	}
	for name, row := range map[string]struct {
		b    []byte
		n    int
		want line.Verdict
	}{
		"damage of the one that was asked": {[]byte{3, 3, 2, 1, 2, 0, 0}, 7, line.Reject}, "damage of another": {[]byte{4, 3, 2, 1, 2, 0, 0}, 1, line.Skip},
		"damage that answers something else": {[]byte{3, 6, 0, 0, 0, 1, 0, 0}, 1, line.Skip}, "a refusal that is damaged": {[]byte{3, 0x83, 2, 0, 0}, 5, line.Reject},
	} {
		l := &listener{codec: newCodec(false, false), request: request{unit: 3, fn: readHolding, qty: 1}, frame: rtuFrame(3, []byte{3, 0, 0, 0, 1})}
		if n, got := l.scan(row.b); got != row.want || n != row.n {
			t.Errorf("%s: %v of %d bytes", name, got, n)
		}
	}
	for _, row := range []struct {
		b         []byte
		length    int
		undecided bool
	}{
		{[]byte{3}, 0, false}, {[]byte{3, 3}, 0, true}, {[]byte{3, 3, 2}, 7, false}, {[]byte{3, 4, 0}, 5, false}, {[]byte{3, 6}, 8, false}, {[]byte{3, 16}, 8, false}, {[]byte{3, 22}, 10, false},
		{[]byte{3, 0x83}, 5, false}, {[]byte{3, 0xE3}, 0, false}, {[]byte{3, 0x63}, 0, false}, {[]byte{3, 0x2B}, 0, true}, {append([]byte{3}, identified...), len(identified) + 3, true},
		{append([]byte{3}, identified[:8]...), 0, true}, {append([]byte{3, 0x2B}, make([]byte, 253)...), 10, true}, {append([]byte{3, 0x2B}, make([]byte, 254)...), 10, false},
	} {
		if n := rtuAnswerLen(row.b); n != row.length {
			t.Errorf("% X: %d bytes, want %d", clipBytes(row.b), n, row.length)
		}
		if len(row.b) > 1 && rtuUndecided(row.b) != row.undecided {
			t.Errorf("% X: undecided %v", clipBytes(row.b), !row.undecided)
		}
	}
	if got := identification(identified[1:]); !slices.Equal(got, []string{"abc", "d"}) {
		t.Errorf("objects %q", got)
	}
	if got := identification([]byte{14, 1, 1, 0, 0, 2, 0, 0, 1, 9, 'x'}); !slices.Equal(got, []string{""}) {
		t.Errorf("of one that is cut: %q", got)
	}
	for n := range len(identified) {
		if _, ok := identificationLen(identified[:n]); ok {
			t.Errorf("%d bytes are a whole identification", n)
		}
	}
	if n, ok := identificationLen(append(slices.Clone(identified), 1)); n != len(identified) || !ok {
		t.Errorf("the identification has %d bytes", n)
	}
}

// relays of which one is closed, or a lamp behind registers, as they were last read.
func readThing(out *output, words map[point]uint16) *thing {
	u := &unit{cache: map[point]cached{}}
	for p, w := range words {
		u.cache[p] = cached{word: w, at: noonOf(int(p.addr)), valid: true}
	}
	return &thing{unit: u, out: out}
}

func noonOf(minute int) time.Time { return time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC) }

// A shade moves as its relays say, and of which one is not known, nothing is; one that runs the other way is turned.
func TestWhatRelaysSayOfAShade(t *testing.T) {
	const nothing appliance.Motion = 255
	coil := func(at int) *cell { return &cell{spec: &cellSpec{Table: coils}, base: at} }
	out := &output{spec: &outputSpec{}, open: coil(1), close: coil(2)}
	for _, row := range []struct {
		up, down int // -1: not read
		inverted bool
		want     appliance.Motion
	}{
		{0, 0, false, appliance.Stopped}, {1, 0, false, appliance.Opening}, {0, 1, false, appliance.Closing}, {1, 1, false, appliance.MotionUnknown},
		{1, 0, true, appliance.Closing}, {0, 1, true, appliance.Opening}, {0, 0, true, appliance.Stopped},
		{-1, 0, false, nothing}, {0, -1, false, nothing},
	} {
		words := map[point]uint16{}
		if row.up >= 0 {
			words[point{coils, 1}] = uint16(row.up)
		}
		if row.down >= 0 {
			words[point{coils, 2}] = uint16(row.down)
		}
		th := readThing(out, words)
		th.inverted = row.inverted
		r, ok := th.reading(appliance.CanMove)
		if row.want == nothing {
			if ok || r.Has != 0 {
				t.Errorf("%d, %d: %+v of what was not read", row.up, row.down, r)
			}
			continue
		}
		if !ok || r.Motion != row.want || r.Has != appliance.CanMove || !r.At.Equal(noonOf(1)) {
			t.Errorf("%d, %d, turned %v: %+v, want %v as old as its oldest part", row.up, row.down, row.inverted, r, row.want)
		}
	}
}

// What registers say of a lamp: off if its switches are, else its level; what the gateway does not know is not told, and who does
// not answer behind it is absent.
func TestWhatRegistersSayOfALamp(t *testing.T) {
	none, gone := 255, 254
	at := func(tb table, addr int) *cell { return &cell{spec: &cellSpec{Table: tb}, base: addr} }
	level := &value{spec: &valueSpec{Map: "percent", Unknown: &none, Absent: &gone}, read: at(holdings, 5)}
	kelvin := &value{spec: &valueSpec{Map: "kelvin", Unknown: &none}, read: at(holdings, 6)}
	power := &value{spec: &valueSpec{Scale: 0.1}, read: at(holdings, 7)}
	for _, row := range []struct {
		what     string
		switches int // how many it has
		dims     bool
		words    map[point]uint16
		memory   memory
		want     string
	}{
		{"dimmed", 0, true, map[point]uint16{{holdings, 5}: 40}, memory{}, "dim 40 at 5"},
		{"on and dimmed", 1, true, map[point]uint16{{holdings, 5}: 40, {coils, 1}: 1}, memory{}, "dim 40 at 1"},
		{"off, whatever its level", 1, true, map[point]uint16{{holdings, 5}: 40, {coils, 1}: 0}, memory{}, "dim 0 at 1"},
		{"off, and its level not read", 1, true, map[point]uint16{{coils, 1}: 0}, memory{}, "dim 0 at 1"},
		{"its switch not read", 1, true, map[point]uint16{{holdings, 5}: 40}, memory{}, "nothing"},
		{"one of two switches on", 2, false, map[point]uint16{{coils, 1}: 0, {coils, 2}: 1}, memory{}, "switch 100 at 1"},
		{"the other of them on", 2, false, map[point]uint16{{coils, 1}: 1, {coils, 2}: 0}, memory{}, "switch 100 at 1"},
		{"both off", 2, false, map[point]uint16{{coils, 1}: 0, {coils, 2}: 0}, memory{}, "switch 0 at 1"},
		{"one of two not read", 2, false, map[point]uint16{{coils, 1}: 1}, memory{}, "nothing"},
		{"the gateway does not know", 0, true, map[point]uint16{{holdings, 5}: 255}, memory{}, "nothing"},
		{"the gear does not answer", 0, true, map[point]uint16{{holdings, 5}: 254}, memory{}, "absent at 5"},
		{"what was asked for explains it", 0, true, map[point]uint16{{holdings, 5}: 40}, memory{level: 40}, "dim 40 at 5"},
	} {
		out := &output{spec: &outputSpec{}}
		for i := range row.switches {
			out.switches = append(out.switches, at(coils, i+1))
		}
		th := readThing(out, row.words)
		if row.dims {
			out.level, th.level = level, level
		}
		th.memory = row.memory
		r, ok := th.reading(appliance.CanDim | appliance.CanSwitch)
		got := "nothing"
		switch {
		case r.Absent:
			got = fmt.Sprintf("absent at %d", r.At.Minute())
		case ok:
			got = fmt.Sprintf("%s %d at %d", map[appliance.Ability]string{appliance.CanDim: "dim", appliance.CanSwitch: "switch"}[r.Has], r.Level, r.At.Minute())
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
	// What several switches say is as old as the oldest of them.
	both := readThing(&output{spec: &outputSpec{}, switches: []*cell{at(coils, 9), at(coils, 3), at(coils, 5)}}, map[point]uint16{{coils, 9}: 1, {coils, 3}: 0, {coils, 5}: 0})
	if r, ok := both.reading(appliance.CanSwitch); !ok || r.At.Minute() != 3 || r.Level != 100 {
		t.Errorf("of three switches: %+v", r)
	}
	// A level that stands for the same number as the one that was asked for is shown as that.
	coarse := &value{spec: &valueSpec{Max: 10}, read: at(holdings, 5)}
	for _, row := range []struct{ remembered, want appliance.Level }{{0, 40}, {42, 42}, {44, 44}, {46, 40}} {
		th := readThing(&output{spec: &outputSpec{}, level: coarse}, map[point]uint16{{holdings, 5}: 4})
		th.level, th.memory.level = coarse, row.remembered
		if r, _ := th.reading(appliance.CanDim); r.Level != row.want {
			t.Errorf("%d was asked for: %d is shown, want %d", row.remembered, r.Level, row.want)
		}
	}
	out := &output{spec: &outputSpec{}, level: level, kelvin: kelvin, power: power}
	for _, row := range []struct {
		what       string
		words      map[point]uint16
		remembered appliance.Kelvin
		of         appliance.Ability
		has        appliance.Ability
		kelvin     appliance.Kelvin
		power      float64
	}{
		{"a temperature", map[point]uint16{{holdings, 6}: 3000}, 0, appliance.CanTune, appliance.CanTune, 3000, 0},
		{"one that is not known", map[point]uint16{{holdings, 6}: 255}, 0, appliance.CanTune, 0, 0, 0},
		{"one that stands for none", map[point]uint16{{holdings, 6}: 0}, 0, appliance.CanTune, 0, 0, 0},
		{"one that is not read", nil, 0, appliance.CanTune, 0, 0, 0},
		{"one that was asked for, and set otherwise", map[point]uint16{{holdings, 6}: 3000}, 4000, appliance.CanTune, appliance.CanTune, 3000, 0},
		{"power", map[point]uint16{{holdings, 7}: 30, {holdings, 6}: 3000}, 0, appliance.CanMeasure, appliance.CanMeasure, 0, 3},
		{"power that is not read", map[point]uint16{{holdings, 6}: 3000}, 0, appliance.CanMeasure, 0, 0, 0},
	} {
		th := readThing(out, row.words)
		th.level, th.kelvin, th.kelvinMin, th.kelvinMax, th.memory.kelvin = level, kelvin, 2700, 6500, row.remembered
		r, ok := th.reading(row.of)
		if ok != (row.has != 0) || r.Has != row.has || r.Kelvin != row.kelvin || r.Power != row.power {
			t.Errorf("%s: %+v", row.what, r)
		}
	}
}

// What was known before a restart tells apart what registers alone do not say.
func TestWhatIsRememberedOfALamp(t *testing.T) {
	for _, row := range []struct {
		last appliance.Values
		want memory
	}{
		{appliance.Values{Has: appliance.CanDim, Level: 40, Kelvin: 3000}, memory{level: 40}},
		{appliance.Values{Has: appliance.CanSwitch, Level: 100}, memory{level: 100}},
		{appliance.Values{Has: appliance.CanDim}, memory{off: true}},
		{appliance.Values{Has: appliance.CanTune, Kelvin: 3000, Level: 5}, memory{kelvin: 3000}},
		{appliance.Values{Has: appliance.CanColour, RGBW: appliance.RGBW{R: 1}, Level: 5}, memory{colour: appliance.RGBW{R: 1}, hasColour: true}},
	} {
		var th thing
		if th.recall(row.last); th.memory != row.want {
			t.Errorf("%+v: %+v, want %+v", row.last, th.memory, row.want)
		}
	}
}

// Options of a node turn the numbers of its output, and of no other node's.
func TestOptionsTurnTheNumbersOfAnOutput(t *testing.T) {
	opened, err := openWire(serialBus(
		appliance.Node{ID: 1, Address: "5", Profile: "wirenboard-wb-led-cct", Options: map[string]string{"invertLevel": "true", "invertKelvin": "true"}},
		appliance.Node{ID: 2, Address: "6", Profile: "wirenboard-wb-led-cct"},
		appliance.Node{ID: 3, Address: "7/1", Profile: "ecodim-dali-gw2", Options: map[string]string{"curve": "linear"}},
		appliance.Node{ID: 4, Address: "8", Profile: "wirenboard-wb-led-cct", Options: map[string]string{"tunable": "false"}}))
	if err != nil || len(opened.BrokenNodes) > 0 {
		t.Fatal(err, opened.BrokenNodes)
	}
	d := opened.Driver.(*Driver)
	turned, plain := d.units[5].things[0], d.units[6].things[0]
	if !turned.level.spec.Invert || !turned.kelvin.spec.Invert || plain.level.spec.Invert || plain.kelvin.spec.Invert || turned.out.level.spec.Invert {
		t.Errorf("level turned %v, temperature %v; of the other %v, %v", turned.level.spec.Invert, turned.kelvin.spec.Invert, plain.level.spec.Invert, plain.kelvin.spec.Invert)
	}
	if fixed := d.units[8].things[0]; fixed.kelvin != nil || fixed.level == nil || opened.Channels[4][0].Abilities.Has(appliance.CanTune) || !opened.Channels[2][0].Abilities.Has(appliance.CanTune) {
		t.Errorf("a lamp of one white: %+v", opened.Channels[4])
	}
	if gear := d.units[7].things[0]; gear.curve != "linear" {
		t.Errorf("curve %q", gear.curve)
	}
}

// How long an answer may still come after its time: as the bus says, else as the profile does, else as long as it may well take.
func TestHowLateAnAnswerMayBe(t *testing.T) {
	for _, row := range []struct {
		tcp                    bool
		bus, profile, patience time.Duration
		want                   time.Duration
	}{
		{false, -1, 0, 100 * time.Millisecond, lateLeast}, {false, -1, 0, time.Second, 2 * time.Second}, {false, -1, time.Second, 3 * time.Second, time.Second},
		{false, 0, time.Second, time.Second, 0}, {false, 5 * time.Second, time.Second, time.Second, 5 * time.Second}, {true, 5 * time.Second, time.Second, time.Second, 0},
	} {
		d := &Driver{codec: newCodec(row.tcp, false)}
		d.options.lateAnswer = row.bus
		u := &unit{profile: &Profile{}, timeout: row.patience}
		u.profile.Timing.LateAnswer = row.profile
		if got := d.late(u); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

// What is remembered of a lamp tells apart what its registers alone do not: a dark one may be off, or have been told to be black.
func TestColourOfWhatIsDark(t *testing.T) {
	at := func(addr int) *value {
		return &value{spec: &valueSpec{Max: 255}, read: &cell{spec: &cellSpec{Table: holdings}, base: addr}}
	}
	red, black := appliance.RGBW{R: 255}, appliance.RGBW{}
	coil := []*cell{{spec: &cellSpec{Table: coils}, base: 1}}
	for _, row := range []struct {
		what   string
		memory memory
		raws   [4]float64
		colour appliance.RGBW
		level  appliance.Level
		known  bool
	}{
		{"dark, nothing known", memory{}, [4]float64{}, black, 0, false},
		{"dark, red before", memory{hasColour: true, colour: red, level: 40}, [4]float64{}, red, 0, true},
		{"off, red before", memory{hasColour: true, colour: red, level: 40, off: true}, [4]float64{}, red, 0, true},
		{"told to be black", memory{hasColour: true, colour: black, level: 40}, [4]float64{}, black, 40, true},
		{"told to be black, and off", memory{hasColour: true, colour: black, level: 40, off: true}, [4]float64{}, black, 0, true},
		{"as told", memory{hasColour: true, colour: red, level: 40}, [4]float64{102}, red, 40, true},
		{"red at another level", memory{hasColour: true, colour: red, level: 40}, [4]float64{51}, red, 20, true},
		{"set by somebody else", memory{hasColour: true, colour: red, level: 40}, [4]float64{0, 51}, appliance.RGBW{G: 255}, 20, true},
	} {
		th := &thing{out: &output{spec: &outputSpec{}, colour: [4]*value{at(1), at(2), at(3), at(4)}}, memory: row.memory}
		colour, level, known := th.split(row.raws)
		if colour != row.colour || level != row.level || known != row.known {
			t.Errorf("%s: %+v at %d, known %v", row.what, colour, level, known)
		}
	}
	for _, row := range []struct {
		what     string
		switches []*cell
		memory   memory
		words    map[point]uint16
		colour   appliance.RGBW
		level    appliance.Level
	}{
		{"nothing known", nil, memory{}, nil, appliance.RGBW{W: 255}, 0},
		{"nothing known, with a switch", coil, memory{}, nil, appliance.RGBW{W: 255}, 100},
		{"red, not read", nil, memory{hasColour: true, colour: red, level: 40}, nil, red, 40},
		{"off, not read", nil, memory{hasColour: true, colour: red, level: 40, off: true}, nil, red, 0},
		{"off, not read, with a switch", coil, memory{hasColour: true, colour: red, level: 40, off: true}, nil, red, 40},
		{"on, its colour not read", coil, memory{hasColour: true, colour: red, level: 40}, map[point]uint16{{coils, 1}: 1}, red, 40},
		{"read dark", nil, memory{hasColour: true, colour: red, level: 40}, map[point]uint16{{holdings, 1}: 0, {holdings, 2}: 0, {holdings, 3}: 0, {holdings, 4}: 0}, red, 0},
		{"read dark, with a switch", coil, memory{hasColour: true, colour: red, level: 40}, map[point]uint16{{holdings, 1}: 0, {holdings, 2}: 0, {holdings, 3}: 0, {holdings, 4}: 0}, red, 40},
		{"read at another level", nil, memory{hasColour: true, colour: red, level: 40}, map[point]uint16{{holdings, 1}: 51, {holdings, 2}: 0, {holdings, 3}: 0, {holdings, 4}: 0}, red, 20},
	} {
		th := readThing(&output{spec: &outputSpec{}, colour: [4]*value{at(1), at(2), at(3), at(4)}, switches: row.switches}, row.words)
		th.memory = row.memory
		if r, ok := th.reading(appliance.CanDim | appliance.CanColour); ok && len(row.words) < 4 {
			t.Errorf("%s: told %+v", row.what, r)
		}
		if colour, level := th.present(); colour != row.colour || level != row.level {
			t.Errorf("%s: %+v at %d, want %+v at %d", row.what, colour, level, row.colour, row.level)
		}
	}
}
