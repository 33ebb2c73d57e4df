package modbus

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/scan"
)

// scanned is what a scan comes to tell, by address.
func scanned(t *testing.T, d *Driver, opts appliance.ScanOptions) (all appliance.Findings) {
	t.Helper()
	for step := range d.Scan(opts) {
		res, err := do(t, step.Exchange)
		if f, ok := step.Judge(res, err); ok {
			all, _ = all.With(f)
		}
	}
	return all
}

// floats puts a number of two registers where a meter has it.
func (b *bank) floats(unit byte, addr uint16, x float32) {
	bits := math.Float32bits(x)
	b.set(unit, point{inputs, addr}, uint16(bits>>16))
	b.set(unit, point{inputs, addr + 1}, uint16(bits))
}

// knowing has a bank refuse to read what was never put there.
func (b *bank) knowing() {
	b.deny = func(unit, fn byte, p point, n int) byte {
		for i := range n {
			if _, there := b.words[unit][point{p.table, p.addr + uint16(i)}]; !there && fn <= 4 {
				return 2
			}
		}
		return 0
	}
}

func meter(b *bank, unit byte, model uint16) {
	for i, w := range []uint16{0x00AB, 0xCDEF, model, 0x0104} {
		b.set(unit, point{holdings, 0xFC00 + uint16(i)}, w)
	}
	b.floats(unit, 0x46, 50)
	b.floats(unit, 0x0C, 230)
	b.floats(unit, 0x156, 1)
}

// dalLine puts a gateway with gear 2 and 7 behind it at a unit; 2 has a broken lamp and is in groups 1 and 9, 7 tells no groups.
func dalLine(b *bank, unit byte) {
	set := func(addr int, w uint16) { b.set(unit, point{holdings, uint16(addr)}, w) }
	set(31, 2)
	set(29, 0)
	for short := range 64 {
		for i, w := range []uint16{0, 0, 0, 0, 255} {
			set(3000+5*short+i, w)
		}
	}
	for short, status := range map[int]uint16{2: lampFailure, 7: gearFailure} {
		set(3002+5*short, 1)
		set(3003+5*short, status)
		set(3004+5*short, 254)
	}
	b.alias = func(u byte, p point, w uint16) {
		if p != (point{holdings, 25}) {
			return
		}
		answer, ok := map[uint16]uint16{2<<9 | 1<<8 | queryGroupsLow: 1 << 1, 2<<9 | 1<<8 | queryGroupsLow + 1: 1 << 1}[w]
		b.put(u, point{holdings, 24}, map[bool]uint16{true: 1, false: 0}[ok])
		b.put(u, point{holdings, 26}, answer)
	}
}

// A scan tells of a line who is there, what each is as far as reading can tell, and what is not as the site says.
func TestWhatAScanTellsOfALine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBank()
		meter(b, 3, 43)
		meter(b, 4, 32)
		meter(b, 5, 32)
		dalLine(b, 9)
		b.set(12, point{coils, 1}, 1)
		b.knowing()
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			if q[0] == 14 { // answers when its time is over
				return []piece{{after: 300 * time.Millisecond, bytes: rtuFrame(14, []byte{q[1] | 0x80, 1})}}
			}
			if q[0] == 12 && q[1] == byte(readDeviceID) {
				f := rtuFrame(12, []byte{q[1], meiDeviceID, 1, 1, 0, 0, 2, 0, 3, 'a', 'b', 'c', 1, 2, 'd', 7})
				return []piece{{bytes: f[:2]}, {after: time.Millisecond, bytes: f[2:]}}
			}
			if pdu := b.answer(q[0], q[1:len(q)-2]); pdu != nil {
				return []piece{{bytes: rtuFrame(q[0], pdu)}}
			}
			return nil
		})
		cfg := busOf(end, nil)
		delete(cfg.Bus.Options, "responseTimeout") // that of scans
		cfg.Nodes = []appliance.Node{node(1, "3", "eastron-sdm230"), node(2, "5", "eastron-sdm230"), node(3, "6", "wirenboard-wb-mdm3"), node(4, "9/1", "ecodim-dali-gw2"), node(5, "9/2", "ecodim-dali-gw2")}
		d, _ := open(t, cfg)
		var got []string
		for _, f := range scanned(t, d, appliance.ScanOptions{Last: 14}) {
			got = append(got, fmt.Sprintf("%s %s|%s %v|%s %s|%d %d %v %v|%s|%s", f.Address, f.Finding, f.Kind, f.Others, f.Serial, f.Version, f.Lights, f.Shades, f.Gateway, f.Groups, f.Detail, f.Advice))
		}
		want := []string{
			"3 |eastron-sdm230 []|11259375 260|1 0 false []|is the Eastron SDM230, energy meter, single phase that the site says|",
			"4 |eastron-sdm120 []|11259375 260|1 0 false []|says it is 32: Eastron SDM120, energy meter, single phase|",
			"5 profile|eastron-sdm120 []|11259375 260|1 0 false []|is not the eastron-sdm230 that the site says: says it is 32: Eastron SDM120, energy meter, single phase|change the profile in the site file, or look whether the right device has this address",
			"6 silent| []| |0 0 false []|does not answer|check its power, its connector, its address and its bit rate and parity (--all-settings tries others)",
			"9 |ecodim-dali-gw2 []| |0 0 true []|is the ECOdim DALI GW2, gateway from Modbus RTU to one DALI line that the site says|",
			"9/1 silent| []| |0 0 false []|the gateway says that this gear does not answer|check its mains and its place on the DALI line",
			"9/2 |ecodim-dali-gw2 []| |1 0 false [1 9]|DALI gear, at 100 %, THE LAMP HAS FAILED, in groups 1 9|",
			"9/7 |ecodim-dali-gw2 []| |1 0 false []|DALI gear, at 100 %, THE GEAR HAS FAILED, its groups cannot be read|",
			"12 | []| |0 0 false []|answers, and is none of the devices there are profiles for; calls itself abc, d|",
			"14 late| []| |0 0 false []|answers after 299ms, when nobody waits for it any more|give its node the option responseTimeout: 500ms; a scan of a bus that has this option tells what it is",
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A port of which nobody knows anything is found out by the first who answers; each address is asked once at each setting, where
// there are settings.
func TestWhoAnswersFirstEndsFindingOut(t *testing.T) {
	t.Parallel()
	settings := UsualSettings()[:2]
	const nobody, somebody, gateway, garbled = "nobody", "somebody", "a gateway", "somebody, at the second time"
	for _, tc := range []struct {
		scheme, who string
		asked       []byte // until somebody answers
		line        appliance.LineSettings
	}{
		{"", somebody, []byte{2, 3}, settings[0]},
		{"", garbled, []byte{2, 3, 3}, settings[0]},
		{"tcp", somebody, []byte{2, 3}, appliance.LineSettings{}},
		{"rtu+tcp", somebody, []byte{2, 3}, appliance.LineSettings{}},
		{"tcp", gateway, []byte{2, 3}, appliance.LineSettings{}},
		{"", nobody, []byte{2, 3, 4, 2, 3, 4}, appliance.LineSettings{}},
		{"tcp", nobody, []byte{2, 3, 4}, appliance.LineSettings{}},
	} {
		t.Run(tc.scheme+" "+tc.who, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBank()
				meter(b, 3, 43)
				b.knowing()
				w := serialWire(t)
				if tc.scheme != "" {
					w = socketWire(t, tc.scheme)
				}
				var asked []byte
				w.play(t, tc.scheme == "tcp", func(q []byte) []piece {
					unit, pdu := q[0], q[1:]
					if tc.scheme == "tcp" {
						unit, pdu = q[6], q[7:]
					}
					if string(pdu[:5]) == string([]byte{3, 0, 0, 0, 1}) {
						asked = append(asked, unit)
					}
					answer := b.answer(unit, pdu)
					switch {
					case answer == nil || tc.who == nobody:
						return nil
					case tc.who == gateway:
						answer = []byte{pdu[0] | 0x80, 0x0B}
					}
					if tc.scheme == "tcp" {
						return []piece{{bytes: append(append(slices.Clone(q[:4]), 0, byte(len(answer)+1), unit), answer...)}}
					}
					f := rtuFrame(unit, answer)
					if tc.who == garbled && len(asked) == 2 {
						f[2] ^= 1
					}
					return []piece{{bytes: f}}
				})
				d, _ := open(t, busOf(w, nil))
				found := scanned(t, d, appliance.ScanOptions{First: 2, Last: 4, FindOut: settings})
				synctest.Wait()
				if !slices.Equal(asked, tc.asked) {
					t.Errorf("asked %v, want %v", asked, tc.asked)
				}
				switch {
				case tc.who == nobody:
					if len(found) > 0 {
						t.Errorf("found %+v", found)
					}
				case len(found) != 1 || found[0].Gateway != (tc.who == gateway) || (found[0].Kind == "eastron-sdm230") == found[0].Gateway || found[0].Line != tc.line:
					t.Errorf("found %+v", found)
				}
			})
		})
	}
}

// The usual settings come first, each once; who sends without parity sends two stop bits.
func TestSettingsThatALineMayHave(t *testing.T) {
	name := func(s appliance.LineSettings) string { return fmt.Sprint(settingsName(s), s.StopBits) }
	var usual []string
	for _, s := range UsualSettings() {
		usual = append(usual, name(s))
	}
	want := []string{"9600 8N2", "19200 8E1", "9600 8E1", "19200 8N2", "9600 8O1", "19200 8O1"}
	for _, baud := range []int{38400, 57600, 115200, 4800, 2400} {
		want = append(want, fmt.Sprint(baud, " 8N2"), fmt.Sprint(baud, " 8E1"), fmt.Sprint(baud, " 8O1"))
	}
	if !slices.Equal(usual, want) {
		t.Errorf("usual are %q, want %q", usual, want)
	}
	others := otherSettings(appliance.LineSettings{BaudRate: 14400, Parity: "even", DataBits: 8, StopBits: 1})
	if len(others) != 2+21 || name(others[0]) != "14400 8N2" || name(others[1]) != "14400 8O1" || name(others[2]) != "9600 8N2" {
		t.Errorf("others are %+v", others)
	}
	if at := (&appliance.LineSettings{BaudRate: 2400}); extraAt(at, 10) != 50*time.Millisecond || extraAt(nil, 10) != 0 {
		t.Errorf("10 characters take %v more", extraAt(at, 10))
	}
}

func TestAddressesAreToldAsPeopleDo(t *testing.T) {
	for want, list := range map[string][]byte{
		"address 4": {4}, "addresses 4, 5": {5, 4}, "addresses 4 to 6": {4, 5, 6}, "addresses 1, 4 to 7, 9": {9, 4, 5, 6, 7, 1}, "addresses 1, 3": {1, 3},
	} {
		if got := addresses(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// What a unit or its gateway answers in place of obeying, and what the core makes of it.
func TestExceptionsOfTheStandard(t *testing.T) {
	for code, want := range map[byte]struct {
		is      error
		gateway bool
		name    string
	}{
		1: {appliance.ErrRefused, false, "illegal function"}, 2: {appliance.ErrRefused, false, "illegal data address"}, 3: {appliance.ErrRefused, false, "illegal data value"},
		4: {appliance.ErrRefused, false, "device failure"}, 5: {appliance.ErrAccepted, false, "acknowledge"}, 6: {appliance.ErrBusy, false, "device busy"},
		8: {appliance.ErrRefused, false, "memory parity error"}, 10: {appliance.ErrSilent, true, "gateway path unavailable"},
		11: {appliance.ErrSilent, true, "gateway target failed to respond"}, 99: {appliance.ErrRefused, false, "unknown exception"},
	} {
		e := &Exception{Unit: 7, What: "read", Code: code}
		if e.Unwrap() != want.is || e.Is(appliance.ErrGateway) != want.gateway || e.Is(appliance.ErrBusy) || !strings.Contains(e.Error(), want.name) || !strings.Contains(e.Error(), "unit 7") {
			t.Errorf("exception %d is %v, of a gateway %v: %v", code, e.Unwrap(), e.Is(appliance.ErrGateway), e)
		}
	}
}

// A scan of a sick line tells what ails it, and accuses no device of what the line does.
func TestWhatAScanTellsOfASickLine(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	refuses := func(unit byte, q []byte) []byte { return rtuFrame(unit, []byte{q[1] | 0x80, 2}) }
	damaged := func(f []byte) []byte { f = slices.Clone(f); f[len(f)-1] ^= 0x55; return f }
	known := newBank()
	meter(known, 3, 43)
	known.knowing()
	for _, tc := range []struct {
		name    string
		options map[string]string
		answer  func(q []byte, n int) []piece // n counts the questions
		want    []string
		talks   func(say func([]byte) bool) // unasked, until nobody hears it any more
	}{
		{"two at one address", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			return []piece{{bytes: refuses(3, q)}, {after: ms, bytes: rtuFrame(3, []byte{q[1] | 0x80, 1})}}
		}, []string{"3 collision|2 DEVICES have this address: one question got 2 answers, one after the other (6 of 6 times)|disconnect one of the devices"}, nil},
		{"two at one address, the second much later", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			return []piece{{bytes: refuses(3, q)}, {after: 10 * ms, bytes: rtuFrame(3, []byte{q[1] | 0x80, 1})}}
		}, []string{"3 collision|2 DEVICES have this address: one question got 2 answers, one after the other (6 of 6 times)|disconnect one of the devices"}, nil},
		{"one of five damaged", nil, func(q []byte, n int) []piece {
			switch {
			case q[0] > 5:
				return nil
			case q[0] == 4:
				return []piece{{bytes: damaged(refuses(4, q))}}
			}
			return []piece{{bytes: refuses(q[0], q)}}
		}, []string{"1 |answers, and is none of the devices there are profiles for|", "2 |answers, and is none of the devices there are profiles for|", "3 |answers, and is none of the devices there are profiles for|", "4 damaged|damaged answers: 6 of 6 cannot be read, such as 04 83 02 D0 A5|disconnect this device", "5 |answers, and is none of the devices there are profiles for|"}, nil},
		{"most damaged", nil, func(q []byte, n int) []piece {
			switch {
			case q[0] > 5:
				return nil
			case q[0] > 1:
				return []piece{{bytes: damaged(refuses(q[0], q))}}
			}
			return []piece{{bytes: refuses(q[0], q)}}
		}, []string{"1 |answers, and is none of the devices there are profiles for|", "2 damaged|damaged answers: 6 of 6 cannot be read, such as 02 83 02|most answers on this line are damaged: check termination", "3 damaged|damaged answers: 6 of 6 cannot be read, such as 03 83 02|most answers on this line are damaged: check termination", "4 damaged|damaged answers: 6 of 6 cannot be read, such as 04 83 02|most answers on this line are damaged: check termination", "5 damaged|damaged answers: 6 of 6 cannot be read, such as 05 83 02|most answers on this line are damaged: check termination"}, nil},
		{"an adapter that echoes", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return []piece{{bytes: q}}
			}
			return []piece{{bytes: q}, {after: ms, bytes: refuses(3, q)}}
		}, []string{" echo|THE ADAPTER RETURNS WHAT IT SENDS (echo): 01 03 00 00 00 01 84 0A came back|set the bus option echo to true", "3 |answers, and is none of the devices there are profiles for|"}, nil},
		{"an adapter that does not echo", map[string]string{"echo": "true"}, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			return []piece{{bytes: refuses(3, q)}}
		}, []string{" echo|THE ADAPTER DOES NOT RETURN WHAT IT SENDS, and the bus option echo says that it does: 6 questions|take the bus option echo away"}, nil},
		{"lost once", nil, func(q []byte, n int) []piece {
			if q[0] != 3 || n == 3 {
				return nil
			}
			return []piece{{bytes: refuses(3, q)}}
		}, []string{"3 |answers, and is none of the devices there are profiles for|"}, nil},
		{"damaged once", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			if n == 3 {
				return []piece{{bytes: damaged(refuses(3, q))}}
			}
			return []piece{{bytes: refuses(3, q)}}
		}, []string{"3 |answers, and is none of the devices there are profiles for|"}, nil},
		{"late, and never again", nil, func(q []byte, n int) []piece {
			if q[0] != 5 || n > 5 {
				return nil
			}
			return []piece{{after: 300 * ms, bytes: refuses(5, q)}}
		}, []string{"5 late|answered when nobody waited for it any more, and not again|scan again"}, nil},
		{"lost twice, and nobody else is there", nil, func(q []byte, n int) []piece {
			if q[0] != 3 || n == 3 || n == 9 {
				return nil
			}
			return []piece{{bytes: refuses(3, q)}}
		}, []string{"3 |answers, and is none of the devices there are profiles for|"}, nil},
		{"what it is cannot be read", nil, func(q []byte, n int) []piece {
			switch {
			case q[0] != 3:
				return nil
			case string(q[1:6]) == string([]byte{3, 0, 0, 0, 1}):
				return []piece{{bytes: refuses(3, q)}}
			}
			return []piece{{bytes: damaged(refuses(3, q))}}
		}, []string{"3 |answers, but so many of its answers are damaged that it cannot be told what it is|"}, nil},
		{"something that it is not cannot be read", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			f := rtuFrame(3, known.answer(3, q[1:len(q)-2]))
			if q[1] == 3 && q[2] == 4000>>8 {
				f = damaged(f)
			}
			return []piece{{bytes: f}}
		}, []string{"3 |says it is 43: Eastron SDM230|"}, nil},
		{"never silent", nil, func([]byte, int) []piece { t.Error("somebody was asked"); return nil }, []string{
			" babble|SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame|", " hindered|the line is never silent, so that nobody could be asked|disconnect devices one by one",
		}, func(say func([]byte) bool) {
			for say([]byte{0xF8}) {
				time.Sleep(ms)
			}
		}},
		{"noise before, and none of what comes can be read", nil, func(q []byte, n int) []piece {
			if q[0] != 3 {
				return nil
			}
			return []piece{{bytes: damaged(refuses(3, q))}}
		}, []string{
			" babble|SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame|",
			" hindered|whether anybody is at address 3 cannot be told while the line is noisy|silence who talks without being asked",
		}, func(say func([]byte) bool) {
			for range 2 {
				time.Sleep(200 * ms)
				say([]byte{0xF8, 0xF8})
			}
		}},
		{"damaged, and noise later", nil, func(q []byte, n int) []piece {
			switch {
			case q[0] == 2:
				return []piece{{bytes: damaged(refuses(2, q))}}
			case q[0] == 6:
				return []piece{{after: 300 * ms, bytes: []byte{0xF8, 0xF8}}, {after: 200 * ms, bytes: []byte{0xF8, 0xF8}}}
			}
			return nil
		}, []string{
			"2 damaged|damaged answers: 6 of 6 cannot be read, such as 02 83 02 30 A4; whether this is one device, several or the noise|silence who talks without being asked",
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end := serialWire(t)
				n := 0
				var talks sync.WaitGroup
				t.Cleanup(talks.Wait) // the wire is closed before
				end.play(t, false, func(q []byte) []piece { n++; return tc.answer(q, n) })
				if tc.talks != nil {
					port := end.end.(*cable.Serial)
					talks.Go(func() { tc.talks(func(b []byte) bool { _, err := port.Write(b); return err == nil }) })
				}
				cfg := busOf(end, tc.options)
				delete(cfg.Bus.Options, "responseTimeout")
				d, _ := open(t, cfg)
				found := scanned(t, d, appliance.ScanOptions{Last: 6})
				if len(found) != len(tc.want) {
					t.Errorf("told %d: %+v", len(found), found)
				}
				for _, want := range tc.want {
					parts := strings.Split(want, "|")
					if !slices.ContainsFunc(found, func(f appliance.Found) bool {
						return fmt.Sprintf("%s %s", f.Address, f.Finding) == parts[0] && strings.HasPrefix(f.Detail, parts[1]) && strings.HasPrefix(f.Advice, parts[2])
					}) {
						t.Errorf("not told is %s; told are %+v", want, found)
					}
				}
			})
		})
	}
}

// A scan at all settings finds who has others, says which and what is to be done, and leaves the port with its own; what is only
// noise there is nobody.
func TestScanFindsWhoHasOtherSettings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBank()
		meter(b, 3, 43)
		meter(b, 4, 32)
		dalLine(b, 5)
		b.knowing()
		end := serialWire(t)
		port := end.end.(*cable.Serial)
		noisy := 0 // questions to 4 at its settings
		end.play(t, false, func(q []byte) []piece {
			at := settingsName(*port.Settings())
			switch {
			case q[0] == 3 && (at == "115200 8N" || at == "9600 8N"), q[0] == 4 && at == "19200 8E", q[0] == 5 && at == "9600 8N":
				f := rtuFrame(q[0], b.answer(q[0], q[1:len(q)-2]))
				if q[0] == 4 {
					if noisy++; noisy == 1 {
						f[2] ^= 1
					}
				}
				return []piece{{bytes: f}}
			case q[0] == 4 && at == "2400 8O":
				return []piece{{bytes: []byte{4, 3, 2, 0, 0, 0, 0}}}
			}
			return nil
		})
		cfg := busOf(end, nil)
		delete(cfg.Bus.Options, "responseTimeout")
		d, _ := open(t, cfg)
		var got []string
		for _, f := range scanned(t, d, appliance.ScanOptions{First: 3, Last: 5, AllSettings: true}) {
			at := ""
			if f.Line != (appliance.LineSettings{}) {
				at = settingsName(f.Line)
			}
			got = append(got, fmt.Sprintf("%s %s|%s|%s|%s|%s", f.Address, f.Finding, f.Kind, at, f.Detail, f.Advice))
		}
		const advice = "set the device to 115200 8N with its maker's tool"
		want := []string{
			"3 |eastron-sdm230||says it is 43: Eastron SDM230, energy meter, single phase|",
			"3 settings|eastron-sdm230|9600 8N|answers at 9600 8N, and the bus has 115200 8N; says it is 43: Eastron SDM230, energy meter, single phase|" + advice + ", and give it another address first: this one is taken",
			"5 settings|ecodim-dali-gw2|9600 8N|answers at 9600 8N, and the bus has 115200 8N; looks like: ECOdim DALI GW2, gateway from Modbus RTU to one DALI line; the gear behind it are the nodes, such as 5/0|" + advice,
			"5/2 settings|ecodim-dali-gw2|9600 8N|DALI gear, at 100 %, THE LAMP HAS FAILED, in groups 1 9|" + advice,
			"5/7 settings|ecodim-dali-gw2|9600 8N|DALI gear, at 100 %, THE GEAR HAS FAILED, its groups cannot be read|" + advice,
			"4 settings|eastron-sdm120|19200 8E|answers at 19200 8E, and the bus has 115200 8N; says it is 32: Eastron SDM120, energy meter, single phase|" + advice,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if at := settingsName(*port.Settings()); at != "115200 8N" {
			t.Errorf("the port is left at %s", at)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		meter(b, 3, 43)
		b.serve(t, end)
		d, _ := open(t, busOf(end, nil))
		found := scanned(t, d, appliance.ScanOptions{First: 3, Last: 3, AllSettings: true})
		if !slices.ContainsFunc(found, func(f appliance.Found) bool {
			return f.Finding == appliance.FoundNote && strings.Contains(f.Detail, "on serial ports only")
		}) {
			t.Errorf("of a gateway: %+v", found)
		}
	})
}

// A gateway that answers for a unit as nobody may is told, and the unit is not taken for a device.
func TestAGatewayThatGarblesAnAnswerIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "tcp")
		end.play(t, true, func(q []byte) []piece {
			return []piece{{bytes: append(slices.Clone(q[:4]), 0, 3, q[6], q[7]+1, 0)}} // another function
		})
		d, _ := open(t, busOf(end, nil))
		begun := time.Now()
		found := scanned(t, d, appliance.ScanOptions{First: 3, Last: 3})
		if took := time.Since(begun); took >= scan.Slice {
			t.Errorf("it took %v: a gateway that is silent need not be listened to", took)
		}
		if len(found) != 2 || found[0].Finding != appliance.FoundDamaged || found[0].Address != "3" || found[1].Finding != appliance.FoundNote {
			t.Errorf("found %+v", found)
		}
	})
}

// What a gateway does not tell of its gear is said, and asked again only where asking again may help.
func TestGearOfWhichAGatewayDoesNotTell(t *testing.T) {
	t.Parallel()
	const plain = "DALI gear, at 100 %, THE LAMP HAS FAILED, in groups 1 9"
	for _, tc := range []struct {
		name string
		deny func(fn byte, p point) byte
		lost int // answers to frames for the line
		two  string
		sent int // frames for the line
		also string
	}{
		{name: "all", two: plain, sent: 2 + readTries},
		{name: "an answer that is lost", lost: 1, two: plain, sent: 3 + readTries},
		{name: "all answers lost", lost: 100, two: "DALI gear, at 100 %, THE LAMP HAS FAILED, its groups cannot be read", sent: 2 * readTries},
		{name: "no frames of ours", deny: func(fn byte, p point) byte { return map[bool]byte{true: 2}[fn == 0x10] },
			two: "DALI gear, at 100 %, THE LAMP HAS FAILED, its groups cannot be read", sent: 2},
		{name: "no levels", deny: func(fn byte, p point) byte { return map[bool]byte{true: 2}[p.addr == 3004+5*2] },
			two: "DALI gear, THE LAMP HAS FAILED, in groups 1 9", sent: 2 + readTries},
		{name: "no failures", deny: func(fn byte, p point) byte { return map[bool]byte{true: 2}[p.addr == 3003+5*2] },
			two: "DALI gear, at 100 %, in groups 1 9", sent: 2 + readTries},
		{name: "who is there", deny: func(fn byte, p point) byte { return map[bool]byte{true: 2}[p.addr == 3002+5*3] },
			two: plain, sent: 2 + readTries, also: "9/3 damaged whether gear is here could not be read from the gateway"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBank()
				dalLine(b, 9)
				b.knowing()
				knows := b.deny
				b.deny = func(unit, fn byte, p point, n int) byte {
					if tc.deny != nil && tc.deny(fn, p) != 0 {
						return tc.deny(fn, p)
					}
					return knows(unit, fn, p, n)
				}
				end, sent := serialWire(t), 0
				end.play(t, false, func(q []byte) []piece {
					pdu := b.answer(q[0], q[1:len(q)-2])
					if q[1] == 0x10 {
						if sent++; sent <= tc.lost {
							return nil
						}
					}
					if pdu == nil {
						return nil
					}
					return []piece{{bytes: rtuFrame(q[0], pdu)}}
				})
				d, _ := open(t, busOf(end, nil))
				got := map[string]string{}
				for _, f := range scanned(t, d, appliance.ScanOptions{First: 9, Last: 9}) {
					told := strings.TrimSpace(string(f.Finding) + " " + f.Detail)
					if len(f.Groups) > 0 && !strings.HasSuffix(told, "in groups "+strings.Join(f.Groups, " ")) {
						t.Errorf("groups %q of %q", f.Groups, told)
					}
					got[f.Address] = told
				}
				synctest.Wait()
				if got["9/2"] != tc.two || sent != tc.sent || tc.also != "" && !slices.ContainsFunc([]string{"9/3"}, func(a string) bool { return a+" "+got[a] == tc.also }) {
					t.Errorf("told %q with %d frames for the line; want %q, %d and %q", got, sent, tc.two, tc.sent, tc.also)
				}
			})
		})
	}
}

// A gateway that does not know who is behind it is told as that.
func TestAGatewayThatDoesNotKnowItsGear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBank()
		p := builtin()["dalion"]
		for _, c := range p.Identify {
			for i := range c.At.words() {
				b.set(9, point{c.At.Table, uint16(c.At.Address + i)}, uint16(c.Min))
			}
		}
		b.set(9, point{holdings, 0}, 0)
		b.knowing()
		end := serialWire(t)
		b.serve(t, end)
		d, _ := open(t, busOf(end, nil))
		found := scanned(t, d, appliance.ScanOptions{First: 9, Last: 9})
		if !slices.ContainsFunc(found, func(f appliance.Found) bool {
			return f.Address == "9" && f.Finding == appliance.FoundNote && strings.HasSuffix(f.Detail, "enter the gear yourself, such as 9/1.0")
		}) {
			t.Errorf("told %+v", found)
		}
	})
}

// Where several profiles are of the model that a device says it is, numbers tell which; no other profile is asked.
func TestProfilesOfOneModelAreToldApartByNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
			t.Fatal(err)
		}
		const plate, out = "nameplate: {model: {at: {table: holding, address: 20}}, is: [77]}\n", "outputs: [{kind: light, switches: [{table: holding, address: 9}]}]\n"
		number := func(addr, min int) string {
			return fmt.Sprintf("  - {at: {table: holding, address: %d}, min: %d, max: 9}\n", addr, min)
		}
		for name, body := range map[string]string{
			"own-fits": plate + "identify:\n" + number(21, 5), "own-other": plate + "identify:\n" + number(21, 6), "own-unsaid": plate,
			"own-stranger": "identify:\n" + number(21, 5) + number(22, 0) + number(23, 0),
		} {
			if err := os.WriteFile(filepath.Join(dir, "profiles", name+".yaml"), []byte("name: "+name+"\ntitle: T\nsource: S\n"+out+body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b := newBank()
		for addr, w := range map[uint16]uint16{0: 0, 20: 77, 21: 5, 22: 0, 23: 0} {
			b.set(3, point{holdings, addr}, w)
		}
		b.knowing()
		end := serialWire(t)
		b.serve(t, end)
		cfg := busOf(end, nil)
		cfg.DataDir = dir
		d, _ := open(t, cfg)
		found := scanned(t, d, appliance.ScanOptions{First: 3, Last: 3})
		if len(found) != 1 || found[0].Kind != "own-fits" || len(found[0].Others) > 0 {
			t.Errorf("told %+v", found)
		}
	})
}
