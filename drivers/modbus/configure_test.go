package modbus

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Another site comes into force with the port open: who did not change is not read anew, what was last asked of a thing that
// stays is still known, and a bus whose line would be another one is opened anew.
func TestAnotherSiteWithThePortOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBank()
		for _, unit := range []byte{5, 6, 7} {
			b.set(unit, point{holdings, 0}, 0)
		}
		end := serialWire(t)
		b.serve(t, end)
		cfg := busOf(end, nil)
		cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3"), node(2, "6", "wirenboard-wb-mdm3"), node(3, "7", "wirenboard-wb-mdm3")}
		d, _ := open(t, cfg)
		pollAll(t, d)
		was := maps.Clone(d.units)
		d.things[channel(2, 1)].memory.off = true
		was[6].doubtful = time.Now()

		next := cfg
		next.Nodes = slices.Clone(cfg.Nodes)
		next.Nodes[0].Name, next.Nodes[0].Note, next.Nodes[0].Tag = "Hall", "behind the door", appliance.TagPeripheral
		next.Nodes[1].Options = map[string]string{"fade": "2s"}
		next.Nodes[2].Address = "8"
		out, ok := d.Configure(next)
		if !ok || out.Driver != d || len(out.Device) != 3 || out.Device[3] != "8" {
			t.Fatalf("%v: %+v", ok, out)
		}
		if d.units[5] != was[5] || d.things[channel(1, 1)] != was[5].things[0] {
			t.Error("a unit of which only name and note are others is another one")
		}
		if d.units[6] == was[6] || d.things[channel(2, 1)].fade != 2*time.Second {
			t.Error("an option that changed did not come into force")
		}
		if !d.units[6].doubtful.Equal(was[6].doubtful) || !d.things[channel(2, 1)].memory.off {
			t.Error("what was known of a thing that stays is forgotten")
		}
		if d.units[7] != nil || d.units[8] == nil {
			t.Error("a device that moved is where it was")
		}
		for i, u := range d.order {
			if d.units[u.number] != u {
				t.Errorf("the unit polled at place %d is none of the site", i)
			}
		}
		polled := d.Polls()
		for _, change := range []func(*appliance.BusConfig){
			func(c *appliance.BusConfig) { c.Bus.Line.BaudRate = 9600 },
			func(c *appliance.BusConfig) { c.Bus.Options = map[string]string{"guard": "soon"} },
		} {
			other := next
			other.Nodes = nil
			change(&other)
			if _, ok := d.Configure(other); ok || len(d.Polls()) != len(polled) {
				t.Errorf("%+v came into force with the port open", other.Bus)
			}
		}
	})
}

// The bounds of the options of a bus and of a node, as docs/modbus.md has them.
func TestOptionsHaveBounds(t *testing.T) {
	bus := func(o map[string]string) error { _, err := readBusOptions(o); return err }
	node := func(o map[string]string) error { _, err := readNodeOptions(o); return err }
	for _, tc := range []struct {
		read              func(map[string]string) error
		key               string
		least, most       string
		tooLittle, tooBig string
	}{
		{bus, "responseTimeout", "1ms", "10s", "999us", "10001ms"}, {bus, "guard", "0s", "1s", "-1ms", "1001ms"}, {bus, "turnaround", "0s", "2s", "-1ms", "2001ms"},
		{bus, "lateAnswer", "0s", "30s", "-1ms", "30001ms"}, {bus, "maxReadRegisters", "1", "125", "0", "126"}, {bus, "maxReadBits", "1", "2000", "0", "2001"},
		{bus, "serverBaudRate", "1200", "1000000", "1199", "1000001"}, {bus, "inFlight", "1", "16", "0", "17"}, {bus, "maxExchange", "10ms", "1s", "9ms", "1001ms"},
		{node, "responseTimeout", "1ms", "10s", "999us", "10001ms"}, {node, "guard", "0s", "1s", "-1ms", "1001ms"}, {node, "kelvinMin", "1000", "20000", "999", "20001"},
		{node, "kelvinMax", "1000", "20000", "999", "20001"}, {node, "minLevel", "0", "100", "-1", "101"}, {node, "fade", "0s", "1m", "-1ms", "61s"},
	} {
		for _, text := range []string{tc.least, tc.most} {
			if err := tc.read(map[string]string{tc.key: text}); err != nil {
				t.Errorf("%s %s: %v", tc.key, text, err)
			}
		}
		for _, text := range []string{tc.tooLittle, tc.tooBig} {
			if err := tc.read(map[string]string{tc.key: text}); err == nil {
				t.Errorf("%s %s is taken", tc.key, text)
			}
		}
	}
	o, err := readBusOptions(nil)
	if want := (busOptions{turnaround: 100 * time.Millisecond, lateAnswer: -1, broadcast: true, inFlight: 1, maxReadRegisters: 125, maxReadBits: 2000, maxExchange: 60 * time.Millisecond}); err != nil || o != want {
		t.Errorf("without options: %+v, %v", o, err)
	}
}

// A profile is told from other files by its outputs, and says of what outputs its shades are made.
func TestWhatAProfileIsMadeOf(t *testing.T) {
	for text, is := range map[string]bool{"outputs: []\n": true, "outputs: []\nbuses: []\n": false, "name: x\n": false, "[1]": false, "\t": false} {
		if IsProfile([]byte(text)) != is {
			t.Errorf("%q is a profile: %v", text, !is)
		}
	}
	for name, want := range map[string]string{"wirenboard-wb-mr6c": "6 [[1 2] [3 4] [5 6]]", "wirenboard-wb-mdm3": "3 []", "eastron-sdm230": "1 []"} {
		if info := builtin()[name].Info(); fmt.Sprint(info.Lights, info.Shades) != want || info.Name != name || info.Title == "" || info.Source == "" {
			t.Errorf("%s: %+v, want %s", name, info, want)
		}
	}
}

// What follows a function is a request, an answer, both or neither, by its length and by what it counts.
func TestWhatBytesAFunctionHas(t *testing.T) {
	const neither = "neither"
	for pdu, want := range map[string]string{
		"01 0000 07D0": KindRequest, "01 0000 07D1": neither, "01 0000 0000": neither, "01 FFFF 0001": KindRequest, "01 FFFF 0002": neither, "01 0000 0001 00": neither,
		"02 01 05": KindResponse, "02 02 05": neither, "02 00": neither,
		"03 0000 007D": KindRequest, "03 0000 007E": neither, "03 04 0001 0002": KindResponse, "03 03 0001 00": neither, "03 00": neither, "03 02 0001": KindResponse,
		"05 0001 FF00": KindAmbiguous, "05 0001 0000": KindAmbiguous, "05 0001 FF01": neither, "05 0001 FF00 00": neither,
		"06 0001 1234": KindAmbiguous, "06 0001 1234 00": neither, "06 0001": neither,
		"0F 0000 000A 02 FF03": KindRequest, "0F 0000 000A 01 FF": neither, "0F 0000 000A 02 FF": neither, "0F 0000 000A": KindResponse, "0F 0000 0000": neither,
		"10 0000 0001 02 0005": KindRequest, "10 0000 0002 02 0005": neither, "10 0000 0001 02 00": neither, "10 0000 0001": KindResponse, "10 0000 007C F8" + strings.Repeat("00", 248): neither,
		"16 0001 00F2 0025": KindAmbiguous, "16 0001 00F2": neither, "16 0001 00F2 0025 00": neither,
		"17 0000 0001 0002 0001 02 0007": KindRequest, "17 0000 0001 0002 0001 03 0007": neither, "17 0000 0001 0002 0000 00": neither, "17 02 0001": KindResponse,
		"2B 0E 01 00": KindRequest, "2B 0D 01 00": neither, "2B 0E 01": neither, "2B 0E 01 01 00 00 01 00 02 4142": KindResponse, "2B 0D 01 01 00 00 01 00 02 4142": neither,
		"83 02": KindException, "83 02 00": neither, "41 01": KindAmbiguous,
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(pdu, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got := neither
		if d, err := DecodeRTU(rtuFrame(5, b)); err == nil {
			got = d.Kind
		}
		if got != want {
			t.Errorf("%s is %s, want %s", pdu, got, want)
		}
	}
	for frame, whole := range map[string]bool{"0007 0000 0006 01 03 0000 0001": true, "0007 0001 0006 01 03 0000 0001": false, "0007 0000 0005 01 03 0000 0001": false,
		"0007 0000 0002 01": false, "0007 0000 0003 01 83 02": true} {
		b, err := hex.DecodeString(strings.ReplaceAll(frame, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeTCP(b); (err == nil) != whole {
			t.Errorf("%s: %v", frame, err)
		}
	}
	for n, whole := range map[int]bool{260: true, 261: false} {
		b := make([]byte, n)
		b[4], b[5], b[6], b[7] = byte((n-6)>>8), byte(n-6), 1, 0x41
		if _, err := DecodeTCP(b); (err == nil) != whole {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for n, whole := range map[int]bool{4: true, 256: true, 257: false} {
		if _, err := DecodeRTU(rtuFrame(1, append([]byte{0x41}, make([]byte, n-4)...))); (err == nil) != whole {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
