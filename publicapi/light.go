package publicapi

import (
	"math"
	"strconv"

	"svc.internal/controller/appliance"
)

// Kinds of rows. A row's Id is the ID of its node or shade times ten plus the
// kind: stable without being stored, unique because only shades use 4 and nodes
// never do, and within 32 bits for every ID.
const (
	rowDim = iota + 1
	rowKelvin
	rowRGBW
	rowShade
	rowPower
)

var rowNames = [...]string{
	rowDim:    `"DIM_LEVEL"`,
	rowKelvin: `"COLOR_LEVEL"`,
	rowRGBW:   `"COLOR"`,
	rowShade:  `"SHADE_LEVEL"`,
	rowPower:  `"PPOWER"`,
}

// lightLevels writes the rows of getLightLevels, ascending by Id. With one target
// that is a node's rows or, if no node has the ID, a shade's.
func (r *renderer) lightLevels(t appliance.Target) bool {
	s := r.snapshot
	switch t.Scope {
	case appliance.InCluster:
		cl := findCluster(s, t.ID)
		if cl == nil {
			return false
		}
		r.clusterRows(cl.Cluster)
	case appliance.One:
		if n := findNode(s, t.ID); n != nil {
			r.rows(n, nil, first(n.Clusters), 0)
		} else if sh := findShade(s, t.ID); sh != nil {
			r.rows(nil, sh, 0, first(sh.Clusters))
		} else {
			return false
		}
	default:
		r.allRows()
	}
	return true
}

func (r *renderer) allRows() {
	nodes, shades := r.snapshot.Nodes, r.snapshot.Shades
	for len(nodes) > 0 || len(shades) > 0 {
		var n *appliance.NodeState
		var sh *appliance.ShadeState
		var inNode, inShade appliance.ID
		if len(nodes) > 0 && (len(shades) == 0 || nodes[0].Node.ID <= shades[0].Shade.ID) {
			n = nodes[0]
			inNode = first(n.Clusters)
		}
		if len(shades) > 0 && (len(nodes) == 0 || shades[0].Shade.ID <= nodes[0].Node.ID) {
			sh = shades[0]
			inShade = first(sh.Clusters)
		}
		if n != nil {
			nodes = nodes[1:]
		}
		if sh != nil {
			shades = shades[1:]
		}
		r.rows(n, sh, inNode, inShade)
	}
}

func (r *renderer) clusterRows(c *appliance.Cluster) {
	nodes, shades := c.Nodes, c.Shades
	for len(nodes) > 0 || len(shades) > 0 {
		var n *appliance.NodeState
		var sh *appliance.ShadeState
		id := appliance.MaxID
		if len(nodes) > 0 {
			id = min(id, nodes[0])
		}
		if len(shades) > 0 {
			id = min(id, shades[0])
		}
		if len(nodes) > 0 && nodes[0] == id {
			n, nodes = findNode(r.snapshot, id), nodes[1:]
		}
		if len(shades) > 0 && shades[0] == id {
			sh, shades = findShade(r.snapshot, id), shades[1:]
		}
		r.rows(n, sh, c.ID, c.ID)
	}
}

// rows writes what is known of a node and a shade with the same ID; either may be
// nil. A value that was never known has no row.
func (r *renderer) rows(n *appliance.NodeState, sh *appliance.ShadeState, inNode, inShade appliance.ID) {
	if n != nil {
		if n.Level.OK() && r.row(n.Node.ID, inNode, rowDim) {
			r.b = strconv.AppendInt(r.b, int64(n.Level.Value), 10)
			r.endRow()
		}
		if n.Kelvin.OK() && r.row(n.Node.ID, inNode, rowKelvin) {
			r.b = strconv.AppendInt(r.b, int64(n.Kelvin.Value), 10)
			r.endRow()
		}
		if n.RGBW.OK() && r.row(n.Node.ID, inNode, rowRGBW) {
			r.b = appendRGBW(r.b, n.RGBW.Value)
			r.endRow()
		}
		saw(r, n.Level)
		saw(r, n.Kelvin)
		saw(r, n.RGBW)
	}
	if sh != nil {
		if sh.Position.OK() && r.row(sh.Shade.ID, inShade, rowShade) {
			r.b = strconv.AppendInt(r.b, int64(turned(sh.Position.Value, r.invert)), 10)
			r.endRow()
		}
		saw(r, sh.Position)
	}
	if n != nil && n.Power.OK() && !math.IsNaN(n.Power.Value) && !math.IsInf(n.Power.Value, 0) {
		saw(r, n.Power)
		if r.row(n.Node.ID, inNode, rowPower) {
			r.b = appendPower(r.b, n.Power.Value)
			r.endRow()
		}
	}
}

// row begins a row, up to its value; false if nothing is to be written. NodeId of
// a shade's row is the shade's ID: it is what shadeControl takes, and tells apart
// several shades of one node.
func (r *renderer) row(id, cluster appliance.ID, kind int) bool {
	if r.agesOnly {
		return false
	}
	r.integer(`{"Id":`, int(id)*10+kind)
	r.integer(`,"ClusterId":`, int(cluster))
	r.integer(`,"NodeId":`, int(id))
	r.b = append(r.b, `,"value":"`...)
	r.kind = kind
	return true
}

func (r *renderer) endRow() {
	r.b = append(r.b, `","valueType":`...)
	r.b = append(r.b, rowNames[r.kind]...)
	r.b = append(r.b, `,"Synchronize":"","AllVal":""},`...)
}
