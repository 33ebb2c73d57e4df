package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// siteCheck sees the site as it is and as it would be; its error ends the change.
type siteCheck = func(have, then appliance.Site) error

// Editor changes the site, one noun at a time, each durably before it returns. The
// functions that it is given see the noun as it is in that very transaction; their
// error ends it.
type Editor interface {
	Plans
	CreateNode(ctx context.Context, n appliance.Node, by string, check siteCheck) (appliance.ID, error)
	UpdateNode(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check siteCheck) error
	// UpdateDevice changes all nodes at the bus and address of one, that one first.
	UpdateDevice(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check siteCheck) error
	// Divide makes and changes what make returns first, by UUID, and retires the nodes and shades that
	// it names, all in one.
	Divide(ctx context.Context, by string, make func(have appliance.Site) (then appliance.Site, nodes, shades []appliance.ID, err error), check siteCheck) error
	RemoveNode(ctx context.Context, id appliance.ID, by string, check func(appliance.Node) error) error
	CreateShade(ctx context.Context, h appliance.Shade, by string, check siteCheck) (appliance.ID, error)
	UpdateShade(ctx context.Context, id appliance.ID, by string, change func(*appliance.Shade) error, check siteCheck) error
	RemoveShade(ctx context.Context, id appliance.ID, by string, check func(appliance.Shade) error) error
	CreateCluster(ctx context.Context, cl appliance.Cluster, by string) (appliance.ID, error)
	UpdateCluster(ctx context.Context, id appliance.ID, by string, change func(*appliance.Cluster) error) error
	RemoveCluster(ctx context.Context, id appliance.ID, by string, check func(appliance.Cluster) error) error
	CreateBus(ctx context.Context, b appliance.Bus, by string, check siteCheck) (appliance.UUID, error)
	UpdateBus(ctx context.Context, id appliance.UUID, by string, change func(*appliance.Bus) error, check siteCheck) error
	RemoveBus(ctx context.Context, id appliance.UUID, by string, check func(appliance.Bus) error) error
	UpdateSettings(ctx context.Context, by string, change func(name *string, set *appliance.Settings, d *appliance.Division) error) error
	CreateScene(ctx context.Context, sc appliance.Scene, by string) (appliance.ID, error)
	UpdateScene(ctx context.Context, id appliance.ID, by string, change func(*appliance.Scene) error) error
	RemoveScene(ctx context.Context, id appliance.ID, by string, check func(appliance.Scene) error) error
	CreateRule(ctx context.Context, r appliance.Rule, by string) (appliance.ID, error)
	UpdateRule(ctx context.Context, id appliance.ID, by string, change func(*appliance.Rule) error) error
	RemoveRule(ctx context.Context, id appliance.ID, by string, check func(appliance.Rule) error) error
}

// refusedEntry is what the store says of an entry that cannot be.
type refusedEntry interface {
	error
	Fields() (keys, messages []string)
}

// edited words what became of a change: 422 with the fields that are wrong, 409 if
// something is in the way.
func edited(err error) error {
	var refused refusedEntry
	switch {
	case errors.As(err, &refused):
		out := &refusal{status: http.StatusUnprocessableEntity, cause: err}
		keys, messages := refused.Fields()
		for i, key := range keys {
			out.fields = append(out.fields, FieldError{"/" + strings.Split(key, ",")[0], messages[i]})
			if key != "" {
				messages[i] = key + ": " + messages[i]
			}
		}
		out.detail = strings.Join(messages, "; ")
		if strings.Contains(out.detail, "is already the ID") || strings.Contains(out.detail, "belongs to another") ||
			strings.Contains(out.detail, "is retired") || strings.Contains(out.detail, "share no ID") {
			out.status = http.StatusConflict
		}
		return out
	case errors.Is(err, appliance.ErrInUse):
		return &refusal{status: http.StatusConflict, detail: err.Error(), cause: err}
	}
	return err
}

// inForce waits until the core has what was stored, so that whoever changed something
// sees it in the next answer. It gives up after some seconds: stored it is.
func (a *API) inForce(ctx context.Context, ok func(*appliance.Snapshot) bool) *appliance.Snapshot {
	late := time.NewTimer(5 * time.Second)
	defer late.Stop()
	for {
		s := a.Core.Snapshot()
		if ok(s) {
			return s
		}
		select {
		case <-s.Superseded():
		case <-ctx.Done():
			return s
		case <-late.C:
			return s
		}
	}
}

// NodeEdit is what may be set of a node; what is left out stays. A node without bus,
// address or profile waits for binding.
type NodeEdit struct {
	ID      *appliance.ID      `json:"id,omitempty" doc:"At creation only; found if left out."`
	Name    *string            `json:"name,omitempty"`
	Bus     *string            `json:"bus,omitempty" doc:"Name or UUID; empty: none."`
	Address *string            `json:"address,omitempty"`
	Profile *string            `json:"profile,omitempty"`
	Tag     *string            `json:"tag,omitempty" enum:"NODE,PERIPHERAL"`
	Outputs *[]int             `json:"outputs,omitempty"`
	Groups  *[]string          `json:"groups,omitempty"`
	Options *map[string]string `json:"options,omitempty"`
	Note    *string            `json:"note,omitempty" doc:"What the next installer should know of the device, at most 500 characters; empty: nothing."`

	WholeDevice bool `json:"wholeDevice,omitempty" doc:"With bus, address, profile or note: the other nodes at the same bus and address get these too, all in one."`
}

// ofDevice reports whether it sets nothing but what all nodes of a device share.
func (in NodeEdit) ofDevice() bool {
	return in.Name == nil && in.Tag == nil && in.Outputs == nil && in.Groups == nil && in.Options == nil
}

func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

// noneIfEmpty and emptyAsNone are lists and options as the store keeps them, so that what was
// asked for can be compared with what is in force.
func noneIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func emptyAsNone(options map[string]string) map[string]string {
	if len(options) == 0 {
		return nil
	}
	return options
}

func (a *API) applyNode(in NodeEdit, n *appliance.Node) error {
	set(&n.Name, in.Name)
	set(&n.Address, in.Address)
	set(&n.Profile, in.Profile)
	set(&n.Outputs, in.Outputs)
	set(&n.Groups, in.Groups)
	set(&n.Options, in.Options)
	set(&n.Note, in.Note)
	n.Outputs, n.Groups, n.Options = noneIfEmpty(n.Outputs), noneIfEmpty(n.Groups), emptyAsNone(n.Options)
	if in.Tag != nil {
		n.Tag = appliance.Tag(*in.Tag)
	}
	if in.Bus == nil {
		return nil
	}
	n.Bus = appliance.UUID{}
	if *in.Bus == "" {
		return nil
	}
	b, err := findBus(a.Core.Snapshot(), *in.Bus)
	if err != nil {
		return meaningless("/bus", "there is no bus "+strconv.Quote(*in.Bus))
	}
	n.Bus = b.Bus.UUID
	return nil
}

func (a *API) createNode(c echo.Context) error {
	var in NodeEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var n appliance.Node
	set(&n.ID, in.ID)
	if n.ID < 0 {
		return meaningless("/id", "want an ID from 1, or none")
	}
	if err := a.applyNode(in, &n); err != nil {
		return err
	}
	id, err := a.Editor.CreateNode(c.Request().Context(), n, callerOf(c).name, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "node.create", subjectOf("node", id, n.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return s.Node(id) != nil })
	return a.created(c, "nodes", id, s.Node(id) != nil, func() (string, any) { r := nodeOf(s, s.Node(id)); return r.ETag, r })
}

// created answers 201 with the record, if it is in force already.
func (a *API) created(c echo.Context, family string, id appliance.ID, there bool, record func() (string, any)) error {
	c.Response().Header().Set("Location", prefix+"/"+family+"/"+itoa(id))
	if !there {
		return c.NoContent(http.StatusCreated)
	}
	tag, v := record()
	return tagged(c, http.StatusCreated, tag, v)
}

func (a *API) editNode(c echo.Context) error {
	var in NodeEdit
	match, id, err := a.edit(c, &in, a.nodeID(c))
	if err != nil {
		return err
	}
	update := a.Editor.UpdateNode
	if in.WholeDevice {
		if update = a.Editor.UpdateDevice; !in.ofDevice() {
			return meaningless("/wholeDevice", "the nodes of a device share bus, address, profile and note; change the rest one by one")
		}
	}
	var now appliance.Node
	err = update(c.Request().Context(), id, callerOf(c).name, func(n *appliance.Node) error {
		if n.ID != id { // another node of the device
			return a.applyNode(in, n)
		}
		if err := match.holds(n); err != nil {
			return err
		}
		if in.ID != nil && *in.ID != id {
			return meaningless("/id", "an ID never changes")
		}
		err := a.applyNode(in, n)
		now = *n
		return err
	}, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "node.change", subjectOf("node", id, now.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return s.Node(id) == nil || reflect.DeepEqual(*s.Node(id).Node, now) })
	if s.Node(id) == nil {
		return notThere("node", c.Param("id"))
	}
	r := nodeOf(s, s.Node(id))
	return tagged(c, http.StatusOK, r.ETag, r)
}

// edit takes what all changes have: a condition, a body and an ID.
func (a *API) edit(c echo.Context, in any, id appliance.ID) (wanted, appliance.ID, error) {
	match, err := ifMatch(c)
	if err != nil {
		return match, id, err
	}
	return match, id, read(c, in)
}

// remove takes a noun away, if the condition of the request holds.
func remove[T any](a *API, c echo.Context, word string, id appliance.ID, by func(context.Context, appliance.ID, string, func(T) error) error,
	nameOf func(T) string, there func(*appliance.Snapshot) bool) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	var name string
	err = by(c.Request().Context(), id, callerOf(c).name, func(v T) error {
		name = nameOf(v)
		return match.holds(&v)
	})
	if err != nil {
		return edited(err)
	}
	a.audit(c, word+".remove", subjectOf(word, id, name), nil)
	a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return !there(s) })
	return c.NoContent(http.StatusNoContent)
}

func (a *API) removeNode(c echo.Context) error {
	id := a.nodeID(c)
	return remove(a, c, "node", id, a.Editor.RemoveNode, func(v appliance.Node) string { return v.Name },
		func(s *appliance.Snapshot) bool { return s.Node(id) != nil })
}

// ShadeEdit is what may be set of a shade; what is left out stays.
type ShadeEdit struct {
	ID         *appliance.ID `json:"id,omitempty" doc:"At creation only; found if left out."`
	Name       *string       `json:"name,omitempty"`
	Node       *appliance.ID `json:"node,omitempty" doc:"0: it waits for binding."`
	Output     *int          `json:"output,omitempty"`
	TravelUp   *float64      `json:"travelUp,omitempty" doc:"Seconds."`
	TravelDown *float64      `json:"travelDown,omitempty"`
	Inverted   *bool         `json:"inverted,omitempty"`
}

func (in ShadeEdit) apply(h *appliance.Shade) {
	set(&h.Name, in.Name)
	set(&h.Node, in.Node)
	set(&h.Output, in.Output)
	set(&h.Inverted, in.Inverted)
	if in.TravelUp != nil {
		h.TravelUp = time.Duration(*in.TravelUp * float64(time.Second))
	}
	if in.TravelDown != nil {
		h.TravelDown = time.Duration(*in.TravelDown * float64(time.Second))
	}
}

func (a *API) createShade(c echo.Context) error {
	var in ShadeEdit
	if err := read(c, &in); err != nil {
		return err
	}
	h := appliance.Shade{Output: 1}
	set(&h.ID, in.ID)
	if h.ID < 0 {
		return meaningless("/id", "want an ID from 1, or none")
	}
	in.apply(&h)
	id, err := a.Editor.CreateShade(c.Request().Context(), h, callerOf(c).name, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "shade.create", subjectOf("shade", id, h.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return s.Shade(id) != nil })
	return a.created(c, "shades", id, s.Shade(id) != nil, func() (string, any) { r := shadeOf(s, s.Shade(id)); return r.ETag, r })
}

func (a *API) editShade(c echo.Context) error {
	var in ShadeEdit
	match, id, err := a.edit(c, &in, a.shadeID(c))
	if err != nil {
		return err
	}
	var now appliance.Shade
	err = a.Editor.UpdateShade(c.Request().Context(), id, callerOf(c).name, func(h *appliance.Shade) error {
		if err := match.holds(h); err != nil {
			return err
		}
		if in.ID != nil && *in.ID != id {
			return meaningless("/id", "an ID never changes")
		}
		in.apply(h)
		now = *h
		return nil
	}, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "shade.change", subjectOf("shade", id, now.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return s.Shade(id) == nil || *s.Shade(id).Shade == now })
	if s.Shade(id) == nil {
		return notThere("shade", c.Param("id"))
	}
	r := shadeOf(s, s.Shade(id))
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) removeShade(c echo.Context) error {
	id := a.shadeID(c)
	return remove(a, c, "shade", id, a.Editor.RemoveShade, func(v appliance.Shade) string { return v.Name },
		func(s *appliance.Snapshot) bool { return s.Shade(id) != nil })
}

// ClusterEdit is what may be set of a cluster; what is left out stays.
type ClusterEdit struct {
	ID     *appliance.ID   `json:"id,omitempty" doc:"At creation only; found if left out."`
	Name   *string         `json:"name,omitempty"`
	Nodes  *[]appliance.ID `json:"nodes,omitempty" doc:"All its nodes."`
	Shades *[]appliance.ID `json:"shades,omitempty" doc:"All its shades."`

	AddNodes     []appliance.ID `json:"addNodes,omitempty"`
	RemoveNodes  []appliance.ID `json:"removeNodes,omitempty"`
	AddShades    []appliance.ID `json:"addShades,omitempty"`
	RemoveShades []appliance.ID `json:"removeShades,omitempty"`
}

func (in ClusterEdit) apply(cl *appliance.Cluster) {
	set(&cl.Name, in.Name)
	set(&cl.Nodes, in.Nodes)
	set(&cl.Shades, in.Shades)
	cl.Nodes = members(cl.Nodes, in.AddNodes, in.RemoveNodes)
	cl.Shades = members(cl.Shades, in.AddShades, in.RemoveShades)
}

func members(ids, add, remove []appliance.ID) []appliance.ID {
	ids = slices.Concat(ids, add)
	ids = slices.DeleteFunc(ids, func(id appliance.ID) bool { return slices.Contains(remove, id) })
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (a *API) createCluster(c echo.Context) error {
	var in ClusterEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var cl appliance.Cluster
	set(&cl.ID, in.ID)
	if cl.ID < 0 {
		return meaningless("/id", "want an ID from 1, or none")
	}
	in.apply(&cl)
	id, err := a.Editor.CreateCluster(c.Request().Context(), cl, callerOf(c).name)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "cluster.create", subjectOf("cluster", id, cl.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return s.Cluster(id) != nil })
	return a.created(c, "clusters", id, s.Cluster(id) != nil, func() (string, any) { r := clusterOf(s, s.Cluster(id)); return r.ETag, r })
}

func (a *API) editCluster(c echo.Context) error {
	var in ClusterEdit
	match, id, err := a.edit(c, &in, a.clusterID(c))
	if err != nil {
		return err
	}
	var now appliance.Cluster
	err = a.Editor.UpdateCluster(c.Request().Context(), id, callerOf(c).name, func(cl *appliance.Cluster) error {
		if err := match.holds(cl); err != nil {
			return err
		}
		if in.ID != nil && *in.ID != id {
			return meaningless("/id", "an ID never changes")
		}
		in.apply(cl)
		now = *cl
		return nil
	})
	if err != nil {
		return edited(err)
	}
	a.audit(c, "cluster.change", subjectOf("cluster", id, now.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool {
		cl := s.Cluster(id)
		return cl == nil || cl.Cluster.Name == now.Name && slices.Equal(cl.Cluster.Nodes, now.Nodes) && slices.Equal(cl.Cluster.Shades, now.Shades) // all that an edit can change
	})
	if s.Cluster(id) == nil {
		return notThere("cluster", c.Param("id"))
	}
	r := clusterOf(s, s.Cluster(id))
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) removeCluster(c echo.Context) error {
	id := a.clusterID(c)
	return remove(a, c, "cluster", id, a.Editor.RemoveCluster, func(v appliance.Cluster) string { return v.Name },
		func(s *appliance.Snapshot) bool { return s.Cluster(id) != nil })
}
