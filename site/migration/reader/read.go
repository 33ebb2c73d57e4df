package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/site/migration"
)

// ErrChanged: clusters came or went while the house was read.
var ErrChanged = errors.New("the house changed while it was read; try again when nobody works on it")

// Read reads all that another controller runs. It returns the refresh token that the
// controller gave besides.
func Read(ctx context.Context, cfg Config) (migration.House, string, error) {
	c, err := newClient(cfg)
	if err != nil {
		return migration.House{}, "", fmt.Errorf("read another house: %w", err)
	}
	defer c.close()
	source, err := Source(cfg.URL)
	if err != nil {
		return migration.House{}, "", fmt.Errorf("read another house: %w", err)
	}
	fail := func(err error) (migration.House, string, error) {
		return migration.House{}, "", fmt.Errorf("read the house of %s: %w", source, err)
	}
	if err := c.authenticate(ctx); err != nil {
		return fail(err)
	}
	r := &reading{ctx: ctx, c: c, house: migration.House{Source: source}, nodes: map[int64]*migration.Node{}, shades: map[int64]*migration.Shade{}}
	if err := r.all(); err != nil {
		return fail(err)
	}
	return r.house, c.refresh, nil
}

// reading is one walk through a house.
type reading struct {
	ctx    context.Context
	c      *client
	house  migration.House
	nodes  map[int64]*migration.Node
	shades map[int64]*migration.Shade
}

func (r *reading) list(endpoint string) ([]record, error) {
	body, err := r.c.get(r.ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return records(endpoint, body)
}

func (r *reading) warn(format string, args ...any) {
	r.house.Warnings = append(r.house.Warnings, fmt.Sprintf(format, args...))
}

func (r *reading) all() error {
	clusters, err := r.clusters()
	if err != nil {
		return err
	}
	r.house.Clusters = clusters
	if err := r.nodesOf("getActiveNodes", nil, false); err != nil {
		return err
	}
	if err := r.shadesOf("getShades", nil); err != nil {
		return err
	}
	for i := range clusters {
		c := &clusters[i]
		if err := r.members(c); err != nil {
			return err
		}
	}
	if err := r.reserved(); err != nil {
		return err
	}
	again, err := r.clusters()
	if err != nil {
		return err
	}
	same := func(a, b migration.Cluster) bool { return a.ID == b.ID && a.Name == b.Name }
	if !slices.EqualFunc(clusters, again, same) {
		return ErrChanged
	}
	r.collect()
	return nil
}

func (r *reading) clusters() ([]migration.Cluster, error) {
	list, err := r.list("getClusters")
	if err != nil {
		return nil, err
	}
	var out []migration.Cluster
	for i, rec := range list {
		where := fmt.Sprintf("getClusters[%d]", i)
		var c migration.Cluster
		var errs [4]error
		c.ID, errs[0] = rec.integer(where, "id", "clusterId", "Id")
		c.Name, errs[1] = rec.text(where, "name", "clusterName", "Name")
		c.CreatedBy, errs[2] = rec.text(where, "createdByName")
		c.CreatedOn, errs[3] = rec.when(where, "createdOn")
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b migration.Cluster) int { return int(a.ID - b.ID) })
	for i := 1; i < len(out); i++ {
		if out[i].ID == out[i-1].ID {
			return nil, fmt.Errorf("getClusters: two clusters have the id %d", out[i].ID)
		}
	}
	return out, nil
}

// members asks who is in a cluster. Who is told to be a peripheral there is one.
func (r *reading) members(c *migration.Cluster) error {
	if err := r.nodesOf(fmt.Sprintf("getNodesForCluster?clusterId=%d&tagType=ALL", c.ID), &c.Nodes, false); err != nil {
		return err
	}
	if err := r.nodesOf(fmt.Sprintf("getNodesForCluster?clusterId=%d&tagType=PERIPHERAL", c.ID), &c.Nodes, true); err != nil {
		return err
	}
	return r.shadesOf(fmt.Sprintf("getShadesForCluster?clusterId=%d", c.ID), &c.Shades)
}

// nodesOf reads a list of nodes; into notes who is in it.
func (r *reading) nodesOf(endpoint string, into *[]int64, peripheral bool) error {
	list, err := r.list(endpoint)
	if err != nil {
		return err
	}
	for i, rec := range list {
		where := fmt.Sprintf("%s[%d]", endpoint, i)
		id, err := rec.integer(where, "id", "nodeId", "Id")
		if err != nil {
			return err
		}
		name, err := rec.text(where, "name", "nodeName", "Name")
		if err != nil {
			return err
		}
		n := r.nodes[id]
		if n == nil {
			n = &migration.Node{ID: id, Name: name}
			r.nodes[id] = n
		}
		if n.Name == "" {
			n.Name = name
		}
		n.Peripheral = n.Peripheral || peripheral
		join(into, id)
	}
	return nil
}

func (r *reading) shadesOf(endpoint string, into *[]int64) error {
	list, err := r.list(endpoint)
	if err != nil {
		return err
	}
	for i, rec := range list {
		where := fmt.Sprintf("%s[%d]", endpoint, i)
		// nodeId of a shade is the node that it hangs off, unless there is nothing else.
		id, err := rec.integer(where, "id", "shadeId", "Id", "nodeId")
		if err != nil {
			return err
		}
		name, err := rec.text(where, "name", "shadeName", "Name", "nodeName")
		if err != nil {
			return err
		}
		s := r.shades[id]
		if s == nil {
			s = &migration.Shade{ID: id, Name: name}
			r.shades[id] = s
		}
		if s.Name == "" {
			s.Name = name
		}
		join(into, id)
	}
	return nil
}

func join(into *[]int64, id int64) {
	if into != nil && !slices.Contains(*into, id) {
		*into = append(*into, id)
	}
}

// reserved finds nodes that are offline: no list has them, but their values are there.
func (r *reading) reserved() error {
	list, err := r.list("getLightLevels?targetType=1")
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for i, rec := range list {
		where := fmt.Sprintf("getLightLevels[%d]", i)
		kind, err := rec.text(where, "valueType")
		if err != nil {
			return err
		}
		id, err := rec.integer(where, "NodeId", "nodeId")
		if err != nil {
			return err
		}
		if kind == "SHADE_LEVEL" || seen[id] || r.nodes[id] != nil {
			continue
		}
		seen[id] = true
		r.house.Reserved = append(r.house.Reserved, id)
	}
	slices.Sort(r.house.Reserved)
	if n := len(r.house.Reserved); n > 0 {
		r.warn("%d nodes are offline in the old house and have no name there: their IDs are kept for them (%s); migrate again when they are online", n, some(r.house.Reserved))
	}
	return nil
}

func some(ids []int64) string {
	const most = 10
	var parts []string
	for _, id := range ids[:min(most, len(ids))] {
		parts = append(parts, fmt.Sprint(id))
	}
	if len(ids) > most {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// collect puts everything in order, with names as they may stand here.
func (r *reading) collect() {
	name := func(word string, id int64, old string) string {
		clean, changed := cleaned(old)
		if changed != "" {
			r.warn("%s %d: %s", strings.ToLower(word), id, changed)
		}
		if clean == "" {
			clean = fmt.Sprintf("%s %d", word, id)
			r.warn("%s %d has no name: it becomes %q", strings.ToLower(word), id, clean)
		}
		return clean
	}
	for i := range r.house.Clusters {
		c := &r.house.Clusters[i]
		c.Name = name("Cluster", c.ID, c.Name)
		c.CreatedBy, _ = cleaned(c.CreatedBy)
		slices.Sort(c.Nodes)
		slices.Sort(c.Shades)
	}
	for _, n := range r.nodes {
		r.house.Nodes = append(r.house.Nodes, *n)
	}
	slices.SortFunc(r.house.Nodes, func(a, b migration.Node) int { return int(a.ID - b.ID) })
	for i := range r.house.Nodes {
		r.house.Nodes[i].Name = name("Node", r.house.Nodes[i].ID, r.house.Nodes[i].Name)
	}
	for _, s := range r.shades {
		r.house.Shades = append(r.house.Shades, *s)
	}
	slices.SortFunc(r.house.Shades, func(a, b migration.Shade) int { return int(a.ID - b.ID) })
	for i := range r.house.Shades {
		r.house.Shades[i].Name = name("Shade", r.house.Shades[i].ID, r.house.Shades[i].Name)
	}
	if len(r.house.Clusters)+len(r.nodes)+len(r.shades)+len(r.house.Reserved) == 0 {
		r.warn("there is nothing in the old house")
	}
}
