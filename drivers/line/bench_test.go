package line

import (
	"context"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// pacedDevice answers every request like a device at the end of a real line: the
// request is on the wire for its characters from the moment it is read, the
// answer begins a silence later and its last byte comes when it would. It counts
// requests that came before the line had been silent long enough.
type pacedDevice struct {
	requestLen, answerLen int
	char, silence         time.Duration
	violations, requests  int
	shortest              time.Duration // silence before a request
}

func (d *pacedDevice) serve(f *os.File) {
	buf, answer := make([]byte, 256), make([]byte, d.answerLen)
	answer[d.answerLen-1] = '\n'
	var ended time.Time
	for have := 0; ; {
		n, err := f.Read(buf[have:])
		if err != nil {
			return
		}
		now := time.Now()
		if have == 0 && !ended.IsZero() {
			gap := now.Sub(ended)
			if d.shortest == 0 || gap < d.shortest {
				d.shortest = gap
			}
			if gap < d.silence {
				d.violations++
			}
		}
		if have += n; have < d.requestLen {
			continue
		}
		have = 0
		d.requests++
		ended = now.Add(time.Duration(d.requestLen)*d.char + d.silence + time.Duration(d.answerLen)*d.char)
		SleepUntil(context.Background(), ended)
		if _, err := f.Write(answer); err != nil {
			return
		}
	}
}

func newPaced(t testing.TB) (*bench, *pacedDevice) {
	d := &pacedDevice{requestLen: 8, answerLen: 25}
	var silence time.Duration
	b := newBench(t, func(c *Config) {
		c.Serial.BaudRate = 19200
		probe, err := New(*c)
		if err != nil {
			t.Fatal(err)
		}
		d.char = probe.Airtime(1000) / 1000
		silence = probe.Airtime(35) / 10
		c.Silence = silence
	})
	d.silence = silence
	return b, d
}

func (b *bench) pollOnce(t testing.TB) {
	_, err := b.Exchange(context.Background(), Request{
		Frame:   []byte("request\n"),
		Timeout: time.Second,
		Scan: func(p []byte) (int, Verdict) {
			if len(p) < 25 {
				return 0, More
			}
			return 25, Accept
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSilenceIsNeverBrokenAtFullSpeed(t *testing.T) {
	b, d := newPaced(t)
	done := make(chan struct{})
	go func() { defer close(done); d.serve(b.wire.Master()) }()
	for range 100 {
		b.pollOnce(t)
	}
	b.wire.Close()
	<-done
	if d.violations > 0 {
		t.Errorf("%d of %d requests broke the silence of %v; the shortest was %v", d.violations, d.requests, d.silence, d.shortest)
	}
}

// BenchmarkPacedPolls polls 8 + 25 characters at 19200 8E1 as fast as the rules
// allow. "of-theory" is the rate reached in relation to that of the wire.
func BenchmarkPacedPolls(bm *testing.B) {
	b, d := newPaced(bm)
	done := make(chan struct{})
	go func() { defer close(done); d.serve(b.wire.Master()) }()
	b.pollOnce(bm)
	cpu := cpuTime(bm)
	bm.ResetTimer()
	for range bm.N {
		b.pollOnce(bm)
	}
	bm.StopTimer()
	theory := 33*d.char + 2*d.silence
	each := bm.Elapsed() / time.Duration(bm.N)
	bm.ReportMetric(float64(theory)/float64(each), "of-theory")
	bm.ReportMetric(float64((each - theory).Microseconds()), "µs-over")
	bm.ReportMetric(float64((cpuTime(bm)-cpu).Microseconds())/float64(bm.N), "µs-cpu/op")
	b.wire.Close()
	<-done
	bm.ReportMetric(float64(d.violations), "violations")
	bm.ReportMetric(float64((d.shortest - d.silence).Microseconds()), "µs-spare")
}

// BenchmarkSocket compares an exchange with the least a program can do: write,
// read. Both run in turns against the same kind of server; "×floor" is the ratio
// of their medians.
func BenchmarkSocket(bm *testing.B) {
	g := newGateway(bm, "127.0.0.1:0")
	l := g.line(nil)
	answerer := g.accept()
	answers(answerer)
	bare, err := net.Dial("tcp", g.l.Addr().String())
	if err != nil {
		bm.Fatal(err)
	}
	bm.Cleanup(func() { bare.Close() })
	answers(g.accept())
	waitFor(bm, "the connection is open", func() bool { return l.Link() == nil })

	frame, buf := []byte("request 12 b\n"), make([]byte, 256)
	r := Request{Frame: frame, Timeout: time.Second, Scan: wantLine("request 12 b")}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	bm.Cleanup(cancel)
	var ours, floor []time.Duration
	bm.ReportAllocs()
	bm.ResetTimer()
	for range bm.N {
		begun := time.Now()
		if _, err := l.Exchange(ctx, r); err != nil {
			bm.Fatal(err)
		}
		middle := time.Now()
		bare.Write(frame)
		bare.Read(buf)
		floor = append(floor, time.Since(middle))
		ours = append(ours, middle.Sub(begun))
	}
	bm.StopTimer()
	slices.Sort(ours)
	slices.Sort(floor)
	o, f := ours[len(ours)/2], floor[len(floor)/2]
	bm.ReportMetric(float64(o)/float64(f), "×floor")
	bm.ReportMetric(float64((o-f).Nanoseconds())/1000, "µs-over")
}
