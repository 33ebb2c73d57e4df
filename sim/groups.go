package sim

import (
	"fmt"
	"slices"
	"strconv"
)

// tabled is a player whose devices hold group tables.
type tabled interface {
	// tables are the groups that the devices hold, in site order.
	tables() [][]string
	// rewrite does what an installer's tool does to the table of device i.
	rewrite(i int, groups []string) error
}

func (bd *Building) tabled(busName, nodeAddress string) (tabled, int, error) {
	b, err := bd.bus(busName)
	if err != nil {
		return nil, 0, err
	}
	p, ok := b.player.(tabled)
	if !ok {
		return nil, 0, fmt.Errorf("devices of bus %s hold no group tables: %w", busName, ErrUnknown)
	}
	for i, d := range b.player.devices() {
		if d.Address == nodeAddress {
			return p, i, nil
		}
	}
	return nil, 0, fmt.Errorf("no node at address %q of bus %s: %w", nodeAddress, busName, ErrUnknown)
}

// Groups tells which groups the device at an address really holds.
func (bd *Building) Groups(busName, nodeAddress string) ([]string, error) {
	p, i, err := bd.tabled(busName, nodeAddress)
	if err != nil {
		return nil, err
	}
	return p.tables()[i], nil
}

// SetGroups puts other groups into the table of a device, as an installer's tool
// would, or a reset to factory settings with none.
func (bd *Building) SetGroups(busName, nodeAddress string, groups []string) error {
	p, i, err := bd.tabled(busName, nodeAddress)
	if err != nil {
		return err
	}
	return p.rewrite(i, groups)
}

func (p *sdnBus) tables() [][]string {
	var out [][]string
	for _, d := range p.bus.Devices() {
		out = append(out, d.Groups)
	}
	return out
}

func (p *sdnBus) rewrite(i int, groups []string) error {
	return p.bus.SetGroups(p.nodes[i].Address, groups)
}

func (p *daliBus) tables() [][]string {
	var out [][]string
	for _, d := range p.line.Devices() {
		var groups []string
		for _, n := range d.Groups {
			groups = append(groups, strconv.Itoa(n))
		}
		slices.Sort(groups)
		out = append(out, groups)
	}
	return out
}

func (p *daliBus) rewrite(i int, groups []string) error {
	var set uint16
	for _, text := range groups {
		n, err := number(text, 0, daliGroups-1)
		if err != nil {
			return fmt.Errorf("group %q: %w", text, err)
		}
		set |= 1 << n
	}
	p.line.SetGroups(i, set)
	return nil
}
