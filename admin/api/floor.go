package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/picture"
	"svc.internal/controller/shelf/web"
)

// Plans are the floors of the building as they are kept.
type Plans interface {
	// UpdatePlans changes how the site is divided, with the picture that change returns, if any.
	UpdatePlans(ctx context.Context, by string, change func(d *appliance.Division) (name string, data []byte, err error)) error
	// Picture fails with appliance.ErrNotFound.
	Picture(ctx context.Context, name string) ([]byte, error)
}

// Floor is one floor of the building, with the clusters on it.
type Floor struct {
	ETag     string         `json:"etag"`
	Name     string         `json:"name"`
	AreaM2   float64        `json:"areaM2" doc:"Square metres; 0: not known."`
	Clusters []appliance.ID `json:"clusters"`
	Plan     *Plan          `json:"plan" doc:"null: there is none."`
}

// Plan is the picture of a floor, and where things stand on it.
type Plan struct {
	Picture string  `json:"picture" doc:"Its name, which is another one when the picture is."`
	Type    string  `json:"type" enum:"image/png,image/jpeg,image/svg+xml"`
	Width   float64 `json:"width" doc:"Pixels, or the units of an SVG."`
	Height  float64 `json:"height"`
	Spots   []Spot  `json:"spots"`
}

// Spot is where a node, a shade or a cluster stands: one of them is set.
type Spot struct {
	Node    appliance.ID `json:"node,omitempty"`
	Shade   appliance.ID `json:"shade,omitempty"`
	Cluster appliance.ID `json:"cluster,omitempty"`
	X       float64      `json:"x" doc:"0 to 1, from the left of the picture."`
	Y       float64      `json:"y" doc:"0 to 1, from its top."`
}

// FloorOfSite is a floor as the record of the site names it.
type FloorOfSite struct {
	Name     string         `json:"name"`
	Clusters []appliance.ID `json:"clusters"`
	Plan     string         `json:"plan,omitempty" doc:"The entity tag of the floor, if it has a plan: another one when the picture or where things stand is."`
}

func floorsOf(d appliance.Division) []FloorOfSite {
	out := make([]FloorOfSite, len(d.Floors))
	for i := range d.Floors {
		f := &d.Floors[i]
		out[i] = FloorOfSite{Name: f.Name, Clusters: listOf(f.Clusters)}
		if f.Plan != nil {
			out[i].Plan = etagOf(f)
		}
	}
	return out
}

func floorRecord(f *appliance.Floor) Floor {
	out := Floor{ETag: etagOf(f), Name: f.Name, AreaM2: f.AreaM2, Clusters: listOf(f.Clusters)}
	if p := f.Plan; p != nil {
		out.Plan = &Plan{p.Picture, p.Type, p.Width, p.Height, make([]Spot, len(p.Spots))}
		for i, s := range p.Spots {
			out.Plan.Spots[i] = Spot(s)
		}
	}
	return out
}

func findFloor(d *appliance.Division, name string) (*appliance.Floor, error) {
	for i := range d.Floors {
		if d.Floors[i].Name == name {
			return &d.Floors[i], nil
		}
	}
	return nil, notThere("floor", name)
}

func (a *API) floors(c echo.Context) error {
	d := a.Core.Snapshot().Site.Division
	out := make([]Floor, len(d.Floors))
	for i := range d.Floors {
		out[i] = floorRecord(&d.Floors[i])
	}
	return answer(c, http.StatusOK, out)
}

func (a *API) floor(c echo.Context) error {
	d := a.Core.Snapshot().Site.Division
	f, err := findFloor(&d, c.Param("floor"))
	if err != nil {
		return err
	}
	r := floorRecord(f)
	return tagged(c, http.StatusOK, r.ETag, r)
}

// FloorEdit is what may be set of a floor; what is left out stays.
type FloorEdit struct {
	Name     *string         `json:"name,omitempty" doc:"Unique in the building."`
	AreaM2   *float64        `json:"areaM2,omitempty" doc:"Square metres; 0: not known."`
	Clusters *[]appliance.ID `json:"clusters,omitempty" doc:"All that are on it; they leave the floors that they were on."`
	Above    *string         `json:"above,omitempty" doc:"The floor that it is to be above; empty: it is the lowest. A new one is the highest."`
}

// apply makes of floor i what was asked for. The lists of d are its own.
func (in FloorEdit) apply(d *appliance.Division, i int) error {
	f := d.Floors[i]
	set(&f.Name, in.Name)
	set(&f.AreaM2, in.AreaM2)
	if in.Clusters != nil {
		f.Clusters = slices.Compact(slices.Sorted(slices.Values(*in.Clusters)))
		for j := range d.Floors {
			d.Floors[j].Clusters = slices.DeleteFunc(slices.Clone(d.Floors[j].Clusters), func(id appliance.ID) bool { return slices.Contains(f.Clusters, id) })
		}
	}
	d.Floors[i] = f
	if in.Above == nil {
		return nil
	}
	d.Floors = slices.Delete(d.Floors, i, i+1)
	at := 0
	if *in.Above != "" {
		below := slices.IndexFunc(d.Floors, func(o appliance.Floor) bool { return o.Name == *in.Above })
		if below < 0 {
			return meaningless("/above", fmt.Sprintf("there is no other floor %q", *in.Above))
		}
		at = below + 1
	}
	d.Floors = slices.Insert(d.Floors, at, f)
	return nil
}

// changePlans changes the floors durably, and waits until they are in force.
func (a *API) changePlans(c echo.Context, change func(d *appliance.Division) (string, []byte, error)) error {
	var then string
	err := a.Editor.UpdatePlans(c.Request().Context(), callerOf(c).name, func(d *appliance.Division) (string, []byte, error) {
		d.Floors = slices.Clone(d.Floors)
		name, data, err := change(d)
		then = etagOf(d.Floors)
		return name, data, err
	})
	if err != nil {
		return edited(err)
	}
	a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return etagOf(s.Site.Division.Floors) == then })
	return nil
}

// changeFloor changes the floor in the path, if the condition of the request holds, and answers with it.
func (a *API) changeFloor(c echo.Context, what string, detail any, change func(d *appliance.Division, i int) (string, []byte, error)) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	said, name := c.Param("floor"), ""
	err = a.changePlans(c, func(d *appliance.Division) (string, []byte, error) {
		f, err := findFloor(d, said)
		if err == nil {
			err = match.holds(f)
		}
		if err != nil {
			return "", nil, err
		}
		i := slices.IndexFunc(d.Floors, func(o appliance.Floor) bool { return o.Name == said })
		name = said
		picture, data, err := change(d, i)
		return picture, data, err
	})
	if err != nil {
		return err
	}
	a.audit(c, what, "floor "+name, detail)
	return nil
}

func (a *API) tellFloor(c echo.Context, status int, name string) error {
	d := a.Core.Snapshot().Site.Division
	f, err := findFloor(&d, name)
	if err != nil {
		return err
	}
	r := floorRecord(f)
	return tagged(c, status, r.ETag, r)
}

func (a *API) createFloor(c echo.Context) error {
	var in FloorEdit
	if err := read(c, &in); err != nil {
		return err
	}
	if in.Name == nil {
		return meaningless("/name", "a floor needs a name")
	}
	err := a.changePlans(c, func(d *appliance.Division) (string, []byte, error) {
		d.Floors = append(d.Floors, appliance.Floor{})
		return "", nil, in.apply(d, len(d.Floors)-1)
	})
	if err != nil {
		return err
	}
	a.audit(c, "floor.create", "floor "+*in.Name, in)
	return a.tellFloor(c, http.StatusCreated, *in.Name)
}

func (a *API) editFloor(c echo.Context) error {
	var in FloorEdit
	if err := read(c, &in); err != nil {
		return err
	}
	name := c.Param("floor")
	set(&name, in.Name)
	err := a.changeFloor(c, "floor.change", in, func(d *appliance.Division, i int) (string, []byte, error) { return "", nil, in.apply(d, i) })
	if err != nil {
		return err
	}
	return a.tellFloor(c, http.StatusOK, name)
}

func (a *API) removeFloor(c echo.Context) error {
	err := a.changeFloor(c, "floor.remove", nil, func(d *appliance.Division, i int) (string, []byte, error) {
		d.Floors = slices.Delete(d.Floors, i, i+1)
		return "", nil, nil
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// putPicture takes the picture of a floor, which is the body. What stands on the plan stays where it is on the picture.
func (a *API) putPicture(c echo.Context) error {
	data, err := web.ReadBody(c, picture.Most)
	if err != nil {
		return unread(err)
	}
	p, err := picture.Take(data)
	if err != nil {
		return meaningless("", err.Error())
	}
	err = a.changeFloor(c, "floor.picture", map[string]any{"type": p.Type, "bytes": len(p.Data)}, func(d *appliance.Division, i int) (string, []byte, error) {
		plan := appliance.Plan{Picture: p.Sum, Type: p.Type, Width: p.Width, Height: p.Height}
		if was := d.Floors[i].Plan; was != nil {
			plan.Spots = was.Spots
		}
		d.Floors[i].Plan = &plan
		return p.Sum, p.Data, nil
	})
	if err != nil {
		return err
	}
	return a.tellFloor(c, http.StatusOK, c.Param("floor"))
}

// showPicture sends the picture of a floor. It is an image and nothing else: whoever opens its address gets a file, and were
// it shown as a document, that could do nothing.
func (a *API) showPicture(c echo.Context) error {
	d := a.Core.Snapshot().Site.Division
	f, err := findFloor(&d, c.Param("floor"))
	if err != nil {
		return err
	}
	if f.Plan == nil {
		return refuse(http.StatusNotFound, "this floor has no plan")
	}
	data, err := a.Editor.Picture(c.Request().Context(), f.Plan.Picture)
	if errors.Is(err, appliance.ErrNotFound) {
		return &refusal{status: http.StatusNotFound, detail: "the picture is lost; put in another", cause: err}
	}
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", `attachment; filename="plan"`)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("ETag", strconv.Quote(f.Plan.Picture))
	h.Set("Cache-Control", "private, no-cache")
	if c.QueryParam("picture") == f.Plan.Picture {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if strings.Contains(c.Request().Header.Get("If-None-Match"), f.Plan.Picture) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, f.Plan.Type, data)
}

func (a *API) removePlan(c echo.Context) error {
	err := a.changeFloor(c, "floor.noplan", nil, func(d *appliance.Division, i int) (string, []byte, error) {
		d.Floors[i].Plan = nil
		return "", nil, nil
	})
	if err != nil {
		return err
	}
	return a.tellFloor(c, http.StatusOK, c.Param("floor"))
}

// Arrangement is where things are to stand on a plan. What it does not name stays.
type Arrangement struct {
	Place  []Spot `json:"place,omitempty" doc:"They leave the plans that they stood on."`
	Remove []Spot `json:"remove,omitempty" doc:"They stand nowhere any more; x and y mean nothing here."`
}

// arrange puts things onto the plan of a floor, or takes them from it.
func (a *API) arrange(c echo.Context) error {
	var in Arrangement
	if err := read(c, &in); err != nil {
		return err
	}
	moved := map[appliance.Spot]bool{}
	var place []appliance.Spot
	for what, list := range map[string][]Spot{"place": in.Place, "remove": in.Remove} {
		for i, s := range list {
			key := fmt.Sprintf("/%s/%d", what, i)
			spot := appliance.Spot(s)
			if ids := []appliance.ID{s.Node, s.Shade, s.Cluster}; slices.Min(ids) < 0 || slices.Max(ids) == 0 || s.Node+s.Shade+s.Cluster != slices.Max(ids) {
				return meaningless(key, "want one of node, shade and cluster")
			}
			if !(s.X >= 0 && s.X <= 1 && s.Y >= 0 && s.Y <= 1) {
				return meaningless(key, "x and y are parts of the picture: 0 to 1")
			}
			if moved[spot.Of()] {
				return meaningless(key, "it is named twice")
			}
			moved[spot.Of()] = true
			if what == "place" {
				spot.X, spot.Y = tenThousandths(s.X), tenThousandths(s.Y)
				place = append(place, spot)
			}
		}
	}
	err := a.changeFloor(c, "floor.arrange", map[string]int{"place": len(in.Place), "remove": len(in.Remove)}, func(d *appliance.Division, i int) (string, []byte, error) {
		if d.Floors[i].Plan == nil {
			return "", nil, refuse(http.StatusConflict, "this floor has no plan yet; put in its picture first")
		}
		for j := range d.Floors {
			f := &d.Floors[j]
			if f.Plan == nil || j != i && !slices.ContainsFunc(f.Plan.Spots, func(s appliance.Spot) bool { return moved[s.Of()] }) {
				continue
			}
			plan := *f.Plan
			plan.Spots = slices.DeleteFunc(slices.Clone(plan.Spots), func(s appliance.Spot) bool { return moved[s.Of()] })
			if j == i {
				plan.Spots = append(plan.Spots, place...)
				appliance.SortSpots(plan.Spots)
			}
			f.Plan = &plan
		}
		return "", nil, nil
	})
	if err != nil {
		return err
	}
	return a.tellFloor(c, http.StatusOK, c.Param("floor"))
}

func tenThousandths(v float64) float64 { return math.Round(v*1e4) / 1e4 }
