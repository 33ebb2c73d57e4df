package control

import (
	"strings"

	"svc.internal/controller/appliance"
)

// nodesAt lists the nodes of the site that are at an address: those with this
// address, and those that live in the device with this key.
func (b *bus) nodesAt(address string) []appliance.ID {
	var ids []appliance.ID
	if address == "" {
		return nil
	}
	for _, n := range b.config().Nodes {
		if strings.EqualFold(n.Address, address) || b.present.Load().Opened.Device[n.ID] == address {
			ids = append(ids, n.ID)
		}
	}
	return ids
}
