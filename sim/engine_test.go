package sim

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line"
)

// TestLineEnginePollsAPacedLine runs the real line engine against a simulated
// line: it must come close to what the wire can carry without breaking t3.5 once.
func TestLineEnginePollsAPacedLine(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	polls := 100
	if os.Getenv("SOAK") != "" {
		polls = 5000
	}
	s := newSite(t).serial("line", 19200, "even")
	for u := range 32 {
		s.node(strconv.Itoa(u+1), "wirenboard-wb-led-rgbw")
	}
	bd := s.run(Options{})
	b := bd.buses[0]
	line.SharpTimers()
	l, err := line.New(line.Config{Name: "line", Port: bd.Port("line"), Silence: b.line.silence,
		Serial: appliance.LineSettings{BaudRate: 19200, Parity: "even", DataBits: 8, StopBits: 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	defer func() { cancel(); <-done }()
	eventually(t, "line engine has the port", func() bool { return l.Link() == nil })
	var start time.Time
	for i := range polls + 3 {
		if i == 3 {
			start = time.Now()
		}
		unit := byte(1 + i%32)
		rep, err := l.Exchange(ctx, line.Request{Frame: tenRegisters(unit), Timeout: 5 * time.Second,
			Scan: func(got []byte) (int, line.Verdict) {
				if len(got) < 25 {
					return 0, line.More
				}
				return 25, line.Accept
			}})
		if err != nil {
			t.Fatalf("poll %d: %v", i, err)
		}
		if n, _, err := parseRTU(rep.Frame); err != nil || n != unit {
			t.Fatalf("poll %d: unit %d answered, %v", i, n, err)
		}
	}
	each := time.Since(start) / time.Duration(polls)
	theory := b.line.airtime(33) + 2*b.line.silence
	t.Logf("%d polls: %v each, theory %v: %.2f %%", polls, each, theory, 100*float64(theory)/float64(each))
	if st := bd.Buses()[0]; st.SilenceViolations != 0 || st.Collisions != 0 || st.Garbled != 0 {
		t.Errorf("the engine broke the line's rules: %+v", st)
	}
}
