package sdn

import (
	"maps"
	"slices"
)

// ProfileInfo is what an installer wants to know of a profile.
type ProfileInfo struct{ Name, Title, Source string }

// Profiles lists what a motor's profile can be, by name.
func Profiles() (list []ProfileInfo) {
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		title := "motor of any type"
		if t := profiles[name]; t != 0 {
			title = t.String()
		}
		list = append(list, ProfileInfo{name, title, "node types of Somfy's RS-485 motors"})
	}
	return list
}
