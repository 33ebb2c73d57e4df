package dmx

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/sim/dmxsim"
)

// startOpen puts an Open DMX line behind a building.
func startOpen(t *testing.T, options map[string]string, nodes []appliance.Node) (*building, *plug) {
	t.Helper()
	p := newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)}))
	p.open = true
	p.put()
	all := map[string]string{"interface": "open-dmx"}
	for k, v := range options {
		all[k] = v
	}
	b := startBuilding(t, p.path, all, nodes, nil)
	b.up()
	return b, p
}

func TestOpenDMXRepeatsTheUniverse(t *testing.T) {
	t.Parallel()
	nodes := mixedNodes()
	b, p := startOpen(t, map[string]string{"slots": "512"}, nodes)
	if n := len(outputs(p.widget)); n != 0 {
		t.Fatalf("%d packets before anything is known", n)
	}
	if out := b.do(level(one(1), 40)); !out.OK() || out.Members[0].Stage != appliance.StageUnverifiable {
		t.Fatalf("%+v", out)
	}
	eventually(t, "the lamp is at 40 %", func() bool { return showing1(p.widget, 0).Level == 40 })
	eventually(t, "60 packets", func() bool { return len(outputs(p.widget)) >= 60 })
	list := outputs(p.widget)
	for i, e := range list {
		if len(e.Data) != 513 || e.Data[0] != 0 || i > 0 && !bytes.Equal(e.Data, list[i-1].Data) {
			t.Fatalf("packet %d: %d bytes, %x…", i, len(e.Data), e.Data[:8])
		}
		if i >= 10 {
			if ten := e.At.Sub(list[i-10].At); ten < 220*time.Millisecond || ten > 3*time.Second {
				t.Errorf("ten packets in %v", ten)
			}
		}
	}
	rate := float64(len(list)-1) / list[len(list)-1].At.Sub(list[0].At).Seconds()
	if rate < 25 || rate > 31 {
		t.Errorf("%.1f packets a second, want about 30", rate)
	}
	begun := time.Now()
	if out := b.do(appliance.Command{Kind: appliance.LightOff, Target: everything}); !out.OK() {
		t.Fatal(out.Err)
	}
	took := time.Since(begun)
	eventually(t, "all dark", func() bool { return p.widget.Universe()[0] == 0 })
	t.Logf("%.1f packets a second; all-off on the wire after %v", rate, took.Round(time.Millisecond))

	frames := b.recent()
	if len(frames) == 0 {
		t.Fatal("nothing was recorded")
	}
	for _, f := range frames {
		if f.Note != "" {
			continue
		}
		if _, err := Decode(f.Bytes); err != nil {
			t.Errorf("recorded %x: %v", f.Bytes[:8], err)
		}
	}
}

func TestOpenDMXPulledAndPutBack(t *testing.T) {
	t.Parallel()
	nodes := mixedNodes()
	b, p := startOpen(t, nil, nodes)
	for round := range 4 {
		keep := appliance.Level(10 + round)
		if out := b.do(level(one(1), keep)); !out.OK() {
			t.Fatalf("round %d: %s", round, out.Err)
		}
		p.pull()
		eventually(t, "the bus is down", func() bool { return !b.core.Snapshot().Buses[0].Up })
		cmd := level(one(1), 100)
		cmd.Expiry = time.Now().Add(100 * time.Millisecond)
		if out := b.do(cmd); out.OK() {
			t.Fatal("acknowledged without a port")
		}
		before := len(outputs(p.widget))
		p.put()
		eventually(t, "packets again", func() bool { return len(outputs(p.widget)) >= before+3 })
	}
	never(t, p.widget, 1, 255)
}

func TestOpenDMXHasNoRDM(t *testing.T) {
	p := newPlug(t, mustWidget(t, dmxsim.Config{}))
	p.open = true
	p.put()
	d := openDriver(t, p, map[string]string{"interface": "open-dmx"})
	_, err := d.Discover(t.Context())
	words(t, err, "Open DMX interface cannot listen")
	if !errors.Is(err, appliance.ErrUnable) {
		t.Error(err)
	}
}

func TestOpenDMXPortIsNotShared(t *testing.T) {
	p := newPlug(t, mustWidget(t, dmxsim.Config{}))
	p.open = true
	p.put()
	openDriver(t, p, map[string]string{"interface": "open-dmx"})
	_, err := openSerial(p.path)
	words(t, err, "another program")
}

// recent are the frames of the bus's recorder.
func (b *building) recent() []appliance.Frame {
	b.t.Helper()
	r, err := b.core.Recorder("stage")
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Recent()
}
