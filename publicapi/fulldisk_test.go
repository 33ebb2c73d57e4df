package publicapi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"svc.internal/controller/shelf/account"
)

// fullDisk is accounts on a disk that takes nothing any more.
type fullDisk struct{ *accounts }

func (fullDisk) NewRefreshToken(context.Context, account.User) (string, error) {
	return "", errors.New("database or disk is full (13)")
}

// Reading needs no disk, obeying needs none; logging in must not need it either.
func TestLoginOnAFullDisk(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.api.accounts = fullDisk{h.accounts}
	got := h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"correct horse admin"}`)
	if got.status != 200 || !strings.Contains(got.body, `"responseCode":1`) {
		t.Errorf("the right password on a full disk: %d %s", got.status, got.body)
	}
}
