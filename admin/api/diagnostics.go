package api

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/board"
)

// Within is how the program looks from within.
type Within struct {
	// Explain words what passed on a bus.
	Explain func(b *appliance.Bus, f Frame) string
	// Record writes frames as a recording.
	Record func(to io.Writer, frames iter.Seq2[*appliance.Bus, Frame]) error
	// Lines are the last lines of the log.
	Lines *Lines
	// Ready and Kept return nil, or why nothing is commanded, or changes are not kept.
	Ready, Kept func() error
	// Site writes the site file, Metrics what Prometheus would be shown.
	Site, Metrics func(ctx context.Context, to io.Writer) error
	// Ports are those of the machine.
	Ports Ports
	// Started is when the program began.
	Started time.Time
	// Board is how the computer below does; nil: nobody looks.
	Board func() board.State
	// Unenrolled says why the controller is not enrolled at the platform as was prepared; empty, or nil: it is, or nothing was.
	Unenrolled func() string
}

// Health is how the controller itself does.
type Health struct {
	Version   string    `json:"version"`
	System    string    `json:"system,omitempty" doc:"Version of the whole system, where it is updated as one."`
	Platform  string    `json:"platform" doc:"Operating system and processor, such as linux/arm64."`
	Time      time.Time `json:"time" doc:"Of the controller's clock."`
	StartedAt time.Time `json:"startedAt"`
	Ready     bool      `json:"ready"`
	NotReady  string    `json:"notReady,omitempty" doc:"Why it is not."`
	Kept      bool      `json:"kept" doc:"Whether changes are kept: false while the disk is full or cannot be written."`
	NotKept   string    `json:"notKept,omitempty" doc:"Why they are not."`
	Faults    []Fault   `json:"faults" doc:"Entries that were set aside while the rest runs."`
	Board     *Board    `json:"board,omitempty" doc:"How the computer below does. Left out: its kernel tells nothing."`
}

func (a *API) healthNow() Health {
	out := Health{
		Version: a.Version, System: a.updateStatus().System, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Time: stamp(time.Now()), StartedAt: stamp(a.Within.Started), Ready: true, Kept: true, Faults: faultsOf(a.Core.Snapshot()),
	}
	if err := a.Within.Ready(); err != nil {
		out.Ready, out.NotReady = false, err.Error()
	}
	if err := a.Within.Kept(); err != nil {
		out.Kept, out.NotKept = false, err.Error()
	}
	if a.Within.Board != nil {
		out.Board = boardOf(a.Within.Board())
	}
	return out
}

func (a *API) health(c echo.Context) error { return answer(c, http.StatusOK, a.healthNow()) }

// diagnosticsTime is how long a bundle may take to be sent; diagnosticsEntries of the ledger are in it.
const (
	diagnosticsTime    = 2 * time.Minute
	diagnosticsEntries = 500
)

// part is one file of the bundle.
type part struct {
	name  string
	write func(ctx context.Context, to io.Writer) error
}

// parts of the bundle, each bounded by what it is about.
func (a *API) parts() []part {
	asJSON := func(tell func() any) func(context.Context, io.Writer) error {
		return func(_ context.Context, to io.Writer) error {
			out := json.NewEncoder(to)
			out.SetIndent("", " ")
			return out.Encode(tell())
		}
	}
	return []part{
		{"health.json", asJSON(func() any { return a.healthNow() })},
		{"update.json", asJSON(func() any { return a.updateStatus() })},
		{"certificate.json", asJSON(func() any { shown, err := a.certificateShown(); return []any{shown, wordsOf(err)} })},
		{"site.yaml", a.Within.Site},
		{"buses.json", asJSON(func() any {
			s := a.Core.Snapshot()
			out := []BusDetail{}
			for _, b := range s.Buses {
				out = append(out, busDetailOf(s, b))
			}
			return out
		})},
		{"jobs.json", asJSON(func() any { return jobsOf(a.Jobs.Jobs().List()) })},
		{"ledger.jsonl", a.writeLedger},
		{"log.txt", a.writeLog},
		{"metrics.txt", a.Within.Metrics},
		{"frames.jsonl", a.writeFrames},
	}
}

func wordsOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// diagnostics sends what somebody needs who looks for a fault from afar, as one file: one
// part at a time, so that it costs little memory, and without anything secret.
func (a *API) diagnostics(c echo.Context) error {
	ctx := c.Request().Context()
	_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Now().Add(diagnosticsTime))
	h := c.Response().Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="diagnostics-`+time.Now().UTC().Format("20060102-150405")+`.zip"`)
	h.Set("Cache-Control", "no-store")
	a.auditAccount(c, "diagnostics.download", "diagnostics", nil)
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	bundle := zip.NewWriter(c.Response())
	for _, p := range a.parts() {
		if err := addPart(ctx, bundle, p); err != nil {
			return fmt.Errorf("send diagnostics: %w", err)
		}
	}
	return bundle.Close()
}

// addPart writes one file. What is wrong with it stands at its end, and the others follow.
func addPart(ctx context.Context, bundle *zip.Writer, p part) error {
	file, err := bundle.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Deflate, Modified: time.Now()})
	if err != nil {
		return err
	}
	veil := &veil{to: file}
	if err := p.write(ctx, veil); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.WriteString(veil, "\n"+p.name+": "+err.Error()+"\n"); err != nil {
			return err
		}
	}
	return veil.flush()
}

func (a *API) writeLedger(_ context.Context, to io.Writer) error {
	entries := a.Core.RecentEntries()
	slices.SortFunc(entries, func(x, y appliance.Entry) int { return strings.Compare(y.ID, x.ID) })
	out := json.NewEncoder(to)
	for _, e := range entries[:min(len(entries), diagnosticsEntries)] {
		if err := out.Encode(entryOf(e)); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) writeLog(_ context.Context, to io.Writer) error {
	lines := a.Within.Lines.newest(linesKept+troublesKept, func(LogLine) bool { return true })
	for _, l := range slices.Backward(lines) {
		if _, err := fmt.Fprintf(to, "%s %-5s %s %s\n", l.At.Format(time.RFC3339Nano), l.Level, l.Message, l.Details); err != nil {
			return err
		}
	}
	return nil
}

// writeFrames records what the flight recorders have of all buses.
func (a *API) writeFrames(_ context.Context, to io.Writer) error {
	return a.Within.Record(to, func(yield func(*appliance.Bus, Frame) bool) {
		for _, b := range a.Core.Snapshot().Buses {
			rec, err := a.Core.Recorder(b.Bus.Name)
			if err != nil {
				continue // a bus that records nothing
			}
			for f := range a.recent(b.Bus, rec) {
				if !yield(b.Bus, f) {
					return
				}
			}
		}
	})
}

// recent are the frames that a flight recorder has, oldest first.
func (a *API) recent(b *appliance.Bus, rec appliance.Recorder) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, f := range rec.Recent() {
			if !yield(a.frameOf(b, f)) {
				return
			}
		}
	}
}

// veil passes text on by lines, and hides what looks like a secret wherever it comes
// from: user and password of an address, tokens, API keys.
type veil struct {
	to   io.Writer
	line []byte // begun
}

// veilMost is the longest line that is kept whole; a longer one is cut between two writes.
const veilMost = 1 << 20

var secrets = regexp.MustCompile(`(://)[^/\s"'@]+@|\b(ctl_)[0-9A-Fa-f]{8,}|\b(eyJ)[\w-]+\.[\w-]+\.[\w-]*|(?i)\b((?:pass(?:word|phrase)|secret|token|authorization)"?\s*[:=]\s*)(?:"[^"]*"|[^\s",}]+)`)

func (v *veil) Write(p []byte) (int, error) {
	v.line = append(v.line, p...)
	end := bytes.LastIndexByte(v.line, '\n') + 1
	if end == 0 && len(v.line) > veilMost {
		end = len(v.line)
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := v.to.Write(secrets.ReplaceAll(v.line[:end], []byte("${1}${2}${3}${4}"+hidden)))
	v.line = append(v.line[:0], v.line[end:]...)
	return len(p), err
}

func (v *veil) flush() error {
	_, err := v.to.Write(secrets.ReplaceAll(v.line, []byte("${1}${2}${3}${4}"+hidden)))
	v.line = nil
	return err
}
