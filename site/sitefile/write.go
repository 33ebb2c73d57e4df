package sitefile

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/appliance"
)

const head = "# Site file of a controller. Keep id and uuid when you edit: they are what clients know.\n"

// Write writes a site that has been taken over (everything has its ID) as a site
// file. References are written as IDs.
func Write(w io.Writer, site appliance.Site) error {
	f, err := export(site)
	if err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	buf := bufio.NewWriter(w)
	buf.WriteString(head)
	enc := yaml.NewEncoder(buf)
	enc.SetIndent(2)
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	return nil
}

func export(site appliance.Site) (file, error) {
	var f file
	nodes, shades := called{}, called{}
	for _, n := range site.Nodes {
		nodes[n.ID] = n.Name
	}
	for _, h := range site.Shades {
		shades[h.ID] = h.Name
	}
	if site.Name != "" {
		fresh := site.Settings.Freshness
		f.Site = &fileSite{
			Name: site.Name, InvertShades: site.Settings.InvertShades,
			Freshness: fileFreshness{
				Light: timespan(fresh.Light), MovingShade: timespan(fresh.MovingShade),
				IdleShade: timespan(fresh.IdleShade), Power: timespan(fresh.Power),
			},
		}
		exportDivision(site, f.Site, nodes, shades)
	}
	busName := map[appliance.UUID]string{}
	for _, b := range site.Buses {
		busName[b.UUID] = b.Name
		f.Buses = append(f.Buses, fileBus{
			UUID: b.UUID.String(), Name: b.Name, Driver: b.Driver, Port: b.Port,
			Line:    fileLine{BaudRate: b.Line.BaudRate, Parity: b.Line.Parity, DataBits: b.Line.DataBits, StopBits: b.Line.StopBits},
			Options: b.Options, Disabled: b.Disabled,
		})
	}
	for _, n := range site.Nodes {
		bus, ok := busName[n.Bus]
		if !ok && !n.Bus.IsZero() {
			return file{}, fmt.Errorf("node %d (%s): there is no bus %s", n.ID, n.Name, n.Bus)
		}
		var groups []word
		for _, g := range n.Groups {
			groups = append(groups, word(g))
		}
		f.Nodes = append(f.Nodes, fileNode{
			ID: int32(n.ID), UUID: n.UUID.String(), Name: n.Name, Bus: bus, Address: word(n.Address),
			Profile: n.Profile, Outputs: n.Outputs, Groups: groups, Tag: string(n.Tag), Options: n.Options, Note: n.Note,
		})
	}
	for _, h := range site.Shades {
		f.Shades = append(f.Shades, fileShade{
			ID: int32(h.ID), UUID: h.UUID.String(), Name: h.Name, Node: nodes.reference(h.Node), Output: h.Output,
			TravelUp: timespan(h.TravelUp), TravelDown: timespan(h.TravelDown), Inverted: h.Inverted,
		})
	}
	for _, c := range site.Clusters {
		f.Clusters = append(f.Clusters, fileCluster{
			ID: int32(c.ID), UUID: c.UUID.String(), Name: c.Name,
			Nodes: nodes.references(c.Nodes), Shades: shades.references(c.Shades),
			CreatedBy: c.CreatedBy, CreatedOn: timestamp(c.CreatedOn),
		})
	}
	exportRules(site, &f)
	f.Retired = exportRetired(site)
	return f, nil
}

// exportRetired is nil if nothing was ever numbered.
func exportRetired(site appliance.Site) *fileRetired {
	h := site.Highest
	out := fileRetired{Highest: fileHighest{int32(h.Node), int32(h.Shade), int32(h.Cluster), int32(h.Scene), int32(h.Rule)}}
	for _, r := range site.Retired {
		g := fileGrave{UUID: r.UUID.String(), Name: r.Name}
		switch {
		case r.Node != 0:
			g.ID = int32(r.Node)
			out.Nodes = append(out.Nodes, g)
		case r.Shade != 0:
			g.ID = int32(r.Shade)
			out.Shades = append(out.Shades, g)
		case r.Scene != 0:
			g.ID = int32(r.Scene)
			out.Scenes = append(out.Scenes, g)
		case r.Rule != 0:
			g.ID = int32(r.Rule)
			out.Rules = append(out.Rules, g)
		default:
			g.ID = int32(r.Cluster)
			out.Clusters = append(out.Clusters, g)
		}
	}
	if len(site.Retired) == 0 && h == (appliance.Highest{}) {
		return nil
	}
	return &out
}

// called tells the names of one family.
type called map[appliance.ID]string

func (c called) reference(id appliance.ID) reference { return reference{id: int32(id), called: c[id]} }

func (c called) references(ids []appliance.ID) []reference {
	var refs []reference
	for _, id := range ids {
		refs = append(refs, c.reference(id))
	}
	return refs
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
