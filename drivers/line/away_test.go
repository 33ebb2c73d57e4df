package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A gateway that is gone is looked for twice a second, one that hangs up at once more
// and more rarely: its only place is somebody else's.
func TestPauseBetweenAttempts(t *testing.T) {
	for refused, want := range []time.Duration{500 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
		if got := pauseAfter(refused); got != want {
			t.Errorf("refused %d times: %v, want %v", refused, got, want)
		}
	}
	if got := pauseAfter(1 << 30); got != lastDelay {
		t.Errorf("refused for ever: %v", got)
	}
}

// A machine that is off is silent to one attempt and has no route to the next.
func TestReasonsThatAlternateAreToldOnce(t *testing.T) {
	var log bytes.Buffer
	l, err := New(Config{Name: "test", Port: "tcp://127.0.0.1:1", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		l.noteDown(context.Background(), errors.New("i/o timeout"))
		l.noteDown(context.Background(), errors.New("no route to host"))
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2:\n%s", n, log.String())
	}
	for i := range 1000 { // an outage of years, with words of its own for each attempt
		l.noteDown(context.Background(), fmt.Errorf("attempt %d", i))
	}
	if n := strings.Count(log.String(), "\n"); n != reasonsMost || len(l.link.told) != reasonsMost {
		t.Errorf("%d lines and %d reasons kept, want %d", n, len(l.link.told), reasonsMost)
	}
}
