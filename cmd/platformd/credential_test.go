package main

import (
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// The contract's table "Authentication", rules 1 to 5, and the rows "401 and 400 of
// chat" and "Key in header and query" of our decisions.
func TestContractAuthentication(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		_, good := ada.newKey(`{"name":"good"}`)
		id, revoked := ada.newKey(`{"name":"revoked"}`)
		ada.api("DELETE", "/api/api-keys/"+id, "")
		id, expired := ada.newKey(`{"name":"expired"}`)
		ada.api("PUT", "/api/api-keys/"+id, `{"expiresAt":"`+anHourAgo()+`"}`)
		_, others := h.newPerson("bob", platform.RoleUser).newKey(`{"name":"k"}`)
		if err := h.db.SetDisabled(t.Context(), "bob", true); err != nil {
			t.Fatal(err)
		}
		unknown := "svc_" + strings.Repeat("0", 64)
		ctl := "ctl_" + strings.Repeat("0", 64)
		const missing, invalid, in = "API key required", "Invalid or inactive API key", ""
		for name, c := range map[string]struct {
			path    string
			headers []string
			message string
		}{
			"missing, chat":                   {chatPath, nil, missing},
			"missing, MCP":                    {mcpPath, nil, missing},
			"empty header":                    {mcpPath, []string{"X-API-Key: "}, missing},
			"wrong":                           {mcpPath, []string{"X-API-Key: " + unknown}, invalid},
			"of another form":                 {chatPath, []string{"X-API-Key: hello"}, invalid},
			"of a controller":                 {mcpPath, []string{"X-API-Key: " + ctl}, invalid},
			"revoked":                         {mcpPath, []string{"X-API-Key: " + revoked}, invalid},
			"expired":                         {chatPath, []string{"X-API-Key: " + expired}, invalid},
			"of an inactive user":             {mcpPath, []string{"X-API-Key: " + others}, invalid},
			"twice":                           {mcpPath, []string{"X-API-Key: " + good, "X-API-Key: " + good}, invalid},
			"a login's token is no key":       {mcpPath, []string{ada.bearer}, missing},
			"in the query of MCP":             {mcpPath + "?apiKey=" + good, nil, missing},
			"wrong one in the query of chat":  {chatPath + "?apiKey=" + unknown, nil, invalid},
			"wrong header, good query":        {chatPath + "?apiKey=" + good, []string{"X-API-Key: " + unknown}, invalid},
			"good":                            {mcpPath, []string{"X-API-Key: " + good}, in},
			"good, chat":                      {chatPath, []string{"X-API-Key: " + good}, in},
			"good as bearer":                  {mcpPath, []string{"Authorization: Bearer " + good}, in},
			"good as bearer, chat":            {chatPath, []string{"Authorization: bearer " + good}, in},
			"good in the query of chat":       {chatPath + "?apiKey=" + good, nil, in},
			"good header, wrong query":        {chatPath + "?apiKey=" + unknown, []string{"X-API-Key: " + good}, in},
			"good beside a login's token":     {mcpPath, []string{"X-API-Key: " + good, ada.bearer}, in},
			"good header, wrong key as token": {mcpPath, []string{"X-API-Key: " + good, "Authorization: Bearer " + unknown}, in},
		} {
			a := h.ask("POST", c.path, `{"method":"tools/list","message":""}`, append(c.headers, "Content-Type: application/json")...)
			if c.message == in {
				if a.StatusCode == 401 || a.StatusCode == 429 || a.StatusCode == 404 {
					t.Errorf("%s: refused with %d %s", name, a.StatusCode, a.text)
				}
				continue
			}
			want := `{"success":false,"error":"Unauthorized","message":"` + c.message + `"}`
			if strings.HasPrefix(c.path, mcpPath) {
				want = `{"error":"` + c.message + `","details":"Send an active API key in the header X-API-Key"}`
			}
			if a.StatusCode != 401 || a.text != want {
				t.Errorf("%s: got %d %s, want 401 %s", name, a.StatusCode, a.text, want)
			}
			if challenge := a.Header.Get("Www-Authenticate"); challenge != "" {
				t.Errorf("%s: a client is sent looking for OAuth: %s", name, challenge)
			}
		}
		for _, secret := range []string{good, unknown, strings.TrimPrefix(ada.bearer, "Authorization: Bearer ")} {
			if strings.Contains(h.log.String(), secret) {
				t.Errorf("a credential is in the log: %s", secret)
			}
		}
		if !strings.Contains(h.log.String(), "apiKey=…") {
			t.Error("the log does not show that there was a key in the query: is it looked at at all?")
		}
	})
}

func TestManagingKeysNeedsALogin(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	ada := h.newPerson("ada", platform.RoleUser)
	_, key := ada.newKey(`{"name":"k"}`)
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"nothing":                         {nil, 401},
		"a key":                           {[]string{"X-API-Key: " + key}, 401},
		"a key as bearer":                 {[]string{"Authorization: Bearer " + key}, 401},
		"a wrong token":                   {[]string{"Authorization: Bearer a.b.c"}, 401},
		"a token in another scheme":       {[]string{"Authorization: Basic abc"}, 401},
		"the token twice":                 {[]string{ada.bearer, ada.bearer}, 401},
		"the token":                       {[]string{ada.bearer}, 200},
		"the token beside a key":          {[]string{ada.bearer, "X-API-Key: " + key}, 200},
		"the token beside a wrong key":    {[]string{ada.bearer, "X-API-Key: x"}, 200},
		"a key in the query and no token": {nil, 401},
	} {
		path := "/api/api-keys"
		if strings.Contains(name, "query") {
			path += "?apiKey=" + key
		}
		a := h.ask("GET", path, "", c.headers...).want(t, c.status, name)
		if c.status == 401 && (a.member("success") != false || a.str("error") != "Unauthorized" || a.str("message") == "") {
			t.Errorf("%s: %s", name, a.text)
		}
	}
}
