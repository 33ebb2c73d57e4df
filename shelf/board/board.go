// Package board reads how the computer below does: how hot it is, and whether its power supply is strong enough.
package board

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// lookEvery is the rate of looking, within which the kernel shows a voltage that was too low.
	lookEvery = 2 * time.Second
	// HotFrom is the temperature in °C from which the board counts as too hot, since it slows down there, and hotUntil that below which it
	// no longer does.
	HotFrom, hotUntil = 80, 75
	// weakFor is how long the supply counts as too weak after the voltage was too low.
	weakFor = time.Hour
	zones   = 16 // that are read at most
)

// State is how the board does. The zero State: nothing of it can be known here.
type State struct {
	Zones []Zone // by name
	// Hot: a zone is too hot.
	Hot bool
	// Power is empty where the kernel does not tell.
	Power Power
	// WeakAt is when the voltage was last too low; zero: not since the start.
	WeakAt time.Time
}

// Power is how strong the supply is.
type Power string

// What a Power can be, beside unknown.
const (
	Good Power = "good"
	Weak Power = "weak" // the voltage was too low within the last hour
)

// Zone is a place whose temperature the kernel tells.
type Zone struct {
	Name    string
	Celsius float64
}

// Watch follows the board by what the kernel shows in a folder, which is /sys.
type Watch struct {
	root    string
	now     atomic.Pointer[State]
	before  State
	dropped bool // the firmware had said at the last look that the voltage was too low since the start
}

// New looks for the first time.
func New(root string) *Watch {
	w := &Watch{root: root}
	w.look(time.Now())
	return w
}

// State is how the board did at the last look.
func (w *Watch) State() State { return *w.now.Load() }

// Run looks until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-every.C:
			w.look(now)
		}
	}
}

func (w *Watch) look(now time.Time) {
	s := State{Zones: w.zones(), WeakAt: w.before.WeakAt}
	for _, z := range s.Zones {
		s.Hot = s.Hot || z.Celsius >= HotFrom || w.before.Hot && z.Celsius >= hotUntil
	}
	if low, known := w.low(); known {
		s.Power = Good
		if low {
			s.WeakAt = now
		}
		if since := now.Sub(s.WeakAt); !s.WeakAt.IsZero() && since < weakFor {
			s.Power = Weak
		}
	}
	w.before = s
	w.now.Store(&s)
}

// zones are those that tell a temperature now.
func (w *Watch) zones() (list []Zone) {
	paths, _ := filepath.Glob(filepath.Join(w.root, "class/thermal/thermal_zone*")) // errors are those of a pattern
	for _, path := range paths[:min(len(paths), zones)] {
		milli, err := strconv.Atoi(word(path, "temp"))
		if err != nil {
			continue
		}
		name := word(path, "type")
		if name == "" {
			name = filepath.Base(path)
		}
		list = append(list, Zone{name, float64(milli) / 1000})
	}
	slices.SortStableFunc(list, func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Zone) bool { return a.Name == b.Name }) // names are those of metrics
}

// low reports whether the voltage is too low, or was since the last look, and whether that can be known: by the sensor of the kernel, or by
// the file of Raspberry Pi's own kernel, whose lowest bit is now and whose bit 16 is since the start.
func (w *Watch) low() (low, known bool) {
	sensors, _ := filepath.Glob(filepath.Join(w.root, "class/hwmon/hwmon*"))
	for _, path := range sensors {
		if word(path, "name") != "rpi_volt" {
			continue
		}
		if alarm := word(path, "in0_lcrit_alarm"); alarm != "" {
			low, known = low || alarm != "0", true
		}
	}
	if bits, err := strconv.ParseUint(strings.TrimPrefix(word(w.root, "devices/platform/soc/soc:firmware/get_throttled"), "0x"), 16, 32); err == nil {
		dropped := bits&(1<<16) != 0
		low, known = low || bits&1 != 0 || dropped && !w.dropped, true
		w.dropped = dropped
	}
	return low, known
}

// word is what a file of the kernel says; empty if it does not.
func word(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
