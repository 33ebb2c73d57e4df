package appliance

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestUUIDs(t *testing.T) {
	const text = "123e4567-e89b-42d3-a456-426614174000"
	u, err := ParseUUID(text)
	want := UUID{0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x42, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x00}
	if err != nil || u != want || u.String() != text || u.IsZero() || !(UUID{}).IsZero() {
		t.Errorf("%s is %x and written %s, %v", text, u, u, err)
	}
	for _, no := range []string{"", text + "0", text[1:], "123e4567+e89b-42d3-a456-426614174000", "123e4567-e89b+42d3-a456-426614174000",
		"123e4567-e89b-42d3+a456-426614174000", "123e4567-e89b-42d3-a456+426614174000", "x23e4567-e89b-42d3-a456-426614174000"} {
		if u, err := ParseUUID(no); err == nil || !u.IsZero() {
			t.Errorf("%q is %s", no, u)
		}
	}
	// RFC 9562 4.4: version 4 in the 7th byte, variant 10 in the 9th; all else is random.
	var ones, zeros UUID
	for range 200 {
		u := NewUUID()
		for i, b := range u {
			ones[i] |= b
			zeros[i] |= ^b
		}
		if s := u.String(); s[14] != '4' || !strings.Contains("89ab", s[19:20]) {
			t.Fatalf("%s is of no version 4", s)
		}
	}
	for i := range ones {
		if random := map[int]byte{6: 0x0f, 8: 0x3f}[i]; random == 0 && ones[i]&zeros[i] != 0xff || ones[i]&zeros[i] != random && random != 0 {
			t.Errorf("byte %d: bits %08b change", i, ones[i]&zeros[i])
		}
	}
}

func TestSpotsAreSorted(t *testing.T) {
	sorted := []Spot{{Cluster: 1, X: 1}, {Cluster: 2}, {Shade: 1}, {Shade: 2}, {Node: 1, Y: 1}, {Node: 2}}
	spots := slices.Clone(sorted)
	rand.Shuffle(len(spots), func(i, j int) { spots[i], spots[j] = spots[j], spots[i] })
	slices.Reverse(spots)
	if SortSpots(spots); !slices.Equal(spots, sorted) {
		t.Errorf("%+v", spots)
	}
	if of := (Spot{Shade: 7, X: 0.5, Y: 0.25}).Of(); of != (Spot{Shade: 7}) {
		t.Errorf("of %+v", of)
	}
}

func TestANodeIsBoundByBusAddressAndProfile(t *testing.T) {
	bus := UUID{1}
	for n, bound := range map[*Node]bool{
		{Bus: bus, Address: "5", Profile: "p"}: true, {Address: "5", Profile: "p"}: false,
		{Bus: bus, Profile: "p"}: false, {Bus: bus, Address: "5"}: false,
	} {
		if n.Bound() != bound {
			t.Errorf("%+v is bound: %v", n, !bound)
		}
	}
}

// A shade keeps what was learnt of its motor as long as it hangs off the same output of the same device.
func TestOneMotor(t *testing.T) {
	place := Node{ID: 2, Bus: UUID{1}, Address: "5", Profile: "p"}
	was := []Node{{ID: 1}, place, {ID: 3}}
	at := func(change func(*Node)) []Node {
		n := place
		change(&n)
		return []Node{n, {ID: 3}}
	}
	shade := Shade{Node: 2, Output: 1}
	for _, tc := range []struct {
		name  string
		shade Shade
		is    []Node
		same  bool
	}{
		{"renamed", shade, at(func(n *Node) { n.Name = "new" }), true},
		{"another address", shade, at(func(n *Node) { n.Address = "6" }), false},
		{"another bus", shade, at(func(n *Node) { n.Bus = UUID{2} }), false},
		{"another profile", shade, at(func(n *Node) { n.Profile = "q" }), false},
		{"another output", Shade{Node: 2, Output: 2}, was, false},
		{"another node", Shade{Node: 3, Output: 1}, was, false},
		{"a node that is gone", shade, nil, false},
	} {
		if got := shade.SameMotor(&tc.shade, was, tc.is); got != tc.same {
			t.Errorf("%s: one motor: %v", tc.name, got)
		}
		if got := tc.shade.SameMotor(&shade, tc.is, was); got != tc.same {
			t.Errorf("%s, the other way: one motor: %v", tc.name, got)
		}
	}
	if free := (&Shade{Output: 1}); !free.SameMotor(&Shade{Output: 1}, was, nil) {
		t.Error("a shade that waits for binding is another one")
	}
	if n := NodeIn(was, 2); n == nil || n.Address != "5" || NodeIn(was, 4) != nil {
		t.Errorf("node 2 is %+v", n)
	}
}
