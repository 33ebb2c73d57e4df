package modbus

import (
	"testing"
	"time"
)

// The time of a gateway is learnt from what it answers late, one after the other.
func TestPatience(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	now := time.Unix(1000, 0)
	at := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	type answer struct {
		to   uint16
		sent float64
		at   float64 // 0: it never came
	}
	const minutes = 60
	for name, tc := range map[string]struct {
		answers []answer
		at      float64
		want    time.Duration
	}{
		"nothing is known":                          {nil, 0, timeout},
		"one that is quick is not waited for":       {[]answer{{1, 0, 0.7}}, 1, timeout},
		"one answer that is late":                   {[]answer{{1, 0, 2.5}}, 3, 2850 * time.Millisecond},
		"one that nearly was":                       {[]answer{{1, 0, 0.95}}, 3, 1145 * time.Millisecond},
		"what waited for another took as long":      {[]answer{{1, 0, 2.5}, {2, 1, 5}}, 6, 2850 * time.Millisecond},
		"the slowest counts":                        {[]answer{{1, 0, 2.5}, {2, 3, 4.5}}, 6, 2850 * time.Millisecond},
		"it is bounded":                             {[]answer{{1, 0, 30}}, 31, patienceMost},
		"what is not ours says nothing":             {[]answer{{1, 0, 0.1}, {1, 0, 9}}, 10, timeout},
		"what never came neither":                   {[]answer{{1, 0, 0}}, 10, timeout},
		"it is forgotten":                           {[]answer{{1, 0, 2.5}}, 2.5 + 10*minutes + 1, timeout},
		"quick answers do not keep it":              {[]answer{{1, 0, 2.5}, {2, 9 * minutes, 9*minutes + 0.1}}, 11 * minutes, timeout},
		"not while it goes on":                      {[]answer{{1, 0, 2.5}, {2, 9 * minutes, 9*minutes + 2.5}}, 19 * minutes, 2850 * time.Millisecond},
		"one that got quicker is learnt anew later": {[]answer{{1, 0, 2.5}, {2, 11 * minutes, 11*minutes + 1}}, 12 * minutes, 1200 * time.Millisecond},
	} {
		var p patience
		for i, a := range tc.answers {
			if i == 0 || tc.answers[i-1].to != a.to {
				p.sent(a.to, at(a.sent))
			}
			if a.at > 0 {
				p.answered(a.to, at(a.at), timeout)
			}
		}
		if got := p.timeout(timeout, at(tc.at)); got.Round(time.Millisecond) != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	var p patience
	for i := range 10_000 {
		p.sent(uint16(i), now)
	}
	if len(p.asked) > askedMost {
		t.Errorf("%d questions are remembered", len(p.asked))
	}
}
