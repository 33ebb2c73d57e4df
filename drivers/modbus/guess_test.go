package modbus

import (
	"slices"
	"strings"
	"testing"
)

// What of several roll calls at an address is a device, several, noise, or nobody.
func TestWhatRollCallsComeTo(t *testing.T) {
	const device, nobody, unsure, several, damaged = "a device", "nobody", "unsure", "several", "damaged"
	one, two, nothing := rollCall{frames: 1, size: 7}, rollCall{frames: 2, size: 7}, rollCall{}
	junk := func(n int) rollCall { return rollCall{junk: make([]byte, n)} }
	turning, beside := rollCall{frames: 1, size: 7, junk: make([]byte, stray)}, rollCall{frames: 1, size: 7, junk: make([]byte, stray+1)}
	for _, tc := range []struct {
		calls         []rollCall
		babble, noisy bool
		want          string
		quality       string // of a device
	}{
		{calls: []rollCall{one, one, one}, want: device},
		{calls: []rollCall{turning, one, one}, want: device},
		{calls: []rollCall{one, nothing, nothing}, want: device},
		{calls: []rollCall{nothing, nothing, nothing}, want: nobody},
		{calls: []rollCall{nothing, nothing, junk(5)}, want: nobody},
		{calls: []rollCall{nothing, junk(5), junk(5)}, want: damaged},
		{calls: []rollCall{nothing, junk(8), junk(8)}, want: several},
		{calls: []rollCall{nothing, junk(7), junk(8)}, want: several},
		{calls: []rollCall{junk(7), junk(7), junk(8)}, want: damaged},
		{calls: []rollCall{one, one, one, junk(5)}, want: device, quality: "1 of 4 answers were damaged: check its wiring"},
		{calls: []rollCall{one, one, one, junk(5), junk(5)}, want: device, quality: "2 of 5 answers were damaged: check its wiring"},
		{calls: []rollCall{one, one, junk(5), junk(5)}, want: damaged},
		{calls: []rollCall{one, one, nothing, junk(5), junk(5)}, want: damaged},
		{calls: []rollCall{one, beside, beside}, want: several},
		{calls: []rollCall{one, one, two}, want: device, quality: "1 of 3 answers were damaged: check its wiring"},
		{calls: []rollCall{one, two, two}, want: several},
		{calls: []rollCall{one, two}, want: several},
		{calls: []rollCall{one, one, two, junk(5), junk(5)}, want: several},
		// While somebody talks, part of the damage is his.
		{calls: []rollCall{one, one, junk(5), junk(5)}, babble: true, want: device, quality: "2 of 4 answers were damaged: check its wiring"},
		{calls: []rollCall{one, junk(5), junk(5)}, babble: true, want: damaged},
		{calls: []rollCall{nothing, nothing, junk(5), junk(5)}, babble: true, want: nobody},
		{calls: []rollCall{nothing, junk(5), junk(5)}, babble: true, want: damaged},
		{calls: []rollCall{one, two, two}, babble: true, noisy: true, want: several},
		// Where there is noise, only whole answers say anything.
		{calls: []rollCall{nothing, junk(5), junk(5)}, babble: true, noisy: true, want: unsure},
		{calls: []rollCall{junk(5)}, babble: true, noisy: true, want: unsure},
		{calls: []rollCall{nothing, nothing, junk(5), junk(5)}, babble: true, noisy: true, want: nobody},
		{calls: []rollCall{one, junk(5), junk(5)}, babble: true, noisy: true, want: device,
			quality: "2 of 3 answers were damaged: somebody talks without being asked, so that it cannot be told whether this device is alone"},
	} {
		r := roll{size: 7}
		for i := range tc.calls {
			r.add(&tc.calls[i])
		}
		got := device
		f, wrong := r.trouble(3, tc.babble, tc.noisy)
		switch {
		case r.unsure(tc.noisy):
			got = unsure
		case r.nobody(tc.babble):
			got = nobody
		case wrong:
			got = map[bool]string{true: several, false: damaged}[strings.Contains(f.Detail, "DEVICES")]
		}
		if quality := strings.TrimPrefix(r.quality(tc.noisy), "; "); got != tc.want || got == device && quality != tc.quality {
			t.Errorf("%+v, babble %v, noise %v: %s, %q; want %s, %q", tc.calls, tc.babble, tc.noisy, got, quality, tc.want, tc.quality)
		}
	}
}

// What a nameplate says: a text of characters that can be printed up to its end, or a number; of several models, those that a profile is of.
func TestWhatANameplateSays(t *testing.T) {
	plate := func(length int) *readSpec {
		return &readSpec{At: cellSpec{Table: holdings, Address: 7}, Length: length}
	}
	for _, tc := range []struct {
		name  string
		words []uint16 // nil: refused
		plate *readSpec
		want  string
	}{
		{"none", []uint16{'M'}, nil, ""},
		{"refused", nil, plate(4), ""},
		{"a text", []uint16{'M', 'R', '6', 'C'}, plate(4), "MR6C"},
		{"a text that ends before", []uint16{'M', 'R', 0, 'C'}, plate(4), "MR"},
		{"a text with space around it", []uint16{' ', 'M', '~', ' '}, plate(4), "M~"},
		{"what cannot be printed", []uint16{'M', 31, 'R', 0}, plate(4), ""},
		{"what cannot be printed either", []uint16{'M', 127, 'R', 0}, plate(4), ""},
		{"a number", []uint16{43}, plate(0), "43"},
		{"nought", []uint16{0}, plate(0), "0"},
	} {
		g := &guesser{seen: map[reading][]uint16{{holdings, 7, len(tc.words)}: tc.words, {holdings, 7, 4}: tc.words}}
		if got := g.text(tc.plate); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	for _, tc := range []struct {
		length int
		model  string
		has    bool
	}{{4, "MR6C", true}, {4, "MR6CU", true}, {4, "MR6", false}, {4, "XMR6C", false}, {0, "43", true}, {0, "430", false}, {4, "LED", true}} {
		n := nameplateSpec{Model: plate(tc.length), Is: []string{"MR6C", "LED", "43"}}
		if n.has(tc.model) != tc.has {
			t.Errorf("%q of %d characters is one of %q: %v", tc.model, tc.length, n.Is, !tc.has)
		}
	}
}

// A refused read is cut at its widest hole, or in the middle where there is none; what a profile forbids is not read over.
func TestHowReadsAreCut(t *testing.T) {
	profile := &Profile{}
	profile.Limits.HoleRegisters = 10
	u := &unit{number: 3, key: "3", profile: profile}
	opened, err := openWire(busOf(serialWire(t), nil))
	if err != nil {
		t.Fatal(err)
	}
	d := opened.Driver.(*Driver)
	needs := func(words ...int) (list []need) { // pairs of where, and how many
		for i := 0; i < len(words); i += 2 {
			list = append(list, need{at: point{holdings, uint16(words[i])}, n: words[i+1]})
		}
		return list
	}
	extents := func(reads []read) (list []int) {
		for _, r := range reads {
			list = append(list, int(r.at.addr), r.n)
		}
		return list
	}
	for _, tc := range []struct {
		name  string
		needs []need
		want  []int
	}{
		{"one", needs(1, 1), nil},
		{"the same twice", needs(1, 2, 1, 2), nil},
		{"neighbours", needs(1, 1, 2, 1, 3, 1, 4, 1), []int{1, 2, 3, 2}},
		{"neighbours of several words", needs(1, 2, 3, 2, 5, 4), []int{1, 2, 3, 6}},
		{"a long one before a short one", needs(1, 2, 3, 4, 3, 1), []int{1, 2, 3, 4}},
		{"a hole", needs(1, 1, 2, 1, 5, 1), []int{1, 2, 5, 1}},
		{"the wider of two holes", needs(1, 1, 3, 1, 6, 1), []int{1, 1, 3, 1, 6, 1}},
	} {
		if got := extents(d.halves(read{unit: u, at: tc.needs[0].at, needs: tc.needs})); !slices.Equal(got, tc.want) {
			t.Errorf("%s: cut into %v, want %v", tc.name, got, tc.want)
		}
	}
	for _, tc := range []struct {
		name      string
		forbidden rangeSpec
		most      int // registers in a read; 0: the bus's own bound
		needs     []need
		want      []int
	}{
		{"a hole", rangeSpec{Table: holdings, From: 90, To: 99}, 0, needs(1, 1, 4, 1), []int{1, 4}},
		{"a hole that is forbidden", rangeSpec{Table: holdings, From: 2, To: 3}, 0, needs(1, 1, 4, 1), []int{1, 1, 4, 1}},
		{"one whose last word is", rangeSpec{Table: holdings, From: 3, To: 9}, 0, needs(1, 1, 4, 1), []int{1, 1, 4, 1}},
		{"one whose first word is", rangeSpec{Table: holdings, From: 0, To: 2}, 0, needs(1, 1, 4, 1), []int{1, 1, 4, 1}},
		{"forbidden from its end on", rangeSpec{Table: holdings, From: 4, To: 9}, 0, needs(1, 1, 4, 1), []int{1, 4}},
		{"forbidden up to it", rangeSpec{Table: holdings, From: 0, To: 1}, 0, needs(1, 1, 4, 1), []int{1, 4}},
		{"forbidden in another table", rangeSpec{Table: inputs, From: 2, To: 3}, 0, needs(1, 1, 4, 1), []int{1, 4}},
		{"no hole", rangeSpec{Table: holdings, From: 0, To: 9}, 0, needs(1, 1, 2, 1), []int{1, 2}},
		{"a hole that is too wide", rangeSpec{Table: holdings, From: 90, To: 99}, 0, needs(1, 1, 13, 1), []int{1, 1, 13, 1}},
		{"as many as are read at once", rangeSpec{Table: holdings, From: 90, To: 99}, 4, needs(1, 1, 4, 1), []int{1, 4}},
		{"more than are read at once", rangeSpec{Table: holdings, From: 90, To: 99}, 3, needs(1, 1, 4, 1), []int{1, 1, 4, 1}},
	} {
		profile.Limits.Forbidden, profile.Limits.ReadRegisters = []rangeSpec{tc.forbidden}, tc.most
		if got := extents(d.coalesce(u, tc.needs, always)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: reads %v, want %v", tc.name, got, tc.want)
		}
	}
	for _, row := range [][3]int{{0, 9, 9}, {5, 9, 5}, {9, 5, 5}} {
		if got := lowest(row[0], row[1]); got != row[2] {
			t.Errorf("the lowest of %d and %d is %d", row[0], row[1], got)
		}
	}
}
