package modbus

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/site/schema"
)

func serialBus(nodes ...appliance.Node) appliance.BusConfig {
	return appliance.BusConfig{Bus: appliance.Bus{Name: "b", Port: "/dev/null-of-a-test"}, Nodes: nodes}
}

func TestBrokenEntriesAreSetAside(t *testing.T) {
	t.Parallel()
	with := func(n appliance.Node, change func(*appliance.Node)) appliance.Node {
		change(&n)
		return n
	}
	good := node(1, "5", "wirenboard-wb-mdm3")
	for _, tc := range []struct {
		name string
		node appliance.Node
		want string
	}{
		{"unknown profile", node(2, "6", "acme"), `no profile "acme"`},
		{"no profile", node(2, "6", ""), "no profile is named"},
		{"unit 0", node(2, "0", good.Profile), "from 1 to 247"},
		{"unit 248", node(2, "248", good.Profile), "from 1 to 247"},
		{"no number", node(2, "x", good.Profile), "from 1 to 247"},
		{"gear of no gateway", node(2, "6/3", good.Profile), "no gateway"},
		{"gateway without gear", node(2, "6", "ecodim-dali-gw2"), "short address behind the gateway is missing"},
		{"short address 64", node(2, "6/64", "ecodim-dali-gw2"), "0 to 63"},
		{"line 2 of 1", node(2, "6/2.3", "ecodim-dali-gw2"), "from 1 to 1"},
		{"line missing", node(2, "6/3", "dalion"), "DALI line is missing"},
		{"output 4 of 3", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Outputs = []int{4} }), "has outputs 1 to 3"},
		{"output twice", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Outputs = []int{1, 1} }), "named twice"},
		{"output taken", with(node(2, "5", good.Profile), func(n *appliance.Node) { n.Outputs = []int{2} }), "taken by node 1"},
		{"another profile in the unit", node(2, "5", "wirenboard-wb-mao4"), "one unit has one profile"},
		{"unknown option", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Options = map[string]string{"colour": "red"} }), `option "colour" is unknown`},
		{"bad option", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Options = map[string]string{"fade": "soon"} }), "option fade"},
		{"kelvin of no colour", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Options = map[string]string{"kelvinMin": "2000"} }), "has no colour temperature"},
		{"curve of no gear", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Options = map[string]string{"curve": "linear"} }), "has no DALI dimming curve"},
		{"curve of relays", with(node(2, "6", "waveshare-relay-8ch"), func(n *appliance.Node) { n.Options = map[string]string{"curve": "standard"} }), "has no DALI dimming curve"},
		{"relays that are dimmed", with(node(2, "6", "waveshare-relay-8ch"), func(n *appliance.Node) { n.Options = map[string]string{"invertLevel": "true"} }), "has no level"},
		{"kelvin of no colour, turned", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Options = map[string]string{"invertKelvin": "true"} }), "has no colour temperature"},
		{"kelvin range turned", with(node(2, "6", "wirenboard-wb-led-cct"), func(n *appliance.Node) {
			n.Options = map[string]string{"kelvinMin": "5000", "kelvinMax": "3000"}
		}), "the first must be lower"},
		{"groups of no gateway", with(node(2, "6", good.Profile), func(n *appliance.Node) { n.Groups = []string{"1"} }), "holds no groups"},
		{"group 16", with(node(2, "6/1", "ecodim-dali-gw2"), func(n *appliance.Node) { n.Groups = []string{"16"} }), "0 to 15"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := serialBus(good, tc.node)
			cfg.Shades = []appliance.Shade{{ID: 5001, Node: 2, Output: 1}}
			cfg.Bus.Line = appliance.LineSettings{BaudRate: 9600}
			opened, err := openWire(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := opened.BrokenNodes[2]; err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
			if opened.BrokenShades[5001] == nil {
				t.Error("the shade of a broken node is offered")
			}
			if opened.BrokenNodes[1] != nil || len(opened.Channels[1]) != 3 {
				t.Error("the good node suffers")
			}
			if polls := opened.Driver.Polls(); len(polls) != 2 {
				t.Errorf("got %d polls, want those of the good node: 2", len(polls))
			}
		})
	}
}

func TestShadesTakeTheirRelays(t *testing.T) {
	t.Parallel()
	lights := node(1, "5", "wirenboard-wb-mr6c")
	lights.Outputs = []int{1, 3}
	motors := node(2, "5", "wirenboard-wb-mr6c")
	cfg := serialBus(lights, motors)
	cfg.Shades = []appliance.Shade{{ID: 5001, Node: 2, Output: 1}, {ID: 5002, Node: 2, Output: 1}, {ID: 5003, Node: 2, Output: 4}, {ID: 5004, Node: 9, Output: 1}}
	opened, err := openWire(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.BrokenNodes[1]; err == nil || !strings.Contains(err.Error(), "belongs to shade 5001") {
		t.Errorf("a relay of a shade is a light: %v", err)
	}
	if n := len(opened.Channels[2]); n != 0 {
		t.Errorf("%d relays are lights, though nobody knows which of them drive shades 5002 and 5003", n)
	}
	for id, want := range map[appliance.ID]string{5002: "taken by shade 5001", 5003: "outputs 1 to 3", 5004: "not on this bus"} {
		if err := opened.BrokenShades[id]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("shade %d: got %v, want %q", id, err, want)
		}
	}
	if ch := opened.Shades[5001]; ch.Abilities != appliance.CanMove || ch.PositionMeasured {
		t.Errorf("shade is %+v", ch)
	}

	cfg.Shades = cfg.Shades[:1]
	if opened, err = Open(cfg); err != nil {
		t.Fatal(err)
	}
	if n := len(opened.Channels[2]); n != 4 {
		t.Errorf("%d relays are left as lights, want 4", n)
	}
	// Outputs that the installer names are lights whatever becomes of a shade.
	cfg.Nodes[1].Outputs, cfg.Shades = []int{5, 6}, []appliance.Shade{{ID: 5003, Node: 2, Output: 4}}
	if opened, err = Open(cfg); err != nil {
		t.Fatal(err)
	}
	if n := len(opened.Channels[2]); n != 2 {
		t.Errorf("%d relays are lights, want the 2 that are named", n)
	}
}

func TestBrokenBuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*appliance.Bus)
		want   string
	}{
		{"unknown option", func(b *appliance.Bus) { b.Options = map[string]string{"speed": "fast"} }, `option "speed" is unknown`},
		{"bad option", func(b *appliance.Bus) { b.Options = map[string]string{"guard": "5"} }, "option guard"},
		{"other scheme", func(b *appliance.Bus) { b.Port = "http://x" }, "want a device path"},
		{"line settings of a socket", func(b *appliance.Bus) { b.Port = "tcp://h:1"; b.Line.BaudRate = 9600 }, "has no line settings"},
		{"seven bits", func(b *appliance.Bus) { b.Line.DataBits = 7 }, "8 data bits"},
		{"parity", func(b *appliance.Bus) { b.Line.Parity = "mark" }, "parity"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := serialBus()
			tc.change(&cfg.Bus)
			if _, err := openWire(cfg); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "bus b") {
				t.Errorf("got %v, want an error with %q naming the bus", err, tc.want)
			}
		})
	}
	for port, want := range map[string]string{"tcp://10.0.0.4": "tcp://10.0.0.4:502", "tcp://10.0.0.4:1502": "tcp://10.0.0.4:1502", "tcp://[fe80::1]": "tcp://[fe80::1]:502"} {
		o := opening{cfg: serialBus(), driver: &Driver{}}
		o.cfg.Bus.Port = port
		if err := o.port(); err != nil || o.address != want {
			t.Errorf("%s: got %s, %v; want %s", port, o.address, err, want)
		}
	}
}

func TestOwnProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "profiles", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("my-relay.yaml", "name: my-relay\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: holding, address: 9}]}]\n")
	write("broken.yaml", "name: broken\ntitle: T\nsource: S\noutputs: [{kind: lamp}]\n")
	write("eastron-sdm120.yaml", "name: eastron-sdm120\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: coil, address: 9}]}]\n")
	var wrong []string
	CheckOwn(dir, func(err error) { wrong = append(wrong, err.Error()) })
	if text := strings.Join(wrong, "\n"); len(wrong) != 2 || !strings.Contains(text, "broken.yaml:4:18") || !strings.Contains(text, "eastron-sdm120") {
		t.Errorf("told to be wrong are %q", wrong)
	}
	cfg := serialBus(node(1, "1", "my-relay"), node(2, "2", "broken"), node(3, "3", "eastron-sdm120"))
	cfg.DataDir = dir
	opened, err := openWire(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if opened.BrokenNodes[1] != nil || opened.Channels[1][0].Abilities != appliance.CanSwitch {
		t.Errorf("own profile: %v", opened.BrokenNodes[1])
	}
	if err := opened.BrokenNodes[2]; err == nil || !strings.Contains(err.Error(), "broken.yaml:4:18: outputs[0].kind") {
		t.Errorf("broken profile: %v", err)
	}
	if opened.Channels[3][0].Abilities != appliance.CanMeasure {
		t.Error("an own profile took the place of a built-in one")
	}
}

func TestCheckProfileTellsWhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"not YAML", "{", "p.yaml"},
		{"unknown key", "name: ab\ntitle: T\nsource: S\ncolour: 1\noutputs: [{kind: meter}]\n", "p.yaml:4:1: colour: unknown key"},
		{"no power", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: meter}]\n", "outputs[0].power: is missing"},
		{"input written", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: input, address: 1}]}]\n", "cannot be written"},
		{"address too high", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, count: 8, switches: [{table: coil, address: 65530, stride: 1}]}]\n", "reaches from 65530 to 65537"},
		{"group of no gateway", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, group: {table: holding, address: 2}, map: percent}}]\n", "only gateways"},
		{"map of another value", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, map: mirek}}]\n", "allowed here"},
		{"nothing to light", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light}]\n", "a light needs switches, level or colour"},
		{"level beside colour", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, map: percent}, colour: {red: {at: {table: holding, address: 2}, map: percent}, green: {at: {table: holding, address: 3}, map: percent}, blue: {at: {table: holding, address: 4}, map: percent}, white: {at: {table: holding, address: 5}, map: percent}}}]\n", "not together with colour"},
		{"a shade half", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: shade, open: {table: coil, address: 1}}]\n", "a shade needs open and close"},
		{"a shade in two tables", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: shade, open: {table: coil, address: 1}, close: {table: holding, address: 2}}]\n", "must be in the same table as open"},
		{"a shade that shines", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: shade, open: {table: coil, address: 1}, close: {table: coil, address: 2}, switches: [{table: coil, address: 3}]}]\n", "belong to lights and meters"},
		{"lamps of shades", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: coil, address: 1}], open: {table: coil, address: 2}}]\n", "belong to shades"},
		{"text in coils", "name: ab\ntitle: T\nsource: S\nnameplate: {model: {at: {table: coil, address: 1}, length: 4}, is: [x]}\noutputs: [{kind: light, switches: [{table: coil, address: 1}]}]\n", "hold no text"},
		{"gear of no gateway", "name: ab\ntitle: T\nsource: S\ngear: {present: {at: {table: holding, address: 1}, min: 0, max: 1}}\noutputs: [{kind: light, switches: [{table: coil, address: 1}]}]\n", "is for gateways"},
		{"read and written in one, and apart", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, read: {table: holding, address: 2}, map: percent}}]\n", "not together with read or write"},
		{"a linear value without its end", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, map: linear}}]\n", "upper end"},
		{"bits as numbers", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: coil, address: 1, type: u16}, map: percent}}]\n", "hold bits, registers numbers"},
		{"switched on by a level, without switches", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, map: percent, switchesOn: true}}]\n", "nothing to switch on"},
		{"a switch that is not there", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: coil, address: 1}], colour: {red: {at: {table: holding, address: 2}, map: percent, switch: 2}, green: {at: {table: holding, address: 3}, map: percent}, blue: {at: {table: holding, address: 4}, map: percent}, white: {at: {table: holding, address: 5}, map: percent}}}]\n", "is 2, there are 1 switches"},
		{"a switch of a level", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, switches: [{table: coil, address: 1}], level: {at: {table: holding, address: 1}, map: percent, switch: 1}}]\n", "belongs to the components of a colour"},
		{"addresses that are left out, turned", "name: ab\ntitle: T\nsource: S\nlimits: {forbidden: [{table: holding, from: 9, to: 8}]}\noutputs: [{kind: light, switches: [{table: coil, address: 1}]}]\n", "from 9 lies behind to 8"},
		{"two registers where one may be written", "name: ab\ntitle: T\nsource: S\nlimits: {writeRegisters: 1}\noutputs: [{kind: light, level: {at: {table: holding, address: 1, type: u32}, map: percent}}]\n", "needs two registers, limits.writeRegisters allows one"},
		{"a colour only written", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, colour: {red: {write: {table: holding, address: 2}, map: percent}, green: {at: {table: holding, address: 3}, map: percent}, blue: {at: {table: holding, address: 4}, map: percent}, white: {at: {table: holding, address: 5}, map: percent}}}]\n", "colours must be written and read"},
		{"a colour only read", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, colour: {red: {read: {table: holding, address: 2}, map: percent}, green: {at: {table: holding, address: 3}, map: percent}, blue: {at: {table: holding, address: 4}, map: percent}, white: {at: {table: holding, address: 5}, map: percent}}}]\n", "colours must be written and read"},
		{"gear that is never there", "name: ab\ntitle: T\nsource: S\naddressing: gear\ngear: {present: {at: {table: holding, address: 1}, min: 2, max: 1}}\noutputs: [{kind: light, level: {at: {table: holding, address: 1, perGear: 1}, map: percent}}]\n", "min 2 is above max 1"},
		{"gear whose place does not exist", "name: ab\ntitle: T\nsource: S\naddressing: gear\ngear: {present: {at: {table: holding, address: 65500, perGear: 1}, min: 0, max: 1}}\noutputs: [{kind: light, level: {at: {table: holding, address: 1, perGear: 1}, map: percent}}]\n", "gear.present.at.address"},
		{"kelvin without range", "name: ab\ntitle: T\nsource: S\noutputs: [{kind: light, level: {at: {table: holding, address: 1}, map: percent}, kelvin: {at: {table: holding, address: 2}, map: kelvin}}]\n", "kelvinMin"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckProfile("p.yaml", []byte(tc.text))
			var problems schema.Problems
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want problems with %q", err, tc.want)
			}
		})
	}
	if !json.Valid(ProfileSchema()) {
		t.Error("the published schema is no JSON")
	}
}

func TestDecodeExplainsFrames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, frame, want string
		tcp, bad          bool
	}{
		{"request", "110300000002c69b", `{"unit":17,"function":3,"op":"read_holding","function_name":"read holding registers","kind":"request","crc_ok":true,"addr":0,"count":2}`, false, false},
		{"response", "010404449a5000f35b", `{"unit":1,"function":4,"op":"read_input","function_name":"read input registers","kind":"response","crc_ok":true,"values":[17562,20480]}`, false, false},
		{"exception", "118102c054", `{"unit":17,"function":1,"op":"read_coils","function_name":"read coils","kind":"exception","crc_ok":true,"exception":2,"exception_name":"illegal data address"}`, false, false},
		{"write and its answer", "050600000032099b", `{"unit":5,"function":6,"op":"write_register","function_name":"write register","kind":"ambiguous","crc_ok":true,"request":{"addr":0,"values":[50]},"response":{"addr":0,"values":[50]}}`, false, false},
		{"broadcast", "0005000200006ddb", `{"unit":0,"function":5,"op":"write_coil","function_name":"write coil","kind":"request","broadcast":true,"crc_ok":true,"addr":2,"values":[0]}`, false, false},
		{"tcp", "000700000006010300000001", `{"unit":1,"function":3,"op":"read_holding","function_name":"read holding registers","kind":"request","transaction_id":7,"addr":0,"count":1}`, true, false},
		{"bad checksum", "110300000002c69c", "", false, true},
		{"short", "1103", "", false, true},
		{"length of tcp", "000700000007010300000001", "", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			decode := DecodeRTU
			if tc.tcp {
				decode = DecodeTCP
			}
			d, err := decode(unhex(t, tc.frame))
			if tc.bad {
				if err == nil {
					t.Errorf("got %+v, want an error", d)
				}
				return
			}
			got, _ := json.Marshal(d)
			if err != nil || string(got) != tc.want {
				t.Errorf("got\n%s %v\nwant\n%s", got, err, tc.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"110300000002c69b", "118102c054", "000700000006010300000001", "052b0e010000", "111700030006000e00030600ff00ff00ff4b54"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := DecodeRTU(b); err == nil && d.Kind == "" {
			t.Error("no kind")
		}
		if d, err := DecodeTCP(b); err == nil && d.Kind == "" {
			t.Error("no kind")
		}
	})
}

func FuzzListener(f *testing.F) {
	f.Add([]byte{5, 3, 4, 1, 2, 3, 4, 0x1E, 0xFC}, byte(3), false)
	f.Add([]byte{0, 1, 0, 0, 0, 7, 5, 3, 4, 1, 2, 3, 4}, byte(3), true)
	f.Fuzz(func(t *testing.T, b []byte, fn byte, tcp bool) {
		c := newCodec(tcp, false)
		r := request{unit: 5, fn: function(fn), qty: 2, values: []uint16{1}, bits: []bool{true}}
		if r.fn == maskWrite {
			r.values = []uint16{1, 2}
		}
		frame, err := c.encode(r)
		if err != nil {
			return
		}
		l := listener{codec: c, request: r, frame: frame}
		for rest := b; len(rest) > 0; {
			n, verdict := l.scan(rest)
			if n < 0 || n > len(rest) {
				t.Fatalf("used %d of %d bytes", n, len(rest))
			}
			if verdict == line.Accept { // accepted: it must decode, as an answer or an exception
				var e *Exception
				if _, err := c.decode(r, bytes.Clone(rest[:n])); err != nil && !errors.As(err, &e) {
					t.Fatalf("accepted % X, which does not decode: %v", rest[:n], err)
				}
				return
			}
			if verdict != line.Skip {
				return
			}
			if n == 0 {
				t.Fatal("passed over nothing")
			}
			rest = rest[n:]
		}
	})
}

func FuzzProfile(f *testing.F) {
	entries, _ := builtinFiles.ReadDir("profiles")
	for _, e := range entries {
		data, _ := builtinFiles.ReadFile("profiles/" + e.Name())
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		IsProfile(data)
		p, err := readProfile("p.yaml", data)
		if err != nil {
			return
		}
		for _, out := range append(p.lights, p.shades...) {
			out.abilities()
		}
	})
}

// TestAnswerToWhoHadThePortBefore: an RTU answer does not tell of which registers it is,
// and one to a question of a program before this must not be taken for that to ours.
func TestAnswerToWhoHadThePortBefore(t *testing.T) {
	t.Parallel()
	end := ptyWire(t)
	left := rtuFrame(5, []byte{3, 0, 10, 0, 1})
	if err := os.WriteFile(end.port, left, 0); err != nil {
		t.Fatal(err)
	}
	asked := make(chan []byte, 8)
	end.play(t, false, func(q []byte) []piece {
		asked <- q
		return []piece{{after: 100 * time.Millisecond, bytes: echoAddress(q)}}
	})
	d, _ := open(t, busOf(end, nil))
	words, err := askFor(t, d, 20, 1, 20*time.Second)
	if err != nil || words[0] != 20 {
		t.Errorf("register 20 reads %v, %v", words, err)
	}
	if q := <-asked; !bytes.Equal(q, left) {
		t.Errorf("the first question was % X, not the one left behind", q)
	}
}
