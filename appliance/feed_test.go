package appliance

import (
	"slices"
	"testing"
)

// A reader who is slow loses the oldest items, is told how many, and keeps nobody waiting.
func TestAFeedKeepsTheNewest(t *testing.T) {
	f := NewFeed[int](3)
	fresh := f.Fresh()
	late := f.End()
	for i := range 5 {
		if items, next, lost := f.Since(f.End()); len(items) > 0 || next != uint64(i) || lost != 0 {
			t.Errorf("at the end of %d there are %v, lost %d", i, items, lost)
		}
		f.Add(i)
		<-fresh
		fresh = f.Fresh()
	}
	select {
	case <-fresh:
		t.Error("woken for nothing")
	default:
	}
	for _, tc := range []struct {
		cursor, lost uint64
		items        []int
	}{
		{late, 2, []int{2, 3, 4}}, {1, 1, []int{2, 3, 4}}, {2, 0, []int{2, 3, 4}}, {4, 0, []int{4}}, {5, 0, nil},
		{6, 0, []int{2, 3, 4}}, // of before a restart
	} {
		if items, next, lost := f.Since(tc.cursor); !slices.Equal(items, tc.items) || next != 5 || lost != tc.lost {
			t.Errorf("from %d on: %v to %d, lost %d; want %v, lost %d", tc.cursor, items, next, lost, tc.items, tc.lost)
		}
	}
	if f := NewFeed[int](3); f.End() != 0 {
		t.Error("a new feed has an item")
	}
	few := NewFeed[int](3)
	few.Add(7)
	if items, next, lost := few.Since(0); !slices.Equal(items, []int{7}) || next != 1 || lost != 0 {
		t.Errorf("of one item: %v to %d, lost %d", items, next, lost)
	}
}
