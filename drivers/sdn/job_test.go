package sdn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// job does a service of the driver as an installer has it done, and returns the facts told
// and the messages that went out.
func (b *bench) job(t *testing.T, name string, inputs map[string]string) (facts string, frames []string, err error) {
	t.Helper()
	n := len(b.sim.Heard(0))
	session := appliance.Session{
		Inputs: inputs,
		Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return e.Do(ctx, appliance.Yield{})
		},
		Tell: func(s appliance.ServiceStep) {
			for _, f := range s.Facts {
				facts += fmt.Sprintf("%s=%v;", f.Name, f.Value)
			}
			if len(s.Facts) > 0 && s.Address != inputs["address"] {
				t.Errorf("%s: facts of %q, want of %q", name, s.Address, inputs["address"])
			}
		},
	}
	err = fmt.Errorf("no service %q", name)
	for _, s := range b.Services() {
		if s.Name == name {
			err = s.Run(t.Context(), session)
		}
	}
	for _, h := range b.sim.Heard(n) {
		frames = append(frames, fmt.Sprintf("%02X % X", h.Message.ID, h.Message.Data))
	}
	return facts, frames, err
}

// What each service asks and orders on the wire, and what it tells.
func TestJobsOfAnInstaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(3)
		list[0].Open, list[0].Label = 70, "South"
		list[1].Limit = -1
		list[0].Groups = []string{"01.01.05", "01.01.FF", "FF.FF.FF", "00.00.00", "01.01.06"}
		for i := range 16 {
			list[1].Groups = append(list[1].Groups, fmt.Sprintf("01.01.%02X", i+1))
		}
		b := virtualBench(t, quick(list), 0)
		time.Sleep(time.Second) // it listens before it speaks
		for _, row := range []struct {
			job     string
			motor   int
			inputs  string // name=value, after the address
			trouble sdnsim.Trouble
			facts   string
			frames  string // those that change something, or of reading groups how many
			err     error
		}{
			{job: "motor", facts: "label=South;version=506304410102;limits_set=true;down_limit_pulses=10000;position_percent_open=70;position_pulses=3000;" +
				"status=stopped, last direction not known, by the motor itself: power cycle;groups=01.01.05 01.01.06;", frames: "9 of groups"},
			{job: "motor", motor: 1, facts: "label=;version=506304410102;limits_set=false;status=stopped, last direction not known, by the motor itself: limits not set;" +
				"groups=" + strings.Join(list[1].Groups, " ") + ";", frames: "16 of groups"},
			{job: "motor", trouble: sdnsim.Trouble{Dumb: 1}, err: appliance.ErrSilent},
			{job: "label", facts: "label=South;"},
			{job: "label", inputs: "text=North ", facts: "label=North;", frames: "55 4E 6F 72 74 68 20 20 20 20 20 20 20 20 20 20 20"},
			{job: "label", inputs: "text=more than 16 bytes", err: appliance.ErrOutOfRange},
			{job: "label", inputs: "text=East", trouble: sdnsim.Trouble{Busy: 3}, err: appliance.ErrBusy, frames: strings.Repeat("55 45 61 73 74 20 20 20 20 20 20 20 20 20 20 20 20,", 3)},
			{job: "label", inputs: "text=West", trouble: sdnsim.Trouble{Labelled: true}, facts: "label=North;", err: appliance.ErrMismatch, frames: "55 57 65 73 74 20 20 20 20 20 20 20 20 20 20 20 20"},
			{job: "label", trouble: sdnsim.Trouble{Dumb: 1}, err: appliance.ErrSilent},
			{job: "lock", facts: "locked=true;status=locked, last direction not known, by the motor itself: power cycle;", frames: "06 00 00 00 0A 00"},
			{job: "unlock", inputs: "priority=9", trouble: sdnsim.Trouble{Locked: true}, err: appliance.ErrRefused, frames: "06 05 00 00 09 00"},
			{job: "unlock", inputs: "priority=255", trouble: sdnsim.Trouble{Locked: true}, facts: "locked=false;status=stopped, last direction not known, by the motor itself: explicit command;", frames: "06 05 00 00 FF 00"},
			{job: "lock", inputs: "priority=256", err: appliance.ErrOutOfRange},
			{job: "lock", inputs: "priority=-1", err: appliance.ErrOutOfRange},
			{job: "lock", inputs: "priority=0", trouble: sdnsim.Trouble{Dumb: 1}, err: appliance.ErrSilent, frames: strings.Repeat("06 00 00 00 00 00,", 3)},
			{job: "jog", inputs: "direction=up,pulses=1000", frames: "04 03 E8 03 00"},
			{job: "jog", inputs: "direction=down,pulses=1", frames: "04 02 01 00 00"},
			{job: "jog", inputs: "direction=down,pulses=1001", err: appliance.ErrOutOfRange},
			{job: "jog", inputs: "direction=down,pulses=0", err: appliance.ErrOutOfRange},
			{job: "jog", inputs: "direction=left,pulses=1", err: errAny},
			{job: "jog", inputs: "direction=up,pulses=5", trouble: sdnsim.Trouble{Dumb: 1}, err: appliance.ErrSilent, frames: "04 03 05 00 00"}, // once: it may have been heard
			{job: "intermediate", inputs: "number=16", err: appliance.ErrRefused, frames: "03 02 10 00 00"},
			{job: "intermediate", inputs: "number=1", trouble: sdnsim.Trouble{Busy: 1}, err: appliance.ErrRefused, frames: "03 02 01 00 00,03 02 01 00 00"},
			{job: "intermediate", inputs: "number=0", err: appliance.ErrOutOfRange},
			{job: "intermediate", inputs: "number=17", err: appliance.ErrOutOfRange},
		} {
			inputs := map[string]string{"address": address(row.motor)}
			for in := range strings.SplitSeq(row.inputs, ",") {
				if name, value, ok := strings.Cut(in, "="); ok {
					inputs[name] = value
				}
			}
			if err := b.sim.SetTrouble(address(row.motor), row.trouble); err != nil {
				t.Fatal(err)
			}
			facts, heard, err := b.job(t, row.job, inputs)
			var changes []string
			groups := 0
			for _, f := range heard {
				if strings.HasPrefix(f, "41") {
					groups++
				} else if f[0] == '0' && f[1] < 'C' || f[0] == '5' {
					changes = append(changes, strings.TrimSpace(f))
				}
			}
			frames := strings.Join(changes, ",")
			if groups > 0 {
				frames = fmt.Sprintf("%d of groups", groups)
			}
			if facts != row.facts || frames != strings.TrimSuffix(row.frames, ",") || (err == nil) != (row.err == nil) || row.err != errAny && !errors.Is(err, row.err) {
				t.Errorf("%s of %d %s: told %q, sent %q, %v; want %q, %q, %v", row.job, row.motor, row.inputs, facts, frames, err, row.facts, row.frames, row.err)
			}
		}
		if _, _, err := b.job(t, "label", map[string]string{"address": "01.01.05"}); err == nil {
			t.Error("a group has a label")
		}
	})
}

var errAny = errors.New("any error")
