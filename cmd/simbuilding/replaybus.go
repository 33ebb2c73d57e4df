package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/recording"
)

// replayBus plays one bus of a recording into a copy of it; asItWas keeps the pauses
// between the frames.
func replayBus(ctx context.Context, site appliance.Site, name string, turns []turn, asItWas bool) (replayReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	conn, ended, err := simulatedCopy(ctx, site, name)
	if err != nil {
		cancel()
		return replayReport{}, err
	}
	ears := listenTo(conn)
	defer func() { cancel(); conn.Close(); ears.drain(); <-ended }()
	report := replayReport{Bus: name, Verdicts: make(map[string]int), Diffs: []replayDiff{}}
	began := time.Now()
	for _, t := range turns {
		if asItWas && !sleepUntil(ctx, began.Add(t.sent.At.Sub(turns[0].sent.At))) {
			return report, ctx.Err()
		}
		got, err := ears.exchange(ctx, conn, t)
		if err != nil {
			return report, err
		}
		report.Sent++
		if t.gap {
			report.Gaps++
			continue
		}
		verdict := judgeAnswer(t, got)
		report.Verdicts[verdict]++
		if verdict != verdictAlike && len(report.Diffs) < replayDiffs {
			report.Diffs = append(report.Diffs, replayDiff{t.sent.At, verdict, t.sent.Hex, hex.EncodeToString(t.answer()), hex.EncodeToString(got)})
		}
	}
	return report, nil
}

func sleepUntil(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// simulatedCopy plays one bus of a site on a loopback port of its own, whatever port
// the site has, and connects to it. ended is closed when the copy is gone.
func simulatedCopy(ctx context.Context, site appliance.Site, name string) (conn net.Conn, ended chan struct{}, err error) {
	i := slices.IndexFunc(site.Buses, func(b appliance.Bus) bool { return b.Name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("the site has no bus %q: %w", name, appliance.ErrNotFound)
	}
	bus := site.Buses[i]
	scheme := "rtu+tcp"
	if bus.Driver == "modbus" && strings.HasPrefix(bus.Port, "tcp://") {
		scheme = "tcp"
	}
	bus.Port, bus.Disabled = scheme+"://127.0.0.1:0", false
	if bus.Driver == "dmx" { // recordings of an Open DMX port hold the same frames
		bus.Options = maps.Clone(bus.Options)
		delete(bus.Options, "interface")
	}
	site.Buses = []appliance.Bus{bus}
	site.Nodes = slices.DeleteFunc(slices.Clone(site.Nodes), func(n appliance.Node) bool { return n.Bus != bus.UUID })
	site.Shades = slices.DeleteFunc(slices.Clone(site.Shades), func(s appliance.Shade) bool {
		return !slices.ContainsFunc(site.Nodes, func(n appliance.Node) bool { return n.ID == s.Node })
	})
	building, err := sim.New(site, sim.Options{Seed: 1})
	if err != nil {
		return nil, nil, fmt.Errorf("simulate it: %w", err)
	}
	ended = make(chan struct{})
	var failed error
	go func() { defer close(ended); failed = building.Run(ctx) }()
	select {
	case <-building.Ready():
	case <-ended:
		return nil, nil, fmt.Errorf("simulate it: %w", failed)
	}
	address := building.Port(name)
	conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address[strings.Index(address, "://")+len("://"):])
	if err != nil {
		return nil, nil, fmt.Errorf("reach its simulated copy: %w", err)
	}
	return conn, ended, nil
}

// ears hear what the copy says.
type ears struct{ heard chan []byte }

func listenTo(conn net.Conn) *ears {
	e := &ears{heard: make(chan []byte, 64)}
	go func() {
		defer close(e.heard)
		for {
			b := make([]byte, 1024)
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			e.heard <- b[:n]
		}
	}()
	return e
}

// drain waits until nobody listens any more, after the connection was closed.
func (e *ears) drain() {
	for range e.heard {
		continue
	}
}

const (
	answerWait = 1500 * time.Millisecond // for an answer that was recorded
	silentWait = 300 * time.Millisecond  // at most, where none was
	quietWait  = 30 * time.Millisecond   // after which an answer is over
)

// exchange sends a frame and returns what is answered.
func (e *ears) exchange(ctx context.Context, conn net.Conn, t turn) ([]byte, error) {
	frame, err := hex.DecodeString(t.sent.Hex)
	if err != nil {
		return nil, fmt.Errorf("frame sent at %v: %w", t.sent.At, err)
	}
	if _, err := conn.Write(frame); err != nil {
		return nil, fmt.Errorf("send to its simulated copy: %w", err)
	}
	want := len(t.answer())
	wait := answerWait
	if want == 0 {
		wait = quietWait
		if !t.until.IsZero() {
			wait = min(max(wait, t.until.Sub(t.sent.At)), silentWait)
		}
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	var got []byte
	for {
		select {
		case b, ok := <-e.heard:
			if !ok {
				return got, errors.New("its simulated copy hung up")
			}
			if got = append(got, b...); len(got) >= want {
				over.Reset(quietWait)
			}
		case <-over.C:
			return got, nil
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

// answer is everything that was received.
func (t turn) answer() (all []byte) {
	for _, a := range t.answers {
		b, _ := hex.DecodeString(a.Hex) // what is no hexadecimal cannot be alike either
		all = append(all, b...)
	}
	return all
}

// sortKeys are the fields that say what kind of answer a frame is, and whose.
var sortKeys = []string{"unit", "function", "exception", "msg", "src", "dst", "kind", "label"}

// judgeAnswer compares an answer with the recorded one, frame by frame: by its bytes
// or, since some gateways stamp times on theirs, by what they mean.
func judgeAnswer(t turn, got []byte) string {
	want := t.answer()
	switch {
	case bytes.Equal(got, want):
		return verdictAlike
	case len(got) == 0:
		return verdictMissing
	case len(want) == 0:
		return verdictExtra
	case len(got) != len(want):
		return verdictOther
	}
	verdict := verdictAlike
	for _, a := range t.answers {
		n := len(a.Hex) / 2
		was, is := meaning(a.Protocol, want[:n]), meaning(a.Protocol, got[:n])
		same := bytes.Equal(want[:n], got[:n])
		want, got = want[n:], got[n:]
		switch {
		case same, was != nil && reflect.DeepEqual(was, is):
		case was == nil || is == nil:
			return verdictOther
		default:
			for _, key := range sortKeys {
				if !reflect.DeepEqual(was[key], is[key]) {
					return verdictOther
				}
			}
			verdict = verdictValue
		}
	}
	return verdict
}

// meaning of a frame without what only tells when it was; nil if it is none.
func meaning(protocol string, b []byte) map[string]any {
	decode := drivers.Decoders[protocol]
	if decode == nil {
		return nil
	}
	fields, err := decode(b)
	if err != nil {
		return nil
	}
	return recording.Named(fields)
}
