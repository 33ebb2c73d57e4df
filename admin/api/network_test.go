package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
)

// An admin has another network tried, and keeps it over its address; what cannot work is refused at its field.
func TestNetworkIsSetAndKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss := h.as(account.RoleAdmin)
	inbox := filepath.Join(h.dir, "network")
	tell := func(text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(h.dir, "told-network"), []byte(text), 0o644))
	}
	for _, role := range []account.Role{account.RoleOperator, account.RoleViewer} {
		h.as(role).must(403, "GET", "/network", nil, nil)
		h.as(role).must(403, "PUT", "/network", api.NetworkSetting{}, nil)
		h.as(role).must(403, "POST", "/network/keep", nil, nil)
	}
	var now api.Network
	boss.must(200, "GET", "/network", nil, &now)
	if !now.CanSet || now.State != "kept" || now.Setting == nil || now.Setting.Address != "" || !strings.HasSuffix(now.Name, ".local") {
		t.Errorf("before anything: %+v", now)
	}
	for field, in := range map[string]api.NetworkSetting{
		"address": {Address: "192.168.1.20"},
		"gateway": {Address: "192.168.1.20/24", Gateway: "router.local", Port: ""},
		"dns":     {Address: "192.168.1.20/24", DNS: []string{"dns.example"}},
		"vlan":    {VLAN: 5000},
		"port":    {VLAN: 5, Port: "e0none"},
	} {
		var p api.Problem
		if boss.must(422, "PUT", "/network", in, &p); len(p.Errors) != 1 || p.Errors[0].Pointer != "/"+field {
			t.Errorf("%+v: %+v, want an error of %s", in, p, field)
		}
	}
	if left, err := filepath.Glob(filepath.Join(inbox, "*")); err != nil || len(left) > 0 {
		t.Errorf("refused, and left for the system: %v %v", left, err)
	}
	boss.must(409, "POST", "/network/keep", nil, nil)

	boss.must(202, "PUT", "/network", api.NetworkSetting{}, &now)
	if wish, err := os.ReadFile(filepath.Join(inbox, "wish")); err != nil || string(wish) != "address=dhcp\n" || now.State != "asked" {
		t.Errorf("the system gets %q, and it stands %+v: %v", wish, now, err)
	}
	boss.must(409, "PUT", "/network", api.NetworkSetting{}, nil)

	// Who came over loopback has not shown that the network works.
	must(t, os.Remove(filepath.Join(inbox, "wish")))
	tell("state=trying\nuntil=99999999\naddress=dhcp\n")
	boss.must(200, "GET", "/network", nil, &now)
	if now.State != "trying" || now.SecondsLeft == 0 || now.CannotKeep == "" {
		t.Errorf("tried: %+v", now)
	}
	boss.must(409, "POST", "/network/keep", nil, nil)
	tell("state=trying\nuntil=99999999\naddress=192.168.1.20/24\n")
	var p api.Problem
	if boss.must(409, "POST", "/network/keep", nil, &p); !strings.Contains(p.Detail, "https://192.168.1.20") {
		t.Errorf("kept over another address: %+v", p)
	}
	if _, err := os.Stat(filepath.Join(inbox, "keep")); err == nil {
		t.Error("refused, and kept")
	}
	tell("state=trying\nuntil=99999999\naddress=127.0.0.1/8\nvlan=7\n") // as if it were the box's address
	now = api.Network{}
	boss.must(202, "POST", "/network/keep", nil, &now)
	if keep, err := os.ReadFile(filepath.Join(inbox, "keep")); err != nil || string(keep) != "address=127.0.0.1/8\nvlan=7\n" || now.CannotKeep != "" {
		t.Errorf("the system is to keep %q: %v, %+v", keep, err, now)
	}
	var changes []api.Audit
	boss.must(200, "GET", "/audit", nil, &changes)
	var what []string
	for _, c := range changes {
		what = append(what, c.What)
	}
	if said := strings.Join(what, " "); !strings.HasPrefix(said, "network.keep network.set ") && said != "network.keep network.set" {
		t.Errorf("the audit log has %s", said)
	}
}
