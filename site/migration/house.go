package migration

import (
	"crypto/sha256"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Family of things that have IDs.
type Family string

// The families.
const (
	Clusters Family = "cluster"
	Nodes    Family = "node"
	Shades   Family = "shade"
)

// House is what another controller says that it runs. IDs are as it gave them, whatever
// they are.
type House struct {
	Source   string    `json:"source"` // host and port: whose IDs these are
	Clusters []Cluster `json:"clusters"`
	Nodes    []Node    `json:"nodes"`
	Shades   []Shade   `json:"shades"`
	// Reserved are IDs of nodes that only their values name: they are offline, and have
	// neither name nor cluster.
	Reserved []int64 `json:"reserved,omitempty"`
	// Warnings are what whoever takes the house over should know.
	Warnings []string `json:"-"`
}

// Cluster and its members.
type Cluster struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	CreatedBy string    `json:"createdBy"`
	CreatedOn time.Time `json:"createdOn"`
	Nodes     []int64   `json:"nodes"`
	Shades    []int64   `json:"shades"`
}

// Node is a light, or a peripheral.
type Node struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Peripheral bool   `json:"peripheral,omitempty"`
}

// Shade is one motor.
type Shade struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// UUIDOf is the identity of something of another controller: the same each time, so that
// what was undone or removed comes back only as what it was.
func UUIDOf(source string, f Family, id int64) appliance.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "migration\n%s\n%s\n%d", source, f, id))
	var u appliance.UUID
	copy(u[:], sum[:])
	u[6] = u[6]&0x0f | 0x80 // version 8: made in a way of our own
	u[8] = u[8]&0x3f | 0x80
	return u
}
