package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
)

func TestTokenLifetimeHoldsAtEveryDoor(t *testing.T) {
	t.Parallel()
	h := newHouse(t, smallSite)
	h.tokenLife = 7 * time.Minute
	h.restart()
	status, body, _ := h.send(http.MethodPost, "/api/v1/auth/login", "", `{"username":"`+string(account.RoleAdmin)+`","password":"`+housePassword+`"}`)
	var s api.Session
	if err := json.Unmarshal(body, &s); status != 200 || err != nil || s.ExpiresIn < 1 || s.ExpiresIn > 7*60 {
		t.Errorf("got %d %s, want a token of seven minutes", status, body)
	}
}
