package main

import (
	"encoding/json"
	"os"
	"testing"
)

// granted is what Webex lets the integration of the docs' manifest do: scopes, commands and events.
type granted map[string]bool

// manifest reads what the manifest asks for, with the members that Webex wants.
func manifest(t testing.TB) granted {
	t.Helper()
	b, err := os.ReadFile("../../docs/roomos/integration.json")
	if err != nil {
		t.Fatal(err)
	}
	type path struct{ Path, Access string }
	var m struct {
		ID, DisplayName, Vendor, Email, Availability string
		ManifestVersion                              int
		APIAccess                                    []struct{ Scope, Access, Role string } `json:"apiAccess"`
		XAPIAccess                                   struct{ Commands, Events, Status []path }
		Provisioning                                 struct{ Type string }
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.ID) != 36 || m.DisplayName == "" || m.Vendor == "" || m.Email == "" || m.ManifestVersion < 1 || m.Availability != "org_private" || m.Provisioning.Type != "manual" {
		t.Errorf("the manifest says %+v", m)
	}
	g := granted{}
	for _, a := range m.APIAccess {
		g[a.Scope] = a.Access == "required"
	}
	for _, p := range append(m.XAPIAccess.Commands, m.XAPIAccess.Events...) {
		g[p.Path] = p.Access == "required"
	}
	return g
}
