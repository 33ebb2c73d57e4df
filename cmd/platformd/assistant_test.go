package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/sitetest"
)

// asked is a house with the test building, and somebody with keys in it.
type asked struct {
	*house
	building *sitetest.Building
	ada      person
	key      string // may read
	control  string // may control too
}

func newAsked(t *testing.T, db peertest.Database) asked {
	t.Helper()
	b := sitetest.New()
	h := newHouse(t, db, "", func(d *daemon) { d.sites, d.act = b, b })
	a := asked{house: h, building: b, ada: h.newPerson("ada", platform.RoleUser)}
	_, a.key = a.ada.newKey(`{"name":"reads","rateLimit":10000}`)
	_, a.control = a.ada.newKey(`{"name":"controls","rateLimit":10000,"permissions":{"control":true}}`)
	return a
}

func (a asked) chat(body string, headers ...string) answer {
	a.t.Helper()
	return a.ask("POST", chatPath, body, append(headers, "Content-Type: application/json")...)
}

func (a asked) tool(body string, headers ...string) answer {
	a.t.Helper()
	return a.ask("POST", mcpPath, body, append(headers, "Content-Type: application/json")...)
}

// The contract's section "Public assistant chat" and our decisions about its bodies.
func TestContractChat(t *testing.T) {
	t.Parallel()
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		key := "X-API-Key: " + a.key
		got := a.chat(`{"message":"which lights are installed in the lobby?","sessionId":"s1"}`, key).want(t, 200, "chat")
		if got.member("success") != true || !strings.Contains(got.str("reply"), "4 lights in Lobby") || got.str("sessionId") != "s1" {
			t.Errorf("body is %s", got.text)
		}
		if got.str("metadata.agent") != "siteAssetAgent" || len(got.member("metadata.statusUpdates").([]any)) < 3 {
			t.Errorf("metadata is %v", got.member("metadata"))
		}
		first := got.member("metadata.statusUpdates").([]any)[0].(map[string]any)
		if agent, present := first["agent"]; first["stage"] != "thinking" || !present || agent != nil || first["message"] == "" || first["timestamp"] == "" {
			t.Errorf("the first status is %v", first)
		}
		if got := a.chat(`{"message":"how many are there?"}`, key).want(t, 200, "no session"); got.str("sessionId") == "" {
			t.Error("a new conversation has no ID")
		}
		if got := a.chat(`{"message":"and in the canteen?","sessionId":"s1"}`, key); !strings.Contains(got.str("reply"), "5 lights in Canteen") {
			t.Errorf("the session lost its context: %s", got.str("reply"))
		}
		a.chat(`{"message":"hello"}`, "Authorization: Bearer "+a.key).want(t, 200, "key as bearer")
		a.ask("POST", chatPath+"?apiKey="+a.key, `{"message":"hello"}`).want(t, 200, "key in the query")
		if a.chat(`{"message":"hello"}`, key).Header.Get("X-RateLimit-Remaining") == "" {
			t.Error("headers of the limit are missing")
		}
		for name, body := range map[string]string{
			"no JSON": `{`, "no object": `[1]`, "no message": `{"sessionId":"x"}`, "null message": `{"message":null}`, "a number": `{"message":1}`, "empty": `{"message":" "}`,
			"too long": `{"message":"` + strings.Repeat("x", 4001) + `"}`, "session too long": `{"message":"hi","sessionId":"` + strings.Repeat("s", 129) + `"}`,
			"wrong useSSE": `{"message":"hi","useSSE":"yes"}`, "unknown site": `{"message":"hi","context":{"siteId":"nowhere"}}`,
		} {
			got := a.chat(body, key).want(t, 400, name)
			if got.member("success") != false || got.str("error") == "" || got.str("message") == "" || len(got.text) > 1000 {
				t.Errorf("%s: body is %s", name, got.text)
			}
		}
		a.chat(`{"message":"`+strings.Repeat("ä", 4000)+`","sessionId":"`+strings.Repeat("ö", 128)+`"}`, key).want(t, 200, "as long as they may be")
		a.chat(`{"message":"`+strings.Repeat("x", 1<<20)+`"}`, key).want(t, 413, "too large")
		a.ask("GET", chatPath, "", key).want(t, 405, "another method")
	})
}

// The row "Chat on the pages".
func TestContractChatOfPeople(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		const path = "/api/assistant/chat"
		if got := a.ada.api("POST", path, `{"message":"how many lights are there?"}`).want(t, 200, "with a login's token"); !strings.Contains(got.str("reply"), "39 lights") {
			t.Errorf("body is %s", got.text)
		}
		a.ask("POST", path, `{"message":"hello"}`, "X-API-Key: "+a.key).want(t, 401, "with a key")
		a.ask("POST", path, `{"message":"hello"}`).want(t, 401, "with nothing")
		a.chat(`{"message":"hello"}`, a.ada.bearer).want(t, 401, "the public one with a token")
	})
}

// The row "useSSE", for chat and for the plain form of MCP.
func TestContractUseSSE(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		key := "X-API-Key: " + a.key
		for name, got := range map[string]answer{
			"chat": a.chat(`{"message":"how many lights are there?","useSSE":true}`, key),
			"MCP":  a.tool(`{"method":"tools/call","tool":"chat","arguments":{"message":"how many lights are there?","useSSE":true}}`, key),
		} {
			got.want(t, 200, name)
			if ct := got.Header.Get("Content-Type"); ct != "text/event-stream" || got.Header.Get("X-Accel-Buffering") != "no" {
				t.Errorf("%s: headers are %v", name, got.Header)
			}
			var order []string
			last := ""
			for line := range strings.Lines(got.text) {
				if event, ok := strings.CutPrefix(line, "event: "); ok {
					order = append(order, strings.TrimSpace(event))
				} else if data, ok := strings.CutPrefix(line, "data: "); ok {
					last = data
				}
			}
			if want := "status status status delta status result"; strings.Join(order, " ") != want {
				t.Errorf("%s: events are %v, want %s", name, order, want)
			}
			if !json.Valid([]byte(last)) || !strings.Contains(last, "39 lights") {
				t.Errorf("%s: the result is %s", name, last)
			}
		}
		if got := a.chat(`{"message":"","useSSE":true}`, key).want(t, 400, "refused before it begins"); !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			t.Errorf("a refusal comes as %s", got.Header.Get("Content-Type"))
		}
		if got := a.chat(`{"message":"hello","useSSE":true,"context":{"siteId":"nowhere"}}`, key); !strings.Contains(got.text, "event: error\ndata: {\"success\":false") {
			t.Errorf("an error on the way: %s", got.text)
		}
	})
}

// The contract's section "MCP endpoint" in its plain form, and its errors.
func TestContractMCPPlainForm(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		key := "X-API-Key: " + a.key
		var list struct {
			Tools []struct {
				Name        string
				Description string
				InputSchema struct {
					Type       string
					Properties map[string]struct {
						Type        string
						Description string
						Enum        []string
					}
					Required []string
				}
			}
		}
		if err := json.Unmarshal([]byte(a.tool(`{"method":"tools/list"}`, key).want(t, 200, "list").text), &list); err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{ // name → required, then optional
			"chat":  {"message", "|", "context", "message", "sessionId", "useSSE"},
			"query": {"query", "|", "context", "dataType", "query", "timeRange"}, "optimize": {"target", "|", "constraints", "context", "target", "timeRange"}, "get_status": {"|"},
		}
		for _, tool := range list.Tools {
			got := append(tool.InputSchema.Required, "|")
			for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
				if p := tool.InputSchema.Properties[name]; p.Type == "" || p.Description == "" {
					t.Errorf("%s.%s has no type or description", tool.Name, name)
				}
				got = append(got, name)
			}
			if strings.Join(got, " ") != strings.Join(want[tool.Name], " ") || tool.Description == "" || tool.InputSchema.Type != "object" {
				t.Errorf("%s: schema has %v, want %v", tool.Name, got, want[tool.Name])
			}
			delete(want, tool.Name)
		}
		if len(want) > 0 {
			t.Errorf("tools are missing: %v", want)
		}
		call := func(tool, arguments string) answer {
			return a.tool(`{"method":"tools/call","tool":"`+tool+`","arguments":`+arguments+`}`, key)
		}
		part := func(got answer, i int) map[string]any {
			content, _ := got.member("content").([]any)
			if i >= len(content) {
				t.Fatalf("content %d is missing in %s", i, got.text)
			}
			return content[i].(map[string]any)
		}
		got := call("chat", `{"message":"how many lights are there?","sessionId":"m"}`).want(t, 200, "chat")
		if p := part(got, 0); p["type"] != "text" || !strings.Contains(p["text"].(string), "39 lights") || got.str("metadata.agent") != "siteAssetAgent" || got.str("metadata.sessionId") != "m" {
			t.Errorf("chat: %s", got.text)
		}
		got = call("query", `{"query":"ground floor","dataType":"energy","timeRange":{"start":"2026-11-17T00:00:00+01:00","end":"2026-11-18T00:00:00+01:00"}}`).want(t, 200, "query")
		if p := part(got, 1); p["type"] != "json" || !json.Valid([]byte(p["text"].(string))) || !strings.Contains(p["text"].(string), `"wattHours"`) || got.str("metadata.agent") != "energyAgent" {
			t.Errorf("query: %s", got.text)
		}
		got = call("optimize", `{"target":"cost","constraints":{"pricePerKWh":0.3,"currency":"EUR","colour":"blue"},"timeRange":{"start":"2026-11-11T00:00:00Z","end":"2026-11-18T00:00:00Z"}}`).want(t, 200, "optimize")
		if text := part(got, 0)["text"].(string); !strings.Contains(text, "EUR a week") || !strings.Contains(text, "“colour” means nothing") {
			t.Errorf("optimize: %s", text)
		}
		got = call("get_status", `{}`).want(t, 200, "get_status")
		if p := part(got, 1); !strings.Contains(p["text"].(string), `"status":"ok"`) {
			t.Errorf("get_status: %s", got.text)
		}
		a.tool(`{"method":"tools/call","tool":"get_status"}`, key).want(t, 200, "no arguments")
		for name, body := range map[string]string{
			"another method": `{"method":"resources/list"}`, "initialize": `{"method":"initialize"}`, "no method": `{}`, "no JSON": `x`, "method of another type": `{"method":1}`, "empty": ``,
			"array": `[{"method":"tools/list"}]`, "empty array": `[]`, "unknown tool": `{"method":"tools/call","tool":"reboot"}`, "no tool": `{"method":"tools/call"}`,
			"arguments are no object": `{"method":"tools/call","tool":"chat","arguments":[1]}`,
			"no message":              `{"method":"tools/call","tool":"chat","arguments":{}}`, "message is a number": `{"method":"tools/call","tool":"chat","arguments":{"message":1}}`,
			"too long": `{"method":"tools/call","tool":"chat","arguments":{"message":"` + strings.Repeat("x", 4001) + `"}}`, "long session": `{"method":"tools/call","tool":"chat","arguments":{"message":"hi","sessionId":"` + strings.Repeat("s", 129) + `"}}`,
			"no query": `{"method":"tools/call","tool":"query","arguments":{}}`, "wrong data type": `{"method":"tools/call","tool":"query","arguments":{"query":"x","dataType":"weather"}}`,
			"reversed range":             `{"method":"tools/call","tool":"query","arguments":{"query":"x","timeRange":{"start":"2026-11-18T00:00:00Z","end":"2026-11-17T00:00:00Z"}}}`,
			"reversed range of optimize": `{"method":"tools/call","tool":"optimize","arguments":{"target":"cost","timeRange":{"start":"2026-11-18T00:00:00Z","end":"2026-11-17T00:00:00Z"}}}`,
			"no time":                    `{"method":"tools/call","tool":"query","arguments":{"query":"x","timeRange":{"start":"yesterday","end":"2026-11-17T00:00:00Z"}}}`,
			"half range":                 `{"method":"tools/call","tool":"query","arguments":{"query":"x","timeRange":{"start":"2026-11-17T00:00:00Z"}}}`,
			"no target":                  `{"method":"tools/call","tool":"optimize","arguments":{}}`, "wrong target": `{"method":"tools/call","tool":"optimize","arguments":{"target":"speed"}}`,
			"wrong constraint": `{"method":"tools/call","tool":"optimize","arguments":{"target":"cost","constraints":{"pricePerKWh":"a lot"}}}`,
		} {
			got := a.tool(body, key).want(t, 400, name)
			if got.str("error") == "" || got.str("details") == "" || got.member("success") != nil {
				t.Errorf("%s: body is %s", name, got.text)
			}
			// What a call looks like is told to those only whose body is none.
			if shown := strings.HasPrefix(got.str("details"), "Send "); shown == strings.Contains(body, "tools/call") {
				t.Errorf("%s: details are %s", name, got.str("details"))
			}
		}
		a.tool(`{"method":"`+strings.Repeat("x", 1<<20)+`"}`, key).want(t, 413, "too large")
		a.tool(`{"method":"tools/list"}`, key, "Origin: https://evil.example").want(t, 403, "a foreign page")
		a.tool(`{"method":"tools/list"}`, key, "Origin: null").want(t, 403, "a page without origin")
		a.tool(`{"method":"tools/list"}`, key, "Origin: "+a.url).want(t, 200, "our own page")
	})
}

// What is said without words of a person's is in the language that the request prefers.
func TestWithoutWordsTheRequestSaysTheLanguage(t *testing.T) {
	t.Parallel()
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	for call, want := range map[string]string{
		`{"method":"tools/call","tool":"get_status","arguments":{}}`:                                   "Ich sehe nach, was arbeitet",
		`{"method":"tools/call","tool":"optimize","arguments":{"target":"comfort"}}`:                   "Geändert wurde nichts.",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_status","arguments":{}}}`: "Nicht gemessen:",
		`{"method":"tools/call","tool":"query","arguments":{"query":"Which lights are on?"}}`:          "Reading the question",
	} {
		if got := a.tool(call, "X-API-Key: "+a.key, "Accept-Language: de-CH, en;q=0.5"); !strings.Contains(got.text, want) {
			t.Errorf("%s: %q is not in %s", call, want, got.text)
		}
	}
}

// The row "permissions": {} reads, {"control":true} switches, after a preview and a yes.
func TestContractControl(t *testing.T) {
	t.Parallel()
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		order := `{"message":"turn off the lobby lights","sessionId":"c"}`
		yes := `{"message":"yes","sessionId":"c"}`
		if got := a.chat(order, "X-API-Key: "+a.key); !strings.Contains(got.str("reply"), "only reads") {
			t.Errorf("a reading key: %s", got.text)
		}
		a.chat(yes, "X-API-Key: "+a.key)
		if got := a.chat(order, "X-API-Key: "+a.control); !strings.Contains(got.str("reply"), "Not done yet") || len(a.building.Acted) != 0 {
			t.Errorf("the preview: %s, sent %v", got.text, a.building.Acted)
		}
		a.chat(yes, "X-API-Key: "+a.key) // the same owner's reading key confirms nothing
		if len(a.building.Acted) != 0 {
			t.Fatalf("a reading key acted: %v", a.building.Acted)
		}
		a.chat(order, "X-API-Key: "+a.control)
		if got := a.chat(yes, "X-API-Key: "+a.control); !strings.Contains(got.str("reply"), "On its way: lights off: Lobby") || len(a.building.Acted) != 1 { // what this building reports never changes
			t.Errorf("the yes: %s, sent %v", got.text, a.building.Acted)
		}
	})
}
