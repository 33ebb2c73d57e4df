package appliance

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestDaysOfTheWeek(t *testing.T) {
	week := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}
	for i, day := range week {
		only := Days(1 << i)
		for _, d := range week {
			if only.Has(d) != (d == day) {
				t.Errorf("%08b has %v: %v", only, d, only.Has(d))
			}
			if !EveryDay.Has(d) || !Days(0).Has(d) {
				t.Errorf("every day is not %v", d)
			}
		}
	}
}

// An action is obeyed as it is written, by whoever has it done.
func TestAnActionIsACommand(t *testing.T) {
	by := Origin{Who: "rule"}
	a := Action{Kind: LightRGBW, Target: Target{Scope: One, ID: 3}, Channel: 2, Level: 40, KeepLevel: true, Kelvin: 3000, RGBW: RGBW{R: 1}, Position: 7}
	want := Command{Kind: LightRGBW, Target: a.Target, Channel: 2, Level: 40, KeepLevel: true, Kelvin: 3000, RGBW: RGBW{R: 1}, Position: 7, Origin: by}
	if got := a.Command(by); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for k := LightOn; k <= ShadeMoveTo; k++ {
		if k.IsShade() != slices.Contains([]Kind{ShadeOpen, ShadeClose, ShadeStop, ShadeMoveTo}, k) {
			t.Errorf("%s is of a shade: %v", k.Word(), k.IsShade())
		}
	}
	for target, name := range map[Target]string{{Scope: All}: "the site", {Scope: InCluster, ID: 3}: "cluster 3", {Scope: One, ID: 5}: "target 5"} {
		if target.String() != name {
			t.Errorf("%+v is called %q", target, target)
		}
	}
	// The public contract numbers them so (targetType).
	if All != 1 || InCluster != 2 || One != 3 {
		t.Error("scopes have other numbers")
	}
	now := time.Now()
	for e, ok := range map[*Entry]bool{{DoneAt: now}: true, {}: false, {DoneAt: now, Err: "no answer"}: false} {
		if e.OK() != ok {
			t.Errorf("%+v is a success: %v", e, !ok)
		}
	}
}

func TestJobsEnd(t *testing.T) {
	for s, over := range map[JobState]bool{JobQueued: false, JobRunning: false, JobDone: true, JobFailed: true, JobCancelled: true} {
		if s.Over() != over {
			t.Errorf("%s is over: %v", s, !over)
		}
	}
	var err error = &JobConflict{Job{Kind: JobScan, Subject: "bus ground", By: Origin{Who: "ana"}}}
	if !errors.Is(err, ErrJobRunning) || errors.Is(err, ErrNoQuestion) {
		t.Errorf("%v is no conflict of jobs", err)
	}
}

func TestFindingsThatAreTrouble(t *testing.T) {
	for f, trouble := range map[Finding]bool{"": false, FoundDevice: false, FoundNoAddress: false, FoundNote: false, FoundCollision: true, FoundSilent: true, FoundHindered: true} {
		if f.Trouble() != trouble {
			t.Errorf("%q is trouble: %v", f, !trouble)
		}
	}
}
