package site

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/quota"
)

// strict keeps what PostgreSQL would.
type strict struct {
	saved   chan platform.Batch
	refused int
}

func (s *strict) SaveBatch(_ context.Context, b platform.Batch) error {
	for _, r := range b.Reports {
		if !utf8.Valid(r.State) {
			s.refused++
			return platform.ErrInvalid
		}
	}
	for _, e := range b.Events {
		if strings.ContainsRune(e.ID+e.Code+e.Name+e.Message, 0) {
			s.refused++
			return platform.ErrInvalid
		}
	}
	s.saved <- b
	return nil
}

func (s *strict) SetSession(context.Context, platform.Session) (bool, error) { return false, nil }
func (s *strict) Purge(context.Context, platform.Retention) error            { return nil }

// A controller that sends text which no database keeps does not hold up what the others send.
func TestTextThatNoDatabaseKeepsHoldsNobodyUp(t *testing.T) {
	s := &strict{saved: make(chan platform.Batch, 4)}
	r := NewRecorder(s, quota.NewBook(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = r.Run(ctx) }()
	const envelope = `{"v":1,"id":"m-1","ts":"2026-11-18T12:00:00Z","type":"`
	for below, payload := range map[string]string{
		"up/event":        envelope + `event","data":{"code":"lamp.failure","severity":"fault","kind":"node","thing":7,"name":"Lob\u0000by","message":"\u0000","at":"2026-11-18T12:00:00Z"}}`,
		"up/state/node/7": envelope + "state\",\"data\":{\"kind\":\"node\",\"id\":7,\"name\":\"Lob\xffby\",\"tag\":\"NODE\"}}",
	} {
		r.Take(ctx, Message{Controller: "house", Below: below, Payload: []byte(payload), At: time.Now()})
	}
	events, reports := 0, 0
	for events+reports < 2 {
		select {
		case b := <-s.saved:
			events, reports = events+len(b.Events), reports+len(b.Reports)
		case <-time.After(3 * time.Minute):
			t.Fatalf("%d events and %d reports are saved, the store refused %d times", events, reports, s.refused)
		}
	}
	if s.refused > 0 {
		t.Errorf("the store refused %d times", s.refused)
	}
}
