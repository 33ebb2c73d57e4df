package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/drivers/line/cable"
)

func (r *rig) fault(f Fault) {
	r.t.Helper()
	if err := f.check(); err != nil {
		r.t.Fatal(err)
	}
	r.impose(&running{Fault: f})
}

func TestTwentyPercentOfEverythingAtOnceIsRepeatable(t *testing.T) {
	t.Parallel()
	const n = 20000
	campaign := func(seed int64) (map[FaultKind]uint64, string) {
		r := newRig(t, newSite(t).rtuTCP("b").node("5", "wirenboard-wb-mdm3"), Options{Seed: seed})
		for _, f := range []Fault{{Kind: FaultDrop}, {Kind: FaultDelay, DelayMs: 40}, {Kind: FaultCorrupt}, {Kind: FaultRefuse}} {
			f.Rate = 0.2
			r.fault(f)
		}
		var story strings.Builder
		for i := range n {
			raw := rtuFrame(5, []byte{fnReadHolding, 0, 0, 0, 1})
			rep := r.handle(noon.Add(time.Duration(i)*time.Millisecond), raw, 5, raw[1:6], rtuFrame)
			_, pdu, err := parseRTU(rep.bytes)
			switch {
			case rep.bytes == nil:
				story.WriteByte('.')
			case err != nil:
				story.WriteByte('x')
			case pdu[0]&exceptionBit != 0:
				story.WriteByte('!')
			default:
				story.WriteByte('o')
			}
			if rep.delay >= 40*time.Millisecond {
				story.WriteByte('d')
			}
		}
		return r.faultHits, story.String()
	}
	hits, story := campaign(7)
	for _, k := range []FaultKind{FaultDrop, FaultDelay, FaultCorrupt, FaultRefuse} {
		if rate := float64(hits[k]) / n; math.Abs(rate-0.2) > 0.015 {
			t.Errorf("%s struck %.1f %% of exchanges, want 20", k, 100*rate)
		}
	}
	// 80 % not dropped of which 80 % intact of which 80 % not refused.
	if ok := float64(strings.Count(story, "o")) / n; math.Abs(ok-0.512) > 0.02 {
		t.Errorf("%.1f %% came through, want 51.2", 100*ok)
	}
	if _, again := campaign(7); again != story {
		t.Error("the same seed gave other faults")
	}
	if _, other := campaign(8); other == story {
		t.Error("another seed gave the same faults")
	}
}

func TestWhatFaultsLoseIsCarriedOutOrNotAsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault   Fault
		done    bool // the lamp obeyed
		answers bool
	}{
		{Fault{Kind: FaultDropRequest}, false, false},
		{Fault{Kind: FaultSilent}, false, false},
		{Fault{Kind: FaultDropAnswer}, true, false},
		{Fault{Kind: FaultRefuse, Exception: 2}, false, true},
		{Fault{Kind: FaultBusy}, false, true},
		{Fault{Kind: FaultStuck}, false, true},
		{Fault{Kind: FaultNoise}, true, true},
		{Fault{Kind: FaultEcho}, true, true},
		{Fault{Kind: FaultForeign}, true, true},
		{Fault{Kind: FaultDelay, DelayMs: 10}, true, true},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			r := newRig(t, newSite(t).rtuTCP("b").node("4", "wirenboard-wb-mao4"), Options{})
			r.fault(c.fault)
			raw := rtuFrame(4, []byte{fnWriteRegister, 0, 20, 0, 70})
			rep := r.handle(noon, raw, 4, raw[1:6], rtuFrame)
			if got := r.device(noon, 1).Channels[0].On; got != c.done {
				t.Errorf("carried out: %v, want %v", got, c.done)
			}
			if got := rep.bytes != nil; got != c.answers {
				t.Errorf("answered: %v, want %v", got, c.answers)
			}
			if w := len(r.writeLog.entries) == 1; w != c.done {
				t.Errorf("write recorded: %v, want %v", w, c.done)
			}
		})
	}
}

func TestDamageOnTCPShowsInTheHeader(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("4", "wirenboard-wb-mao4"), Options{})
	for range 1000 {
		f := mbap{transaction: 1, unit: 4, pdu: []byte{fnReadHolding, 2, 0, 70}}.bytes()
		r.spoil(f)
		if f[2] == 0 && f[3] == 0 && f[4] == 0 && f[6] == 4 && f[7] == fnReadHolding {
			t.Fatalf("nobody can tell that % x is damaged", f)
		}
	}
}

func TestStuckMotorAcknowledgesAndStays(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("b").node("6", "wirenboard-wb-mr6c").shade(1, 2*time.Second, 2*time.Second).run(Options{})
	id, err := bd.AddFault(Fault{Kind: FaultStuck, Bus: "b", Address: "6"})
	if err != nil {
		t.Fatal(err)
	}
	before := device(t, bd, 1).Shades[0].ExactPosition
	if err := bd.PressShade("b", "6", 1, "open"); err != nil {
		t.Fatal(err)
	}
	until(time.Now().Add(50 * time.Millisecond))
	if sh := device(t, bd, 1).Shades[0]; sh.Moving || sh.ExactPosition != before {
		t.Errorf("stuck: %+v", sh)
	}
	bd.RemoveFault(id)
	eventually(t, "shade moves again", func() bool { return device(t, bd, 1).Shades[0].ExactPosition > before+1 })
}

func TestAMotorWithoutPowerStopsAndStays(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("b").node("6", "wirenboard-wb-mr6c").shade(1, 2*time.Second, 2*time.Second).run(Options{})
	if err := bd.PressShade("b", "6", 1, "open"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "shade moves", func() bool { return device(t, bd, 1).Shades[0].Moving })
	id, err := bd.AddFault(Fault{Kind: FaultPower, Bus: "b", Address: "6"})
	if err != nil {
		t.Fatal(err)
	}
	cut := device(t, bd, 1)
	if cut.Online || cut.Shades[0].Moving {
		t.Errorf("without power: %+v", cut)
	}
	bd.RemoveFault(id)
	until(time.Now().Add(50 * time.Millisecond))
	if back := device(t, bd, 1); !back.Online || back.Shades[0].ExactPosition != cut.Shades[0].ExactPosition {
		t.Errorf("with power again: %+v, it stopped at %v", back, cut.Shades[0].ExactPosition)
	}
}

func TestFaultsEndByCountAndByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bd := newSite(t).rtuTCP("b").node("4", "wirenboard-wb-mao4").run(Options{Cables: &cable.Net{}})
		if _, err := bd.AddFault(Fault{Kind: FaultBusy, Count: 2}); err != nil {
			t.Fatal(err)
		}
		b := bd.buses[0]
		raw := rtuFrame(4, []byte{fnReadHolding, 0, 20, 0, 1})
		var busy int
		for range 5 {
			if rep := b.handle(time.Now(), raw, 4, raw[1:6], rtuFrame); rep.bytes[1]&exceptionBit != 0 {
				busy++
			}
		}
		if busy != 2 {
			t.Errorf("busy %d times, want 2", busy)
		}
		if _, err := bd.AddFault(Fault{Kind: FaultSilent, DurationMs: 20}); err != nil {
			t.Fatal(err)
		}
		if device(t, bd, 1).Online {
			t.Error("online although silent")
		}
		eventually(t, "fault ended", func() bool { return device(t, bd, 1).Online && len(bd.Faults()) == 1 })
	})
}

func TestUnpluggedAdapterComesBackUnderAnotherName(t *testing.T) {
	t.Parallel()
	bd := newSite(t).serial("line", 19200, "even").node("1", "wirenboard-wb-led-rgbw").run(Options{})
	path := bd.Port("line")
	for round := range 5 {
		fd := client(t, bd, "line")
		if got, _ := ask(t, fd, tenRegisters(1), 25); len(got) != 25 {
			t.Fatalf("round %d: %d bytes before the unplug", round, len(got))
		}
		name, err := os.Readlink(path)
		if err != nil {
			t.Fatal(err)
		}
		id, err := bd.AddFault(Fault{Kind: FaultUnplug, Bus: "line"})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "hang-up seen, link gone", func() bool {
			n, err := unix.Write(fd, []byte{0})
			_, lerr := os.Lstat(path)
			return n <= 0 && err != nil && errors.Is(lerr, os.ErrNotExist)
		})
		if d := device(t, bd, 1); d.Online {
			t.Error("online while unplugged")
		}
		bd.RemoveFault(id)
		eventually(t, "link back", func() bool { now, err := os.Readlink(path); return err == nil && now != name })
	}
}

func TestGatewaySwitchedOffComesBackOnItsPort(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3").run(Options{})
	where := bd.Port("gw")
	hostport := strings.TrimPrefix(where, "tcp://")
	c, err := net.Dial("tcp", hostport)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	eventually(t, "connection accepted", func() bool { return bd.Buses()[0].Connections == 1 })
	if _, err := bd.AddFault(Fault{Kind: FaultUnplug, DurationMs: 100}); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("connection still there: %v", err)
	}
	eventually(t, "port taken again", func() bool {
		frames, err := bd.Log("gw", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, f := range frames {
			if strings.HasPrefix(f.Note, "port is at") {
				taken++
			}
		}
		return taken == 2
	})
	if bd.Port("gw") != where {
		t.Errorf("came back at %s, was at %s", bd.Port("gw"), where)
	}
	again, err := net.Dial("tcp", hostport)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	eventually(t, "second connection accepted", func() bool { return bd.Buses()[0].Connections == 2 })
	if _, err := bd.AddFault(Fault{Kind: FaultClose}); err != nil {
		t.Fatal(err)
	}
	again.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if _, err := again.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("connection not cut: %v", err)
	}
	if len(bd.Faults()) != 0 {
		t.Errorf("faults in force: %+v", bd.Faults())
	}
}

func TestGatewayThatHangsDoesAtLastWhatItTook(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3").serial("line", 9600, "none").node("1", "wirenboard-wb-mdm3").run(Options{})
	if _, err := bd.AddFault(Fault{Kind: FaultHang, Bus: "line"}); err == nil {
		t.Error("a line hangs")
	}
	id, err := bd.AddFault(Fault{Kind: FaultHang, Bus: "gw"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(bd.Port("gw"), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	on := mbap{transaction: 7, unit: 5, pdu: []byte{fnWriteCoil, 0, 0, 0xFF, 0}}.bytes()
	if _, err := c.Write(on); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the request taken", func() bool { return bd.Buses()[0].BytesReceived == uint64(len(on)) })
	if writes, err := bd.Writes("gw", 0, 0); err != nil || len(writes) != 0 {
		t.Errorf("done meanwhile: %+v, %v", writes, err)
	}
	bd.RemoveFault(id)
	answer := make([]byte, len(on))
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(c, answer); err != nil || !bytes.Equal(answer, on) {
		t.Errorf("then: % x, %v", answer, err)
	}
	if writes, err := bd.Writes("gw", 0, 0); err != nil || len(writes) != 1 {
		t.Errorf("then done: %+v, %v", writes, err)
	}
}

func TestMissingUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		silent bool
		want   int
	}{{false, 9}, {true, 0}} {
		s := newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3")
		bd := s.run(Options{SilentGateways: c.silent})
		conn, err := net.Dial("tcp", strings.TrimPrefix(bd.Port("gw"), "tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write(mbap{transaction: 9, unit: 99, pdu: []byte{fnReadHolding, 0, 0, 0, 1}}.bytes())
		most := 3 * time.Minute
		if c.silent {
			most = 200 * time.Millisecond
		}
		conn.SetReadDeadline(time.Now().Add(most))
		buf := make([]byte, 32)
		n, _ := conn.Read(buf)
		if n != c.want || n > 0 && buf[8] != byte(targetNoResponse) {
			t.Errorf("silent %v: answer % x", c.silent, buf[:n])
		}
	}
}

func TestDelayedAnswerOnALineLetsOthersBeAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bd, ask := newSite(t).serial("line", 19200, "even").node("1", "wirenboard-wb-led-rgbw").node("2", "wirenboard-wb-led-rgbw").inMemory()
		if _, err := bd.AddFault(Fault{Kind: FaultDelay, Address: "1", DelayMs: 300}); err != nil {
			t.Fatal(err)
		}
		if got := ask(tenRegisters(1), 100*time.Millisecond); len(got) != 0 {
			t.Fatalf("answer came %d bytes too early", len(got))
		}
		if got := ask(tenRegisters(2), 100*time.Millisecond); len(got) != 25 || got[0] != 2 {
			t.Fatalf("other unit: % x", got)
		}
		if got := ask(nil, 200*time.Millisecond); len(got) != 25 || got[0] != 1 {
			t.Errorf("late answer: % x", got)
		}
	})
}

func TestBuildingEndsWhileClientsAreConnected(t *testing.T) {
	t.Parallel()
	bd, err := New(newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3").serial("line", 9600, "none").node("1", "wirenboard-wb-mdm3").Site, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bd.Run(ctx) }()
	<-bd.Ready()
	path := bd.Port("line")
	c, err := net.Dial("tcp", strings.TrimPrefix(bd.Port("gw"), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client(t, bd, "line")
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("still running after the end")
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link stayed: %v", err)
	}
}
