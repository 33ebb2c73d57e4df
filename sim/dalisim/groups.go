package dalisim

// SetGroups replaces the groups that a gear holds, as a commissioning tool would; bit
// n stands for group n.
func (l *Line) SetGroups(index int, groups uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gears[index].groups = groups
}
