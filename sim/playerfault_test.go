package sim

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// impose puts a fault in force and returns what ends it.
func impose(t *testing.T, bd *Building, f Fault) (end func()) {
	t.Helper()
	id, err := bd.AddFault(f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	return func() { bd.RemoveFault(id) }
}

// babble counts what babbling devices did on a bus.
func babble(t *testing.T, bd *Building, bus string) (n int) {
	t.Helper()
	frames, err := bd.Log(bus, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if f.Direction == Event && f.Note == babbled && f.Hex != "" || strings.Contains(f.Note, "another master") {
			n++
		}
	}
	return n
}

func TestBabblingStuckAndDoubleDevices(t *testing.T) {
	t.Parallel()
	s := &site{t: t, Site: fieldSite(t.TempDir())}
	bd := s.run(Options{Seed: 1})
	hat := func(line string) { say(t, bd, "line", hex.EncodeToString([]byte(line+"\n"))) }
	gear := func() DeviceChannel { return device(t, bd, 2).Channels[0] }

	for _, f := range []Fault{
		{Kind: FaultBabble, Bus: "shades", Address: "06.1A.2B", Rate: 0.3}, {Kind: FaultNoise, Bus: "shades", Rate: 0.3}, {Kind: FaultBabble, Bus: "line", Rate: 0.3},
	} {
		before := babble(t, bd, f.Bus)
		end := impose(t, bd, f)
		if f.Bus == "line" {
			hat("h0B90") // the gateway has to be there
		}
		eventually(t, "somebody babbles", func() bool { return babble(t, bd, f.Bus) > before+5 })
		end()
	}

	end := impose(t, bd, Fault{Kind: FaultStuck, Bus: "line", Address: "5"})
	hat("h0AFE")
	eventually(t, "the frame was on the line", func() bool { return len(writes(t, bd, "line")) == 1 })
	if gear().On {
		t.Error("stuck gear obeyed")
	}
	end()
	hat("h0AFE")
	eventually(t, "the gear obeys", func() bool { return gear().On })

	// Two gears of one address answer at once: a HAT reports a collision.
	before := bd.Buses()[1].Frames
	hat("h0A80")
	eventually(t, "the gear has its level", func() bool { return bd.Buses()[1].Frames > before })
	defer impose(t, bd, Fault{Kind: FaultDuplicate, Bus: "line", Address: "5"})()
	hat("h0BA0")
	eventually(t, "they were asked", func() bool { return bd.Buses()[1].Frames > before+1 })
	if n := len(bd.Devices()); n != 3 {
		t.Errorf("%d devices", n)
	}

	// Fixtures.
	universe := make([]byte, 25)
	universe[10] = 255
	full := "7e061900" + hex.EncodeToString(universe) + "e7"
	lamp := func() int { return device(t, bd, 3).Channels[0].Level }
	end = impose(t, bd, Fault{Kind: FaultSilent, Bus: "stage", Address: "10"})
	say(t, bd, "stage", full)
	eventually(t, "the universe was there", func() bool { return len(writes(t, bd, "stage")) == 1 })
	if lamp() != 0 {
		t.Error("a deaf fixture obeyed")
	}
	end()
	eventually(t, "the fixture listens again", func() bool { return lamp() == 100 })
	end = impose(t, bd, Fault{Kind: FaultLamp, Bus: "stage", Address: "10"})
	if lamp() != 0 {
		t.Error("a broken lamp gives light")
	}
	end()
	if lamp() != 100 {
		t.Error("the lamp stays dark")
	}
	stage := bd.buses[2].player.(*dmxBus)
	end = impose(t, bd, Fault{Kind: FaultDuplicate, Bus: "stage", Address: "10"})
	if n := len(stage.widget.Responders()); n != 2 {
		t.Errorf("%d RDM devices, want 2", n)
	}
	end()
	if n := len(stage.widget.Responders()); n != 1 {
		t.Errorf("%d RDM devices, want 1", n)
	}
}

// writes are the frames of a bus that were to change something.
func writes(t *testing.T, bd *Building, bus string) []Write {
	t.Helper()
	list, err := bd.Writes(bus, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A widget that babbles says label 5 to whoever is plugged in.
func TestBabblingWidget(t *testing.T) {
	t.Parallel()
	s := &site{t: t, Site: fieldSite(t.TempDir())}
	bd := s.run(Options{Seed: 1})
	client := plugIn(t, bd, "stage")
	if err := client.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	defer impose(t, bd, Fault{Kind: FaultBabble, Bus: "stage", Rate: 0.5})()
	var got []byte
	buf := make([]byte, 4096)
	for len(got) < 3*519 {
		n, err := client.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			t.Fatalf("%d bytes heard, %v", len(got), err)
		}
	}
	if got[0] != 0x7E || got[1] != 5 || got[518] != 0xE7 || got[519] != 0x7E {
		t.Errorf("% X", got[:8])
	}
}
