package understand

import (
	"slices"
	"strings"
)

// Verbs of German and English that come apart, "machte … aus", "wound … up", are told by one table of what may stand apart and of stems. A
// line of it is
//
//	apart off: aus ab = machen macht machte machten gemacht, …
//
// with the forms of a verb behind the words that make it mean a state: in German the infinitive, present, past and participle, of which the
// latter ones are written in one word with what stands apart wherever they are not apart.

// comesApart begins the lines of the table.
const comesApart = "apart "

// readApart writes a line of the table as the phrases that it stands for, and notes what may stand apart.
func (l *lexicon) readApart(tag, list string, lang Lang) string {
	state := strings.TrimPrefix(tag, comesApart)
	particles, verbs, _ := strings.Cut(list, "=")
	var phrases []string
	for verb := range strings.SplitSeq(verbs, ",") {
		forms := strings.Fields(verb)
		for _, particle := range strings.Fields(particles) {
			for i, form := range forms {
				switch {
				case lang == English:
					phrases = append(phrases, form+" "+particle)
				case i > 0: // what is to be done is not yet so
					phrases = append(phrases, particle+form)
				}
				w := stem(form)
				if lang == German && i == len(forms)-1 { // a participle is never apart
					continue
				}
				l.words[w] = true
				l.apart[w] = append(l.apart[w], stem(particle))
			}
		}
	}
	return state + ": " + strings.Join(phrases, ", ")
}

// advised words begin a question for what is to be done.
var advised = wordSet("should shall must can could soll sollen sollte sollten muss müssen kann können könnte könnten")

// separated takes the verbs that mean nothing alone and whose other part stands behind what they are said of: that part says the state.
func (s *sentence) separated() {
	if !s.asks && !s.f.Is(Asked) && !s.put() || advised[s.wordAt(0)] {
		return
	}
	for i := range s.chunks {
		c := &s.chunks[i]
		particles := s.lex.apart[s.t[c.at].stem]
		if particles == nil || len(c.tags) > 0 {
			continue
		}
		for k := c.at + 1; k < min(len(s.t), c.at+9) && !s.t[k].apart; k++ {
			last := k == len(s.t)-1 || s.t[k+1].apart
			if slices.Contains(particles, s.t[k].stem) && (s.f.Lang == English || last) {
				c.tags = []string{"fill"}
				break
			}
			between := s.t[k].used || s.quiet(k) || countable(s.t[k].stem) != "" || s.t[k].stem == "everything" || s.t[k].stem == "them" || s.t[k].stem == "all"
			if s.f.Lang == English && !between {
				break
			}
		}
	}
}
