package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
)

// asking is a request whose writer tells when it is given up.
func asking(ctx context.Context) (c echo.Context, w *deadlined) {
	w = &deadlined{ResponseRecorder: httptest.NewRecorder()}
	return echo.New().NewContext(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), w), w
}

type deadlined struct {
	*httptest.ResponseRecorder
	givenUp bool
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.givenUp = at.Before(time.Now())
	return nil
}

func TestWhoReadsNothingMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewReaders(2, 3, readersWaiting)
		enter := func(user string) (leave func(), w *deadlined) {
			t.Helper()
			c, w := asking(t.Context())
			leave, err := r.Enter(c, user)
			if err != nil {
				t.Fatalf("%s: %v", user, err)
			}
			return leave, w
		}
		leaveFirst, first := enter("mallory")
		leaveSecond, second := enter("mallory")
		leaveAda, ada := enter("ada") // all places are taken

		began := time.Now()
		var leaveBen func()
		var ben *deadlined
		done := make(chan struct{})
		go func() { defer close(done); leaveBen, ben = enter("ben") }()
		synctest.Wait()
		time.Sleep(readerPatience)
		synctest.Wait()
		if !first.givenUp || second.givenUp || ada.givenUp {
			t.Errorf("given up: first %v, second %v, ada's %v; want the first of whoever has most", first.givenUp, second.givenUp, ada.givenUp)
		}
		leaveFirst()
		<-done
		if took := time.Since(began); took != readerPatience {
			t.Errorf("ben waited %v, want %v", took, readerPatience)
		}
		leaveSecond()
		leaveAda()
		leaveBen()
		if ben.givenUp {
			t.Error("ben's answer was given up, for whom nobody waited")
		}
	})
}

const readersWaiting = 32

func TestReadersWaitNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewReaders(1, 8, readersWaiting)
		c, _ := asking(t.Context())
		leave, err := r.Enter(c, "mallory")
		if err != nil {
			t.Fatal(err)
		}
		began, refused := time.Now(), make(chan time.Duration, readersWaiting+1)
		for range readersWaiting {
			go func() {
				c, _ := asking(t.Context())
				if _, err := r.Enter(c, "mallory"); !errors.Is(err, ErrUnread) {
					t.Errorf("one who waits: %v", err)
				}
				refused <- time.Since(began)
			}()
		}
		synctest.Wait()
		c, _ = asking(t.Context())
		if _, err := r.Enter(c, "mallory"); !errors.Is(err, ErrUnread) || time.Since(began) != 0 {
			t.Errorf("one too many waits %v: %v", time.Since(began), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		c, _ = asking(gone)
		other, err := r.Enter(c, "ada")
		if err != nil {
			t.Fatalf("somebody else: %v", err)
		}
		other()
		for range readersWaiting {
			if took := <-refused; took != readersWait {
				t.Errorf("somebody waited %v, want %v", took, readersWait)
			}
		}
		leave()
	})
}
