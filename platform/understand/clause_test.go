package understand

import (
	"slices"
	"testing"
)

// What people say around a question to explain it is left out, and nothing that would change its answer.
func TestClausesThatOnlySayWhy(t *testing.T) {
	names := house()
	for _, l := range readSet(t, "clauses.tsv") {
		parts, why := Separate(l.text, Read(l.text, names, now), names, now)
		f := Read(parts[0], names, now).Alone()
		if len(parts) != 1 || judge(f, l.want) != right {
			t.Errorf("%q: %q (left out: %q): %s, want %v", l.text, parts, why, f, l.want)
		}
		if slices.Contains(l.want, "?") && l.want[0] == "?" && why != "" {
			t.Errorf("%q: %q was left out of what is not understood", l.text, why)
		}
	}
}
