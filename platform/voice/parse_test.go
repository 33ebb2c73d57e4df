package voice

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
)

// labelled is a line of testdata.
type labelled struct {
	Text   string `json:"text"`
	Intent Intent `json:"intent"`
	Slots  Slots  `json:"slots"`
}

func lines(t testing.TB, name string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	for s := bufio.NewScanner(f); s.Scan(); {
		var l labelled
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		all = append(all, l)
	}
	return all
}

// unlabelled takes out what no label says.
func unlabelled(h *Heard) {
	h.Slots.Part, h.Slots.Back, h.Slots.Toward = false, false, ""
	for i := range h.Slots.Actions {
		unlabelled(&h.Slots.Actions[i])
	}
}

// score counts as utterances.md says: a line is right when intent and slots are equal; a false action is a line that
// should do nothing and comes back acting. The agent of a question counts apart.
func score(t *testing.T, all []labelled, atLeast, falseAtMost float64) {
	t.Helper()
	right, falsely, resting, agents, questions := 0, 0, 0, 0, 0
	confusion := map[string]int{}
	for _, l := range all {
		got := Parse(l.Text)
		unlabelled(&got)
		want := Heard{l.Intent, l.Slots}
		if l.Intent == Question {
			questions++
			if got.Slots.Agent == l.Slots.Agent {
				agents++
			} else {
				t.Logf("%q: want %s, got %s", l.Text, l.Slots.Agent, got.Slots.Agent)
			}
			got.Slots.Agent, want.Slots.Agent = "", ""
		}
		if !want.Acts() {
			resting++
			if got.Acts() {
				falsely++
				t.Logf("FALSE ACTION %q: %s", l.Text, told(got))
			}
		}
		if reflect.DeepEqual(got, want) {
			right++
			continue
		}
		confusion[fmt.Sprintf("%-16s heard as %s", l.Intent, got.Intent)]++
		t.Logf("%q: want %s, got %s", l.Text, told(want), told(got))
	}
	var rows []string
	for k, n := range confusion {
		rows = append(rows, fmt.Sprintf("%3d %s", n, k))
	}
	sort.Strings(rows)
	share := 100 * float64(right) / float64(len(all))
	wrong := 100 * float64(falsely) / float64(max(resting, 1))
	t.Logf("%d of %d right (%.1f %%), %d of %d false actions (%.1f %%), agents %d of %d; confused:\n%s",
		right, len(all), share, falsely, resting, wrong, agents, questions, strings.Join(rows, "\n"))
	if share < atLeast || wrong > falseAtMost {
		t.Errorf("want at least %.1f %% right and at most %.1f %% false actions", atLeast, falseAtMost)
	}
}

func told(h Heard) string {
	b, _ := json.Marshal(h)
	return string(b)
}

func TestUtterances(t *testing.T) { score(t, lines(t, "utterances.jsonl"), 99, 0) }

// Other people's words for the same things, written apart from the grammar.
func TestUtterancesOtherwise(t *testing.T) { score(t, lines(t, "otherwise.jsonl"), 99, 0) }

func TestTooLongIsNotUnderstood(t *testing.T) {
	if got := Parse("turn on the lights" + strings.Repeat(" please", 100)); got.Intent != Unknown {
		t.Errorf("got %s", told(got))
	}
	if got := Parse(strings.Repeat("ä", MaxText-19) + " turn on the lights"); got.Acts() {
		t.Errorf("got %s", told(got))
	}
}

// Whatever is said, parsing ends, a percentage is one, and what is prohibited does nothing.
func FuzzParse(f *testing.F) {
	for _, l := range lines(f, "utterances.jsonl") {
		f.Add(l.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := Parse(text)
		for _, n := range []*int{h.Slots.Percent, h.Slots.By} {
			if n != nil && (*n < 0 || *n > 100) {
				t.Errorf("%q: %s", text, told(h))
			}
		}
		if got := Parse("don't " + text); got.Acts() {
			t.Errorf("don't %q: %s", text, told(got))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	all := lines(b, "utterances.jsonl")
	for i := 0; b.Loop(); i++ {
		Parse(all[i%len(all)].Text)
	}
}

func BenchmarkParseLongest(b *testing.B) {
	text := strings.Repeat("turn on the lihgts in the kichen and ", 20)[:MaxText]
	for b.Loop() {
		Parse(text)
	}
}
