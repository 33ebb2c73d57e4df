package dali

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Gear that can shows itself for ten seconds: polls end that, so it is told again every
// 0.9 s, and it is nobody else's turn meanwhile.
func TestGearShowsItselfForTenSeconds(t *testing.T) {
	for edition, shows := range map[string]int{"J08": 11, "J01": 1, "N": 1} {
		synctest.Test(t, func(t *testing.T) {
			show, ask := Command(Short(3), OpIdentify).Frame.String(), Command(Short(3), opQueryVersion).Frame.String()
			var told []time.Time
			d := running(t, 1, func(frame string) string {
				switch frame {
				case ask:
					return edition
				case show:
					told = append(told, time.Now())
				}
				return "N"
			})
			e, err := d.Identify("3")
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			res, err := e.Do(t.Context(), appliance.Yield{})
			if (err == nil) != (shows > 1) || res.Sent.IsZero() || e.Device != "3" {
				t.Errorf("edition %s: %v, sent at %v", edition, err, res.Sent)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "gear 3: ") {
				t.Errorf("edition %s: %v, want the gear named", edition, err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(told) != shows {
				t.Fatalf("edition %s: told %d times to show itself, want %d", edition, len(told), shows)
			}
			if lasted := told[len(told)-1].Sub(begun); shows > 1 && (lasted < 9*time.Second || lasted > 10*time.Second) {
				t.Errorf("told for %v, want it to show itself for ten seconds", lasted)
			}
		})
	}
}

// Of many at once the last shows itself, and a line that is lost ends the showing of one gear, of which the log tells.
func TestShowingEndsWithTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown atomic.Int64
		var mute atomic.Bool
		d := running(t, 1, func(frame string) string {
			switch {
			case mute.Load():
				return "Z00" // neither done nor refused
			case frame == Command(Short(3), opQueryVersion).Frame.String():
				return "J08"
			case frame == Command(Short(3), OpIdentify).Frame.String():
				shown.Add(1)
			}
			return "N"
		})
		log := &strings.Builder{}
		d.log = slog.New(slog.NewTextHandler(log, nil))
		e, _ := d.Identify("3")
		for range 8 {
			if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
				t.Fatal(err)
			}
		}
		asked := shown.Load()
		mute.Store(true)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if shown.Load() != asked || strings.Count(log.String(), "identifying did not come to its end") != 1 {
			t.Errorf("told %d times more; log %s", shown.Load()-asked, log)
		}
	})
	if _, err := (&Driver{name: "hall"}).Identify("64"); err == nil || !strings.Contains(err.Error(), "bus hall") {
		t.Errorf("address 64: %v", err)
	}
}

// A driver that ends lets nobody go on showing itself.
func TestShowingEndsWithTheDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := still(t, 1, nil)
		log := &strings.Builder{}
		d.log = slog.New(slog.NewTextHandler(log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d.shows <- Command(Short(0), OpIdentify)
		begun := time.Now()
		if err := d.Run(ctx); err != nil || time.Since(begun) > 0 || log.Len() > 0 {
			t.Errorf("%v after %v; log %s", err, time.Since(begun), log)
		}
	})
}
