package web

import (
	"errors"
	"fmt"
	"testing"
)

func isDisplaced(s *Stream) bool {
	select {
	case <-s.Displaced():
		return true
	default:
		return false
	}
}

func enter(t *testing.T, s *Streams, user, from string) *Stream {
	t.Helper()
	m, err := s.Enter(user, addr(from))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestStreamsTakeFromWhoeverHasMost(t *testing.T) {
	for name, tc := range map[string]struct {
		streams *Streams
		from    [3]string // of greedy's two, and of the last
		last    string
	}{
		"one's own share":    {NewStreams(2, 9, 9), [3]string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "greedy"},
		"share of a network": {NewStreams(9, 3, 9), [3]string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}, "other"},
		"all places":         {NewStreams(9, 9, 3), [3]string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			modest := enter(t, tc.streams, "modest", tc.from[0])
			first, second := enter(t, tc.streams, "greedy", tc.from[0]), enter(t, tc.streams, "greedy", tc.from[1])
			if isDisplaced(first) {
				t.Fatal("displaced too soon")
			}
			last := enter(t, tc.streams, tc.last, tc.from[2])
			if !isDisplaced(first) || isDisplaced(modest) || isDisplaced(second) || isDisplaced(last) {
				t.Error("want the oldest of greedy displaced, and no other")
			}
		})
	}
}

func TestStreamsThatDoNotEndAreBoundedByUser(t *testing.T) {
	s := NewStreams(2, 9, 9)
	var all []*Stream
	for i := range 4 {
		all = append(all, enter(t, s, "deaf", fmt.Sprintf("10.0.0.%d", i)))
	}
	if _, err := s.Enter("deaf", addr("10.0.0.9")); !errors.Is(err, ErrStreams) {
		t.Errorf("got %v, want ErrStreams", err)
	}
	enter(t, s, "other", "10.0.0.9").Leave()
	for _, m := range all {
		m.Leave()
	}
	enter(t, s, "deaf", "10.0.0.9").Leave()
	if len(s.open) != 0 || len(s.leaving) != 0 {
		t.Errorf("%d streams are open and %d users leave, want none", len(s.open), len(s.leaving))
	}
}
