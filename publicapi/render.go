package publicapi

import (
	"math"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

// renderer writes one answer. Its appenders are written by hand because a page of
// a large site is rendered whenever a value changes, on boards with little CPU.
type renderer struct {
	snapshot *appliance.Snapshot
	invert   bool
	agesOnly bool // look at the ages, write nothing

	b      []byte
	kind   int                     // of the row being written
	times  []part                  // where b tells a time, see etag
	oldest time.Time               // of the values written
	named  *appliance.ClusterState // the cluster that was named last: rows of one follow each other
}

type part struct{ from, to int }

// list writes the array that v names; false if v's target is not there.
func (r *renderer) list(v view) bool {
	r.b = append(r.b, '[')
	ok := true
	switch v.list {
	case clusterList:
		for _, c := range r.snapshot.Clusters {
			r.cluster(c)
		}
	case activeNodeList:
		for _, n := range r.snapshot.Nodes {
			if n.Online && n.Tag == appliance.TagNode {
				r.node(n, first(n.Clusters))
			}
		}
	case clusterNodeList:
		ok = r.clusterNodes(v)
	case lightLevelList:
		ok = r.lightLevels(v.target)
	case shadeList:
		for _, sh := range r.snapshot.Shades {
			r.shade(sh, first(sh.Clusters))
		}
	case clusterShadeList:
		ok = r.clusterShades(v)
	}
	if n := len(r.b); n > 1 && r.b[n-1] == ',' {
		r.b = r.b[:n-1]
	}
	r.b = append(r.b, ']')
	return ok
}

func (r *renderer) clusterNodes(v view) bool {
	cl := findCluster(r.snapshot, v.target.ID)
	if cl == nil {
		return false
	}
	for _, id := range cl.Cluster.Nodes {
		if n := findNode(r.snapshot, id); n != nil && (v.tag == "" || v.tag == n.Tag) {
			r.node(n, cl.Cluster.ID)
		}
	}
	return true
}

func (r *renderer) clusterShades(v view) bool {
	cl := findCluster(r.snapshot, v.target.ID)
	if cl == nil {
		return false
	}
	for _, id := range cl.Cluster.Shades {
		if sh := findShade(r.snapshot, id); sh != nil {
			r.shade(sh, cl.Cluster.ID)
		}
	}
	return true
}

// cluster writes one element of getClusters.
func (r *renderer) cluster(c *appliance.ClusterState) {
	position := r.clusterAges(c)
	if r.agesOnly {
		return
	}
	r.integer(`{"id":`, int(c.Cluster.ID))
	r.text(`,"name":`, c.Cluster.Name)
	r.text(`,"createdByName":`, c.Cluster.CreatedBy)
	r.b = append(r.b, `,"createdOn":`...)
	r.b = appendTime(r.b, c.Cluster.CreatedOn)
	r.integer(`,"nodeCount":`, c.Lights)
	r.integer(`,"dimLevel":`, int(c.Level))
	r.integer(`,"shadeLevel":`, position)
	r.integer(`,"colorLevel":`, int(c.Kelvin))
	r.b = append(r.b, `,"rgbw":"`...)
	r.b = appendRGBW(r.b, c.RGBW)
	r.b = append(r.b, '"', '}', ',')
}

// clusterAges notes how old the values behind the aggregates are, and gives the
// mean position as the public API counts it: 0 without shades, whichever way.
func (r *renderer) clusterAges(c *appliance.ClusterState) (position int) {
	for _, id := range c.Cluster.Nodes {
		if n := findNode(r.snapshot, id); n != nil && n.Online {
			saw(r, n.Level)
			saw(r, n.Kelvin)
			saw(r, n.RGBW)
		}
	}
	sum, shades := 0, 0
	for _, id := range c.Cluster.Shades {
		if sh := findShade(r.snapshot, id); sh != nil && sh.Online && sh.Position.OK() {
			saw(r, sh.Position)
			sum += int(turned(sh.Position.Value, true))
			shades++
		}
	}
	if r.invert && shades > 0 {
		return int(math.Floor(float64(sum)/float64(shades) + 0.5))
	}
	return int(c.Position)
}

// node writes one element of getActiveNodes or getNodesForCluster.
func (r *renderer) node(n *appliance.NodeState, cluster appliance.ID) {
	saw(r, n.Level)
	saw(r, n.Kelvin)
	saw(r, n.RGBW)
	saw(r, n.Power)
	if r.agesOnly {
		return
	}
	r.integer(`{"id":`, int(n.Node.ID))
	r.text(`,"name":`, n.Node.Name)
	r.membership(cluster)
	r.b = append(r.b, `,"tagType":"`...)
	r.b = append(r.b, n.Tag...)
	r.integer(`","channelCount":`, len(n.Channels))
	r.status(n.Online)
	r.integer(`,"dimLevel":`, int(n.Level.Value))
	r.integer(`,"colorLevel":`, int(n.Kelvin.Value))
	r.b = append(r.b, `,"rgbw":"`...)
	r.b = appendRGBW(r.b, n.RGBW.Value)
	r.b = append(r.b, `","power":`...)
	r.b = appendPower(r.b, n.Power.Value)
	r.lastSeen(n.LastSeen)
}

// shade writes one element of getShades or getShadesForCluster.
func (r *renderer) shade(sh *appliance.ShadeState, cluster appliance.ID) {
	saw(r, sh.Position)
	if r.agesOnly {
		return
	}
	r.integer(`{"id":`, int(sh.Shade.ID))
	r.text(`,"name":`, sh.Shade.Name)
	r.integer(`,"nodeId":`, int(sh.Shade.Node))
	r.membership(cluster)
	level := appliance.Position(0)
	if sh.Position.OK() {
		level = turned(sh.Position.Value, r.invert)
	}
	r.integer(`,"shadeLevel":`, int(level))
	r.b = append(r.b, `,"shadeState":"`...)
	r.b = append(r.b, shadeStateOf(sh)...)
	r.b = append(r.b, '"')
	r.status(sh.Online)
	r.lastSeen(sh.LastSeen)
}

// membership writes the cluster that a record names, 0 and "" if none.
func (r *renderer) membership(id appliance.ID) {
	name := ""
	if id != 0 && (r.named == nil || r.named.Cluster.ID != id) {
		r.named = findCluster(r.snapshot, id)
	}
	if id != 0 && r.named != nil {
		name = r.named.Cluster.Name
	}
	r.integer(`,"clusterId":`, int(id))
	r.text(`,"clusterName":`, name)
}

func (r *renderer) status(online bool) {
	if online {
		r.b = append(r.b, `,"status":"ONLINE"`...)
	} else {
		r.b = append(r.b, `,"status":"OFFLINE"`...)
	}
}

// lastSeen ends a record; null if the device never answered.
func (r *renderer) lastSeen(at time.Time) {
	r.b = append(r.b, `,"lastSeen":`...)
	from := len(r.b)
	if at.IsZero() {
		r.b = append(r.b, "null"...)
	} else {
		r.b = appendTime(r.b, at)
		r.times = append(r.times, part{from, len(r.b)})
	}
	r.b = append(r.b, '}', ',')
}

func (r *renderer) integer(key string, v int) {
	r.b = append(r.b, key...)
	r.b = strconv.AppendInt(r.b, int64(v), 10)
}

func (r *renderer) text(key, s string) {
	r.b = append(r.b, key...)
	r.b = web.AppendJSONString(r.b, s)
}

// saw notes the age of a value that appears in the answer.
func saw[T any](r *renderer, k appliance.Known[T]) {
	if k.OK() && (r.oldest.IsZero() || k.At.Before(r.oldest)) {
		r.oldest = k.At
	}
}

// appendTime writes a time as ISO 8601 in UTC, whole seconds.
func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, time.RFC3339) // which the library writes faster than any other
	return append(b, '"')
}

func appendRGBW(b []byte, c appliance.RGBW) []byte {
	b = strconv.AppendUint(b, uint64(c.R), 10)
	b = append(b, ':')
	b = strconv.AppendUint(b, uint64(c.G), 10)
	b = append(b, ':')
	b = strconv.AppendUint(b, uint64(c.B), 10)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(c.W), 10)
}

// appendPower writes watts with at most one decimal. A driver that reports what
// is no number is not believed.
func appendPower(b []byte, watts float64) []byte {
	if math.IsNaN(watts) || math.IsInf(watts, 0) {
		watts = 0
	}
	tenths := math.Round(watts * 10)
	if whole := int64(tenths) / 10; tenths == float64(whole*10) && math.Abs(tenths) < 1e15 {
		return strconv.AppendInt(b, whole, 10) // as it is for most, and sooner done
	}
	return strconv.AppendFloat(b, tenths/10, 'f', -1, 64)
}

func first(ids []appliance.ID) appliance.ID {
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

// The lists of a snapshot are ascending by ID.

func findNode(s *appliance.Snapshot, id appliance.ID) *appliance.NodeState {
	i, ok := slices.BinarySearchFunc(s.Nodes, id, func(n *appliance.NodeState, id appliance.ID) int { return int(n.Node.ID - id) })
	if !ok {
		return nil
	}
	return s.Nodes[i]
}

func findShade(s *appliance.Snapshot, id appliance.ID) *appliance.ShadeState {
	i, ok := slices.BinarySearchFunc(s.Shades, id, func(sh *appliance.ShadeState, id appliance.ID) int { return int(sh.Shade.ID - id) })
	if !ok {
		return nil
	}
	return s.Shades[i]
}

func findCluster(s *appliance.Snapshot, id appliance.ID) *appliance.ClusterState {
	i, ok := slices.BinarySearchFunc(s.Clusters, id, func(c *appliance.ClusterState, id appliance.ID) int { return int(c.Cluster.ID - id) })
	if !ok {
		return nil
	}
	return s.Clusters[i]
}
