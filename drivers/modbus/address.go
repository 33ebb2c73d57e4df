package modbus

import (
	"fmt"
	"strconv"
	"strings"
)

// address of a node: a unit, and for gateways the gear behind it.
type address struct {
	unit byte
	line int // DALI line from 1; 0 where there is none
	gear int // DALI short address 0–63
}

// LastUnit that a device may be; the first is 1.
const LastUnit = 247

// parseAddress reads a node address in the form that its profile asks for.
func parseAddress(text string, p *Profile) (address, error) {
	form := map[string]string{
		"gear":      "unit/short address, such as 5/12",
		"line-gear": "unit/line.short address, such as 5/2.12",
	}[p.Addressing]
	if form == "" {
		form = "a unit, such as 5"
	}
	bad := func(what string) (address, error) {
		return address{}, fmt.Errorf("address %q: %s; %v wants %s", text, what, p, form)
	}
	unitText, rest, behind := strings.Cut(text, "/")
	unit, err := strconv.Atoi(unitText)
	if err != nil || unit < 1 || unit > LastUnit {
		return bad("the unit must be a number from 1 to 247")
	}
	a := address{unit: byte(unit)}
	if !p.gateway() {
		if behind {
			return bad("this device is no gateway")
		}
		return a, nil
	}
	if !behind {
		return bad("the short address behind the gateway is missing")
	}
	a.line = 1
	lineText, gearText, hasLine := strings.Cut(rest, ".")
	if !hasLine {
		gearText = rest
	}
	if hasLine {
		if a.line, err = strconv.Atoi(lineText); err != nil || a.line < 1 || a.line > max(p.Lines, 1) {
			return bad(fmt.Sprintf("the DALI line must be a number from 1 to %d", max(p.Lines, 1)))
		}
	} else if p.Lines > 1 {
		return bad("the DALI line is missing")
	}
	if a.gear, err = strconv.Atoi(gearText); err != nil || a.gear < 0 || a.gear > 63 {
		return bad("the short address must be a number from 0 to 63")
	}
	return a, nil
}

// parseGroups reads the DALI groups a node is in.
func parseGroups(texts []string, p *Profile) ([]int, error) {
	if len(texts) > 0 && !p.gateway() {
		return nil, fmt.Errorf("groups %v: %v holds no groups", texts, p)
	}
	var groups []int
	for _, text := range texts {
		g, err := strconv.Atoi(text)
		if err != nil || g < 0 || g > 15 {
			return nil, fmt.Errorf("group %q: want a DALI group from 0 to 15", text)
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// isGroup reports whether an entry means the group, however it writes the number.
func isGroup(text string, group int) bool {
	g, err := strconv.Atoi(text)
	return err == nil && g == group
}
