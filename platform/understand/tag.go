package understand

import (
	"slices"
)

// tag explains the words that are left by the lexicon, longest phrase first, with the tags that wanted lets through.
func (s *sentence) tag(wanted func(string) bool) []chunk {
	var out []chunk
	for i := 0; i < len(s.t); {
		if s.t[i].used {
			i++
			continue
		}
		took := 0
		for _, e := range s.lex.byFirst[s.t[i].stem] {
			if !slices.ContainsFunc(e.tags, wanted) {
				continue
			}
			if took = phraseAt(s.t, i, e.words); took > 0 {
				c := chunk{at: i, n: took}
				for _, tg := range e.tags {
					if wanted(tg) {
						c.tags = append(c.tags, tg)
					}
				}
				out = append(out, c)
				break
			}
		}
		if took == 0 {
			out = append(out, chunk{at: i, n: 1})
			took = 1
		}
		i += took
	}
	return out
}

// has reports whether any of the tags was given.
func (s *sentence) has(tags ...string) bool { return s.first(tags...) >= 0 }

// first is the token of the first of the tags, -1 without one.
func (s *sentence) first(tags ...string) int {
	for _, c := range s.chunks {
		if c.is(tags...) {
			return c.at
		}
	}
	return -1
}

func (c chunk) is(tags ...string) bool {
	return slices.ContainsFunc(c.tags, func(t string) bool { return slices.Contains(tags, t) })
}

func (s *sentence) claim(tags ...string) {
	for _, t := range tags {
		s.claims[t] = true
	}
}
