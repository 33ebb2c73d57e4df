package sim

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
)

// fieldSite has one bus of each kind that is played by a simulator of its own.
func fieldSite(dir string) appliance.Site {
	sdn, dali, dmx := appliance.UUID{1}, appliance.UUID{2}, appliance.UUID{3}
	return appliance.Site{
		Buses: []appliance.Bus{
			{UUID: sdn, Name: "shades", Driver: "sdn", Port: filepath.Join(dir, "shades")},
			{UUID: dali, Name: "line", Driver: "dali", Port: filepath.Join(dir, "line"), Options: map[string]string{"gateway": "atx"}},
			{UUID: dmx, Name: "stage", Driver: "dmx", Port: filepath.Join(dir, "stage"), Options: map[string]string{"interface": "enttec-pro"}},
		},
		Nodes: []appliance.Node{
			{ID: 1, Bus: sdn, Name: "Motor", Address: "06.1A.2B", Profile: "somfy-sdn-30dc", Groups: []string{"01.01.05"}},
			{ID: 2, Bus: dali, Name: "Gear", Address: "5", Profile: "dali-dt6", Groups: []string{"3"}},
			{ID: 3, Bus: dmx, Name: "Wash", Address: "10", Profile: "dmx-rgbw"},
		},
		Shades: []appliance.Shade{{ID: 9, Name: "Shade", Node: 1, Output: 1, TravelUp: time.Second, TravelDown: time.Second}},
	}
}

// plugIn opens the port of a bus.
func plugIn(t *testing.T, bd *Building, bus string) *os.File {
	t.Helper()
	fd, err := unix.Open(bd.Port(bus), unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	port := os.NewFile(uintptr(fd), bus)
	t.Cleanup(func() { port.Close() })
	return port
}

// say opens the port of a bus and writes a frame that was recorded from another
// implementation.
func say(t *testing.T, bd *Building, bus, frame string) {
	t.Helper()
	port := plugIn(t, bd, bus)
	raw, err := hex.DecodeString(frame)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := port.Write(raw); err != nil {
		t.Fatal(err)
	}
}

// Frames that come at one moment, as many do on virtual time, are all told of.
func TestUniversesOfOneMomentAreAllTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ports := &cable.Net{}
		bd, err := New(fieldSite("/building"), Options{Seed: 1, Cables: ports})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- bd.Run(ctx) }()
		<-bd.Ready()
		port, err := ports.Ports().Serial(bd.Port("stage"), appliance.LineSettings{})
		if err != nil {
			t.Fatal(err)
		}
		universe := func(level byte) []byte {
			return append(append([]byte{0x7e, 6, 25, 0}, append(make([]byte, 10), level)...), append(make([]byte, 14), 0xe7)...)
		}
		if _, err := port.Write(append(universe(255), universe(9)...), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if list, err := bd.Writes("stage", 0, 0); err != nil || len(list) != 2 {
			t.Errorf("%d universes are told of, %v, want 2: %+v", len(list), err, list)
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestOtherBusesArePlayedFromTheSite(t *testing.T) {
	t.Parallel()
	s := &site{t: t, Site: fieldSite(t.TempDir())}
	bd := s.run(Options{Seed: 1})
	// CTRL_MOVETO, up limit, from FF.FF.00 to group 01.01.05: source is the group.
	say(t, bd, "shades", sdnGroupUp)
	eventually(t, "the shade is open", func() bool { s := device(t, bd, 1).Shades[0]; return s.Position == 100 && !s.Moving })
	// DAPC 254 to group 3.
	say(t, bd, "line", hex.EncodeToString([]byte("h86FE\n")))
	eventually(t, "the gear is on", func() bool { c := device(t, bd, 2).Channels[0]; return c.Level == 100 && !c.ChangedAt.IsZero() })
	// A universe of 24 slots with slots 10 and 13 full.
	universe := make([]byte, 25)
	universe[10], universe[13] = 255, 255
	say(t, bd, "stage", "7e061900"+hex.EncodeToString(universe)+"e7")
	eventually(t, "the fixture is lit", func() bool { c := device(t, bd, 3).Channels[0]; return c.Level == 100 && c.RGBW == "255:0:0:255" })

	for _, b := range bd.Buses() {
		if b.GroupFrames != 1 || !b.Up || b.Units != 1 || b.Garbled != 0 {
			t.Errorf("%+v, want one frame to several", b)
		}
		writes, err := bd.Writes(b.Name, 0, 0)
		if err != nil || len(writes) != 1 || len(writes[0].Changes) != 1 {
			t.Errorf("%s: writes %+v, %v; want one that changes one node", b.Name, writes, err)
		}
		if frames, err := bd.Log(b.Name, 0, 0); err != nil || len(frames) < 1 {
			t.Errorf("%s: log %+v, %v", b.Name, frames, err)
		}
	}
}

// sdnGroupUp is CTRL_MOVETO up limit to group 01.01.05, put together by hand: every
// byte inverted, then the sum of what is sent.
var sdnGroupUp = func() string {
	plain := []byte{0x03, 0x0F, 0x00, 0x05, 0x01, 0x01, 0, 0, 0, 1, 0xFF, 0xFF, 0}
	sum := 0
	wire := make([]byte, 0, len(plain)+2)
	for _, b := range plain {
		wire = append(wire, ^b)
		sum += int(^b)
	}
	return hex.EncodeToString(append(wire, byte(sum>>8), byte(sum)))
}()

func TestFaultsOfOtherBuses(t *testing.T) {
	t.Parallel()
	s := &site{t: t, Site: fieldSite(t.TempDir())}
	bd := s.run(Options{Seed: 1})
	for _, bad := range []Fault{
		{Kind: FaultStuck, Bus: "stage"}, {Kind: FaultLamp, Bus: "shades"}, {Kind: FaultSilent, Bus: "stage", Address: "11"},
		{Kind: FaultBabble, Bus: "shades", Address: "06.1A.2B"}, {Kind: FaultBabble, Bus: "line", Address: "5", Rate: 0.2}, {Kind: FaultDuplicate, Bus: "line"},
		{Kind: FaultRefuse, Bus: "line"}, {Kind: FaultEcho, Bus: "line"}, {Kind: FaultRefuse, Bus: "stage"},
		{Kind: FaultSilent, Bus: "shades", Address: "06.1A.2C"}, {Kind: FaultSilent, Bus: "shades", Rate: 0.5}, {Kind: FaultBusy, Bus: "stage"},
	} {
		if _, err := bd.AddFault(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	for _, f := range []Fault{
		{Kind: FaultSilent, Bus: "shades", Address: "06.1A.2B"}, {Kind: FaultSilent, Bus: "line", Address: "5"}, {Kind: FaultSilent, Bus: "stage"},
		{Kind: FaultRefuse, Bus: "shades", Exception: 0x20}, {Kind: FaultForeign, Bus: "shades"}, {Kind: FaultLamp, Bus: "line"},
		{Kind: FaultCorrupt}, {Kind: FaultNoise}, {Kind: FaultDelay, DelayMs: 20},
	} {
		id, err := bd.AddFault(f)
		if err != nil {
			t.Errorf("%+v: %v", f, err)
			continue
		}
		for _, d := range bd.Devices() {
			if off := f.Kind == FaultSilent && f.Bus == d.Bus; d.Online == off {
				t.Errorf("%+v: %s online is %v", f, d.Bus, d.Online)
			}
		}
		if !bd.RemoveFault(id) {
			t.Errorf("%+v is not in force", f)
		}
	}
	// A deaf motor does not move, and does afterwards.
	id, err := bd.AddFault(Fault{Kind: FaultSilent, Bus: "shades"})
	if err != nil {
		t.Fatal(err)
	}
	// What the noise before left on the line may spoil a frame.
	insist := func(what string, shows func() bool) {
		t.Helper()
		var last time.Time
		eventually(t, what, func() bool {
			if time.Since(last) > 2*time.Second {
				say(t, bd, "shades", sdnGroupUp)
				last = time.Now()
			}
			return shows()
		})
	}
	insist("the frame was on the wire", func() bool { return bd.Buses()[0].GroupFrames > 0 })
	if s := bd.Devices()[0].Shades[0]; s.Moving || s.Position != 50 {
		t.Errorf("a deaf motor obeyed: %+v", s)
	}
	bd.RemoveFault(id)
	insist("the shade opens", func() bool { return bd.Devices()[0].Shades[0].Position > 50 })

	// A port that was pulled comes back under another name.
	before, err := os.Readlink(bd.Port("line"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bd.AddFault(Fault{Kind: FaultClose, Bus: "line"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the line is back", func() bool {
		after, err := os.Readlink(filepath.Clean(bd.buses[1].port))
		return err == nil && after != before
	})
	eventually(t, "the line is up", func() bool { return bd.Buses()[1].Up })
	say(t, bd, "line", hex.EncodeToString([]byte("h0AFE\n")))
	eventually(t, "the gear obeys behind another port", func() bool { return bd.Devices()[1].Channels[0].On })
}

func TestWallSwitchesOfOtherBuses(t *testing.T) {
	t.Parallel()
	s := &site{t: t, Site: fieldSite(t.TempDir())}
	bd := s.run(Options{Seed: 1})
	post := func(path, body string) int {
		w := httptest.NewRecorder()
		bd.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
		return w.Code
	}
	for path, want := range map[string]int{
		"/devices/shades/06.1A.2B/shades/1": 200, "/devices/shades/06.1A.2B/shades/2": 404, "/devices/shades/06.1A.99/shades/1": 404,
	} {
		if got := post(path, `{"action":"close"}`); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	eventually(t, "the shade closes", func() bool { return bd.Devices()[0].Shades[0].Position < 50 })
	if got := post("/devices/line/5/channels/1", `{"level":33}`); got != 200 {
		t.Errorf("wall level: %d", got)
	}
	eventually(t, "the gear is at 33", func() bool { return bd.Devices()[1].Channels[0].Level == 33 })
	if got := post("/devices/stage/10/channels/1", `{"level":33}`); got != 400 {
		t.Errorf("a fixture has no switch: %d", got)
	}
}
