package understand

import (
	"slices"
	"strconv"
	"strings"
)

// byNumber finds "light 35", "zone 3": a kind and an ID. Beside the name of a zone it is a number of that zone: "lamp 5 in the
// workshop" is no lamp 5 of the building. It takes the zone out of found, then, or leaves the number unknown.
func (n Names) byNumber(t []token, found []Place) []Place {
	places := found
	for i := 0; i+1 < len(t); i++ {
		kinds, ok := numbered[t[i].stem]
		k := i + 1
		if k+1 < len(t) && (t[k].stem == "number" || t[k].stem == "id" || t[k].stem == "no") {
			k++
		}
		id, err := strconv.ParseInt(t[k].stem, 10, 64)
		if !ok || t[i].used || t[k].used || counted(t, k) || err != nil || k+1 < len(t) && percentWord(t[k+1].stem) {
			continue
		}
		if at := zoneBeside(t, i, k); at >= 0 {
			zones := slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return p.Mention != at || p.Kind != Zone })
			if len(zones) > 0 {
				if p, ok := n.ofZone(zones, t[k].stem, kinds); ok {
					p.Mention = at
					places = append(slices.DeleteFunc(places, func(p Place) bool { return p.Mention == at }), p)
					t[i].used, t[k].used = true, true
				}
				continue
			}
		}
		for _, one := range n.all {
			if one.place.ID == id && slices.Contains(kinds, one.place.Kind) {
				p := one.place
				p.Mention = i
				places = append(places, p)
				t[i].used, t[k].used = true, true
				break
			}
		}
	}
	return places
}

var numbered = map[string][]Kind{"light": {Device}, "lamp": {Device}, "luminaire": {Device}, "node": {Device, Meter}, "device": {Device, Meter},
	"shade": {Shade}, "blind": {Shade}, "zone": {Zone}, "cluster": {Zone}, "meter": {Meter}, "area": {Zone}}

// zoneBeside is where a name begins that a noun and its number, from i to k, stand beside; -1: none.
func zoneBeside(t []token, i, k int) int {
	if i > 0 && t[i-1].used {
		for i--; i > 0 && t[i-1].used; {
			i--
		}
		return i
	}
	for k++; k < len(t) && leading[t[k].stem] && !t[k].used; {
		k++
	}
	if k < len(t) && t[k].used && !t[k].apart {
		return k
	}
	return -1
}

// ofZone is the only thing of a kind that is named after one of some zones, with a number.
func (n Names) ofZone(zones []Place, number string, kinds []Kind) (found Place, ok bool) {
	for _, one := range n.all {
		words := stems(one.place.Name)
		last := len(words) - 1
		if last < 1 || words[last] != number || !slices.Contains(kinds, one.place.Kind) {
			continue
		}
		named := slices.ContainsFunc(zones, func(z Place) bool {
			of := stems(z.Name)
			return !slices.ContainsFunc(words[:last], func(w string) bool { return !slices.Contains(of, w) && countable(w) == "" })
		})
		if named && ok && found.ID != one.place.ID {
			return Place{}, false
		}
		if named {
			found, ok = one.place, true
		}
	}
	return found, ok
}

// quantified reports whether a number says how many of some lights or shades are meant: "three of the canteen lights", "two lobby lamps",
// "drei der Leuchten". Behind a noun or a name it is the number of one of them: "light 3 of the canteen".
func quantified(t []token, i int) bool {
	if i > 0 && slices.Contains([]string{"mindesten", "hoechsten"}, t[i-1].stem) && i+1 < len(t) && (t[i+1].stem == "der" || t[i+1].stem == "von") {
		return true
	}
	if isDigits(t[i].stem) && i+2 < len(t) && t[i+1].stem == "of" && slices.Contains([]string{"the", "our", "these", "those", "all"}, t[i+2].stem) && (i == 0 || numbered[t[i-1].stem] == nil) {
		return true // "at least three of the lamps"
	}
	if !isDigits(t[i].stem) || i > 0 && !t[i].apart && (numbered[t[i-1].stem] != nil || generic[t[i-1].stem] || toOrBy[t[i-1].stem] ||
		!lexicons[English].words[t[i-1].stem] && !lexicons[German].words[t[i-1].stem]) {
		return false
	}
	k := i + 1
	if k < len(t) && t[k].stem == "of" {
		return true
	}
	if k < len(t) && (t[k].stem == "der" || t[k].stem == "von") {
		k++
	}
	for ; k < min(len(t), i+6) && !t[k].apart && !percentWord(t[k].stem) && !digit(t[k].stem[0]) && !joints[t[k].stem]; k++ {
		kind, text := countable(t[k].stem), t[k].text
		if text == "" { // "Lobbyleuchten"
			text = t[k-1].text
		}
		if kind == Light || kind == Shade {
			return strings.HasSuffix(text, "s") || strings.HasSuffix(text, "en") || strings.HasSuffix(text, "er")
		}
	}
	return false
}

// toOrBy lead to a number that is an amount.
var toOrBy = wordSet("to at by than auf um mit als bei exactly genau least most mindestens hoechstens over under above below ueber unter")

// someOf takes how many things somebody asks about who knows it already: "why do three of the canteen lights not respond", "which two
// lobby lamps are off". The answer tells how many there are.
func (s *sentence) someOf() {
	for i := 1; i < len(s.t); i++ {
		why := i == 2 && slices.Contains([]string{"why", "warum", "wieso", "weshalb"}, s.t[0].stem)
		if !s.t[i].used && (why || slices.Contains([]string{"which", "welche", "welchen"}, s.t[i-1].stem)) && counted(s.t, i) && !percentWord(s.wordAt(i+1)) && !s.ranks() {
			s.t[i].used = true
		}
	}
}
