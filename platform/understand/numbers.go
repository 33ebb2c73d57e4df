package understand

import (
	"slices"
	"strconv"
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
