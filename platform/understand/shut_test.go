package understand

import (
	"os"
	"testing"
)

// The shut half: nobody mends the grammar by it. It prints its rates without the sentences; SETS=open shows them, after which it is
// shut no longer.
func TestShutSets(t *testing.T) {
	names := house()
	for _, set := range []string{"shut.tsv"} {
		n, all := [3]int{}, readSet(t, set)
		for _, l := range all {
			f := Read(l.text, names, now).Alone()
			v := judge(f, l.want)
			n[v]++
			if v != right && os.Getenv("SETS") == "open" {
				t.Logf("%q: got %s, want %v", l.text, f, l.want)
			}
		}
		part := func(v verdict) float64 { return 100 * float64(n[v]) / float64(len(all)) }
		t.Logf("%s: %d sentences: %.1f %% right, %.1f %% refused, %.1f %% confidently wrong", set, len(all), part(right), part(refused), part(wrong))
	}
}
