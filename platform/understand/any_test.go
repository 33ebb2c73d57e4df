package understand

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Whatever words come in whatever order, they are read or refused, and the same way each time.
func TestAnyWordsAreRead(t *testing.T) {
	names := house()
	var words []string
	for _, l := range lexicons {
		for w := range l.words {
			words = append(words, w)
		}
	}
	for w := range names.known {
		words = append(words, w, w)
	}
	for w := range timeWords {
		words = append(words, w)
	}
	words = append(words, "2", "3", "50", "80", "2:30", "?", ",", "the", "the", "of", "in", "than", "and", "or", "not", "der", "die", "im", "als", "und", "nicht", "sauna")
	slices.Sort(words)
	r := rand.New(rand.NewPCG(32, 7))
	for range 3_000 {
		var said []string
		for range 2 + r.IntN(9) {
			said = append(said, words[r.IntN(len(words))])
		}
		text := strings.Join(said, " ")
		f := Read(text, names, now)
		if again := Read(text, names, now); again.String() != f.String() {
			t.Fatalf("%q: %s and then %s", text, f, again)
		}
		_ = f.Alone().After(Frame{Topic: Lights, Where: Where{Places: []Place{{Kind: Zone, ID: 3, Name: "Lobby"}}}}).String()
		Separate(text, f, names, now)
	}
}
