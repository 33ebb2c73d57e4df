package board

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// sysfs is a folder as the kernel shows one.
func sysfs(t *testing.T) (root string, say func(path, text string)) {
	root = t.TempDir()
	return root, func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// at watches a board in virtual time, and gives how it does after so long.
func at(t *testing.T, root string, do func(after func(time.Duration) State)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := New(root)
		ended := make(chan error)
		ctx := t.Context()
		go func() { ended <- w.Run(ctx) }()
		t.Cleanup(func() { <-ended })
		do(func(d time.Duration) State {
			time.Sleep(d)
			synctest.Wait()
			return w.State()
		})
	})
}

const alarm, throttled = "class/hwmon/hwmon1/in0_lcrit_alarm", "devices/platform/soc/soc:firmware/get_throttled"

func TestNothingIsToldOfABoardThatTellsNothing(t *testing.T) {
	root, say := sysfs(t)
	say("class/hwmon/hwmon0/name", "acpitz")
	say("class/hwmon/hwmon0/in0_lcrit_alarm", "1")
	say("class/thermal/thermal_zone0/type", "broken")
	at(t, root, func(after func(time.Duration) State) {
		if got := after(time.Minute); got.Zones != nil || got.Hot || got.Power != "" || !got.WeakAt.IsZero() {
			t.Errorf("%+v", got)
		}
	})
}

func TestHeatIsToldWithADistance(t *testing.T) {
	root, say := sysfs(t)
	say("class/thermal/thermal_zone1/type", "cpu-thermal")
	say("class/thermal/thermal_zone0/type", "soc-thermal")
	say("class/thermal/thermal_zone0/temp", "41000")
	at(t, root, func(after func(time.Duration) State) {
		for _, c := range []struct {
			milli string
			hot   bool
		}{{"79999", false}, {"80000", true}, {"76000", true}, {"74999", false}, {"79000", false}} {
			say("class/thermal/thermal_zone1/temp", c.milli)
			got := after(2 * time.Second)
			if got.Hot != c.hot || got.Power != "" {
				t.Errorf("at %s: %+v, want hot %v", c.milli, got, c.hot)
			}
		}
		if got := after(2 * time.Second); fmt.Sprint(got.Zones) != "[{cpu-thermal 79} {soc-thermal 41}]" {
			t.Errorf("zones: %+v", got.Zones)
		}
	})
}

func TestAWeakSupplyIsToldForAnHour(t *testing.T) {
	root, say := sysfs(t)
	say("class/hwmon/hwmon1/name", "rpi_volt")
	say(alarm, "0")
	at(t, root, func(after func(time.Duration) State) {
		if got := after(2 * time.Second); got.Power != Good || !got.WeakAt.IsZero() {
			t.Errorf("a good supply: %+v", got)
		}
		say(alarm, "1")
		began := after(2 * time.Second)
		if began.Power != Weak || began.WeakAt.IsZero() {
			t.Errorf("while it is too weak: %+v", began)
		}
		say(alarm, "0")
		if got := after(59 * time.Minute); got.Power != Weak || !got.WeakAt.Equal(began.WeakAt) {
			t.Errorf("after 59 minutes: %+v, want it weak at %v", got, began.WeakAt)
		}
		if got := after(time.Minute + 2*time.Second); got.Power != Good {
			t.Errorf("after an hour: %+v", got)
		}
	})
}

func TestAWeakSupplyIsToldByTheFirmwareOnce(t *testing.T) {
	root, say := sysfs(t)
	say(throttled, "50000") // since the start of the system, before that of the program
	at(t, root, func(after func(time.Duration) State) {
		if got := after(time.Second); got.Power != Weak {
			t.Errorf("what had been: %+v", got)
		}
		if got := after(2 * time.Hour); got.Power != Good {
			t.Errorf("what had been is told for ever: %+v", got)
		}
		say(throttled, "0x50005")
		if got := after(2 * time.Second); got.Power != Weak {
			t.Errorf("what is: %+v", got)
		}
		say(throttled, "50000")
		if got := after(2 * time.Hour); got.Power != Good {
			t.Errorf("what was: %+v", got)
		}
	})
}
