package main

import (
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// What one instance was told holds on the other from the next request. Without Redis
// each counts alone; instances_peers_test.go has it.
func TestTheNextRequestOnTheOtherInstance(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) { nextRequest(t, db, "") })
}

func nextRequest(t *testing.T, db peertest.Database, redisURL string) {
	one, two := newHouse(t, db, redisURL), newHouse(t, db, redisURL)
	ada := one.newPerson("ada", platform.RoleUser)
	id, key := ada.newKey(`{"name":"k"}`)
	one.early("X-API-Key: " + key)
	path := "/api/api-keys/" + id
	steps := []struct {
		name string
		do   func()
		want int
	}{
		{"made", func() {}, 200},
		{"isActive false", func() { ada.api("PUT", path, `{"isActive":false}`).want(t, 200, "PUT") }, 401},
		{"isActive true", func() { ada.at(two).api("PUT", path, `{"isActive":true}`).want(t, 200, "PUT") }, 200},
		{"expiresAt past", func() { ada.api("PUT", path, `{"expiresAt":"`+anHourAgo()+`"}`).want(t, 200, "PUT") }, 401},
		{"expiresAt null", func() { ada.at(two).api("PUT", path, `{"expiresAt":null}`).want(t, 200, "PUT") }, 200},
		{"owner disabled", func() {
			if err := one.db.SetDisabled(t.Context(), "ada", true); err != nil {
				t.Error(err)
			}
		}, 401},
		{"owner enabled", func() {
			if err := two.db.SetDisabled(t.Context(), "ada", false); err != nil {
				t.Error(err)
			}
			ada = two.login("ada").at(one)
		}, 200},
		{"limit lowered", func() { ada.api("PUT", path, `{"rateLimit":1}`).want(t, 200, "PUT") }, 429},
		{"limit raised", func() { ada.at(two).api("PUT", path, `{"rateLimit":1000}`).want(t, 200, "PUT") }, 200},
		{"revoked", func() { ada.api("DELETE", path, "").want(t, 200, "DELETE") }, 401},
		{"removed", func() { ada.at(two).api("DELETE", path+"?permanent=true", "").want(t, 204, "DELETE") }, 401},
	}
	for _, step := range steps {
		step.do()
		for i, h := range []*house{one, two} {
			if got := h.knock(key); got != step.want {
				t.Errorf("%s: instance %d says %d, want %d", step.name, i+1, got, step.want)
			}
		}
	}
}
