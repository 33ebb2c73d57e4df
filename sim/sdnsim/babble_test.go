package sdnsim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestChatterTakesItsPartOfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{Motors: []Motor{{Address: "06.1A.2B", Open: 30}}})
		if err := bus.Chatter("06.1A.2B", 0.4); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		reports := 0
		for time.Since(began) < 2*time.Second {
			if m, _, ok := p.answer(200 * time.Millisecond); ok {
				if m.ID != 0x0D || m.Src != 0x061A2B || m.Data[2] != 70 {
					t.Fatalf("heard %+v, want the motor's position told to somebody else", m)
				}
				reports++
			}
		}
		var busy time.Duration
		for _, h := range bus.Heard(0) {
			busy += time.Duration(len(h.Babble)) * bus.char
		}
		if part := busy.Seconds() / time.Since(began).Seconds(); part < 0.25 || part > 0.55 || reports < 10 {
			t.Errorf("talked %.2f of the time in %d reports, want 0.4", part, reports)
		}
		if err := bus.Chatter("", 0); err != nil {
			t.Fatal(err)
		}
		if err := bus.Chatter("06.1A.99", 0.1); err == nil {
			t.Error("a motor that is not there babbles")
		}
	})
}

func TestBabbleSpoilsWhatItHits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{Motors: []Motor{{Address: "06.1A.2B"}}, AnswerMin: 5 * time.Millisecond, AnswerMax: 5 * time.Millisecond})
		if err := bus.Chatter("", 0.9); err != nil {
			t.Fatal(err)
		}
		whole := 0
		for range 10 {
			p.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
			if m, _, ok := p.answer(150 * time.Millisecond); ok && m.Src == 0x061A2B {
				whole++
			}
		}
		if n := bus.Counts(); whole > 8 || n.Collisions == 0 {
			t.Errorf("%d of 10 questions were answered although the line was taken nine tenths of the time; %+v", whole, n)
		}
	})
}

func TestTwoMotorsOfOneAddressBothAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{Motors: []Motor{{Address: "06.1A.2B", Open: 20}}})
		if err := bus.Duplicate("06.1A.2B", true); err != nil {
			t.Fatal(err)
		}
		seen := map[byte]int{}
		for range 8 {
			p.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
			for _, wait := range []time.Duration{320 * time.Millisecond, 320 * time.Millisecond} {
				if m, _, ok := p.answer(wait); ok && m.ID == 0x0D {
					seen[m.Data[2]]++
				}
			}
		}
		if seen[80] == 0 || seen[0] == 0 || len(seen) != 2 {
			t.Errorf("heard positions %v, want those of both", seen)
		}
		if err := bus.Duplicate("06.1A.2B", false); err != nil {
			t.Fatal(err)
		}
		p.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
		if m, _, ok := p.answer(time.Second); !ok || m.Data[2] != 80 {
			t.Errorf("heard %+v, want the first motor alone", m)
		}
		if n := len(bus.Devices()); n != 1 {
			t.Errorf("%d devices", n)
		}
	})
}

// An answer that was on its way when the adapter was pulled is not heard when it is
// back.
func TestServeBeginsWithAnEmptyWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, err := New(Config{Virtual: true, Motors: []Motor{{Address: "06.1A.2B"}}, AnswerMin: 150 * time.Millisecond, AnswerMax: 150 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		serve := func(p *pipe) (end func()) {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- bus.Serve(ctx, p) }()
			return func() { cancel(); close(p.toBus); <-done }
		}
		first := newPipe()
		end := serve(first)
		first.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
		for until := time.Now().Add(time.Second); bus.Counts().FramesOut == 0; <-time.After(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("the motor prepares no answer")
			}
		}
		end()
		<-time.After(200 * time.Millisecond) // the adapter is out while the motor answers
		second := newPipe()
		defer serve(second)()
		if m, raw, _ := second.answer(300 * time.Millisecond); len(raw) > 0 {
			t.Errorf("heard % X, %+v after the adapter was back", raw, m)
		}
	})
}

func TestRecordIsBoundedAndGoesOn(t *testing.T) {
	bus, err := New(Config{Motors: []Motor{{Address: "06.1A.2B"}}})
	if err != nil {
		t.Fatal(err)
	}
	const all = heardMost + heardMost/2
	for n := range all {
		bus.note(Heard{At: time.Unix(int64(n), 0)})
	}
	last := bus.Heard(all - 3)
	if len(last) != 3 || last[2].N != all-1 || last[2].At != time.Unix(all-1, 0) {
		t.Errorf("the last three are %+v", last)
	}
	kept := bus.Heard(0)
	if len(kept) > heardMost || kept[0].N == 0 {
		t.Errorf("%d are kept, from number %d", len(kept), kept[0].N)
	}
	if len(bus.Heard(all)) > 0 {
		t.Error("there is more than was noted")
	}
}
