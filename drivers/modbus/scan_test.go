package modbus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// TestScanDoesNotCallTheSilentLate: while somebody else talks, pieces of what he says
// come at the end of the wait for one who is dead. They make him neither late nor two.
func TestScanDoesNotCallTheSilentLate(t *testing.T) {
	t.Parallel()
	babble := rtuFrame(17, []byte{3, 2, 0xB6, 0x2A})
	for _, tc := range []struct {
		name  string
		heard []int // bytes of the babble in place of an answer to each question
	}{
		{"at the last question", []int{0, 0, 4}},
		{"at the second, and once of those that follow", []int{0, 4, 0, 4}},
		{"often, by one who is known", []int{0, 4, 7, 7, 7, 4, 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end := serialWire(t)
				heard := tc.heard
				end.play(t, false, func([]byte) []piece {
					if len(heard) == 0 {
						return nil
					}
					n := heard[0]
					heard = heard[1:]
					return []piece{{bytes: babble[:n]}}
				})
				cfg := busOf(end, map[string]string{"responseTimeout": "50ms"})
				cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3")}
				d, _ := open(t, cfg)
				found := make(map[appliance.Finding]appliance.Found)
				for step := range d.Scan(appliance.ScanOptions{First: 5, Last: 5}) {
					res, err := do(t, step.Exchange)
					if f, ok := step.Judge(res, err); ok && f.Address == "5" {
						found[f.Finding] = f
					}
				}
				if f := found[appliance.FoundSilent]; len(found) != 1 || f.Advice == "" {
					t.Errorf("found %+v, want 5 silent", found)
				}
			})
		})
	}
}

// TestScanMissesNobodyForOneLostAnswer: whoever trusts a scan misses what it misses.
func TestScanMissesNobodyForOneLostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		b.set(6, point{holdings, 0}, 1)
		b.set(7, point{holdings, 0}, 1)
		asked := 0
		b.mute = func(unit byte) bool {
			if unit == 7 {
				asked++
			}
			return unit == 7 && asked == 1
		}
		b.serve(t, end)
		d, _ := open(t, busOf(end, nil))
		var found []string
		for step := range d.Scan(appliance.ScanOptions{First: 6, Last: 8}) {
			res, err := do(t, step.Exchange)
			if f, ok := step.Judge(res, err); ok {
				found = append(found, f.Address)
			}
		}
		if strings.Join(found, " ") != "6 7" {
			t.Errorf("found %v, want 6 and 7", found)
		}
	})
}

// TestScanAsksThriceWhoIsInTheSite: an answer may be lost, and nobody looks for a device's wires for that.
func TestScanAsksThriceWhoIsInTheSite(t *testing.T) {
	t.Parallel()
	for lost, silent := range map[int]bool{0: false, 1: false, 2: false, 3: true} {
		synctest.Test(t, func(t *testing.T) {
			end, b := serialWire(t), newBank()
			b.set(5, point{holdings, 0}, 1)
			asked := 0
			b.mute = func(byte) bool { asked++; return asked <= lost || silent }
			b.serve(t, end)
			cfg := busOf(end, map[string]string{"responseTimeout": "50ms"})
			cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3")}
			d, _ := open(t, cfg)
			told := false
			for step := range d.Scan(appliance.ScanOptions{First: 5, Last: 5}) {
				res, err := do(t, step.Exchange)
				if f, ok := step.Judge(res, err); ok && f.Finding == appliance.FoundSilent {
					told = true
				}
			}
			if told != silent {
				t.Errorf("%d answers were lost: told as silent %v, want %v", lost, told, silent)
			}
		})
	}
}

// TestScanThatNobodyAnswers accuses the line only if all addresses were asked: those few
// that were asked may be free, which is no trouble.
func TestScanThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		opts    appliance.ScanOptions
		known   string // address of a node
		finding appliance.Finding
		says    string
		advises string // empty: nothing
	}{
		{"all addresses", appliance.ScanOptions{}, "", appliance.FoundHindered, "NOBODY ANSWERED: addresses 1 to 247 of 247 were asked at 115200 8N1", "A and B may be swapped"},
		{"some", appliance.ScanOptions{First: 20, Last: 21}, "", appliance.FoundNote, "none of these addresses answered: 20 to 21 of 247 were asked at 115200 8N1", "--all-settings"},
		{"one", appliance.ScanOptions{First: 20, Last: 20}, "", appliance.FoundNote, "address 20 did not answer; no other of the 247", "all addresses"},
		{"some of a bus with devices elsewhere", appliance.ScanOptions{First: 20, Last: 21}, "5", appliance.FoundNote, "none of these addresses answered", ""},
		{"none that there is", appliance.ScanOptions{First: 300}, "", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := busOf(serialWire(t), map[string]string{"responseTimeout": "1ms", "turnaround": "0s"})
				if tc.known != "" {
					cfg.Nodes = []appliance.Node{node(1, tc.known, "wirenboard-wb-mdm3")}
				}
				d, _ := open(t, cfg)
				var f appliance.Found
				for step := range d.Scan(tc.opts) {
					res, err := do(t, step.Exchange)
					if told, ok := step.Judge(res, err); ok {
						f = told
					}
				}
				if f.Finding != tc.finding || !strings.Contains(f.Detail, tc.says) || !strings.Contains(f.Advice, tc.advises) || tc.advises == "" && f.Advice != "" {
					t.Errorf("found %+v, want %s, %q and the advice %q", f, tc.finding, tc.says, tc.advises)
				}
			})
		})
	}
}

// A question of a scan that gives way to commands, or is asked of a port that is lost, is asked again: nobody is missed for it.
func TestAScanMissesNobodyForWhatItGaveWayTo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err   error
		times int // each question
	}{{appliance.ErrPreempted, 20}, {appliance.ErrBusDown, 2}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBank()
			meter(b, 3, 43)
			end := serialWire(t)
			b.serve(t, end)
			d, _ := open(t, busOf(end, nil))
			left := row.times
			var all appliance.Findings
			for step := range d.Scan(appliance.ScanOptions{First: 3, Last: 3}) {
				var res appliance.Result
				err := fmt.Errorf("%w by the test", row.err)
				listens := step.Exchange.Device == ""
				if !listens {
					left--
				}
				if listens || left < 0 {
					res, err = do(t, step.Exchange)
				}
				if left < 0 {
					left = row.times
				}
				if f, ok := step.Judge(res, err); ok {
					all, _ = all.With(f)
				}
			}
			if !slices.ContainsFunc(all, func(f appliance.Found) bool { return f.Address == "3" && f.Finding == "" }) {
				t.Errorf("%v, %d times: told %+v", row.err, row.times, all)
			}
		})
	}
}

// A gateway is given the time that it takes to ask somebody itself.
func TestAGatewayIsGivenItsTimeByAScan(t *testing.T) {
	t.Parallel()
	for _, findOut := range [][]appliance.LineSettings{nil, UsualSettings()[:1]} {
		for takes, found := range map[time.Duration]bool{probeTCPTimeout - 50*time.Millisecond: true, probeTCPTimeout + 50*time.Millisecond: false} {
			synctest.Test(t, func(t *testing.T) {
				b := newBank()
				meter(b, 3, 43)
				end := socketWire(t, "tcp")
				end.play(t, true, func(q []byte) []piece {
					pdu := b.answer(q[6], q[7:])
					return []piece{{after: takes, bytes: append(append(slices.Clone(q[:4]), 0, byte(len(pdu)+1), q[6]), pdu...)}}
				})
				cfg := busOf(end, nil)
				delete(cfg.Bus.Options, "responseTimeout") // that of scans
				d, _ := open(t, cfg)
				all := scanned(t, d, appliance.ScanOptions{First: 3, Last: 3, FindOut: findOut})
				if got := slices.ContainsFunc(all, func(f appliance.Found) bool { return f.Kind == "eastron-sdm230" }); got != found {
					t.Errorf("it takes %v, finding out %v: %+v", takes, findOut != nil, all)
				}
			})
		}
	}
}

// A scan names the units that talk more often than by chance, and of noise says that there is some, unless who talks explains it.
func TestWhomAScanSaysToTalk(t *testing.T) {
	talks, asks := talker{times: chance + 1, sample: []byte{17, 3}}, talker{times: 4, requests: 2, sample: []byte{17, 3}}
	for _, tc := range []struct {
		name  string
		unit  talker
		junk  int
		sure  bool // noise was in the way
		named bool // it was told already that somebody makes noise
		want  string
	}{
		{name: "nobody"},
		{name: "nobody, and answers were damaged", sure: true},
		{name: "a unit by chance", unit: talker{times: chance}},
		{name: "a unit by chance, and answers were damaged", unit: talker{times: chance}, sure: true},
		{name: "a unit", unit: talks, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times"},
		{name: "a unit that is asked now and then", unit: talker{times: 5, requests: 2, sample: []byte{17, 3}}, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 5 times"},
		{name: "another master", unit: asks, want: "17 ANOTHER MASTER asks unit 17: 4 questions"},
		{name: "noise by chance", junk: chance},
		{name: "noise that was in the way", junk: 1, sure: true, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 1 times"},
		{name: "noise", junk: chance + 1, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 3 times"},
		{name: "noise of a unit that talks", unit: talks, junk: chance + 1, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times"},
		{name: "noise that was told before", unit: talks, junk: 4, named: true,
			want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times;  SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 4 times"},
		{name: "noise beside a unit by chance", unit: talker{times: chance}, junk: chance + 1, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 3 times"},
	} {
		e := &eavesdropper{units: make(map[byte]*talker)}
		e.named, e.junk = tc.named, talker{times: tc.junk, sample: []byte{0xFF}}
		if tc.unit.times > 0 {
			e.units[17] = &tc.unit
		}
		var got []string
		for _, f := range e.found(tc.sure) {
			said, sample, _ := strings.Cut(f.Detail, " while ")
			got = append(got, f.Address+" "+said)
			if f.Finding != appliance.FoundBabble || !strings.Contains(sample, "such as ") || f.Advice == "" {
				t.Errorf("%s: told as %+v", tc.name, f)
			}
		}
		if got := strings.Join(got, "; "); got != tc.want {
			t.Errorf("%s: told %q, want %q", tc.name, got, tc.want)
		}
		if noise := strings.Contains(tc.want, "SOMEBODY"); e.named != (tc.named || noise) {
			t.Errorf("%s: remembered %v that somebody makes noise was told", tc.name, e.named)
		}
	}
}
