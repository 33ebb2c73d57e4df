package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// log writes to standard error, where systemd and people look.
func (a *app) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: &a.logLevel}))
}

// gatheredLog is the same for the daemon, where every command is told: lines go out
// together, a moment later. A command does not wait for its line, and the program
// that keeps the log is not woken for it while the command is under way. A warning
// or an error goes out at once, with what came before it. flush is for the end.
func (a *app) gatheredLog() (log *slog.Logger, flush func()) {
	g := &gathered{out: os.Stderr}
	text := slog.NewTextHandler(g, &slog.HandlerOptions{Level: &a.logLevel})
	return slog.New(promptly{text, g}), g.flush
}

const (
	// gatherTime is how late a line may be.
	gatherTime = 100 * time.Millisecond
	// gatherMost bytes wait together.
	gatherMost = 16 << 10
)

// gathered is a writer that passes on what it is given every gatherTime.
type gathered struct {
	out io.Writer

	mu   sync.Mutex
	buf  []byte
	soon *time.Timer // runs while buf holds something
}

func (g *gathered) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.buf)+len(b) > gatherMost {
		g.pass()
	}
	if len(g.buf) == 0 {
		g.wind()
	}
	g.buf = append(g.buf, b...)
	return len(b), nil
}

func (g *gathered) wind() {
	if g.soon == nil {
		g.soon = time.AfterFunc(gatherTime, g.flush)
		return
	}
	g.soon.Reset(gatherTime)
}

func (g *gathered) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass()
}

func (g *gathered) pass() {
	if len(g.buf) > 0 {
		_, _ = g.out.Write(g.buf) // there is nobody to tell
		g.buf = g.buf[:0]
	}
}

// promptly has what should not wait go out at once.
type promptly struct {
	slog.Handler
	out *gathered
}

func (h promptly) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.out.flush()
	}
	return err
}

func (h promptly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptly{h.Handler.WithAttrs(attrs), h.out}
}

func (h promptly) WithGroup(name string) slog.Handler {
	return promptly{h.Handler.WithGroup(name), h.out}
}
