package sitefile

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/schema"
)

//go:embed site.schema.json
var schemaJSON []byte

var compiled = schema.MustCompile("site.schema.json", schemaJSON)

// Schema returns the JSON Schema of site files, for editors.
func Schema() []byte { return slices.Clone(schemaJSON) }

// Read reads a site file of at most [schema.MaxSize] bytes. What is wrong with
// its contents is returned as [schema.Problems].
func Read(path string) (appliance.Site, error) {
	f, err := os.Open(path)
	if err != nil {
		return appliance.Site{}, fmt.Errorf("read the site file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, schema.MaxSize+1)) // Decode refuses the byte too many
	if err != nil {
		return appliance.Site{}, fmt.Errorf("read the site file: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a site file from memory; name stands for it in problems. All that
// is wrong is returned at once, as [schema.Problems].
func Parse(name string, data []byte) (appliance.Site, error) {
	site, _, err := Decode(name, data)
	if err != nil {
		return appliance.Site{}, err
	}
	return site, nil
}

// Decode reads a site file like [Parse], and keeps the document for whoever finds
// something wrong with an entry later: nodes[3] of the site is nodes[3] of the
// document. With problems the site is what could be understood, to look for more
// problems in; there is no document if that is nothing.
func Decode(name string, data []byte) (appliance.Site, *schema.Document, error) {
	var f file
	doc, err := schema.Decode(name, data, compiled, &f)
	if doc == nil {
		return appliance.Site{}, nil, err
	}
	var broken schema.Problems
	if errors.As(err, &broken); broken.Full() {
		return appliance.Site{}, doc, err
	}
	r := &reader{doc: doc, file: f}
	r.site()
	r.buses()
	r.nodes()
	r.shades()
	r.clusters()
	r.scenes()
	r.rules()
	r.retired()
	r.division()
	return r.out, doc, besides(broken, r.problems).Err()
}

// besides adds what else is wrong to what breaks the schema, but not what follows from it.
func besides(broken, others schema.Problems) schema.Problems {
	all := broken
	for _, p := range others {
		if !slices.ContainsFunc(broken, func(b schema.Problem) bool { return b.Key == p.Key }) {
			all = append(all, p)
		}
	}
	return all
}

// reader turns a file that obeys the schema into a site.
type reader struct {
	doc      *schema.Document
	file     file
	out      appliance.Site
	problems schema.Problems

	busOf         map[string]appliance.UUID
	nodesByName   names
	clusterByName names
	shadeByName   names
	sceneByName   names
	at            map[place][]int // nodes by device
}

// names leads from names to IDs or placeholders.
type names struct {
	word string
	ids  map[appliance.ID]bool
	of   map[string][]appliance.ID
}

func (r *reader) problem(key, format string, args ...any) {
	r.problems = append(r.problems, r.doc.Problem(key, format, args...))
}

func (r *reader) site() {
	s := r.file.Site
	if s == nil {
		return
	}
	r.name("site.name", s.Name, "")
	r.out.Name = s.Name
	r.out.Settings = appliance.Settings{
		InvertShades: s.InvertShades,
		Freshness: appliance.Freshness{
			Light: time.Duration(s.Freshness.Light), MovingShade: time.Duration(s.Freshness.MovingShade),
			IdleShade: time.Duration(s.Freshness.IdleShade), Power: time.Duration(s.Freshness.Power),
		},
	}
}

func (r *reader) buses() {
	r.busOf = map[string]appliance.UUID{}
	seen, ports := map[appliance.UUID]int{}, map[string]string{}
	for i, b := range r.file.Buses {
		key := fmt.Sprintf("buses[%d]", i)
		r.name(key+".name", b.Name, b.UUID)
		if _, ok := r.busOf[b.Name]; ok {
			r.problem(key+".name", "another bus is called %q already", b.Name)
		}
		if other, taken := ports[b.Port]; taken && !b.Disabled {
			r.problem(key+".port", "bus %q has this port already; give each bus a port of its own, or set disabled: true on one of them", other)
		} else if ownsPort(b) {
			ports[b.Port] = b.Name
		}
		uuid := r.uuid(key, b.UUID, seen, i)
		if uuid.IsZero() {
			binary.BigEndian.PutUint32(uuid[12:], uint32(i+1))
		}
		r.busOf[b.Name] = uuid
		r.out.Buses = append(r.out.Buses, appliance.Bus{
			UUID: uuid, Name: b.Name, Driver: b.Driver, Port: b.Port,
			Line:    appliance.LineSettings{BaudRate: b.Line.BaudRate, Parity: b.Line.Parity, DataBits: b.Line.DataBits, StopBits: b.Line.StopBits},
			Options: nilIfEmpty(b.Options), Disabled: b.Disabled,
		})
	}
}

func (r *reader) nodes() {
	ids, seen := newFamily("node"), map[appliance.UUID]int{}
	for i, n := range r.file.Nodes {
		key := fmt.Sprintf("nodes[%d]", i)
		r.name(key+".name", n.Name, n.UUID)
		bus, ok := r.busOf[n.Bus]
		if !ok && n.Bus != "" {
			r.problem(key+".bus", "there is no bus called %q in this file", n.Bus)
		}
		var groups []string
		for _, g := range n.Groups {
			groups = append(groups, string(g))
		}
		r.out.Nodes = append(r.out.Nodes, appliance.Node{
			ID: r.id(&ids, key, i, n.ID, n.UUID, n.Name), UUID: r.uuid(key, n.UUID, seen, i), Name: n.Name, Bus: bus,
			Address: string(n.Address), Profile: n.Profile, Tag: appliance.Tag(n.Tag),
			Outputs: append([]int(nil), n.Outputs...), Groups: groups, Options: nilIfEmpty(n.Options), Note: n.Note,
		})
		r.outputs(key, i)
	}
	r.nodesByName = ids.names
}

func (r *reader) shades() {
	type outlet struct {
		node   appliance.ID
		output int
	}
	ids, seen, taken := newFamily("shade"), map[appliance.UUID]int{}, map[outlet]int{}
	for i, h := range r.file.Shades {
		key := fmt.Sprintf("shades[%d]", i)
		r.name(key+".name", h.Name, h.UUID)
		var node appliance.ID
		ok := false
		if !h.Node.IsZero() {
			node, ok = r.refer(key+".node", r.nodesByName, h.Node)
		}
		if first, twice := taken[outlet{node, h.Output}]; twice && ok {
			r.problem(key+".output", "shades[%d] (%s) hangs off the same output of the same node", first, r.file.Shades[first].Name)
		}
		if ok {
			taken[outlet{node, h.Output}] = i
		}
		r.out.Shades = append(r.out.Shades, appliance.Shade{
			ID: r.id(&ids, key, i, h.ID, h.UUID, h.Name), UUID: r.uuid(key, h.UUID, seen, i), Name: h.Name, Node: node, Output: h.Output,
			TravelUp: time.Duration(h.TravelUp), TravelDown: time.Duration(h.TravelDown), Inverted: h.Inverted,
		})
	}
	r.shadeByName = ids.names
}

func (r *reader) clusters() {
	ids, seen := newFamily("cluster"), map[appliance.UUID]int{}
	for i, c := range r.file.Clusters {
		key := fmt.Sprintf("clusters[%d]", i)
		r.name(key+".name", c.Name, c.UUID)
		var on time.Time
		if c.CreatedOn != "" {
			var err error
			if on, err = time.Parse(time.RFC3339Nano, c.CreatedOn); err != nil {
				r.problem(key+".createdOn", "%q is not a time such as 2025-11-03T08:00:00Z", c.CreatedOn)
			}
		}
		r.out.Clusters = append(r.out.Clusters, appliance.Cluster{
			ID: r.id(&ids, key, i, c.ID, c.UUID, c.Name), UUID: r.uuid(key, c.UUID, seen, i), Name: c.Name,
			Nodes:     r.members(key+".nodes", r.nodesByName, c.Nodes),
			Shades:    r.members(key+".shades", r.shadeByName, c.Shades),
			CreatedBy: c.CreatedBy, CreatedOn: on.UTC(),
		})
	}
	r.clusterByName = ids.names
}

// retired takes over the IDs that are never to be used again.
func (r *reader) retired() {
	f := r.file.Retired
	if f == nil {
		return
	}
	r.out.Highest = appliance.Highest{Node: appliance.ID(f.Highest.Node), Shade: appliance.ID(f.Highest.Shade), Cluster: appliance.ID(f.Highest.Cluster),
		Scene: appliance.ID(f.Highest.Scene), Rule: appliance.ID(f.Highest.Rule)}
	take := func(key string, graves []fileGrave, set func(*appliance.Retired, appliance.ID)) {
		for i, g := range graves {
			u, err := appliance.ParseUUID(g.UUID)
			if err != nil {
				r.problem(fmt.Sprintf("retired.%s[%d].uuid", key, i), "%v", err)
				continue
			}
			one := appliance.Retired{UUID: u, Name: g.Name}
			set(&one, appliance.ID(g.ID))
			r.out.Retired = append(r.out.Retired, one)
		}
	}
	take("nodes", f.Nodes, func(one *appliance.Retired, id appliance.ID) { one.Node = id })
	take("shades", f.Shades, func(one *appliance.Retired, id appliance.ID) { one.Shade = id })
	take("clusters", f.Clusters, func(one *appliance.Retired, id appliance.ID) { one.Cluster = id })
	take("scenes", f.Scenes, func(one *appliance.Retired, id appliance.ID) { one.Scene = id })
	take("rules", f.Rules, func(one *appliance.Retired, id appliance.ID) { one.Rule = id })
}

func (r *reader) members(key string, among names, refs []reference) []appliance.ID {
	var ids []appliance.ID
	for i, ref := range refs {
		if id, ok := r.refer(fmt.Sprintf("%s[%d]", key, i), among, ref); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// refer turns a reference into the ID or placeholder of an entry of this file.
func (r *reader) refer(key string, among names, ref reference) (appliance.ID, bool) {
	if ref.name == "" {
		if !among.ids[appliance.ID(ref.id)] {
			r.problem(key, "there is no %s with the ID %d in this file", among.word, ref.id)
			return 0, false
		}
		return appliance.ID(ref.id), true
	}
	switch ids := among.of[ref.name]; len(ids) {
	case 0:
		r.problem(key, "there is no %s called %q in this file", among.word, ref.name)
	case 1:
		return ids[0], true
	default:
		r.problem(key, "%d %ss are called %q; say which by its ID", len(ids), among.word, ref.name)
	}
	return 0, false
}
