package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/shelf/intake"
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
	read   int // entries of all lists
}

// Bounds of a house: how many clusters, nodes and shades it may have of each, and the
// entries of one list and of all lists together, in which a lamp stands some eight times.
const (
	thingsMost       = 20_000
	listEntriesMost  = 80_000
	houseEntriesMost = 200_000
)

// tooMany is the error of a house with more of something than it may have.
func tooMany(what, unit string, most int64) error {
	return &intake.TooMuch{What: what, Most: most, Unit: unit, Advice: "is it the right controller?"}
}

// each reads a list and calls do for its entries; where says which one it is. Where there is
// nothing some controllers answer nothing at all.
func (r *reading) each(endpoint string, do func(where string, rec record) error) error {
	body, err := r.c.get(r.ctx, endpoint)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	noList := func() error { return fmt.Errorf("read %s: want a list of objects, got %s", endpoint, clip(body)) }
	err = intake.List(r.ctx, endpoint, body, listEntriesMost, func(i int, entry json.RawMessage) error {
		if r.read++; r.read > houseEntriesMost {
			return tooMany("the house, from getClusters to "+endpoint+",", "entries", houseEntriesMost)
		}
		rec, err := recordOf(entry)
		if err != nil {
			return noList()
		}
		if rec == nil {
			return fmt.Errorf("read %s: entry %d is null", endpoint, i)
		}
		return do(fmt.Sprintf("%s[%d]", endpoint, i), rec)
	})
	if errors.Is(err, intake.ErrNoList) {
		return noList()
	}
	return err
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
	var out []migration.Cluster
	err := r.each("getClusters", func(where string, rec record) error {
		if len(out) == thingsMost {
			return tooMany("the house", "clusters", thingsMost)
		}
		var c migration.Cluster
		var errs [4]error
		c.ID, errs[0] = rec.integer(where, "id", "clusterId", "Id")
		c.Name, errs[1] = rec.text(where, "name", "clusterName", "Name")
		c.CreatedBy, errs[2] = rec.text(where, "createdByName")
		c.CreatedOn, errs[3] = rec.when(where, "createdOn")
		out = append(out, c)
		return errors.Join(errs[:]...)
	})
	if err != nil {
		return nil, err
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
	return r.each(endpoint, func(where string, rec record) error {
		id, err := rec.integer(where, "id", "nodeId", "Id")
		if err != nil {
			return err
		}
		name, err := rec.text(where, "name", "nodeName", "Name")
		if err != nil {
			return err
		}
		n := r.nodes[id]
		if n == nil && len(r.nodes) == thingsMost {
			return tooMany("the house", "nodes", thingsMost)
		}
		if n == nil {
			n = &migration.Node{ID: id, Name: name}
			r.nodes[id] = n
		}
		if n.Name == "" {
			n.Name = name
		}
		n.Peripheral = n.Peripheral || peripheral
		join(into, id)
		return nil
	})
}

func (r *reading) shadesOf(endpoint string, into *[]int64) error {
	return r.each(endpoint, func(where string, rec record) error {
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
		if s == nil && len(r.shades) == thingsMost {
			return tooMany("the house", "shades", thingsMost)
		}
		if s == nil {
			s = &migration.Shade{ID: id, Name: name}
			r.shades[id] = s
		}
		if s.Name == "" {
			s.Name = name
		}
		join(into, id)
		return nil
	})
}

// join notes who is in a list; who is there twice is sorted out by collect.
func join(into *[]int64, id int64) {
	if into != nil {
		*into = append(*into, id)
	}
}

// reserved finds nodes that are offline: no list has them, but their values are there.
func (r *reading) reserved() error {
	err := r.each("getLightLevels?targetType=1", func(where string, rec record) error {
		kind, err := rec.text(where, "valueType")
		if err != nil {
			return err
		}
		id, err := rec.integer(where, "NodeId", "nodeId")
		if err != nil {
			return err
		}
		if kind != "SHADE_LEVEL" && r.nodes[id] == nil {
			r.house.Reserved = append(r.house.Reserved, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.house.Reserved = sorted(r.house.Reserved)
	if n := len(r.house.Reserved); n > 0 {
		r.warn("%d nodes are offline in the old house and have no name there: their IDs are kept for them (%s); migrate again when they are online", n, some(r.house.Reserved))
	}
	return nil
}

// sorted IDs, each once.
func sorted(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
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
