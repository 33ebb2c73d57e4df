package engine

import (
	"fmt"
	"slices"
	"testing"

	"svc.internal/controller/appliance"
)

func TestWhoGetsAGroup(t *testing.T) {
	clusters := func(sizes ...int) (list []section) {
		for i, n := range sizes {
			p := section{cluster: appliance.ID(i + 1)}
			for k := range n {
				p.members = append(p.members, fmt.Sprintf("%d-%d", i+1, k))
			}
			list = append(list, p)
		}
		return list
	}
	twins := clusters(3, 3)
	twins[1].members = twins[0].members
	nobody := func(section) bool { return false }
	for _, c := range []struct {
		name     string
		old      []appliance.GroupClaim
		sections []section
		free     []string
		served   func(section) bool
		want     []appliance.GroupClaim
		left     []string
	}{
		{"the largest first", nil, clusters(2, 5, 3), []string{"a", "b"}, nobody, []appliance.GroupClaim{{Cluster: 2, Group: "a"}, {Cluster: 3, Group: "b"}}, nil},
		{"of equals the lowest number", nil, clusters(2, 2, 2), []string{"a"}, nobody, []appliance.GroupClaim{{Cluster: 1, Group: "a"}}, nil},
		{"one device needs none", nil, clusters(1), []string{"a"}, nobody, nil, nil},
		{"who has one keeps it", []appliance.GroupClaim{{Cluster: 1, Group: "x"}}, clusters(2, 3), []string{"a"}, nobody, []appliance.GroupClaim{{Cluster: 1, Group: "x"}, {Cluster: 2, Group: "a"}}, nil},
		{"even from one that is larger, but not twice", []appliance.GroupClaim{{Cluster: 1, Group: "x"}}, clusters(2, 3), nil, nobody, []appliance.GroupClaim{{Cluster: 1, Group: "x"}}, nil},
		{"not from one that is twice as large", []appliance.GroupClaim{{Cluster: 1, Group: "x"}}, clusters(2, 4), nil, nobody, []appliance.GroupClaim{{Cluster: 2, Group: "x"}}, nil},
		{"a cluster that is gone gives it back", []appliance.GroupClaim{{Cluster: 7, Group: "x"}}, clusters(1), nil, nobody, nil, []string{"x"}},
		{"and another takes it, if nothing is free", []appliance.GroupClaim{{Cluster: 7, Group: "x"}, {Cluster: 8, Group: "y"}}, clusters(2), nil, nobody, []appliance.GroupClaim{{Cluster: 1, Group: "x"}}, []string{"y"}},
		{"twins share", nil, twins, []string{"a", "b"}, nobody, []appliance.GroupClaim{{Cluster: 1, Group: "a"}}, nil},
		{"who is served needs none", nil, clusters(4, 3), []string{"a"}, func(p section) bool { return p.cluster == 1 }, []appliance.GroupClaim{{Cluster: 2, Group: "a"}}, nil},
	} {
		got, left := allot(c.old, c.sections, c.free, c.served)
		if !slices.Equal(got, c.want) || !slices.Equal(left, c.left) {
			t.Errorf("%s: %v, left %v; want %v, left %v", c.name, got, left, c.want, c.left)
		}
	}
}

// A cluster is served by a group that the site gives to all of its devices and to nobody else.
func TestGroupsOfTheSiteServeWhoHasThemAlone(t *testing.T) {
	g := &grouping{space: appliance.GroupSpace{Declared: map[string][]string{"1": {"0", "3", "5"}, "2": {"0", "3"}, "3": {"0"}}}}
	for _, row := range []struct {
		members []string
		groups  string
	}{
		{[]string{"1", "2", "3"}, "[0]"}, {[]string{"1", "2"}, "[3]"}, {[]string{"1"}, "[5]"}, {[]string{"1", "3"}, "[]"}, {[]string{"3", "4"}, "[]"},
	} {
		if got := fmt.Sprint(g.declaredFor(section{members: row.members})); got != row.groups {
			t.Errorf("%v: %v, want %v", row.members, got, row.groups)
		}
	}
}
