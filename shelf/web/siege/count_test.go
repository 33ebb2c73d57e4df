package siege

import (
	"testing"
	"testing/synctest"
	"time"
)

// What came of an attack is awaited, and not for ever.
func TestAnAttackIsAwaited(t *testing.T) {
	for name, row := range map[string]struct {
		comes, ends time.Duration // 0: it never comes
	}{
		"late":  {10 * time.Second, 10 * time.Second},
		"never": {0, 2 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &counts{all: Counts{}}
			c.add(t.Context(), "streams", "held")
			c.add(t.Context(), "streams", notLetIn)
			began := time.Now()
			if c.await(t.Context()); time.Since(began) > 0 {
				t.Errorf("%s: %v were waited though all had come", name, time.Since(began))
			}
			c.add(t.Context(), "flood", notLetIn)
			if row.comes > 0 {
				time.AfterFunc(row.comes, func() { c.add(t.Context(), "flood", "thrown out") })
			}
			if c.await(t.Context()); time.Since(began).Round(time.Second) != row.ends {
				t.Errorf("%s: waited %v, want %v", name, time.Since(began), row.ends)
			}
			if vain := c.all.inVain("flood"); vain != (row.comes == 0) {
				t.Errorf("%s: in vain %v", name, vain)
			}
		})
	}
}
