package modbus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
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

// Who answered, in whatever way, is looked at once; who is in the site and did not was asked thrice.
func TestWhoNeedsNoSecondLook(t *testing.T) {
	known := &Driver{units: map[byte]*unit{7: {}}}
	for name, change := range map[string]func(*search){
		"answered": func(s *search) { s.there[7] = true }, "answered badly": func(s *search) { s.bad[7] = badUnit{} }, "answered late": func(s *search) { s.heard.late[7] = true },
		"may have answered": func(s *search) { s.unsure = []byte{3, 7} }, "in the site, and asked": func(s *search) { s.driver, s.asked[7] = known, true },
		"not asked, in the site": func(s *search) { s.driver = known }, "not in the site, asked": func(s *search) { s.asked[7] = true }, "not asked": func(*search) {},
	} {
		s := &search{driver: &Driver{}, heard: &eavesdropper{late: map[byte]bool{}}, bad: map[byte]badUnit{}}
		change(s)
		if got := s.heardOf(7); got == strings.Contains(name, "not ") {
			t.Errorf("%s: needs no second look: %v", name, got)
		}
	}
}

// A question that gave way to a command is asked again once its answer cannot come any more; a gateway's answers have numbers.
func TestAQuestionThatGaveWayIsAskedAgainInTime(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"", "tcp"} {
		synctest.Test(t, func(t *testing.T) {
			end := serialWire(t)
			if scheme != "" {
				end = socketWire(t, scheme)
			}
			var asked []time.Time
			end.play(t, scheme == "tcp", func([]byte) []piece { asked = append(asked, time.Now()); return nil })
			cfg := busOf(end, nil)
			delete(cfg.Bus.Options, "responseTimeout")
			d, _ := open(t, cfg)
			given := false
			for step := range d.Scan(appliance.ScanOptions{First: 3, Last: 3}) {
				res, err := do(t, step.Exchange)
				if step.Exchange.Device != "" && !given {
					given, err = true, appliance.ErrPreempted
				}
				step.Judge(res, err)
			}
			synctest.Wait()
			if len(asked) < 2 {
				t.Fatalf("%q: asked %d times", scheme, len(asked))
			}
			if waited := asked[1].Sub(asked[0]); (waited >= lateLongest) != (scheme == "") {
				t.Errorf("%q: asked again after %v", scheme, waited)
			}
		})
	}
}

// Where nobody answered at any address, what is left to try depends on what was tried.
func TestWhatIsLeftToTryWhereNobodyAnswered(t *testing.T) {
	for _, tc := range []struct {
		scheme       string
		all          bool
		says, advice string
	}{
		{"", false, "at 115200 8N1", "check power and wiring (A and B may be swapped), and scan with --all-settings"},
		{"", true, "at 115200 8N1, and at 20 other settings", "check power and wiring: A and B may be swapped"},
		{"tcp", false, "of 247 were asked", "check the address of the gateway or serial server"},
		{"tcp", true, "of 247 were asked", "check the address of the gateway or serial server"},
	} {
		end := serialWire(t)
		if tc.scheme != "" {
			end = socketWire(t, tc.scheme)
		}
		opened, err := openWire(busOf(end, nil))
		if err != nil {
			t.Fatal(err)
		}
		d, told := opened.Driver.(*Driver), 0
		for step := range scan.Steps(func(c *scan.Course) {
			s := &search{Course: c, driver: d, heard: newEavesdropper(d), all: tc.all}
			s.nobody(1, LastUnit)
			s.mute = 1 // somebody was heard
			s.nobody(1, LastUnit)
		}) {
			f, _ := step.Judge(appliance.Result{}, nil)
			if told++; f.Finding != appliance.FoundHindered || !strings.HasSuffix(f.Detail, tc.says) || !strings.HasPrefix(f.Advice, tc.advice) {
				t.Errorf("%q, all settings %v: %+v", tc.scheme, tc.all, f)
			}
		}
		if told != 1 {
			t.Errorf("%q, all settings %v: told %d times", tc.scheme, tc.all, told)
		}
	}
}
