package dmx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

// openDriver makes a driver without a core, running on a widget.
func openDriver(t *testing.T, p *plug, options map[string]string, nodes ...appliance.Node) *Driver {
	t.Helper()
	opened, err := openWire(appliance.BusConfig{
		Bus:   appliance.Bus{Name: "stage", Driver: "dmx", Port: p.path, Options: options},
		Nodes: nodes, Last: func(appliance.Ref) (appliance.Values, bool) { return appliance.Values{}, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range opened.BrokenNodes {
		t.Fatalf("node %d: %v", id, err)
	}
	d := opened.Driver.(*Driver)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	eventually(t, "the port is open", func() bool { return d.Link() == nil })
	return d
}

func crowd(n int, seed uint64) (list []dmxsim.Responder) {
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		uid := uint64(0x454E)<<32 | uint64(random.Uint32())
		if i%3 == 0 {
			uid = uint64(0x454E)<<32 | uint64(i) // neighbours
		}
		list = append(list, dmxsim.Responder{UID: uid, Start: 1 + 4*i, Footprint: 4, Model: 7, Label: fmt.Sprint("lamp ", i)})
	}
	return list
}

func uidsOf(list []dmxsim.Responder) (uids []UID) {
	for _, r := range list {
		uids = append(uids, UID(r.UID))
	}
	slices.Sort(uids)
	return uids
}

func TestDiscoveryFindsEveryDevice(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{false, true} {
		for _, n := range []int{0, 1, 2, 40} {
			t.Run(fmt.Sprintf("%d devices, no time-out after answers %v", n, quiet), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					responders := crowd(n, uint64(n))
					p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders, QuietAfterDiscovery: quiet}))
					p.put()
					d := openDriver(t, p, nil)
					begun := time.Now()
					got, err := d.Discover(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					slices.Sort(got)
					if want := uidsOf(responders); !slices.Equal(got, want) {
						t.Errorf("found %v\n want %v", got, want)
					}
					t.Logf("%d devices in %v, %d questions", n, time.Since(begun).Round(time.Millisecond), p.widget.Counters().ByLabel[11])
				})
			})
		}
	}
}

// A scan loses the answers to its second and its fifth question, or to every third, and goes on; one that loses
// all of them ends, and says so.
func TestScanGoesOnAfterALostAnswer(t *testing.T) {
	t.Parallel()
	responders := crowd(3, 4)
	for name, tc := range map[string]struct {
		lost  func(question int) bool
		found int
	}{
		"two":         {func(q int) bool { return q == 2 || q == 5 }, 3},
		"every third": {func(q int) bool { return q%3 == 0 }, 3}, // more than one question stands, but not in a row
		"all":         {func(int) bool { return true }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
				p.put()
				d := openDriver(t, p, nil)
				found, hindered, question := 0, 0, 0
				for step := range d.Scan(appliance.ScanOptions{}) {
					question++
					res, err := step.Exchange.Do(t.Context(), appliance.Yield{})
					if tc.lost(question) {
						err = fmt.Errorf("widget: %w", appliance.ErrSilent)
					}
					switch f, ok := step.Judge(res, err); {
					case ok && f.Finding == appliance.FoundHindered:
						hindered++
					case ok && f.Kind != "":
						found++
					}
				}
				if found != tc.found || (hindered > 0) != (tc.found == 0) {
					t.Errorf("found %d of 3, hindered %d times", found, hindered)
				}
			})
		})
	}
}

// Nobody answers when all are asked at first: they are asked once more.
func TestOneSilenceIsNoEmptyUniverse(t *testing.T) {
	t.Parallel()
	var s discovery
	whole := 0
	for step, ok := s.next(); ok; step, ok = s.next() {
		if step.kind == searchBranch && step.low == 0 && step.high == maxUID {
			whole++
		}
		s.heard(step, heard{nobody: step.kind == searchBranch && whole != 2 || len(s.found) > 0, uid: 77})
	}
	if len(s.found) != 1 || s.found[0] != 77 {
		t.Errorf("found %v after %d questions to all", s.found, whole)
	}
}

func TestDiscoveryNamesTheOddOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		responders := crowd(6, 9)
		responders[1].NeverMutes = true
		responders[2].Silent = true
		responders[3].UID = responders[4].UID // twice the same
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
		p.put()
		d := openDriver(t, p, nil)
		got, err := d.Discover(t.Context())
		words(t, err, UID(responders[1].UID).String(), "although it was muted")
		want := uidsOf([]dmxsim.Responder{responders[0], responders[1], responders[4], responders[5]})
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	})
}

func TestDevicesAreAskedAndSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		responders := crowd(4, 5)
		responders[1].ReadOnly = true
		responders[2].Start, responders[2].Footprint = UniverseSlots, 1
		responders[3].Start, responders[3].Footprint = 0xFFFF, 0
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
		p.put()
		d := openDriver(t, p, nil)
		ctx := t.Context()
		uid := UID(responders[0].UID)
		info, err := d.DeviceInfo(ctx, uid)
		if err != nil || info.StartAddress != 1 || info.Footprint != 4 || info.Model != 7 || info.Personalities != 1 {
			t.Errorf("info %+v, %v", info, err)
		}
		for i, want := range map[int]int{2: UniverseSlots, 3: 0} { // who has no slots has no start
			uid := UID(responders[i].UID)
			info, err := d.DeviceInfo(ctx, uid)
			if n, asked := d.StartAddress(ctx, uid); info.StartAddress != want || n != want || err != nil || asked != nil {
				t.Errorf("start address %d, %d, want %d; %v, %v", info.StartAddress, n, want, err, asked)
			}
		}
		if err := d.SetStartAddress(ctx, uid, 101); err != nil {
			t.Error(err)
		}
		if n, err := d.StartAddress(ctx, uid); n != 101 || err != nil {
			t.Errorf("start address %d, %v", n, err)
		}
		if err := d.SetLabel(ctx, uid, "North wing"); err != nil {
			t.Error(err)
		}
		if name, err := d.Label(ctx, uid); name != "North wing" || err != nil {
			t.Errorf("label %q, %v", name, err)
		}
		for _, on := range []bool{true, false} {
			if err := d.ShowItself(ctx, uid, on); err != nil || p.widget.Responders()[0].Identifying != on {
				t.Errorf("identify %v: %v", on, err)
			}
		}
		if err := d.ShowItself(ctx, BroadcastUID, true); err != nil || !p.widget.Responders()[0].Identifying {
			t.Errorf("identify all: %v", err)
		}
		err = d.SetStartAddress(ctx, UID(responders[1].UID), 5)
		words(t, err, "write protected", UID(responders[1].UID).String())
		if !errors.Is(err, appliance.ErrRefused) {
			t.Errorf("%v is no refusal", err)
		}
		if err := d.SetStartAddress(ctx, uid, 513); !errors.Is(err, appliance.ErrOutOfRange) {
			t.Errorf("slot 513: %v", err)
		}
		if _, err := d.DeviceInfo(ctx, 0x123456789); !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("a device that is not there: %v", err)
		}
		damaged := responders
		damaged[0].Damaged = true
		p.widget.SetResponders(damaged)
		if _, err := d.DeviceInfo(ctx, uid); !errors.Is(err, appliance.ErrDamaged) {
			t.Errorf("a device that answers with a wrong checksum: %v", err)
		}
	})
}

func TestRDMLeavesTheUniverseOnTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := mixedNodes()
		p := newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes), Responders: crowd(5, 3)}))
		p.put()
		b := startBuilding(t, p.path, nil, nodes, nil)
		b.up()
		if out := b.do(level(one(1), 100)); !out.OK() {
			t.Fatal(out.Err)
		}
		done := make(chan error, 1)
		var found []appliance.Found
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go func() {
			done <- b.core.Scan(ctx, "stage", appliance.ScanOptions{}, func(string) {}, func(f appliance.Found) { found = append(found, f) })
		}()
		var slowest time.Duration
		commands := 0
		for {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			default:
				begun := time.Now()
				if out := b.do(level(one(1), appliance.Level(1+commands%100))); !out.OK() {
					t.Fatal(out.Err)
				}
				slowest = max(slowest, time.Since(begun))
				commands++
				continue
			}
			break
		}
		if len(found) != 6 || found[5].Finding != appliance.FoundNote || found[0].Finding != appliance.FoundProfile {
			t.Fatalf("found %+v, want 5 devices, the first not as the site says, and a note of fixtures without RDM", found)
		}
		for i, f := range found[:5] {
			if f.Kind != "dmx-rgbw" || !strings.Contains(f.Detail, "RDM device 454e:") {
				t.Errorf("device %d: %+v", i, f)
			}
		}
		if on, since := p.widget.Outputting(); !on {
			t.Errorf("the output is off since %v", since)
		}
		events := p.widget.Events()
		for i, e := range events {
			if e.Label != 6 && e.Label != 3 && e.Label != 10 && i+1 < len(events) && events[i+1].Label != 6 {
				t.Errorf("label %d was followed by %d, not by the universe", e.Label, events[i+1].Label)
				break
			}
		}
		t.Logf("%d commands during a scan of 5 devices, the slowest took %v", commands, slowest.Round(time.Millisecond))
	})
}

func TestWidgetWithoutRDMSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlug(t, mustWidget(t, dmxsim.Config{FirmwareHigh: 1}))
		p.put()
		d := openDriver(t, p, nil)
		_, err := d.Discover(t.Context())
		words(t, err, "firmware 1.4 has no RDM")
		if !errors.Is(err, appliance.ErrRefused) {
			t.Errorf("%v is no refusal", err)
		}
	})
}

func TestScanNamesOverlappingDevices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		responders := crowd(2, 8)
		responders[1].Start = responders[0].Start + 2
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
		p.put()
		d := openDriver(t, p, nil)
		var details []string
		for step := range d.Scan(appliance.ScanOptions{}) {
			res, err := step.Do(t.Context(), appliance.Yield{})
			if f, ok := step.Judge(res, err); ok {
				details = append(details, f.Detail)
			}
		}
		if len(details) != 2 || !strings.Contains(details[1], "OVERLAPS with") {
			t.Errorf("%q", details)
		}
	})
}

func TestUIDsAreWrittenAndRead(t *testing.T) {
	t.Parallel()
	for _, u := range []UID{0, 1, 0x7a7000012345, maxUID} {
		if got, err := ParseUID(u.String()); got != u || err != nil {
			t.Errorf("%v: %v, %v", u, got, err)
		}
	}
	for _, bad := range []string{"", "7a70", "7a70:", ":1", "g:1", "12345:1", "1:123456789"} {
		if got, err := ParseUID(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

// Nobody found is no fault of the wiring, and an interface without RDM none of the
// fixtures'.
func TestScanSaysWhatItCannotFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		widget dmxsim.Config
		want   string
	}{
		"interface without RDM": {dmxsim.Config{FirmwareHigh: 1}, "says nothing about them or the wiring"},
		"fixtures without RDM":  {dmxsim.Config{}, "says nothing about the wiring"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlug(t, mustWidget(t, c.widget))
				p.put()
				d := openDriver(t, p, nil)
				var found []appliance.Found
				for step := range d.Scan(appliance.ScanOptions{}) {
					res, err := step.Do(t.Context(), appliance.Yield{})
					if f, ok := step.Judge(res, err); ok {
						found = append(found, f)
					}
				}
				if len(found) != 1 || found[0].Finding != appliance.FoundNote || !strings.Contains(found[0].Detail, c.want) {
					t.Errorf("found %+v, want a note that %s", found, c.want)
				}
			})
		})
	}
}

// A device that needs time says how much, in tenths of a second (E1.20, ACK_TIMER).
func TestWhenADeviceWillAnswerIsSaid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		data []byte
		says string
	}{{[]byte{0x01, 0x2c}, "in 30s;"}, {[]byte{0, 5}, "in 500ms;"}, {nil, "answers later;"}} {
		err := judge(rdmPacket{port: rdmAckTimer, data: tc.data})
		if !errors.Is(err, appliance.ErrBusy) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("% X: %v, want %s", tc.data, err, tc.says)
		}
	}
}
