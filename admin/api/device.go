package api

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// DeviceEdit says what lights and shades are made of the outputs of one device. It is the whole of
// it: what the device was before and is not named is removed.
type DeviceEdit struct {
	Address string             `json:"address" doc:"In the words of the bus's driver."`
	Profile string             `json:"profile"`
	Options *map[string]string `json:"options,omitempty" doc:"Left out: as they are, none with another profile."`
	Groups  *[]string          `json:"groups,omitempty" doc:"That the device itself holds; left out: as they are."`
	Lights  []DeviceLight      `json:"lights,omitempty" doc:"Each becomes a node. Without any, shades hang off a node that is no light."`
	Shades  []DeviceShade      `json:"shades,omitempty"`

	Note *string `json:"note,omitempty" doc:"What the next installer should know of it, at most 500 characters; left out: as it is."`

	New bool `json:"new,omitempty" doc:"Refuse with 409 if the site has something at this address, unless that is just what is asked for: then nothing is changed."`

	Cluster    appliance.ID `json:"cluster,omitempty" doc:"That all of them join, besides those they are in; 0: none."`
	NewCluster string       `json:"newCluster,omitempty" doc:"Name of a cluster to make, that all of them join."`
}

// DeviceLight is a light made of outputs of a device.
type DeviceLight struct {
	ID      appliance.ID `json:"id,omitempty" doc:"Of a node of this device that it is to be; left out: that of the same outputs, else one left over that shares an output, else a new one."`
	Name    string       `json:"name,omitempty" doc:"Left out: the one it has."`
	Outputs []int        `json:"outputs,omitempty" doc:"From 1, as channels in this order; left out: all that no shade is made of."`
}

// DeviceShade is a shade on an output of a device.
type DeviceShade struct {
	ID     appliance.ID `json:"id,omitempty" doc:"Of a shade of this device that it is to be; left out: the one on this output, else a new one."`
	Name   string       `json:"name,omitempty" doc:"Left out: the one it has."`
	Output int          `json:"output" doc:"Shade output of the profile, from 1."`
}

// DeviceMade is what became of a device.
type DeviceMade struct {
	Nodes  []Node  `json:"nodes"`
	Shades []Shade `json:"shades"`
}

// divideDevice makes a device lights and shades, all of it or nothing.
func (a *API) divideDevice(c echo.Context) error {
	b, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return err
	}
	var in DeviceEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var d division
	err = a.Editor.Divide(c.Request().Context(), callerOf(c).name, func(have appliance.Site) (appliance.Site, []appliance.ID, []appliance.ID, error) {
		d = division{have: have, bus: b.Bus.UUID, edit: in}
		err := d.work()
		return d.then, d.goneNodes, d.goneShades, err
	}, a.unharmed)
	if errors.Is(err, errAsAsked) {
		return answer(c, http.StatusOK, d.made(a.Core.Snapshot()))
	}
	if err != nil {
		return edited(err)
	}
	a.audit(c, "device.divide", fmt.Sprintf("device %s of bus %s", in.Address, b.Bus.Name), in)
	var made DeviceMade
	a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool {
		made = d.made(s)
		return len(made.Nodes) == len(d.then.Nodes) && len(made.Shades) == len(d.then.Shades)
	})
	return answer(c, http.StatusOK, made)
}

// division works out what becomes of a device.
type division struct {
	have appliance.Site
	bus  appliance.UUID
	edit DeviceEdit

	then                  appliance.Site // what is made or changed
	goneNodes, goneShades []appliance.ID
}

func (d *division) work() error {
	in := d.edit
	switch {
	case in.Address == "":
		return meaningless("/address", "this is needed")
	case in.Profile == "":
		return meaningless("/profile", "this is needed")
	case len(in.Lights)+len(in.Shades) == 0:
		return meaningless("/lights", "name a light or a shade at least; a device that is none is removed with its nodes")
	case in.Cluster != 0 && in.NewCluster != "":
		return meaningless("/newCluster", "give a cluster or the name of a new one, not both")
	}
	if err := d.nodes(); err != nil {
		return err
	}
	if err := d.shades(); err != nil {
		return err
	}
	if in.New {
		if err := d.unnamed(); err != nil {
			return err
		}
	}
	return d.cluster()
}

// errAsAsked: the site has just what is asked for.
var errAsAsked = errors.New("it is so already")

// unnamed tells that somebody has made something of the device already: another, or whoever asks, and the answer was lost.
func (d *division) unnamed() error {
	var there []string
	same := len(d.goneNodes)+len(d.goneShades) == 0
	for _, n := range d.have.Nodes {
		if n.Bus != d.bus || !strings.EqualFold(n.Address, d.edit.Address) {
			continue
		}
		there = append(there, fmt.Sprintf("%s (node %d)", n.Name, n.ID))
		same = same && slices.ContainsFunc(d.then.Nodes, func(m appliance.Node) bool {
			return m.ID == n.ID && m.Name == n.Name && m.Profile == n.Profile && slices.Equal(m.Outputs, n.Outputs)
		})
		for _, h := range d.have.Shades {
			if h.Node != n.ID {
				continue
			}
			there = append(there, fmt.Sprintf("%s (shade %d)", h.Name, h.ID))
			same = same && slices.ContainsFunc(d.then.Shades, func(m appliance.Shade) bool {
				return m.ID == h.ID && m.Name == h.Name && m.Output == h.Output
			})
		}
	}
	isNew := func(id appliance.ID) bool { return id < 0 }
	same = same && !slices.ContainsFunc(d.then.Nodes, func(n appliance.Node) bool { return isNew(n.ID) }) &&
		!slices.ContainsFunc(d.then.Shades, func(h appliance.Shade) bool { return isNew(h.ID) })
	switch {
	case len(there) == 0:
		return nil
	case same:
		return errAsAsked
	}
	return refuse(http.StatusConflict, fmt.Sprintf("the device at address %s has been named meanwhile: %s", d.edit.Address, strings.Join(there, ", ")))
}

// nodes decides which node each light is: the one that is named, that of the same outputs, one that
// has an output of it and is left over, or a new one.
func (d *division) nodes() error {
	lights := d.edit.Lights
	if len(lights) == 0 { // what its shades hang off
		lights = []DeviceLight{{}}
	}
	var old []appliance.Node
	for _, n := range d.have.Nodes {
		if n.Bus == d.bus && n.Address == d.edit.Address {
			old = append(old, n)
		}
	}
	found := make([]*appliance.Node, len(lights))
	take := func(i int, is func(n *appliance.Node) bool) {
		for j := range old {
			if n := &old[j]; found[i] == nil && is(n) && !slices.Contains(found, n) {
				found[i] = n
			}
		}
	}
	for i, l := range lights {
		if l.ID == 0 {
			continue
		}
		if take(i, func(n *appliance.Node) bool { return n.ID == l.ID }); found[i] == nil {
			return meaningless(fmt.Sprintf("/lights/%d/id", i), fmt.Sprintf("node %d is not at this address, or is named twice", l.ID))
		}
	}
	for i, l := range lights {
		take(i, func(n *appliance.Node) bool { return slices.Equal(n.Outputs, l.Outputs) })
	}
	for i, l := range lights {
		take(i, func(n *appliance.Node) bool { return share(n.Outputs, l.Outputs) })
	}
	for i, l := range lights {
		n, err := d.node(i, l, found[i])
		if err != nil {
			return err
		}
		d.then.Nodes = append(d.then.Nodes, n)
	}
	for i := range old {
		if !slices.Contains(found, &old[i]) {
			d.goneNodes = append(d.goneNodes, old[i].ID)
		}
	}
	return nil
}

// share reports whether two lists of outputs have one in common; none is all of them.
func share(a, b []int) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(n int) bool { return slices.Contains(b, n) })
}

// node is light i, which was old; nil: it is new.
func (d *division) node(i int, l DeviceLight, old *appliance.Node) (appliance.Node, error) {
	n := appliance.Node{ID: appliance.ID(-i - 1), Bus: d.bus, Address: d.edit.Address}
	if old != nil {
		n = *old
	} else {
		n.UUID = d.uuid("light", l.Outputs)
	}
	if n.Profile != d.edit.Profile {
		n.Options = nil
	}
	n.Profile, n.Outputs = d.edit.Profile, noneIfEmpty(l.Outputs)
	set(&n.Options, d.edit.Options)
	set(&n.Groups, d.edit.Groups)
	set(&n.Note, d.edit.Note)
	n.Options, n.Groups = emptyAsNone(n.Options), noneIfEmpty(n.Groups)
	switch {
	case l.Name != "":
		n.Name = l.Name
	case n.Name != "":
	case len(d.edit.Lights) == 0:
		n.Name = d.edit.Shades[0].Name
	}
	if len(d.edit.Lights) == 0 {
		n.Tag = "" // it was a light perhaps
	}
	if n.Name == "" {
		return n, meaningless(fmt.Sprintf("/lights/%d/name", i), "this is needed")
	}
	return n, nil
}

// shades decides which shade is on each output: the one that is named, the one that was there, or a
// new one. They hang off the first node.
func (d *division) shades() error {
	var old []appliance.Shade
	for _, h := range d.have.Shades {
		if n := appliance.NodeIn(d.have.Nodes, h.Node); n != nil && n.Bus == d.bus && n.Address == d.edit.Address {
			old = append(old, h)
		}
	}
	kept := map[appliance.ID]bool{}
	for i, l := range d.edit.Shades {
		is := func(h appliance.Shade) bool { return !kept[h.ID] && h.Output == l.Output }
		if l.ID != 0 {
			is = func(h appliance.Shade) bool { return !kept[h.ID] && h.ID == l.ID }
		}
		h := appliance.Shade{ID: appliance.ID(-i - 1)}
		switch at := slices.IndexFunc(old, is); {
		case at >= 0:
			h = old[at]
			kept[h.ID] = true
		case l.ID != 0:
			return meaningless(fmt.Sprintf("/shades/%d/id", i), fmt.Sprintf("shade %d is not at this address, or is named twice", l.ID))
		default:
			h.UUID = d.uuid("shade", []int{l.Output})
		}
		h.Node, h.Output = d.then.Nodes[0].ID, l.Output
		if l.Name != "" {
			h.Name = l.Name
		}
		if h.Name == "" {
			return meaningless(fmt.Sprintf("/shades/%d/name", i), "this is needed")
		}
		d.then.Shades = append(d.then.Shades, h)
	}
	for _, h := range old {
		if !kept[h.ID] {
			d.goneShades = append(d.goneShades, h.ID)
		}
	}
	return nil
}

// uuid is the same whenever outputs at one place are made a thing of one family, so that whoever
// changes his mind twice has the IDs that were there. What has moved elsewhere meanwhile keeps it.
func (d *division) uuid(family string, outputs []int) appliance.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %q %v", family, d.bus, d.edit.Address, outputs))
	u := appliance.UUID(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8: made of what is known
	lives := slices.ContainsFunc(d.have.Nodes, func(n appliance.Node) bool { return n.UUID == u }) ||
		slices.ContainsFunc(d.have.Shades, func(h appliance.Shade) bool { return h.UUID == u })
	if lives {
		return appliance.NewUUID()
	}
	return u
}

// cluster puts all of it into one.
func (d *division) cluster() error {
	cl := appliance.Cluster{Name: d.edit.NewCluster}
	switch at := slices.IndexFunc(d.have.Clusters, func(c appliance.Cluster) bool { return c.ID == d.edit.Cluster }); {
	case d.edit.NewCluster != "":
		cl.UUID = appliance.NewUUID() // so that no name decides what it is
	case d.edit.Cluster == 0:
		return nil
	case at < 0:
		return meaningless("/cluster", "there is no cluster "+strconv.Itoa(int(d.edit.Cluster)))
	default:
		cl = d.have.Clusters[at]
	}
	cl.Nodes, cl.Shades = members(cl.Nodes, nil, d.goneNodes), members(cl.Shades, nil, d.goneShades)
	if len(d.edit.Lights) > 0 {
		for _, n := range d.then.Nodes {
			cl.Nodes = append(cl.Nodes, n.ID)
		}
	}
	for _, h := range d.then.Shades {
		cl.Shades = append(cl.Shades, h.ID)
	}
	d.then.Clusters = []appliance.Cluster{cl}
	return nil
}

// made finds in a snapshot what was made or changed, as far as it is in force.
func (d *division) made(s *appliance.Snapshot) DeviceMade {
	out := DeviceMade{Nodes: []Node{}, Shades: []Shade{}}
	for _, n := range s.Nodes {
		if slices.ContainsFunc(d.then.Nodes, func(want appliance.Node) bool {
			return want.UUID == n.Node.UUID && want.Name == n.Node.Name && want.Profile == n.Node.Profile && slices.Equal(want.Outputs, n.Node.Outputs)
		}) {
			out.Nodes = append(out.Nodes, nodeOf(s, n))
		}
	}
	for _, h := range s.Shades {
		if slices.ContainsFunc(d.then.Shades, func(want appliance.Shade) bool {
			return want.UUID == h.Shade.UUID && want.Name == h.Shade.Name && want.Output == h.Shade.Output
		}) {
			out.Shades = append(out.Shades, shadeOf(s, h))
		}
	}
	return out
}
