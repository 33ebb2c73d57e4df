package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// written is what arrived where a log goes, and in how many pieces.
type written struct {
	mu     sync.Mutex
	text   bytes.Buffer
	pieces int
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces++
	return w.text.Write(b)
}

func (w *written) take() (messages string, pieces int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.text.String()) {
		_, message, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		messages += message + ";"
	}
	pieces = w.pieces
	w.text.Reset()
	w.pieces = 0
	return messages, pieces
}

func TestLogIsGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &written{}
		g := &gathered{out: w}
		log := slog.New(promptly{slog.NewTextHandler(g, nil), g})
		expect := func(when, messages string, pieces int) {
			t.Helper()
			if got, n := w.take(); got != messages || n != pieces {
				t.Errorf("%s: %q in %d pieces, want %q in %d", when, got, n, messages, pieces)
			}
		}
		for range 2 {
			log.Info("one")
			time.Sleep(gatherTime / 2)
			log.With("k", "v").Info("two")
			expect("before its time", "", 0)
			time.Sleep(gatherTime/2 + 1)
			synctest.Wait()
			expect("after its time", "one;two k=v;", 1)
		}
		log.Info("three")
		log.WithGroup("g").Warn("four", "k", "v")
		expect("after a warning", "three;four g.k=v;", 1)
		log.Info("five")
		g.flush()
		expect("at the end", "five;", 1)
		time.Sleep(2 * gatherTime)
		synctest.Wait()
		expect("after the end", "", 0)

		for range 3 * gatherMost / 100 {
			log.Info(strings.Repeat("x", 100))
		}
		if _, n := w.take(); n < 3 {
			t.Errorf("%d pieces passed on, want at least 3: they fill the memory", n)
		}
	})
}
