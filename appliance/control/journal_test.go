package control_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// fullDisk is a journal that takes nothing while it is full.
type fullDisk struct {
	mu    sync.Mutex
	full  bool
	tried int
	taken []appliance.Entry
}

func (d *fullDisk) SaveBatch(_ context.Context, b appliance.Batch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried++
	if d.full {
		return errors.New("no space left on device")
	}
	d.taken = append(d.taken, b.Entries...)
	return nil
}

func (*fullDisk) LoadStates(context.Context) ([]appliance.Saved, error) { return nil, nil }

func (d *fullDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// A disk may be full for days: that is one line in the log, and one when it is over. What
// happened meanwhile is written then.
func TestJournalThatFailsIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, log, c := &fullDisk{}, &lines{}, newCopper()
		ctl := control.New(control.Options{
			Drivers: map[string]appliance.OpenFunc{"copper": c.open}, Journal: disk, Log: slog.New(slog.NewTextHandler(log, nil)),
		})
		ctl.Apply(siteOf("dimmer"), nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- ctl.Run(ctx) }()
		time.Sleep(time.Second)
		for round := 1; round <= 2; round++ {
			disk.set(true)
			for level := range 40 {
				do(t, ctl, appliance.Command{Kind: appliance.LightLevel, Target: everything, Level: appliance.Level(10*round + level)})
				time.Sleep(3 * time.Second)
			}
			if got := log.count("could not be written"); got != round {
				t.Errorf("round %d: told %d times that it fails", round, got)
			}
			disk.set(false)
			time.Sleep(10 * time.Second)
			if got := log.count("are written again"); got != round {
				t.Errorf("round %d: told %d times that it is over", round, got)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if disk.tried < 80 || len(disk.taken) != 80 {
			t.Errorf("tried %d times, %d of 80 commands are in the ledger", disk.tried, len(disk.taken))
		}
	})
}
