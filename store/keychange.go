package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// KeyChange is one key of an entry that an import changes, in the words of a site file.
// Empty: nothing is said there.
type KeyChange struct{ Key, Old, New string }

// changes gathers those of one entry.
type changes []KeyChange

func (c *changes) add(key string, changed bool, was, is string) {
	if changed {
		*c = append(*c, KeyChange{key, was, is})
	}
}

func keysOf(changed []KeyChange) []string {
	var keys []string
	for _, c := range changed {
		keys = append(keys, c.Key)
	}
	return keys
}

func busChanges(a, b appliance.Bus) []KeyChange {
	var c changes
	c.add("name", a.Name != b.Name, a.Name, b.Name)
	c.add("driver", a.Driver != b.Driver, a.Driver, b.Driver)
	c.add("port", a.Port != b.Port, a.Port, b.Port)
	c.add("line", a.Line != b.Line, lineText(a.Line), lineText(b.Line))
	c.add("options", !maps.Equal(a.Options, b.Options), optionsText(a.Options), optionsText(b.Options))
	c.add("disabled", a.Disabled != b.Disabled, yes(a.Disabled), yes(b.Disabled))
	return c
}

// nodeChanges words its buses by names that these have.
func nodeChanges(a, b appliance.Node, buses []appliance.Bus) []KeyChange {
	var c changes
	c.add("name", a.Name != b.Name, a.Name, b.Name)
	c.add("bus", a.Bus != b.Bus, busText(buses, a.Bus), busText(buses, b.Bus))
	c.add("address", a.Address != b.Address, a.Address, b.Address)
	c.add("profile", a.Profile != b.Profile, a.Profile, b.Profile)
	c.add("tag", a.Tag != b.Tag, string(a.Tag), string(b.Tag))
	c.add("outputs", !slices.Equal(a.Outputs, b.Outputs), list(a.Outputs), list(b.Outputs))
	c.add("groups", !slices.Equal(a.Groups, b.Groups), list(a.Groups), list(b.Groups))
	c.add("options", !maps.Equal(a.Options, b.Options), optionsText(a.Options), optionsText(b.Options))
	c.add("note", a.Note != b.Note, a.Note, b.Note)
	return c
}

func shadeChanges(a, b appliance.Shade) []KeyChange {
	var c changes
	c.add("name", a.Name != b.Name, a.Name, b.Name)
	c.add("node", a.Node != b.Node, number(a.Node), number(b.Node))
	c.add("output", a.Output != b.Output, number(a.Output), number(b.Output))
	c.add("travelUp", a.TravelUp != b.TravelUp, span(a.TravelUp), span(b.TravelUp))
	c.add("travelDown", a.TravelDown != b.TravelDown, span(a.TravelDown), span(b.TravelDown))
	c.add("inverted", a.Inverted != b.Inverted, yes(a.Inverted), yes(b.Inverted))
	return c
}

func clusterChanges(a, b appliance.Cluster) []KeyChange {
	var c changes
	c.add("name", a.Name != b.Name, a.Name, b.Name)
	c.add("nodes", !slices.Equal(a.Nodes, b.Nodes), list(a.Nodes), list(b.Nodes))
	c.add("shades", !slices.Equal(a.Shades, b.Shades), list(a.Shades), list(b.Shades))
	return c
}

// busText is the name of a bus.
func busText(buses []appliance.Bus, uuid appliance.UUID) string {
	i := slices.IndexFunc(buses, func(b appliance.Bus) bool { return b.UUID == uuid })
	switch {
	case uuid.IsZero():
		return ""
	case i < 0:
		return uuid.String()
	}
	return buses[i].Name
}

func lineText(l appliance.LineSettings) string {
	if l == (appliance.LineSettings{}) {
		return ""
	}
	return fmt.Sprintf("baudRate %d, parity %s, dataBits %d, stopBits %d", l.BaudRate, l.Parity, l.DataBits, l.StopBits)
}

func optionsText(options map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, key+"="+options[key])
	}
	return strings.Join(parts, ", ")
}

func list[T any](values []T) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ", ")
}

func number[T ~int | ~int32](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func yes(v bool) string {
	if v {
		return "true"
	}
	return ""
}
