package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// However many bring files, most of the time is everybody else's.
func TestAfterAFileThereIsARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{unpacking: make(chan struct{}, 1)}
		read := func(ctx context.Context, takes time.Duration) error {
			done, err := a.unpack(ctx)
			if err == nil {
				time.Sleep(takes)
				done()
			}
			return err
		}
		began := time.Now()
		for range 3 {
			if err := read(t.Context(), time.Second/10); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 2300*time.Millisecond {
			t.Errorf("three files of 0.1 s each took %v, want 2.3 s", took)
		}
		hurry, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := read(hurry, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("whoever cannot wait for the rest: %v", err)
		}
		began = time.Now()
		if err := read(t.Context(), time.Minute); err != nil { // and left the turn to others
			t.Error(err)
		}
		if err := read(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute+time.Second/2+restMost {
			t.Errorf("a file of a minute and one more took %v", took)
		}
	})
}
