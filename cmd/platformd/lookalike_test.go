package main

import (
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// Two users whom people take for one another are one too many.
func TestUsersWhoLookAlikeDoNotStandSideBySide(t *testing.T) {
	t.Parallel()
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	h.newPerson("Jörg Weiß", platform.RoleUser)
	for name, want := range map[string]string{
		"jörg weiß": "take for this one", "JÖRG WEISS": "take for this one", "Jo\u0308rg Weiß": "take for this one", "Jörg\u00a0Weiß": "take for this one",
		"Jörg\u200b Weiß": "nobody sees", "ad\u00admin": "nobody sees", "ad\u3164min": "nobody sees",
	} {
		if _, err := h.db.AddUser(t.Context(), name, platform.RoleUser, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	h.login("Jörg Weiß")
}
