package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/store"
)

func TestSiteChangesOneNounAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the bus is up", func() bool { return h.core.Snapshot().Node(1).Online })

	// A node is made, is online without a restart, and obeys.
	var n api.Node
	at := c.must(201, "POST", "/nodes", `{"name":"Bar","bus":"ground","address":"7","profile":"dimmer"}`, &n)
	if at.Get("Location") != fmt.Sprint("/api/v1/nodes/", n.ID) || at.Get("ETag") != n.ETag || n.ID != 4 {
		t.Fatalf("got %+v, %v", n, at)
	}
	until(t, "the new node is online", func() bool { return h.core.Snapshot().Node(n.ID).Online })
	var e api.Entry
	c.must(200, "POST", "/commands", fmt.Sprintf(`{"kind":"light-level","target":{"scope":"node","id":%d},"level":30}`, n.ID), &e)
	if !e.OK {
		t.Errorf("the new node does not obey: %+v", e)
	}

	// Changed under a condition only.
	path := fmt.Sprint("/nodes/", n.ID)
	c.must(428, "PATCH", path, `{"name":"Counter"}`, nil)
	c.must(412, "PATCH", path, `{"name":"Counter"}`, nil, "If-Match", `"0000000000000000"`)
	var renamed api.Node
	c.must(200, "PATCH", path, `{"name":"Counter"}`, &renamed, "If-Match", n.ETag)
	if renamed.Name != "Counter" || renamed.ETag == n.ETag || renamed.UUID != n.UUID {
		t.Errorf("got %+v", renamed)
	}
	c.must(412, "PATCH", path, `{"name":"Bar"}`, nil, "If-Match", n.ETag)
	status, _, data := c.do("PATCH", path, `{"tag":"LAMP"}`, "If-Match", "*")
	if status != 422 || !strings.Contains(string(data), `"pointer":"/tag"`) {
		t.Errorf("a bad tag: %d %s", status, data)
	}
	c.must(422, "PATCH", path, `{"bus":"attic"}`, nil, "If-Match", "*")
	c.must(422, "PATCH", path, `{"id":99}`, nil, "If-Match", "*")
	c.must(404, "PATCH", "/nodes/99", `{"name":"x"}`, nil, "If-Match", "*")
	c.must(409, "POST", "/nodes", `{"id":5001,"name":"x"}`, nil)

	// Clustered, by what is added.
	var cl api.Cluster
	c.must(200, "PATCH", "/clusters/1", fmt.Sprintf(`{"addNodes":[%d],"removeNodes":[2]}`, n.ID), &cl, "If-Match", "*")
	if fmt.Sprint(cl.Nodes) != "[1 4]" {
		t.Errorf("members %v", cl.Nodes)
	}

	// Replaced by another device: it keeps ID, cluster and name.
	c.must(200, "PATCH", path, `{"address":"8"}`, &renamed, "If-Match", renamed.ETag)
	if renamed.ID != n.ID || renamed.Name != "Counter" || fmt.Sprint(renamed.Clusters) != "[1]" || renamed.Address != "8" {
		t.Errorf("after the replacement: %+v", renamed)
	}

	// Unbound: offline, waits, no fault; a command says so.
	c.must(200, "PATCH", path, `{"bus":"","address":"","profile":""}`, &renamed, "If-Match", "*")
	if !renamed.Waits || renamed.Online || renamed.Fault != "" || renamed.Tag != "NODE" {
		t.Errorf("unbound: %+v", renamed)
	}
	status, _, data = c.do("POST", "/commands", fmt.Sprintf(`{"kind":"light-on","target":{"scope":"node","id":%d}}`, n.ID))
	if status != 422 || !strings.Contains(string(data), "waits for binding") {
		t.Errorf("a command: %d %s", status, data)
	}

	// Removed: its ID is not used again.
	c.must(204, "DELETE", path, nil, nil, "If-Match", "*")
	c.must(404, "GET", path, nil, nil)
	c.must(409, "DELETE", "/nodes/3", nil, nil, "If-Match", "*") // a shade hangs off it
	c.must(201, "POST", "/nodes", `{"name":"Next"}`, &n)
	if n.ID != 5 {
		t.Errorf("the next node has the ID %d, want 5", n.ID)
	}

	// Shades, buses and the site.
	var sh api.Shade
	c.must(201, "POST", "/shades", `{"name":"North","node":3,"output":2}`, &sh)
	c.must(200, "PATCH", fmt.Sprint("/shades/", sh.ID), `{"travelUp":24.5,"travelDown":22}`, &sh, "If-Match", sh.ETag)
	if sh.TravelUp != 24.5 || sh.ID != 5002 {
		t.Errorf("got %+v", sh)
	}
	c.must(204, "DELETE", fmt.Sprint("/shades/", sh.UUID), nil, nil, "If-Match", sh.ETag)
	var b api.BusDetail
	c.must(201, "POST", "/buses", `{"name":"attic","driver":"lamps","port":"y"}`, &b)
	c.must(409, "POST", "/buses", `{"name":"attic","driver":"lamps","port":"y"}`, nil)
	c.must(200, "PATCH", "/buses/attic", `{"name":"roof"}`, &b, "If-Match", b.ETag)
	c.must(409, "DELETE", "/buses/ground", nil, nil, "If-Match", "*")
	c.must(204, "DELETE", fmt.Sprint("/buses/", b.ID), nil, nil, "If-Match", "*")
	c.must(403, "PATCH", "/site", `{"name":"x"}`, nil, "If-Match", "*")
	var s api.Site
	boss := h.as(account.RoleAdmin)
	boss.must(200, "PATCH", "/site", `{"name":"Harbour","freshness":{"light":3}}`, &s, "If-Match", "*")
	if s.Name != "Harbour" || s.Freshness.Light != 3 {
		t.Errorf("got %+v", s)
	}

	// Who did all this is told.
	var audit []api.Audit
	c.must(200, "GET", "/audit", nil, &audit)
	if len(audit) < 12 || audit[0].What != "site.change" || audit[0].Who != "admin" || audit[len(audit)-1].What != "node.create" || audit[0].From == "" {
		t.Errorf("audit: %+v", audit)
	}
}

// The answer to a change is what was changed, whatever part of a noun that was.
func TestChangeIsInForceWhenItIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	late := drivertest.Watch(t)
	for _, row := range []struct {
		path, body string
		want       string // in the answer
	}{
		{"/nodes/2", `{"profile":"motor"}`, `"profile":"motor"`},
		{"/nodes/2", `{"profile":"dimmer"}`, `"profile":"dimmer"`},
		{"/nodes/1", `{"profile":"motor"}`, `"profile":"motor"`},
		{"/nodes/1", `{"profile":"dimmer"}`, `"profile":"dimmer"`},
		{"/nodes/1", `{"outputs":[2]}`, `"outputs":[2]`},
		{"/nodes/1", `{"outputs":[],"groups":[],"options":{}}`, `"name":"Lobby 1"`},
		{"/nodes/1", `{"groups":["3"]}`, `"groups":["3"]`},
		{"/nodes/1", `{"options":{"a":"b"}}`, `"options":{"a":"b"}`},
		{"/nodes/1", `{"tag":"PERIPHERAL"}`, `"tag":"PERIPHERAL"`},
		{"/shades/5001", `{"inverted":true}`, `"inverted":true`},
		{"/clusters/1", `{"nodes":[]}`, `"nodes":[]`},
		{"/clusters/1", `{"addNodes":[2,1,2]}`, `"nodes":[1,2]`},
		{"/buses/ground", `{"options":{"a":"b"}}`, `"options":{"a":"b"}`},
		{"/buses/ground", `{"options":{}}`, `"name":"ground"`},
	} {
		asked := time.Now()
		status, head, data := c.do("PATCH", row.path, row.body, "If-Match", "*")
		if status != 200 || !strings.Contains(string(data), row.want) {
			t.Errorf("%s %s: %d %s, want %s", row.path, row.body, status, data, row.want)
		}
		if took := time.Since(asked); took > 4*time.Second+late.Steps(5) {
			t.Errorf("%s %s: answered after %v", row.path, row.body, took)
		}
		if now := c.must(200, "GET", row.path, nil, nil); now.Get("ETag") != head.Get("ETag") {
			t.Errorf("%s %s: answered with the tag %s, it has %s", row.path, row.body, head.Get("ETag"), now.Get("ETag"))
		}
	}
}

// A change is refused if it sets aside what works, here or elsewhere; what is set aside
// already may be changed, and be repaired.
func TestAChangeHarmsNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	site := building()
	bus := site.Buses[0].UUID
	site.Nodes = append(site.Nodes,
		appliance.Node{ID: 4, Name: "Strip 1", Bus: bus, Address: "4", Profile: "dimmer", Outputs: []int{1}},
		appliance.Node{ID: 5, Name: "Strip 2", Bus: bus, Address: "4", Profile: "dimmer", Outputs: []int{2}},
		appliance.Node{ID: 6, Name: "Wrong", Bus: bus, Address: "6", Profile: "toaster"},
		appliance.Node{ID: 7, Name: "Unbound"})
	_, err := h.db.Import(t.Context(), site, store.ImportOptions{By: "test"})
	must(t, err)
	until(t, "the site is in force", func() bool { return h.core.Snapshot().Node(7) != nil })
	// In this order: each row goes on from what those above it left.
	for _, row := range []struct {
		name, method, path, body string
		status                   int
		says                     string // all of it, where it is refused
	}{
		{"no such profile", "PATCH", "/nodes/1", `{"profile":"toaster"}`, 422, "nothing was changed: node 1 (Lobby 1) would be set aside: there is no such profile"},
		{"somebody else's address", "PATCH", "/nodes/1", `{"address":"4","profile":"motor","outputs":[3]}`, 422,
			"nothing was changed: node 4 (Strip 1) would be set aside: device 4 is a motor; node 5 (Strip 2) would be set aside: device 4 is a motor"},
		{"one node of two", "PATCH", "/nodes/4", `{"profile":"motor"}`, 422, "nothing was changed: node 5 (Strip 2) would be set aside: device 4 is a motor"},
		{"a shade that hangs off it", "PATCH", "/nodes/3", `{"profile":"dimmer"}`, 422, "nothing was changed: shade 5001 (South) would be set aside: its node moves nothing"},
		{"a new one that cannot work", "POST", "/nodes", `{"name":"New","bus":"ground","address":"8","profile":"toaster"}`, 422, "nothing was changed: node 8 (New) would be set aside: there is no such profile"},
		{"one that waits, bound wrongly", "PATCH", "/nodes/7", `{"bus":"ground","address":"8","profile":"toaster"}`, 422, "nothing was changed: node 7 (Unbound) would be set aside: there is no such profile"},
		{"one that waits, bound", "PATCH", "/nodes/7", `{"bus":"ground","address":"8","profile":"dimmer"}`, 200, ""},
		{"a broken one renamed", "PATCH", "/nodes/6", `{"name":"Broken"}`, 200, ""},
		{"another beside a broken one", "PATCH", "/nodes/2", `{"address":"9"}`, 200, ""},
		{"a broken one mended in part", "PATCH", "/nodes/6", `{"profile":"kettle"}`, 200, ""},
		{"a broken one mended", "PATCH", "/nodes/6", `{"profile":"dimmer"}`, 200, ""},
		{"and not broken again", "PATCH", "/nodes/6", `{"profile":"toaster"}`, 422, "nothing was changed: node 6 (Broken) would be set aside: there is no such profile"},
		{"a device in two halves", "PATCH", "/nodes/4", `{"wholeDevice":true,"profile":"motor","name":"Strip"}`, 422, "the nodes of a device share bus, address, profile and note; change the rest one by one"},
		{"a whole device", "PATCH", "/nodes/5", `{"wholeDevice":true,"profile":"motor","address":"5"}`, 200, ""},
		{"a shade onto a light", "PATCH", "/shades/5001", `{"node":1}`, 422, "nothing was changed: shade 5001 (South) would be set aside: its node moves nothing"},
		{"a new shade onto a light", "POST", "/shades", `{"name":"North","node":1}`, 422, "nothing was changed: shade 5002 (North) would be set aside: its node moves nothing"},
		{"another driver for a bus", "PATCH", "/buses/ground", `{"driver":"kettles"}`, 422, "nothing was changed: bus ground would be set aside: there is no driver \"kettles\", want one of lamps"},
		{"a new bus of no driver", "POST", "/buses", `{"name":"attic","driver":"kettles","port":"y"}`, 422, "nothing was changed: bus attic would be set aside: there is no driver \"kettles\", want one of lamps"},
		{"a whole device onto another", "PATCH", "/nodes/5", `{"wholeDevice":true,"address":"6"}`, 422, "nothing was changed: node 6 (Broken) would be set aside: device 6 is a motor"},
	} {
		before, _, err := h.db.Stored(t.Context())
		must(t, err)
		headers := []string{"If-Match", "*"}
		if row.method == "POST" {
			headers = nil
		}
		status, _, data := c.do(row.method, row.path, row.body, headers...)
		var p api.Problem
		if status != row.status || json.Unmarshal(data, &p) != nil || p.Detail != row.says {
			t.Errorf("%s: %d %q, want %d %q", row.name, status, p.Detail, row.status, row.says)
		}
		after, _, err := h.db.Stored(t.Context())
		must(t, err)
		if same := reflect.DeepEqual(before, after); same != (row.status != 200) {
			t.Errorf("%s: unchanged is %v", row.name, same)
		}
	}
	for id, want := range map[appliance.ID]string{4: "5 motor [1]", 5: "5 motor [2]", 6: "6 dimmer []"} {
		n := h.core.Snapshot().Node(id).Node
		if got := fmt.Sprint(n.Address, " ", n.Profile, " ", n.Outputs); got != want {
			t.Errorf("node %d is %s, want %s", id, got, want)
		}
	}
	if faults := h.core.Snapshot().Faults; len(faults) != 0 {
		t.Errorf("set aside: %v", faults)
	}
}

func TestUsersAndKeysAreForAdmins(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss, operator := h.as(account.RoleAdmin), h.as(account.RoleOperator)
	for _, path := range []string{"/auth/users", "/auth/keys"} {
		operator.must(403, "GET", path, nil, nil)
		operator.must(403, "POST", path, "{", nil)
	}
	var u api.User
	boss.must(201, "POST", "/auth/users", api.NewUser{Username: "bms", Password: password, Role: "api_service"}, &u)
	if u.ID != 5 || u.UUID == "" || u.Role != "api_service" {
		t.Errorf("got %+v", u)
	}
	boss.must(409, "POST", "/auth/users", api.NewUser{Username: "bms", Password: password, Role: "viewer"}, nil)
	boss.must(422, "POST", "/auth/users", api.NewUser{Username: "x", Password: "short", Role: "viewer"}, nil)
	boss.must(422, "POST", "/auth/users", api.NewUser{Username: "x", Password: password, Role: "king"}, nil)
	if _, err := h.db.CheckPassword(t.Context(), "bms", password); err != nil {
		t.Error(err)
	}
	// The last admin stays one.
	boss.must(409, "DELETE", "/auth/users/admin", nil, nil)
	boss.must(409, "PATCH", "/auth/users/admin", `{"role":"viewer"}`, nil)
	boss.must(200, "PATCH", "/auth/users/operator", `{"role":"admin"}`, nil)
	operator.must(401, "GET", "/session", nil, nil) // its token carried the old role
	operator = h.client()
	var s api.Session
	operator.must(200, "POST", "/auth/login", api.Login{Username: "operator", Password: password}, &s)
	operator.token = s.AccessToken
	operator.must(204, "DELETE", "/auth/users/admin", nil, nil)
	boss.must(401, "GET", "/session", nil, nil)

	var k api.Key
	operator.must(201, "POST", "/auth/keys", api.NewKey{Name: "dashboard"}, &k)
	if !strings.HasPrefix(k.Key, "ctl_") || k.Write {
		t.Errorf("got %+v", k)
	}
	if _, _, data := operator.do("GET", "/auth/keys", nil); strings.Contains(string(data), k.Key) {
		t.Error("the list tells the key")
	}
	var audit []api.Audit
	operator.must(200, "GET", "/audit", nil, &audit)
	text, _ := json.Marshal(audit)
	if strings.Contains(string(text), k.Key) || strings.Contains(string(text), password) || len(audit) < 4 {
		t.Errorf("the audit log has %s", text)
	}
	h.as(account.RoleViewer).must(200, "GET", "/audit", nil, &audit)
	if len(audit) != 0 {
		t.Errorf("a viewer reads of accounts: %+v", audit)
	}
	operator.must(204, "DELETE", "/auth/keys/dashboard", nil, nil)
	operator.must(204, "POST", "/auth/password", api.PasswordChange{Old: password, New: password + "2"}, nil)
	operator.must(401, "GET", "/session", nil, nil)
}

func TestLedgerTellsWhyALightIsAsItIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the lamps are online", func() bool { return h.core.Snapshot().Node(1).Online && h.core.Snapshot().Node(2).Online })
	for _, body := range []string{
		`{"kind":"light-level","target":{"scope":"node","id":1},"level":30,"why":"too bright"}`,
		`{"kind":"light-on","target":{"scope":"node","id":2}}`,
		`{"kind":"light-off","target":{"scope":"cluster","id":1}}`,
	} {
		c.must(200, "POST", "/commands", body, nil)
	}
	get := func(query string, want int) (out []api.Entry) {
		t.Helper()
		c.must(200, "GET", "/ledger"+query, nil, &out)
		if len(out) != want {
			t.Fatalf("%s: %d entries, want %d: %+v", query, len(out), want, out)
		}
		return out
	}
	one := get("?node=1", 2)
	if one[0].Kind != "light-off" || one[1].Why != "too bright" || *one[1].Level != 30 {
		t.Errorf("got %+v", one)
	}
	get("?cluster=1", 1)
	get("?who=nobody", 0)
	get("?failed=true", 0)
	get("?limit=1", 1)
	// What is on the disk and not in memory any more is found too.
	until(t, "the journal is written", func() bool {
		old, err := h.db.Entries(t.Context(), 10, "")
		must(t, err)
		return len(old) == 3
	})
	get("?before="+one[1].ID, 0)
	var detail api.EntryDetail
	c.must(200, "GET", "/ledger/"+one[1].ID, nil, &detail)
	if detail.ID != one[1].ID || detail.Frames == nil {
		t.Errorf("got %+v", detail)
	}
	c.must(404, "GET", "/ledger/0190", nil, nil)
	if status, _, _ := c.do("GET", "/ledger?limit=many", nil); status != http.StatusBadRequest {
		t.Errorf("limit=many: %d", status)
	}
}

// Whoever looked at a body before the controller may have seen the other role.
func TestABodyThatSaysARoleTwiceIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss := h.as(account.RoleAdmin)
	for _, body := range []string{`"role":"viewer","ROLE":"admin"`, `"role":"viewer","role":"admin"`, `"ROLE":"admin","role":"viewer"`} {
		header := boss.must(400, "POST", "/auth/users", `{"username":"eve","password":"long enough for all",`+body+`}`, nil)
		if header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v", body, header)
		}
	}
	if _, ok := h.db.User("eve"); ok {
		t.Error("eve is a user")
	}
}
