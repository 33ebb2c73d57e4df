package sdn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/scan"
)

// scripted runs a driver for one motor on a line in memory, in a bubble. says is what the motor answers to a frame: its
// message, 0 for none, and its data. heard gives what it heard since it was asked last.
func scripted(t *testing.T, says func(Frame) (MessageID, []byte)) (d *Driver, heard func() []Frame) {
	t.Helper()
	var frames []Frame
	var ground cable.Net
	end, err := ground.Plug("/port")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	cfg := busConfig(nil, []appliance.Node{{ID: 1, Address: "06.1A.2B", Profile: "somfy-sdn"}}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}})
	cfg.Bus.Port = "/port"
	o, err := OpenOn(cfg, ground.Ports())
	if err != nil {
		t.Fatal(err)
	}
	d = o.Driver.(*Driver)
	go d.Run(t.Context())
	go func() {
		b := make([]byte, 64)
		for {
			n, err := end.Read(b)
			if err != nil {
				return
			}
			f, err := ParseFrame(b[:n])
			if err != nil {
				t.Errorf("sent % X: %v", b[:n], err)
				continue
			}
			frames = append(frames, f)
			if id, data := says(f); id != 0 {
				answer, err := Frame{ID: id, Source: f.Destination, Destination: f.Source, Data: data}.Bytes()
				if err != nil {
					t.Error(err)
				}
				time.Sleep(50 * time.Millisecond)
				end.Write(answer)
			}
		}
	}()
	time.Sleep(time.Minute) // it listens before it speaks
	return d, func() []Frame {
		synctest.Wait()
		list := frames
		frames = nil
		return list
	}
}

// A motor that refuses an entry which is not the first has a smaller table. Any other failure, and a first entry that is refused, leaves it unread.
func TestATableEndsWhereItIsRefused(t *testing.T) {
	for _, tc := range []struct {
		entry int // that is answered with
		id    MessageID
		data  []byte
		asked int
		err   error
	}{
		{entry: maxGroups, asked: maxGroups},
		{entry: 3, id: nack, data: []byte{0x24}, asked: 4},
		{entry: 0, id: nack, data: []byte{0x24}, asked: 1, err: appliance.ErrRefused},
		{entry: 3, id: nack, data: []byte{0xFF}, asked: 4, err: appliance.ErrBusy},
		{entry: 3, asked: 4, err: appliance.ErrSilent},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, heard := scripted(t, func(f Frame) (MessageID, []byte) {
				if int(f.Data[0]) == tc.entry {
					return tc.id, tc.data
				}
				return postGroup, []byte{f.Data[0], f.Data[0], 1, 1}
			})
			var held []string
			told := false
			for e := range d.ReadGroups("06.1A.2B", func(list []string) { held, told = list, true }) {
				if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
					if !errors.Is(err, tc.err) || tc.err == nil {
						t.Errorf("entry %d answered with %v % X: %v", tc.entry, tc.id, tc.data, err)
					}
					break
				}
			}
			if asked := len(heard()); told != (tc.err == nil) || asked != tc.asked {
				t.Errorf("entry %d answered with %v % X: told %v, asked %d times, want %d", tc.entry, tc.id, tc.data, told, asked, tc.asked)
			}
			if size := d.site.all[0].table.size; told && (size != tc.entry || len(held) != size) {
				t.Errorf("%d entries answered: the table has %d, and holds %q", tc.entry, size, held)
			}
		})
	}
}

// A lock that was acknowledged and cannot be read back is told as what it is: nobody knows.
func TestALockThatCannotBeReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := scripted(t, func(f Frame) (MessageID, []byte) { return map[MessageID]MessageID{ctrlLock: ack}[f.ID], nil })
		session := appliance.Session{
			Inputs: map[string]string{"address": "06.1A.2B"},
			Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
				return e.Do(ctx, appliance.Yield{})
			},
			Tell: func(s appliance.ServiceStep) { t.Errorf("told %+v", s) },
		}
		for _, s := range d.Services() {
			if s.Name != "lock" {
				continue
			}
			if err := s.Run(t.Context(), session); !errors.Is(err, appliance.ErrSilent) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// What fits no frame is refused, and nothing is sent.
func TestWhatFitsNoFrameIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard := scripted(t, func(Frame) (MessageID, []byte) { return ack, nil })
		announced := false
		res, err := d.ask(t.Context(), appliance.Yield{}, question{
			motor: d.site.all[0], id: ctrlStop, data: make([]byte, maxData+1), want: ack, before: func() { announced = true },
		})
		if frames := heard(); !errors.Is(err, appliance.ErrRefused) || !res.Sent.IsZero() || announced || len(frames) > 0 {
			t.Errorf("sent %v, announced %v, heard %v: %v", res.Sent, announced, frames, err)
		}
	})
}

// A motor that does not answer is asked a few times, and more often, but not for ever, while somebody makes noise.
func TestHowOftenASilentMotorIsExamined(t *testing.T) {
	for noisy, times := range map[bool]int{false: examineTries, true: examineDoubts} {
		synctest.Test(t, func(t *testing.T) {
			d, heard := scripted(t, func(Frame) (MessageID, []byte) { return 0, nil })
			a := d.site.all[0].address
			for step := range scan.Steps(func(c *scan.Course) {
				s := &search{Course: c, driver: d, heard: newEavesdropper(d.options.host), known: map[Address]*candidate{a: {}}}
				s.heard.drowned = noisy
				s.examine(a)
			}) {
				step.Judge(step.Exchange.Do(t.Context(), appliance.Yield{}))
			}
			asked := map[MessageID]int{}
			for _, f := range heard() {
				asked[f.ID]++
			}
			for _, id := range []MessageID{getAppVersion, getMotorLimits, getGroup} {
				if asked[id] != times {
					t.Errorf("noise %v: asked %d times for %v, want %d", noisy, asked[id], id, times)
				}
			}
		})
	}
}

// Whoever sends a motor to its next intermediate position gives no way: only a jog has one.
func TestWhatAJogIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard := scripted(t, func(Frame) (MessageID, []byte) { return ack, nil })
		a := d.site.all[0].address
		for by, value := range map[MoveOf]uint16{NextPositionDown: unused, NextPositionUp: unused, JogDownPulses: 7, JogUpPulses: 7} {
			if _, err := d.Jog(a, by, 7).Do(t.Context(), appliance.Yield{}); err != nil {
				t.Fatal(err)
			}
			if f := heard()[0]; f.ID != ctrlMoveOf || string(f.Data) != string(moveOfData(by, value)) {
				t.Errorf("%v: % X", by, f.Data)
			}
			time.Sleep(time.Second)
		}
	})
}
