package onezero

import "fmt"

// House is what the controller runs.
type House struct {
	Clusters []Cluster
	Nodes    []Node
	Shades   []Shade
}

// Cluster and its members by ID.
type Cluster struct {
	ID            int
	Name          string
	CreatedByName string
	CreatedOn     string
	Nodes, Shades []int
}

// Node is a light, or a peripheral.
type Node struct {
	ID         int
	Name       string
	Peripheral bool
	Offline    bool // no list of nodes shows it; its level rows stay
	Level      int
	Kelvin     int
	RGBW       [4]int
}

// Shade is one motor.
type Shade struct {
	ID       int
	Name     string
	Position int
	State    string // shadeState of the last command
}

// NewHouse makes clusters with nodes and shades dealt out to them in turn. Each fifth
// node is in the next cluster as well, each tenth is a peripheral.
func NewHouse(clusters, nodes, shades int) *House {
	h := &House{}
	for i := range clusters {
		h.Clusters = append(h.Clusters, Cluster{
			ID: 10 + i, Name: fmt.Sprintf("Floor %d, “Süd” №%d", i/4, i), CreatedByName: "hausmeister", CreatedOn: fmt.Sprintf("2019-03-%02dT08:30:00Z", 1+i%28),
		})
	}
	for i := range nodes {
		n := Node{ID: 1 + 2*i, Name: fmt.Sprintf("Luminaire %03d", i), Level: i % 101, Kelvin: 3000 + 10*(i%200), Peripheral: i%10 == 9}
		h.Nodes = append(h.Nodes, n)
		if clusters > 0 {
			h.join(i%clusters, n.ID, 0)
			if i%5 == 0 && clusters > 1 {
				h.join((i+1)%clusters, n.ID, 0)
			}
		}
	}
	for i := range shades {
		s := Shade{ID: 5001 + 3*i, Name: fmt.Sprintf("Blind %02d", i), Position: i % 101, State: "STOPPED"}
		h.Shades = append(h.Shades, s)
		if clusters > 0 {
			h.join(i%clusters, 0, s.ID)
		}
	}
	return h
}

func (h *House) join(cluster, node, shade int) {
	c := &h.Clusters[cluster]
	if node != 0 {
		c.Nodes = append(c.Nodes, node)
	}
	if shade != 0 {
		c.Shades = append(c.Shades, shade)
	}
}
