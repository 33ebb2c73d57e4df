package line

import (
	"bytes"
	"context"
	"strconv"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func newIdle(t testing.TB) *Line {
	t.Helper()
	l, err := New(Config{Name: "test", Port: "tcp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRecorderKeepsTheLastFrames(t *testing.T) {
	l := newIdle(t)
	for i := range 3*recordedFrames + 5 {
		l.rec.Add(time.Now(), appliance.FrameSent, []byte(strconv.Itoa(i)), "")
	}
	frames := l.Recent()
	if len(frames) != recordedFrames {
		t.Fatalf("kept %d frames, want %d", len(frames), recordedFrames)
	}
	for i, f := range frames {
		if got, want := string(f.Bytes), strconv.Itoa(2*recordedFrames+5+i); got != want {
			t.Fatalf("frame %d is %s, want %s", i, got, want)
		}
	}
}

func TestRecorderBoundsTheBytesOfAFrame(t *testing.T) {
	l := newIdle(t)
	l.rec.Add(time.Now(), appliance.FrameSent, make([]byte, 10*recordedBytes), "")
	if got := len(l.Recent()[0].Bytes); got != recordedBytes {
		t.Errorf("kept %d bytes, want %d", got, recordedBytes)
	}
}

func TestRecordedFramesAreCopies(t *testing.T) {
	l := newIdle(t)
	b := []byte("one")
	l.rec.Add(time.Now(), appliance.FrameSent, b, "")
	got := l.Recent()
	copy(b, "xxx")
	copy(l.Recent()[0].Bytes, "yyy")
	for range recordedFrames {
		l.rec.Add(time.Now(), appliance.FrameSent, []byte("two"), "")
	}
	if !bytes.Equal(got[0].Bytes, []byte("one")) {
		t.Errorf("a frame changed to %q after it was handed out", got[0].Bytes)
	}
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	l := newIdle(t)
	frame := make([]byte, 32)
	now := time.Now()
	for range recordedFrames {
		l.rec.Add(now, appliance.FrameSent, frame, "")
	}
	if n := testing.AllocsPerRun(1000, func() { l.rec.Add(now, appliance.FrameReceived, frame, "") }); n != 0 {
		t.Errorf("recording a frame allocates %v times", n)
	}
}

func TestSlowFollowerLosesFramesAndHoldsUpNobody(t *testing.T) {
	noLeaks(t)
	l := newIdle(t)
	ctx, cancel := context.WithCancel(context.Background())
	slow, quick := l.Follow(ctx), l.Follow(ctx)
	for i := range 2 * followBuffer {
		l.rec.Add(time.Now(), appliance.FrameSent, []byte(strconv.Itoa(i)), "")
		if got := string((<-quick).Bytes); got != strconv.Itoa(i) {
			t.Fatalf("quick follower got %s, want %d", got, i)
		}
	}
	cancel()
	count := 0
	for range slow { // closed in the end
		count++
	}
	if count != followBuffer {
		t.Errorf("slow follower got %d frames, want the %d that fit its buffer", count, followBuffer)
	}
	if _, open := <-quick; open {
		t.Error("quick follower's channel is not closed")
	}
	l.rec.Add(time.Now(), appliance.FrameSent, nil, "") // nobody follows any more
}
