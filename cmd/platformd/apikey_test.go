package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

func inOneHour() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }
func anHourAgo() string { return time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) }

// The table "API key management" of the contract, and the rows "Key record",
// "Transitions" and "Statuses" of our decisions.
func TestContractAPIKeys(t *testing.T) {
	t.Parallel()
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada, bob := h.newPerson("ada", platform.RoleUser), h.newPerson("bob", platform.RoleAdmin)
		for name, check := range map[string]func(*testing.T, person, person){
			"POST makes a key and shows its value once":                createShowsTheValueOnce,
			"the record has all fields, null if empty":                 recordHasAllFields,
			"rateLimit is 100 when omitted":                            rateLimitDefaults,
			"permissions are set at creation and not changed":          permissionsStay,
			"GET lists one's own keys, PUT updates, all by owner only": onlyTheOwner,
			"PUT changes what is sent and nothing else":                putChanges,
			"DELETE revokes and keeps the record":                      deleteRevokes,
			"DELETE permanent removes the record":                      deletePermanent,
			"isActive false revokes, true re-activates":                isActiveSwitches,
			"isActive on what is over is 409":                          isActiveTooLate,
			"a later expiresAt makes an Expired key Active":            laterExpiresAt,
			"expiresAt in the past is 400 on create, at once on PUT":   expiresAtInThePast,
			"bad input is 400 and names the field":                     badInput,
			"a body over 1 MiB is 413":                                 bodyTooLarge,
			"an ID that is none is 404":                                unknownID,
		} {
			t.Run(name, func(t *testing.T) {
				ada, bob := ada, bob
				ada.house, bob.house = h.in(t), h.in(t)
				check(t, ada, bob)
			})
		}
	})
}

// in is the house with another test to complain to.
func (h *house) in(t *testing.T) *house { c := *h; c.t = t; return &c }

func createShowsTheValueOnce(t *testing.T, ada, _ person) {
	a := ada.api("POST", "/api/api-keys", `{"name":"lobby","permissions":{}}`).want(t, 201, "create")
	value, id := a.str("data.key"), a.str("data.id")
	if !platform.IsKeyValue(value) || a.member("success") != true {
		t.Errorf("got %s", a.text)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the value may be cached: %v", a.Header)
	}
	for _, path := range []string{"/api/api-keys", "/api/api-keys/" + id} {
		if again := ada.api("GET", path, "").want(t, 200, path); strings.Contains(again.text, value[12:]) || strings.Contains(again.text, `"key":`) {
			t.Errorf("%s shows the value again: %s", path, again.text)
		}
	}
	if ada.knock(value) != 200 {
		t.Error("the key does not work")
	}
	if strings.Contains(ada.log.String(), value) {
		t.Error("the value is in the log")
	}
}

func recordHasAllFields(t *testing.T, ada, _ person) {
	a := ada.api("POST", "/api/api-keys", `{"name":"lobby"}`).want(t, 201, "create")
	id := a.str("data.id")
	a = ada.api("GET", "/api/api-keys/"+id, "").want(t, 200, "read")
	var got struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.text), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"createdAt", "expiresAt", "id", "isActive", "lastUsedAt", "name", "permissions", "prefix", "rateLimit", "status"}
	if fields := slices.Sorted(maps.Keys(got.Data)); !slices.Equal(fields, want) {
		t.Errorf("fields %q, want %q", fields, want)
	}
	for field, want := range map[string]any{"name": "lobby", "status": "Active", "isActive": true, "expiresAt": nil, "lastUsedAt": nil, "rateLimit": 100.0} {
		if got.Data[field] != want {
			t.Errorf("%s is %v, want %v", field, got.Data[field], want)
		}
	}
	if prefix, _ := got.Data["prefix"].(string); len(prefix) != 8 || strings.HasPrefix(prefix, "svc_") {
		t.Errorf("prefix %q", prefix)
	}
	if _, err := time.Parse(time.RFC3339, a.str("data.createdAt")); err != nil {
		t.Error(err)
	}
	_, value := ada.newKey(`{"name":"used"}`)
	ada.knock(value)
	ada.db.SaveUsed(t.Context())
	if list := ada.api("GET", "/api/api-keys", ""); !strings.Contains(list.text, `"lastUsedAt":"2`) {
		t.Errorf("no key was used: %s", list.text)
	}
}

func rateLimitDefaults(t *testing.T, ada, _ person) {
	for body, want := range map[string]float64{`{"name":"a"}`: 100, `{"name":"a","rateLimit":null}`: 100, `{"name":"a","rateLimit":1}`: 1, `{"name":"a","rateLimit":100000}`: 100_000} {
		if a := ada.api("POST", "/api/api-keys", body).want(t, 201, body); a.member("data.rateLimit") != want {
			t.Errorf("%s: %s", body, a.text)
		}
	}
}

func permissionsStay(t *testing.T, ada, _ person) {
	for given, want := range map[string]string{`{}`: `{}`, `{"control":true}`: `{"control":true}`, `{"control":false}`: `{}`, `null`: `{}`} {
		a := ada.api("POST", "/api/api-keys", `{"name":"a","permissions":`+given+`}`).want(t, 201, given)
		if !strings.Contains(a.text, `"permissions":`+want) {
			t.Errorf("%s became %s", given, a.text)
		}
		if a := ada.api("PUT", "/api/api-keys/"+a.str("data.id"), `{"permissions":{"control":true}}`).want(t, 200, "PUT"); !strings.Contains(a.text, `"permissions":`+want) {
			t.Errorf("%s was changed: %s", given, a.text)
		}
	}
}

func onlyTheOwner(t *testing.T, ada, bob person) {
	id, value := ada.newKey(`{"name":"adas"}`)
	if list := ada.api("GET", "/api/api-keys", "").want(t, 200, "list"); !strings.Contains(list.text, id) {
		t.Errorf("not in the list: %s", list.text)
	}
	if list := bob.api("GET", "/api/api-keys", "").want(t, 200, "list"); strings.Contains(list.text, id) {
		t.Errorf("in another's list: %s", list.text)
	}
	path := "/api/api-keys/" + id
	nobodys := bob.api("GET", "/api/api-keys/01a203f4-eafa-7cb1-a294-6cb1144a50a9", "").want(t, 404, "a key that there is not")
	for _, c := range [][3]string{{"GET", path, ""}, {"PUT", path, `{"name":"bobs"}`}, {"DELETE", path, ""}, {"DELETE", path + "?permanent=true", ""}} {
		if a := bob.api(c[0], c[1], c[2]).want(t, 404, "another's "+c[0]); a.text != nobodys.text {
			t.Errorf("%s tells a foreign key from none: %s, %s", c[0], a.text, nobodys.text)
		}
	}
	if ada.knock(value) != 200 {
		t.Error("another could harm it")
	}
}

func putChanges(t *testing.T, ada, _ person) {
	id, value := ada.newKey(`{"name":"old","rateLimit":5,"expiresAt":"` + inOneHour() + `"}`)
	path := "/api/api-keys/" + id
	before := ada.api("GET", path, "").member("data").(map[string]any)
	for body, changed := range map[string]map[string]any{
		`{}`:                   {},
		`{"name":"new"}`:       {"name": "new"},
		`{"rateLimit":7}`:      {"rateLimit": 7.0},
		`{"expiresAt":null}`:   {"expiresAt": nil},
		`{"unknown":[1,{}]}`:   {},
		`{"isActive":true}`:    {},
		`{"rateLimit":100000}`: {"rateLimit": 100_000.0},
	} {
		after := ada.api("PUT", path, body).want(t, 200, body).member("data").(map[string]any)
		for field, was := range before {
			want := was
			if v, ok := changed[field]; ok {
				want = v
			}
			if field != "permissions" && after[field] != want {
				t.Errorf("%s: %s is %v, want %v", body, field, after[field], want)
			}
		}
		before = after
	}
	if ada.knock(value) != 200 {
		t.Error("the key does not work any more")
	}
}

func deleteRevokes(t *testing.T, ada, _ person) {
	id, value := ada.newKey(`{"name":"k"}`)
	a := ada.api("DELETE", "/api/api-keys/"+id, "").want(t, 200, "revoke")
	if a.str("data.status") != "Revoked" || a.member("data.isActive") != false || a.str("data.id") != id {
		t.Errorf("got %s", a.text)
	}
	if got := ada.knock(value); got != 401 {
		t.Errorf("a revoked key: %d", got)
	}
	if a := ada.api("GET", "/api/api-keys/"+id, "").want(t, 200, "its record"); a.str("data.status") != "Revoked" {
		t.Errorf("got %s", a.text)
	}
	ada.api("DELETE", "/api/api-keys/"+id, "").want(t, 200, "revoke again")
	ada.api("DELETE", "/api/api-keys/"+id+"?permanent=false", "").want(t, 200, "permanent=false")
	ada.api("DELETE", "/api/api-keys/"+id+"?permanent=perhaps", "").want(t, 400, "permanent=perhaps")
}

func deletePermanent(t *testing.T, ada, _ person) {
	id, value := ada.newKey(`{"name":"k"}`)
	a := ada.api("DELETE", "/api/api-keys/"+id+"?permanent=true", "").want(t, 204, "remove")
	if a.text != "" {
		t.Errorf("a body: %s", a.text)
	}
	if got := ada.knock(value); got != 401 {
		t.Errorf("a removed key: %d", got)
	}
	ada.api("GET", "/api/api-keys/"+id, "").want(t, 404, "its record")
	ada.api("DELETE", "/api/api-keys/"+id+"?permanent=true", "").want(t, 404, "remove again")
}

func isActiveSwitches(t *testing.T, ada, _ person) {
	id, value := ada.newKey(`{"name":"k","expiresAt":"` + inOneHour() + `"}`)
	for _, active := range []bool{false, false, true, true, false, true} {
		a := ada.api("PUT", "/api/api-keys/"+id, fmt.Sprintf(`{"isActive":%v}`, active)).want(t, 200, "switch")
		status, knock := "Revoked", 401
		if active {
			status, knock = "Active", 200
		}
		if a.str("data.status") != status || a.member("data.isActive") != active || ada.knock(value) != knock {
			t.Errorf("isActive %v: %s, and the key gets %d", active, a.text, ada.knock(value))
		}
	}
}

func isActiveTooLate(t *testing.T, ada, _ person) {
	deleted, _ := ada.newKey(`{"name":"k"}`)
	ada.api("DELETE", "/api/api-keys/"+deleted, "")
	expired, _ := ada.newKey(`{"name":"k"}`)
	ada.api("PUT", "/api/api-keys/"+expired, `{"expiresAt":"`+anHourAgo()+`"}`).want(t, 200, "expire")
	both, _ := ada.newKey(`{"name":"k"}`)
	ada.api("PUT", "/api/api-keys/"+both, `{"isActive":false}`)
	if a := ada.api("PUT", "/api/api-keys/"+both, `{"expiresAt":"`+anHourAgo()+`"}`); a.str("data.status") != "Revoked" {
		t.Errorf("Revoked does not beat Expired: %s", a.text)
	}
	for name, id := range map[string]string{"after DELETE": deleted, "when expired": expired, "when switched off and expired": both} {
		a := ada.api("PUT", "/api/api-keys/"+id, `{"isActive":true,"name":"x"}`).want(t, 409, name)
		if a.member("success") != false || a.str("error") != "Conflict" || a.str("message") == "" {
			t.Errorf("%s: %s", name, a.text)
		}
		if a := ada.api("GET", "/api/api-keys/"+id, ""); a.str("data.name") != "k" {
			t.Errorf("%s: the refused change did something: %s", name, a.text)
		}
	}
}

func laterExpiresAt(t *testing.T, ada, _ person) {
	id, value := ada.newKey(`{"name":"k","expiresAt":"` + inOneHour() + `"}`)
	path := "/api/api-keys/" + id
	if a := ada.api("PUT", path, `{"expiresAt":"`+anHourAgo()+`"}`).want(t, 200, "expire"); a.str("data.status") != "Expired" || a.member("data.isActive") != false || ada.knock(value) != 401 {
		t.Errorf("expired: %s", a.text)
	}
	if a := ada.api("PUT", path, `{"expiresAt":"`+inOneHour()+`"}`).want(t, 200, "prolong"); a.str("data.status") != "Active" || ada.knock(value) != 200 {
		t.Errorf("prolonged: %s", a.text)
	}
	ada.api("PUT", path, `{"isActive":false}`)
	if a := ada.api("PUT", path, `{"expiresAt":"`+inOneHour()+`"}`).want(t, 200, "prolong"); a.str("data.status") != "Revoked" || ada.knock(value) != 401 {
		t.Errorf("a later expiresAt brought a revoked key back: %s", a.text)
	}
}

func expiresAtInThePast(t *testing.T, ada, _ person) {
	ada.api("POST", "/api/api-keys", `{"name":"k","expiresAt":"`+anHourAgo()+`"}`).want(t, 400, "create in the past")
	id, value := ada.newKey(`{"name":"k"}`)
	if a := ada.api("PUT", "/api/api-keys/"+id, `{"expiresAt":"`+anHourAgo()+`"}`).want(t, 200, "PUT"); a.str("data.status") != "Expired" || ada.knock(value) != 401 {
		t.Errorf("got %s", a.text)
	}
	if a := ada.api("PUT", "/api/api-keys/"+id, `{"expiresAt":null}`).want(t, 200, "clear"); a.str("data.status") != "Active" || a.member("data.expiresAt") != nil {
		t.Errorf("cleared: %s", a.text)
	}
	soon := time.Now().Add(700 * time.Millisecond).UTC()
	ada.api("PUT", "/api/api-keys/"+id, `{"expiresAt":"`+soon.Format(time.RFC3339Nano)+`"}`).want(t, 200, "soon")
	for deadline := soon.Add(20 * time.Second); ada.knock(value) != 401; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the key works long after it has expired")
		}
	}
	if a := ada.api("GET", "/api/api-keys/"+id, ""); a.str("data.status") != "Expired" {
		t.Errorf("when time passed: %s", a.text)
	}
}

func badInput(t *testing.T, ada, _ person) {
	id, _ := ada.newKey(`{"name":"k"}`)
	for body, word := range map[string]string{
		``:                    "body",
		`{`:                   "body",
		`[]`:                  "body",
		`null`:                "body",
		"{\"name\":\"\xff\"}": "body",
		`{"name":1}`:          "name",
		`{"name":null}`:       "name",
		`{"name":""}`:         "name",
		`{"name":"` + strings.Repeat("x", 101) + `"}`:    "name",
		`{"name":"a\u0000b"}`:                            "name",
		`{"name":"k","rateLimit":0}`:                     "rateLimit",
		`{"name":"k","rateLimit":100001}`:                "rateLimit",
		`{"name":"k","rateLimit":1.5}`:                   "rateLimit",
		`{"name":"k","rateLimit":"100"}`:                 "rateLimit",
		`{"name":"k","rateLimit":1e99}`:                  "rateLimit",
		`{"name":"k","expiresAt":"soon"}`:                "expiresAt",
		`{"name":"k","expiresAt":2030}`:                  "expiresAt",
		`{"name":"k","expiresAt":"2030-01-31"}`:          "expiresAt",
		`{"name":"k","expiresAt":"2030-01-31T18:00:00"}`: "expiresAt",
		`{"name":"k","isActive":"yes"}`:                  "isActive",
		`{"name":"k","isActive":null}`:                   "isActive",
	} {
		for _, c := range [][2]string{{"POST", "/api/api-keys"}, {"PUT", "/api/api-keys/" + id}} {
			a := ada.api(c[0], c[1], body).want(t, 400, c[0]+" "+body)
			if a.member("success") != false || a.str("error") != "Bad Request" || !strings.Contains(a.str("message"), word) {
				t.Errorf("%s %s: %s, want %q named", c[0], body, a.text, word)
			}
		}
	}
	for _, body := range []string{`{}`, `{"name":"k","permissions":[]}`, `{"name":"k","permissions":{"control":1}}`, `{"name":"k","permissions":{"admin":true}}`} {
		ada.api("POST", "/api/api-keys", body).want(t, 400, body)
	}
	for _, at := range []string{"2030-01-31T18:00:00Z", "2030-01-31T18:00:00.123456Z", "2030-01-31T18:00:00+01:00", "2030-01-31T18:00Z", "2030-01-31t18:00:00z"} {
		ada.api("PUT", "/api/api-keys/"+id, `{"expiresAt":"`+at+`"}`).want(t, 200, at)
	}
}

func bodyTooLarge(t *testing.T, ada, _ person) {
	a := ada.api("POST", "/api/api-keys", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`).want(t, 413, "1 MiB and a little")
	if a.member("success") != false || a.str("message") == "" {
		t.Errorf("got %s", a.text)
	}
}

func unknownID(t *testing.T, ada, _ person) {
	for _, id := range []string{"1", "x", "%00", "%FF%FE", "01a203f4-eafa-7cb1-a294-6cb1144a50a9", "..", strings.Repeat("a", 5000)} {
		a := ada.api("GET", "/api/api-keys/"+id, "").want(t, 404, id)
		if a.member("success") != false || a.str("error") != "Not Found" {
			t.Errorf("%s: %s", id, a.text)
		}
	}
}

func TestA101stKeyIs409EvenIfOthersAreRevoked(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	ada := h.newPerson("ada", platform.RoleUser)
	var last string
	for i := range platform.MaxKeys {
		last, _ = ada.newKey(fmt.Sprintf(`{"name":"k%d"}`, i))
	}
	ada.api("DELETE", "/api/api-keys/"+last, "").want(t, 200, "revoke")
	a := ada.api("POST", "/api/api-keys", `{"name":"one more"}`).want(t, 409, "the 101st")
	if a.str("error") != "Conflict" || !strings.Contains(a.str("message"), "100") {
		t.Errorf("got %s", a.text)
	}
	ada.api("DELETE", "/api/api-keys/"+last+"?permanent=true", "").want(t, 204, "remove")
	ada.newKey(`{"name":"one more"}`)
}

func TestBodiesThatSayAThingTwiceAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	ada := h.newPerson("ada", platform.RoleAdmin)
	for _, body := range []string{`{"name":"k","rateLimit":5,"RateLimit":5000}`, `{"name":"k","permissions":{"control":false,"control":true}}`} {
		if a := ada.api("POST", "/api/api-keys", body).want(t, 400, body); !strings.Contains(a.text, "once") {
			t.Errorf("%s: %s", body, a.text)
		}
	}
	h.ask("POST", "/api/auth/login", `{"username":"eve","Username":"ada","password":"`+password+`"}`).want(t, 400, "two names")
	h.ask("POST", "/api/auth/refresh", `{"refreshToken":"x","REFRESHTOKEN":"`+ada.refresh+`"}`).want(t, 400, "two tokens")
	h.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`"}`).want(t, 200, "one name")
}
