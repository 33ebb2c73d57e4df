package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.internal/controller/platform/peertest"
)

// keyed sends an API key with every request.
type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// everyTool is what the protocol offers: the contract's four, and the typed ones.
const everyTool = "capabilities chat energy faults get_status ledger lights meters optimize order places query shades"

// The official Go client lists and calls all tools, at a version with initialize and at the newest one.
func TestOfficialGoClientUsesAllTools(t *testing.T) {
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			var mu sync.Mutex
			var progress []string
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					progress = append(progress, r.Params.Message)
				},
			})
			s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: a.url + mcpPath, HTTPClient: &http.Client{Transport: keyed{a.key}}},
				&mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := s.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s, want %s", got, version)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if slices.Sort(names); strings.Join(names, " ") != everyTool {
				t.Errorf("tools are %v", names)
			}
			for tool, c := range map[string]struct {
				arguments map[string]any
				want      string
			}{
				"chat":         {map[string]any{"message": "how many lights are there?", "useSSE": true}, "39 lights"},
				"query":        {map[string]any{"query": "which shades are installed", "dataType": "devices"}, "shade"},
				"optimize":     {map[string]any{"target": "comfort"}, "1. Repair lights"},
				"get_status":   {map[string]any{}, "Status ok"},
				"places":       {map[string]any{"sort": "brightest", "kind": "zone", "limit": 1}, "10 places"},
				"lights":       {map[string]any{"place": "Lobby"}, "4 not known"}, // they were read when the tests' building was, days ago
				"shades":       {map[string]any{"state": "open"}, "5 shades"},
				"meters":       {map[string]any{}, "counting nothing twice"},
				"energy":       {map[string]any{"by": "hour", "from": "2026-11-17T00:00:00+01:00", "to": "2026-11-18T00:00:00+01:00"}, "“Harbour House” used"},
				"faults":       {map[string]any{}, "faults in “Harbour House”"},
				"ledger":       {map[string]any{}, "does not report its ledger"},
				"capabilities": {map[string]any{}, "Not measured: occupancy"},
				"order":        {map[string]any{"things": "lights", "do": "off", "places": []string{"Lobby"}}, "Not done yet"},
			} {
				params := &mcp.CallToolParams{Name: tool, Arguments: c.arguments}
				params.SetProgressToken("p-" + tool)
				got, err := s.CallTool(t.Context(), params)
				if err != nil {
					t.Errorf("%s: %v", tool, err)
					continue
				}
				text := got.Content[0].(*mcp.TextContent).Text
				if tool == "order" && got.IsError && strings.Contains(text, "only reads") {
					continue // it is done with another key below
				}
				fours := tool == "chat" || tool == "query" || tool == "optimize" || tool == "get_status"
				if got.IsError || !strings.Contains(text, c.want) || fours && (got.Meta["agent"] == "" || got.Meta["sessionId"] == "") {
					t.Errorf("%s: %s, meta %v", tool, text, got.Meta)
				}
				if _, object := got.StructuredContent.(map[string]any); tool != "chat" && !object {
					t.Errorf("%s: structured content is %T, want an object", tool, got.StructuredContent)
				}
				if len(got.Content) != 1 {
					t.Errorf("%s: %d contents, so that the facts are there twice", tool, len(got.Content))
				}
			}
			for _, tool := range list.Tools {
				four := tool.Name == "chat" || tool.Name == "query" || tool.Name == "optimize" || tool.Name == "get_status"
				writes := tool.Name == "chat" || tool.Name == "order"
				if tool.Annotations == nil || tool.Annotations.ReadOnlyHint == writes || (tool.OutputSchema == nil) != four {
					t.Errorf("%s: annotations %+v, output schema %v", tool.Name, tool.Annotations, tool.OutputSchema)
				}
			}
			a.orderBy(t, version)
			usual, err := s.ListPrompts(t.Context(), nil)
			if err != nil || len(usual.Prompts) != 3 {
				t.Fatalf("prompts are %+v, %v", usual, err)
			}
			for _, p := range usual.Prompts {
				for _, args := range []map[string]string{nil, {"site": "Harbour House", "days": "3", "empty": "Alps and Lakes"}} {
					got, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
					if err != nil {
						t.Fatalf("%s: %v", p.Name, err)
					}
					text := got.Messages[0].Content.(*mcp.TextContent).Text
					if strings.Contains(text, "%!") || (args != nil) != strings.Contains(text, `the site "Harbour House"`) {
						t.Errorf("%s: %s", p.Name, text)
					}
				}
			}
			got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "query", Arguments: map[string]any{"query": "x", "dataType": "weather"}})
			if err != nil || !got.IsError {
				t.Errorf("a wrong argument: %+v %v, want a failed result", got, err)
			}
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "reboot"}); err == nil {
				t.Error("an unknown tool was called")
			}
			mu.Lock()
			defer mu.Unlock()
			if len(progress) == 0 {
				t.Error("no progress was told")
			}
		})
	}
}

// orderBy previews and confirms an order with a key that may control.
func (a asked) orderBy(t *testing.T, version string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: a.url + mcpPath, HTTPClient: &http.Client{Transport: keyed{a.control}}}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	call := func(arguments map[string]any) map[string]any {
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: arguments})
		if err != nil || got.IsError {
			t.Fatalf("order %v: %+v, %v", arguments, got, err)
		}
		return got.StructuredContent.(map[string]any)
	}
	acted := len(a.building.Acted)
	preview := call(map[string]any{"things": "lights", "do": "set", "percent": 20, "places": []string{"Lobby"}})
	if preview["state"] != "previewed" || len(a.building.Acted) != acted {
		t.Errorf("a preview is %v and acted", preview)
	}
	if done := call(map[string]any{"order": preview["order"], "confirm": true}); done["state"] == "previewed" || len(a.building.Acted) != acted+1 {
		t.Errorf("confirmed it is %v, and acted %d times", done, len(a.building.Acted)-acted)
	}
}

// JSON-RPC by hand: what plain tools such as curl send, and what other methods answer.
func TestContractMCPProtocolForm(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		a := newAsked(t, db)
		key := "X-API-Key: " + a.key
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
		for name, headers := range map[string][]string{
			"no Accept":   {key},
			"curl":        {key, "Accept: */*"},
			"by the book": {key, "Accept: application/json, text/event-stream"},
			"with bearer": {"Authorization: Bearer " + a.key},
		} {
			got := a.tool(body, headers...).want(t, 200, name)
			if !strings.Contains(got.text, `"get_status"`) || got.Header.Get("X-RateLimit-Limit") == "" {
				t.Errorf("%s: %s", name, got.text)
			}
		}
		a.tool(body).want(t, 401, "without a key")
		a.tool(body, key, "Origin: https://evil.example").want(t, 403, "a foreign page")
		for _, method := range []string{"GET", "DELETE"} {
			got := a.ask(method, mcpPath, "", key, "Accept: text/event-stream").want(t, 405, method)
			if !strings.Contains(got.Header.Get("Allow"), "POST") {
				t.Errorf("%s: Allow is %q", method, got.Header.Get("Allow"))
			}
		}
		got := a.tool(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, key).want(t, 200, "initialize")
		_, data, _ := strings.Cut(got.text, "data: ")
		var answer struct {
			Result struct{ Capabilities map[string]any }
		}
		if err := json.Unmarshal([]byte(strings.TrimSpace(data)), &answer); err != nil {
			t.Fatalf("%v in %s", err, got.text)
		}
		if c := answer.Result.Capabilities; len(c) != 2 || c["tools"] == nil || c["prompts"] == nil {
			t.Errorf("capabilities are %v, want tools and prompts", c)
		}
	})
}

// Nothing is logged of a request but that there was one, whatever a caller does wrong in it: the log of a program with a key is bounded.
func TestTheProtocolLogsRequestsOnly(t *testing.T) {
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	for _, method := range []string{"tools/list", "tools/nonsense", "initialize", "notifications/initialized", "resources/subscribe"} {
		a.tool(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{}}`, "X-API-Key: "+a.key)
	}
	for line := range strings.Lines(a.log.String()) {
		if !strings.Contains(line, "msg=request ") {
			t.Errorf("logged: %s", line)
		}
	}
}
