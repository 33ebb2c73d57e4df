package api_test

import (
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" onload="alert(1)"><rect width="400" height="300"/></svg>`

// Floors are made, get a picture and things on it; who only looks sees them, and a picture is nothing but an image.
func TestFloorsAndTheirPlans(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c, viewer := h.as(account.RoleOperator), h.as(account.RoleViewer)
	var f api.Floor
	c.must(201, "POST", "/floors", api.FloorEdit{Name: new("Ground floor"), Clusters: &[]appliance.ID{1}}, &f)
	c.must(201, "POST", "/floors", api.FloorEdit{Name: new("Attic")}, nil)
	c.must(201, "POST", "/floors", api.FloorEdit{Name: new("Cellar"), Above: new("")}, nil)
	c.must(422, "POST", "/floors", api.FloorEdit{Name: new("Attic")}, nil)
	c.must(422, "POST", "/floors", api.FloorEdit{Name: new(" ")}, nil)
	c.must(422, "POST", "/floors", api.FloorEdit{Name: new("Roof"), Clusters: &[]appliance.ID{77}}, nil)
	viewer.must(403, "POST", "/floors", api.FloorEdit{Name: new("Roof")}, nil)
	var all []api.Floor
	viewer.must(200, "GET", "/floors", nil, &all)
	if len(all) != 3 || all[0].Name != "Cellar" || all[1].Name != "Ground floor" || len(all[1].Clusters) != 1 || all[1].Plan != nil {
		t.Fatalf("the floors are %+v", all)
	}
	const at = "/floors/Ground%20floor"
	c.must(409, "PATCH", at+"/plan", api.Arrangement{Place: []api.Spot{{Node: 1, X: .5, Y: .5}}}, nil, "If-Match", "*")
	c.must(428, "PUT", at+"/picture", drawing, nil)
	c.must(412, "PUT", at+"/picture", drawing, nil, "If-Match", `"other"`)
	c.must(422, "PUT", at+"/picture", "%PDF-1.7", nil, "If-Match", f.ETag)
	c.must(413, "PUT", at+"/picture", strings.Repeat("x", 513<<10), nil, "If-Match", f.ETag)
	viewer.must(403, "PUT", at+"/picture", drawing, nil, "If-Match", f.ETag)
	c.must(200, "PUT", at+"/picture", drawing, &f, "If-Match", f.ETag)
	if f.Plan == nil || f.Plan.Width != 400 || f.Plan.Height != 300 || f.Plan.Type != "image/svg+xml" {
		t.Fatalf("the plan is %+v", f.Plan)
	}

	status, head, body := viewer.do("GET", at+"/picture?picture="+f.Plan.Picture, nil)
	if status != 200 || strings.Contains(string(body), "onload") || !strings.Contains(string(body), "<rect") {
		t.Errorf("the picture is %d %s", status, body)
	}
	for name, want := range map[string]string{"Content-Type": "image/svg+xml", "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment", "Content-Security-Policy": "sandbox", "Cache-Control": "immutable"} {
		if !strings.Contains(head.Get(name), want) {
			t.Errorf("%s is %q", name, head.Get(name))
		}
	}

	c.must(200, "PATCH", at+"/plan", api.Arrangement{Place: []api.Spot{{Node: 1, X: .123456, Y: .5}, {Shade: 5001, X: 0, Y: 1}, {Cluster: 1, X: .5, Y: .25}}}, &f, "If-Match", "*")
	f.Plan = nil
	c.must(200, "PATCH", at+"/plan", api.Arrangement{Place: []api.Spot{{Node: 1, X: .2, Y: .5}}, Remove: []api.Spot{{Shade: 5001}}}, &f, "If-Match", f.ETag)
	if len(f.Plan.Spots) != 2 || f.Plan.Spots[0] != (api.Spot{Cluster: 1, X: .5, Y: .25}) || f.Plan.Spots[1] != (api.Spot{Node: 1, X: .2, Y: .5}) {
		t.Errorf("on the plan are %+v", f.Plan.Spots)
	}
	for _, wrong := range []api.Spot{{}, {Node: 1, Shade: 5001}, {Node: 99, X: .1}, {Node: 2, X: 1.1}, {Node: -1}} {
		c.must(422, "PATCH", at+"/plan", api.Arrangement{Place: []api.Spot{wrong}}, nil, "If-Match", "*")
	}
	// On another plan it stands there only, and a cluster that moves leaves its floor.
	var attic api.Floor
	c.must(200, "PUT", "/floors/Attic/picture", drawing, &attic, "If-Match", "*")
	c.must(200, "PATCH", "/floors/Attic/plan", api.Arrangement{Place: []api.Spot{{Node: 1, X: 1, Y: 1}}}, &attic, "If-Match", "*")
	c.must(200, "PATCH", "/floors/Attic", api.FloorEdit{Clusters: &[]appliance.ID{1}}, &attic, "If-Match", attic.ETag)
	f = api.Floor{}
	c.must(200, "GET", at, nil, &f)
	if len(f.Plan.Spots) != 1 || len(f.Clusters) != 0 || len(attic.Plan.Spots) != 1 || len(attic.Clusters) != 1 {
		t.Errorf("the ground floor has %+v, the attic %+v", f, attic)
	}
	// What is removed stands nowhere; the floors go on.
	c.must(204, "DELETE", "/nodes/1", nil, nil, "If-Match", "*")
	c.must(200, "GET", "/floors/Attic", nil, &attic)
	if len(attic.Plan.Spots) != 0 {
		t.Errorf("a node that is gone stands at %+v", attic.Plan.Spots)
	}
	var site api.Site
	viewer.must(200, "GET", "/site", nil, &site)
	if len(site.Floors) != 3 || site.Floors[1].Plan == "" || site.Floors[0].Plan != "" {
		t.Errorf("the site tells of %+v", site.Floors)
	}
	c.must(200, "DELETE", at+"/plan", nil, &f, "If-Match", f.ETag)
	viewer.must(404, "GET", at+"/picture", nil, nil)
	c.must(204, "DELETE", "/floors/Cellar", nil, nil, "If-Match", "*")
}

// A bus of which nothing answers needs somebody; who puts it aside is known after a restart of the door, too.
func TestWhatNeedsSomebodyIsPutAside(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t)
	c, viewer := h.as(account.RoleOperator), h.as(account.RoleViewer)
	h.lamps.mu.Lock()
	for _, id := range []appliance.ID{1, 2, 3} {
		h.lamps.silent[id] = true
	}
	h.lamps.mu.Unlock()
	var now api.Attention
	for began := time.Now(); len(now.Concerns) == 0; time.Sleep(250 * time.Millisecond) {
		if time.Since(began) > 5*time.Minute {
			t.Fatal("nobody tells that all is silent")
		}
		viewer.must(200, "GET", "/attention", nil, &now)
	}
	for _, one := range now.Concerns {
		if one.Aside != nil || one.Key == "" {
			t.Errorf("at first it is %+v", one)
		}
	}
	key := now.Concerns[0].Key
	viewer.must(403, "POST", "/attention/aside", api.AsideEdit{Key: key}, nil)
	c.must(404, "POST", "/attention/aside", api.AsideEdit{Key: "nothing"}, nil)
	var one api.Concern
	c.must(200, "POST", "/attention/aside", api.AsideEdit{Key: key}, &one)
	if one.Aside == nil || one.Aside.By != string(account.RoleOperator) || time.Since(one.Aside.At) > time.Minute {
		t.Errorf("put aside it is %+v", one)
	}
	kept, err := h.db.Asides(t.Context())
	if err != nil || len(kept) != 1 || kept[0].Key != key || kept[0].By != string(account.RoleOperator) {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	c.must(200, "POST", "/attention/aside", api.AsideEdit{Key: key, Aside: new(false)}, &one)
	if kept, err := h.db.Asides(t.Context()); err != nil || one.Aside != nil || len(kept) != 0 {
		t.Errorf("taken back it is %+v, and kept is %v, %v", one, kept, err)
	}
}
