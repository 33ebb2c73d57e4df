//go:build peers

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform/peertest"
)

// The official TypeScript clients list and call all tools, at a version with initialize and at the newest one. The
// script fails by itself when an answer is not what it should be.
func TestOfficialTypeScriptClientsUseAllTools(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: make peers installs it")
	}
	modules, err := filepath.Abs("../../.peers/mcp/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("the clients are missing: make peers installs them: %v", err)
	}
	script, err := os.ReadFile("testdata/mcpclients.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clients.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, node, filepath.Join(dir, "clients.mjs"), a.url+mcpPath)
	run.Env = append(os.Environ(), "KEY="+a.control)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"sdk 2025-11-25 chat: ", "sdk 2025-11-25 get_status: Status ok",
		"client 2025-11-25 query: ", "client 2026-07-28 optimize: ", "client 2026-07-28 get_status: Status ok", "39 lights",
		"sdk 2025-11-25 order: Not done yet", "client 2026-07-28 places: ", "client 2026-07-28 energy: ", "client 2026-07-28 prompts: energy_review morning_round turn_down_empty_rooms",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in what the clients say:\n%s", want, out)
		}
	}
}
