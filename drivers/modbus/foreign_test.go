package modbus

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/line"
)

func framed(b ...byte) []byte { return binary.LittleEndian.AppendUint16(b, crc16(b)) }

// What looks like the answer is not, if another master was heard meanwhile.
func TestForeignQuestionVoidsTheExchange(t *testing.T) {
	t.Parallel()
	theirs, answer := framed(1, 3, 0, 9, 0, 1), framed(1, 3, 2, 0, 77)
	for name, tc := range map[string]struct {
		heard [][]byte
		want  line.Verdict
	}{
		"the answer alone":                      {[][]byte{answer}, line.Accept},
		"a whole question with its answer":      {[][]byte{slices.Concat(theirs, answer)}, line.Reject},
		"its answer later":                      {[][]byte{theirs, answer}, line.Reject},
		"the end of a question":                 {[][]byte{slices.Concat(theirs[5:], answer)}, line.Reject},
		"its answer later than that":            {[][]byte{theirs[5:], answer}, line.Reject},
		"a question to another unit":            {[][]byte{framed(2, 3, 0, 9, 0, 1), answer}, line.Reject},
		"what the line makes when it turns":     {[][]byte{{0, 0xFF}, answer}, line.Accept},
		"the same in one piece":                 {[][]byte{slices.Concat([]byte{0, 0xFF}, answer)}, line.Accept},
		"our own question, which came back":     {[][]byte{slices.Concat(framed(1, 3, 0, 3, 0, 1), answer)}, line.Accept},
		"the late answer of another unit":       {[][]byte{slices.Concat(framed(2, 3, 2, 0, 5), answer)}, line.Accept},
		"a question in the middle of something": {[][]byte{slices.Concat([]byte{7}, theirs, answer)}, line.Reject},
	} {
		c := newCodec(false, false)
		l := listener{codec: c, request: request{unit: 1, fn: readHolding, addr: 3, qty: 1}}
		l.frame, _ = c.encode(l.request)
		got := line.More
		var buf []byte
		for _, piece := range tc.heard {
			buf = append(buf, piece...)
			for len(buf) > 0 {
				var n int
				if n, got = l.scan(buf); got != line.Skip {
					break
				}
				buf = buf[n:]
			}
		}
		if got != tc.want {
			t.Errorf("%s: verdict %v, want %v", name, got, tc.want)
		}
		if told := l.foreign.master(nil, l.frame); told != (tc.want == line.Reject) {
			t.Errorf("%s: another master is told of: %v", name, told)
		}
	}
}

// The bus tells of another master when it was heard thrice, for ten minutes.
func TestAnotherMasterIsTold(t *testing.T) {
	t.Parallel()
	d := &Driver{codec: newCodec(true, false)}
	for i := range 4 {
		if told := d.Troubles()[""] != ""; told != (i > chance) {
			t.Errorf("after %d exchanges it is told: %v", i, told)
		}
		d.gossip.voided.note(1, true, time.Now())
	}
	d.gossip.voided.last = time.Now().Add(-2 * forgiven)
	if d.Troubles()[""] != "" {
		t.Error("it is told for ever")
	}
	if d.gossip.voided.note(1, true, time.Now()); d.gossip.voided.times() != 1 {
		t.Errorf("%d exchanges, one of them lately", d.gossip.voided.times())
	}
}

// What happens to one of several units is told of that unit: another device has its address.
func TestATwinIsNoOtherMaster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		units []int
		asks  bool
		bus   bool
	}{
		"one unit of two":                {[]int{2, 2, 2}, false, false},
		"a whole question was heard":     {[]int{2, 2, 2}, true, true},
		"first one unit, then the other": {[]int{2, 2, 1}, false, true},
		"an end reaches into the next":   {[]int{2, 2, 1, 2}, false, false},
		"now the one, now the other":     {[]int{1, 2, 1, 2, 2}, false, true},
	} {
		d := &Driver{codec: newCodec(true, false), order: []*unit{{key: "1"}, {key: "2"}}}
		for _, n := range c.units {
			d.gossip.voided.note(byte(n), c.asks, time.Now())
		}
		if got := d.Troubles(); (got[""] != "") != c.bus || strings.Contains(got["2"], "another device has its address") == c.bus {
			t.Errorf("%s: %q", name, got)
		}
	}
}
