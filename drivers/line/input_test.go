package line

import (
	"testing"
	"time"
)

// What comes unasked and never makes a frame does not fill the memory.
func TestWhatIsReceivedIsBounded(t *testing.T) {
	l, err := New(Config{Name: "bus", Port: "tcp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l.received(make([]byte, 100), time.Now())
		if n := len(l.in.buf); n > inputLimit {
			t.Fatalf("%d bytes wait, at most %d may", n, inputLimit)
		}
	}
}
