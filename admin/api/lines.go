package api

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// linesKept bounds the lines in memory; troublesKept those of warnings and errors, which
	// the log-ins of a day do not push out.
	linesKept, troublesKept = 1000, 500
	// lineMost bounds one of them, in bytes.
	lineMost = 2000
)

// LogLine is one of the program's log.
type LogLine struct {
	ID      int       `json:"id" doc:"Ascending since the start of the program."`
	At      time.Time `json:"at"`
	Level   string    `json:"level" enum:"DEBUG,INFO,WARN,ERROR"`
	Message string    `json:"message"`
	Details string    `json:"details,omitempty" doc:"The rest of the line, as key=value."`
}

// Lines are the last lines of the program's log, in memory.
type Lines struct {
	mu     sync.Mutex
	last   int // ID
	lines  ring
	wrong  ring
	detail bytes.Buffer // of the line that is being kept
}

// ring keeps the newest lines, oldest at next when it is full.
type ring struct {
	most int
	list []LogLine
	next int
}

func (r *ring) add(l LogLine) {
	if len(r.list) < r.most {
		r.list = append(r.list, l)
		return
	}
	r.list[r.next] = l
	r.next = (r.next + 1) % r.most
}

// NewLines keeps nothing yet.
func NewLines() *Lines {
	return &Lines{lines: ring{most: linesKept}, wrong: ring{most: troublesKept}}
}

// Log writes to to and keeps what is written, without what is secret.
func (l *Lines) Log(to *slog.Logger) *slog.Logger {
	form := slog.NewTextHandler(&l.detail, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey):
			return slog.Attr{}
		case slices.Contains(secretKeys, a.Key):
			return slog.String(a.Key, hidden)
		}
		return a
	}})
	return slog.New(&keeper{l, to.Handler(), form})
}

// secretKeys are of values that whoever reads the log in a browser, or is sent a bundle, does
// not get: the claim code is on the console for whoever stands before it.
var secretKeys = []string{"code", "password", "passphrase", "token", "secret", "authorization"}

const hidden = "(hidden)"

// keeper is a log's handler that keeps lines on their way to next.
type keeper struct {
	lines      *Lines
	next, form slog.Handler
}

func (k *keeper) Enabled(ctx context.Context, level slog.Level) bool {
	return k.next.Enabled(ctx, level)
}

func (k *keeper) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &keeper{k.lines, k.next.WithAttrs(attrs), k.form.WithAttrs(attrs)}
}

func (k *keeper) WithGroup(name string) slog.Handler {
	return &keeper{k.lines, k.next.WithGroup(name), k.form.WithGroup(name)}
}

func (k *keeper) Handle(ctx context.Context, r slog.Record) error {
	k.lines.keep(ctx, k.form, r)
	return k.next.Handle(ctx, r)
}

func (l *Lines) keep(ctx context.Context, form slog.Handler, r slog.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detail.Reset()
	_ = form.Handle(ctx, r) // a buffer takes everything
	l.last++
	line := LogLine{ID: l.last, At: r.Time.UTC(), Level: r.Level.String(), Message: clip(r.Message), Details: clip(strings.TrimSpace(l.detail.String()))}
	l.lines.add(line)
	if r.Level >= slog.LevelWarn {
		l.wrong.add(line)
	}
	if l.detail.Cap() > 8*lineMost {
		l.detail = bytes.Buffer{}
	}
}

func clip(s string) string {
	if len(s) <= lineMost {
		return s
	}
	return strings.ToValidUTF8(s[:lineMost], "") + " …"
}

// newest gives at most limit lines that match, newest first.
func (l *Lines) newest(limit int, match func(LogLine) bool) []LogLine {
	l.mu.Lock()
	both := slices.Concat(l.lines.list, l.wrong.list)
	l.mu.Unlock()
	slices.SortFunc(both, func(x, y LogLine) int { return y.ID - x.ID })
	out := []LogLine{}
	for i, line := range both {
		if len(out) == limit {
			break
		}
		if (i == 0 || both[i-1].ID != line.ID) && match(line) {
			out = append(out, line)
		}
	}
	return out
}

// logs lists the last lines of the log, newest first.
func (a *API) logs(c echo.Context) error {
	limit, err := number(c, "limit", 200, linesKept+troublesKept)
	if err != nil {
		return err
	}
	after, err := number(c, "after", 0, math.MaxInt)
	if err != nil {
		return err
	}
	since, err := instant(c, "since")
	if err != nil {
		return err
	}
	lowest := slog.LevelDebug
	if said := c.QueryParam("level"); said != "" {
		if err := lowest.UnmarshalText([]byte(said)); err != nil {
			return refuse(http.StatusBadRequest, "level="+said+": want DEBUG, INFO, WARN or ERROR")
		}
	}
	text := strings.ToLower(c.QueryParam("contains"))
	return answer(c, http.StatusOK, a.Within.Lines.newest(limit, func(l LogLine) bool {
		var level slog.Level
		_ = level.UnmarshalText([]byte(l.Level)) // it was made by String
		return level >= lowest && l.ID > after && !l.At.Before(since) && strings.Contains(strings.ToLower(l.Message+" "+l.Details), text)
	}))
}
