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

// The official Go client lists and calls all four tools, at a version with initialize and at the newest one.
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
			if slices.Sort(names); strings.Join(names, " ") != "chat get_status optimize query" {
				t.Errorf("tools are %v", names)
			}
			for tool, c := range map[string]struct {
				arguments map[string]any
				want      string
			}{
				"chat":       {map[string]any{"message": "how many lights are there?", "useSSE": true}, "39 lights"},
				"query":      {map[string]any{"query": "which shades are installed", "dataType": "devices"}, "shade"},
				"optimize":   {map[string]any{"target": "comfort"}, "1. Repair lights"},
				"get_status": {map[string]any{}, "Status ok"},
			} {
				params := &mcp.CallToolParams{Name: tool, Arguments: c.arguments}
				params.SetProgressToken("p-" + tool)
				got, err := s.CallTool(t.Context(), params)
				if err != nil {
					t.Errorf("%s: %v", tool, err)
					continue
				}
				text := got.Content[0].(*mcp.TextContent).Text
				if got.IsError || !strings.Contains(text, c.want) || got.Meta["agent"] == "" || got.Meta["sessionId"] == "" {
					t.Errorf("%s: %s, meta %v", tool, text, got.Meta)
				}
				if _, object := got.StructuredContent.(map[string]any); tool != "chat" && !object {
					t.Errorf("%s: structured content is %T, want an object", tool, got.StructuredContent)
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
		if c := answer.Result.Capabilities; len(c) != 1 || c["tools"] == nil {
			t.Errorf("capabilities are %v, want tools alone", c)
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
