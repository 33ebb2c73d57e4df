package main

import "testing"

// TestTempo tells busy times from rest, also where polling alone makes more than a
// busy small site, and calls it rest soon enough to give memory back within 10 s.
func TestTempo(t *testing.T) {
	t.Parallel()
	for _, polling := range []uint64{0, 100 << 10, 5 << 20} {
		var pace tempo
		for range 100 {
			if pace.second(polling); pace.busy {
				t.Fatalf("%d bytes a second of polling count as busy", polling)
			}
		}
		began := 0
		for i := range 30 {
			if pace.second(polling + 40<<20); pace.busy && began == 0 {
				began = i + 1
			}
		}
		if began != 1 || !pace.busy {
			t.Errorf("polling %d: a busy time was noticed after %d seconds", polling, began)
		}
		ended := 0
		for ; pace.busy && ended < 100; ended++ {
			pace.second(polling)
		}
		if ended > 8 {
			t.Errorf("polling %d: rest was noticed after %d seconds", polling, ended)
		}
	}
}
