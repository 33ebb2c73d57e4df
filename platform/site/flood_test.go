package site

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/quota"
)

// A controller that sends what nobody can read, and states that tell of more than a thing, fills neither log nor database.
func TestAFloodOfWhatCannotBeReadIsToldAFewTimes(t *testing.T) {
	var log bytes.Buffer
	s := &strict{saved: make(chan platform.Batch, 100)}
	r := NewRecorder(s, quota.NewBook(slog.New(slog.DiscardHandler)), slog.New(slog.NewTextHandler(&log, nil)))
	var flood []Message
	for i := range 500 {
		state := fmt.Sprintf(`{"v":1,"id":"m-%d","ts":"2026-11-18T12:00:00Z","type":"state","data":{"kind":"node","id":%d,"name":"%s"}}`, i, i, strings.Repeat("x", 2*stateMost))
		flood = append(flood, Message{Controller: "mad", Below: "up/event", Payload: []byte("{")}, Message{Controller: "mad", Below: fmt.Sprint("up/state/node/", i), Payload: []byte(state)})
	}
	if b, _ := r.sort(flood); len(b.Reports) > 0 {
		t.Errorf("%d states of %d bytes are kept", len(b.Reports), 2*stateMost)
	}
	if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 50 {
		t.Errorf("%d lines for %d messages that cannot be read", lines, len(flood))
	}
}

// busy is a store that notes how many read all reports of a controller at once.
type busy struct {
	unused
	here, most atomic.Int64
}

// unused is what is not asked for.
type unused interface{ Reports }

func (b *busy) Enrolment(context.Context, string) (platform.Enrolment, error) {
	return platform.Enrolment{}, nil
}

func (b *busy) Meters(context.Context, string) ([]platform.MeterState, error) { return nil, nil }

func (b *busy) Reports(_ context.Context, _, kind string) ([]platform.Report, error) {
	if kind == "" {
		b.most.Store(max(b.most.Load(), b.here.Add(1)))
		time.Sleep(time.Second)
		b.here.Add(-1)
	}
	return nil, nil
}

// Whoever asks much at once leaves processors to the others.
func TestDevicesAreReadAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &busy{}
		r := NewReader(db)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := r.Devices(t.Context(), "house"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most := int(db.most.Load()); most < 1 || most > max(1, runtime.GOMAXPROCS(0)/2) {
			t.Errorf("%d read at once", most)
		}
	})
}
