package panel

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"svc.internal/controller/platform"
)

// Found is a conferencing device that its maker's integration lists.
type Found struct{ ID, Workspace string }

// Provider is the cloud of the makers of conferencing devices. A device that it does not know is [platform.ErrNotFound].
type Provider interface {
	Devices(ctx context.Context) ([]Found, error)
	// SetWidget has a widget show a value; an empty one takes a group's button back.
	SetWidget(ctx context.Context, device, widget, value string) error
	// SavePanel puts a panel onto a device, RemovePanel takes it off, OpenPanel shows it.
	SavePanel(ctx context.Context, device, panel, description string) error
	RemovePanel(ctx context.Context, device, panel string) error
	OpenPanel(ctx context.Context, device, panel string) error
	// Say shows a sentence for a few seconds.
	Say(ctx context.Context, device, text string) error
}

// Description of the panel, as RoomOS reads it.
//
//go:embed panel.xml
var Description string

const (
	// writersMost devices are written to at once.
	writersMost = 16
	// writePause is how long a panel is left alone after it was written to: a finger may be on it.
	writePause = 300 * time.Millisecond
	writeFirst = time.Second // after a failure
	writeLast  = time.Minute
	writeMost  = 10 * time.Second // for one device
)

// writer keeps panels on devices showing what the board says.
type writer struct {
	board    *Board
	provider Provider
	store    Store
	log      *slog.Logger

	mu      sync.Mutex
	written map[string]map[string]string // by device
	full    map[string]bool              // devices of which nobody knows what they show
	said    map[string]time.Time         // up to when what was to be said was said, by device
	busy    map[string]bool              // somebody writes to the device; true: something changed since they looked
}

// run writes until ctx ends.
func (w *writer) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, writersMost)
	for {
		todo, next := w.board.take()
		for at, full := range todo {
			if !w.begin(at, full) {
				continue // whoever is at it looks again
			}
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			wg.Go(func() {
				defer func() { <-places }()
				w.keep(ctx, at)
			})
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

// begin reports whether nobody writes to a device yet.
func (w *writer) begin(at spot, full bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if full {
		w.full[at.device] = true
	}
	_, busy := w.busy[at.device]
	w.busy[at.device] = busy
	return !busy
}

// keep writes to one device until it shows what it should.
func (w *writer) keep(ctx context.Context, at spot) {
	pause := writeFirst
	for ctx.Err() == nil {
		want, _, _ := w.board.of(at.controller, at.device)
		d, err := w.store.RoomDevice(ctx, at.device)
		if err == nil && d.Deployed && d.Controller == at.controller {
			if err = w.write(ctx, at.device, want); err == nil {
				err = w.say(ctx, at)
			}
		}
		wait := writePause
		switch {
		case errors.Is(err, platform.ErrNotFound): // a macro looks after it
		case err != nil:
			w.log.Warn("a panel does not show what it should; trying again", "device", at.device, "why", err)
			wait, pause = pause, min(2*pause, writeLast)
		default:
			pause = writeFirst
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		if (err == nil || errors.Is(err, platform.ErrNotFound)) && w.end(at.device) {
			return
		}
	}
}

// end reports whether nothing changed since the device was looked at.
func (w *writer) end(device string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[device] {
		w.busy[device] = false
		return false
	}
	delete(w.busy, device)
	return true
}

// write sets the widgets that are not known to show their value.
func (w *writer) write(ctx context.Context, device string, want map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, writeMost)
	defer cancel()
	w.mu.Lock()
	have := maps.Clone(w.written[device])
	if w.full[device] {
		delete(w.full, device)
		have = nil
	}
	w.mu.Unlock()
	if have == nil {
		have = map[string]string{}
	}
	for widget, value := range want {
		if old, ok := have[widget]; ok && old == value {
			continue
		}
		if err := w.provider.SetWidget(ctx, device, widget, value); err != nil {
			w.mu.Lock()
			w.full[device] = true
			w.mu.Unlock()
			return err
		}
		have[widget] = value
	}
	w.mu.Lock()
	w.written[device] = have
	w.mu.Unlock()
	return nil
}

// say has a device say what became of things since it last did.
func (w *writer) say(ctx context.Context, at spot) error {
	w.mu.Lock()
	text, until := w.board.saidSince(at, w.said[at.device])
	w.mu.Unlock()
	if text == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeMost)
	defer cancel()
	if err := w.provider.Say(ctx, at.device, text); err != nil {
		return err
	}
	w.mu.Lock()
	w.said[at.device] = until
	w.mu.Unlock()
	return nil
}
