package console

import (
	"errors"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/line"
)

// TestUnaskedFrameIsShownWhole joins the pieces of a frame that nobody asked for, and
// neither two frames nor what was asked for.
func TestUnaskedFrameIsShownWhole(t *testing.T) {
	t.Parallel()
	var shown []string
	j := &joiner{each: func(f api.Frame) error { shown = append(shown, f.Hex); return nil }, fail: func() {}}
	at := time.Unix(1e9, 0)
	piece := func(after time.Duration, hex, note string) api.Frame {
		at = at.Add(after)
		return api.Frame{At: at, Direction: "discarded", Hex: hex, Note: note}
	}
	for _, f := range []api.Frame{
		piece(0, "11", line.NoteUnasked), piece(9*time.Millisecond, "0402", line.NoteUnasked), piece(8*time.Millisecond, "0001", line.NoteUnasked),
		piece(time.Second, "11", line.NoteUnasked),
		{At: at.Add(time.Millisecond), Direction: "sent", Hex: "0103"},
		piece(2*time.Millisecond, "ff", "damaged"),
	} {
		if err := j.take(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.end(); err != nil {
		t.Fatal(err)
	}
	want := []string{"1104020001", "11", "0103", "ff"}
	for i := range want {
		if len(shown) != len(want) || shown[i] != want[i] {
			t.Fatalf("shown %v, want %v", shown, want)
		}
	}
}

// TestHeldFrameIsShownSoon though nothing follows it, and what shows it can end the watching.
func TestHeldFrameIsShownSoon(t *testing.T) {
	t.Parallel()
	failed := make(chan struct{})
	j := &joiner{each: func(api.Frame) error { return errEnough }, fail: func() { close(failed) }}
	if err := j.take(api.Frame{At: time.Now(), Direction: "discarded", Hex: "11", Note: line.NoteUnasked}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-failed:
	case <-time.After(60 * time.Second):
		t.Fatal("it is held for ever")
	}
	if err := j.end(); !errors.Is(err, errEnough) {
		t.Errorf("ended with %v", err)
	}
}
