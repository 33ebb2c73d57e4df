package dali

import (
	"errors"
	"testing"

	"svc.internal/controller/drivers/line"
)

// TestAnswersToOthersAreNotTaken: gear answers whoever asks, and a gateway that reports
// what others say reports those answers as well.
func TestAnswersToOthersAreNotTaken(t *testing.T) {
	t.Parallel()
	question := Command(Short(2), OpQueryActualLevel)
	var (
		theirs  = lubaMessage(lubaEvent, 0, 1, 0, 0x80|16, 0x03, OpQueryActualLevel)
		garbled = lubaMessage(lubaEvent, 0, 1, 0, 0x80|63)
		answer  = lubaMessage(lubaEvent, 0, 1, 0, 0x80|8, 77)
		ours    = lubaMessage(lubaEvent, 0, 1, 0, 0, 9, question.Frame.AddressByte(), question.Frame.Data())
		another = lubaMessage(lubaEvent, 0, 1, 0, 0, 8, 0x01, OpQueryActualLevel)
	)
	for _, c := range []struct {
		name string
		says [][]byte
		want Answer
		over bool
	}{
		{"ours", [][]byte{ours, answer}, Answer{AnswerValue, 77}, true},
		{"garbled", [][]byte{ours, garbled}, Answer{Kind: AnswerGarbled}, true},
		{"an answer before the question is out", [][]byte{theirs, answer}, Answer{}, false},
		{"a garbled one before it is out", [][]byte{theirs, garbled}, Answer{}, false},
		{"ours after theirs", [][]byte{theirs, garbled, ours, answer}, Answer{AnswerValue, 77}, true},
		{"one to a question that was given up", [][]byte{another, answer}, Answer{}, false},
		{"theirs after ours, to which nobody answered", [][]byte{ours, theirs, answer}, Answer{}, true},
		{"the same, garbled", [][]byte{ours, theirs, garbled}, Answer{}, true},
	} {
		h := hearing{gw: luba{}, send: question}
		for _, b := range c.says {
			if n, v := h.scan(b); n != len(b) || v == line.More {
				t.Fatalf("%s: % X: %d bytes taken, %v", c.name, b, n, v)
			}
			if h.over {
				break
			}
		}
		if h.answer != c.want || h.over != c.over || h.err != nil {
			t.Errorf("%s: %+v, over %v, %v; want %+v, over %v", c.name, h.answer, h.over, h.err, c.want, c.over)
		}
	}
}

// TestEchoOfOurFrameIsNoOtherMaster: an SCI that echoes may report the frame that it was
// told to send as one that it heard.
func TestEchoOfOurFrameIsNoOtherMaster(t *testing.T) {
	t.Parallel()
	question := Command(Short(2), OpQueryActualLevel)
	five := func(b ...byte) []byte { return append(b, xor(b)) }
	h := hearing{gw: sci{}, send: question}
	for _, b := range [][]byte{
		five(0x10, 0, 0, 0),
		five(0x13, 0, question.Frame.AddressByte(), question.Frame.Data()),
		five(0x12, 0, 0, 77),
	} {
		h.scan(b)
	}
	if want := (Answer{AnswerValue, 77}); h.answer != want || !h.over {
		t.Errorf("%+v, over %v, want %+v", h.answer, h.over, want)
	}
}

// The two halves of a frame that a gateway sends twice, and tells of each, have one fate: else somebody else was on the line.
func TestHalvesOfDifferentFatesAreACollision(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		second message
		want   error
	}{{message{said: saidNone}, nil}, {message{said: saidAnswer, value: 5}, errConflict}} {
		h := hearing{gw: atx{}, send: Send{Frame: Command(Short(0), OpSetShort).Frame, Twice: true}}
		h.take(message{said: saidNone})
		h.take(tc.second)
		if !h.over || !errors.Is(h.err, tc.want) {
			t.Errorf("%+v after none: over %v, %v; want %v", tc.second, h.over, h.err, tc.want)
		}
	}
}
