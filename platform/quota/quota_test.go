package quota

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSharesHaveAnEndAndAreOnesOwn(t *testing.T) {
	var log bytes.Buffer
	b := NewBook(slog.New(slog.NewTextHandler(&log, nil)))
	for i := range TopicsMost + 100 {
		if ok := b.Hold("mad", fmt.Sprint("up/state/light/", i), 10); ok != (i < TopicsMost) {
			t.Fatalf("topic %d: %v", i, ok)
		}
	}
	if !b.Hold("mad", "up/state/light/1", 20) || !b.Hold("sound", "up/state/light/1", 20) {
		t.Error("a topic that is there cannot be replaced, or another controller pays for it")
	}
	if !b.Hold("mad", "up/state/light/2", 0) || !b.Hold("mad", "up/state/light/new", 10) {
		t.Error("what is taken away makes no room")
	}
	if b.Hold("mad", "up/state/light/1", TopicBytesMost) {
		t.Error("more bytes than there may be are held")
	}
	if e := b.Excess("mad"); len(e) != 2 || e[0].Dropped != 100 || e[0].Why != TooManyTopics || e[1].Why != TooMuchKept {
		t.Errorf("left out: %v", e)
	}
	if e := b.Excess("sound"); e != nil {
		t.Errorf("left out of the one that is sound: %v", e)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines of log:\n%s", n, log.String())
	}
}

func TestADayHasSoManyBytesToKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBook(slog.New(slog.DiscardHandler))
		for range StoredMost >> 16 {
			if !b.Store("mad", 64<<10) {
				t.Fatal("less than the share is kept")
			}
		}
		if b.Store("mad", 64<<10) {
			t.Error("more than the share is kept")
		}
		time.Sleep(24 * time.Hour)
		if !b.Store("mad", StoredMost-1024) {
			t.Error("the next day is none")
		}
	})
}

// A building of 5,000 lights that reports everything is not held up; a flood is.
func TestWhoFloodsWaits(t *testing.T) {
	b := NewBook(slog.New(slog.DiscardHandler))
	for range 11_000 {
		if wait := b.Pace("large", 500); wait > 0 {
			t.Fatalf("a large building waits %v", wait)
		}
	}
	var wait time.Duration
	for range 1000 {
		wait = b.Pace("mad", 60<<10)
	}
	if wait < 5*time.Second {
		t.Errorf("after 60 MB a mad one waits %v", wait)
	}
	if wait := b.Pace("sound", 500); wait > 0 {
		t.Errorf("another waits %v", wait)
	}
}
