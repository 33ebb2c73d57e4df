package engine

import (
	"cmp"
	"slices"

	"svc.internal/controller/appliance"
)

// section is the part of a cluster that is on one bus.
type section struct {
	cluster appliance.ID
	name    string
	members []string // devices, ascending
}

// evictFactor is how many times as large a cluster must be to take the group of the
// smallest one when none is left: every change of hands writes to all members of
// both.
const evictFactor = 2

// allot decides which clusters own a group. Who has one keeps it, as long as two
// members are left. The others get what is free, the largest first, since each
// member spares a frame; of equally large ones the lower ID. A section that is served
// otherwise gets none. It returns the claims, ascending by cluster, and the groups
// that nobody owns any more.
func allot(old []appliance.GroupClaim, sections []section, free []string, served func(section) bool) (claims []appliance.GroupClaim, left []string) {
	bySize := slices.Clone(sections)
	slices.SortFunc(bySize, func(a, b section) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.cluster, b.cluster))
	})
	owner := make(map[appliance.ID]string)
	for _, c := range old {
		if slices.ContainsFunc(bySize, func(p section) bool { return p.cluster == c.Cluster && len(p.members) > 1 }) {
			owner[c.Cluster] = c.Group
		} else {
			left = append(left, c.Group)
		}
	}
	free = append(slices.Clone(free), left...) // what others give up is as good
	for _, p := range bySize {
		twin := slices.ContainsFunc(bySize, func(q section) bool {
			return q.cluster != p.cluster && owner[q.cluster] != "" && slices.Equal(q.members, p.members)
		})
		if owner[p.cluster] != "" || len(p.members) < 2 || twin || served(p) {
			continue
		}
		if len(free) > 0 {
			owner[p.cluster], free = free[0], free[1:]
			continue
		}
		smallest := slices.IndexFunc(bySize, func(q section) bool { return owner[q.cluster] != "" })
		for i, q := range bySize {
			if owner[q.cluster] != "" && len(q.members) <= len(bySize[smallest].members) {
				smallest = i
			}
		}
		if smallest >= 0 && len(p.members) >= evictFactor*len(bySize[smallest].members) {
			loser := bySize[smallest].cluster
			owner[p.cluster] = owner[loser]
			delete(owner, loser)
		}
	}
	left = slices.DeleteFunc(left, func(group string) bool { return !slices.Contains(free, group) })
	for id, group := range owner {
		claims = append(claims, appliance.GroupClaim{Cluster: id, Group: group})
	}
	slices.SortFunc(claims, func(a, b appliance.GroupClaim) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return claims, left
}
