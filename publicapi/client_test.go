//go:build peers

package publicapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// TestClientOf10Walks runs the curl client of docs/ against a real HTTPS server.
func TestClientOf10Walks(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("curl is needed: apt-get install curl")
	}
	h := newHouse(t, lobby().snapshot())
	h.accounts.add("bms", `quote " and \ back`, account.RoleAPIService)
	base, certPEM := tlsServer(t, h.echo)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, certPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	walk := func(password string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "../docs/client-1.0.sh")
		cmd.Env = append(os.Environ(), "CONTROLLER_URL="+base, "CONTROLLER_CA="+ca, "CONTROLLER_USER=bms", "CONTROLLER_PASSWORD="+password)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := walk(`quote " and \ back`)
	if err != nil || !strings.HasSuffix(out, "all done\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[appliance.Kind]map[appliance.Scope]bool{}
	for _, cmd := range h.core.commands() {
		if seen[cmd.Kind] == nil {
			seen[cmd.Kind] = map[appliance.Scope]bool{}
		}
		seen[cmd.Kind][cmd.Target.Scope] = true
	}
	for kind := appliance.LightOn; kind <= appliance.ShadeMoveTo; kind++ {
		if len(seen[kind]) != 3 {
			t.Errorf("%s was asked for %v, want all, cluster and one", kind.Word(), seen[kind])
		}
	}
	if out, err := walk("wrong"); err == nil || !strings.Contains(out, "AuthFailed") {
		t.Errorf("with a wrong password: %v\n%s", err, out)
	}
	if out, err := walk("wrong"); err == nil || strings.Contains(out, "channelControl") {
		t.Errorf("goes on without a token: %v\n%s", err, out)
	}
}
