//go:build image

package buildroot

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// lan is what the only cable of a machine leads to: a switch, and behind it QEMU's user network, which gives the machine 10.0.2.15 by DHCP,
// has the gateway 10.0.2.2, and ways in from loopback.
type lan struct {
	tag          atomic.Int32 // of the switch's port; 0: it is untagged. What is tagged otherwise is dropped, as by a switch
	dhcp, static string       // ports of loopback that lead to the HTTPS port of 10.0.2.15 and of 10.0.2.50
}

// plugIn returns the end of the cable, for -netdev with the identity lan.
func (l *lan) plugIn(t *testing.T, work string) (netdev string) {
	t.Helper()
	l.dhcp, l.static = freePort(t), freePort(t)
	listen := func(name string) (*net.UnixListener, string) {
		path := filepath.Join(work, name)
		at, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { at.Close() })
		return at, "addr.type=unix,addr.path=" + path
	}
	behind, uplink := listen("uplink")
	at, cable := listen("cable")
	start(t, filepath.Join(work, "lan.log"), "qemu-system-aarch64", "-M", "none", "-nodefaults", "-display", "none", "-monitor", "none",
		"-netdev", "user,id=net,hostfwd=tcp:127.0.0.1:"+l.dhcp+"-10.0.2.15:443,hostfwd=tcp:127.0.0.1:"+l.static+"-10.0.2.50:443",
		"-netdev", "hubport,id=a,hubid=0,netdev=net",
		"-netdev", "stream,id=up,server=off,"+uplink, "-netdev", "hubport,id=b,hubid=0,netdev=up")
	go func() {
		outside, err := behind.Accept()
		if err != nil {
			return
		}
		defer outside.Close()
		machine, err := at.Accept()
		if err != nil {
			return
		}
		defer machine.Close()
		go l.pass(outside, machine, l.tagged)
		l.pass(machine, outside, l.untagged)
	}()
	return "stream,id=lan,server=off," + cable
}

// pass passes frames on, each behind its length, as f changes them; nil: it is dropped.
func (l *lan) pass(from, to net.Conn, f func(frame []byte) []byte) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		if len(frame) < 14 {
			continue
		}
		if frame = f(frame); frame == nil {
			continue
		}
		if _, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)); err != nil {
			return
		}
	}
}

// dot1Q is the type of a tagged frame, which stands with the tag behind the two addresses.
const dot1Q, addressesLen = 0x8100, 12

func (l *lan) tagged(frame []byte) []byte {
	tag := uint16(l.tag.Load())
	if tag == 0 {
		return frame
	}
	return slices.Insert(frame, addressesLen, dot1Q>>8, dot1Q&0xff, byte(tag>>8), byte(tag))
}

func (l *lan) untagged(frame []byte) []byte {
	want, tag := uint16(l.tag.Load()), uint16(0)
	if binary.BigEndian.Uint16(frame[addressesLen:]) == dot1Q {
		tag = binary.BigEndian.Uint16(frame[addressesLen+2:]) & 0xfff
		frame = slices.Delete(frame, addressesLen, addressesLen+4)
	}
	if tag != want {
		return nil
	}
	return frame
}

// prepareNetwork gives the guest what the appliance has to set its network.
func prepareNetwork(t *testing.T, guest string) {
	t.Helper()
	const units = "usr/lib/systemd/system/"
	for _, path := range []string{
		units + "appliance-network.service", units + "appliance-network-change.path", units + "appliance-network-change.service",
		units + "controllerd.service.d/appliance.conf", "usr/lib/appliance/network", "etc/systemd/network/lan.network",
	} {
		to := filepath.Join(guest, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "board/common/overlay/"+path, to)
	}
	for _, unit := range []string{"appliance-network.service", "appliance-network-change.path"} {
		link := filepath.Join(guest, "etc/systemd/system/multi-user.target.wants", unit)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/usr/lib/systemd/system/"+unit, link); err != nil {
			t.Fatal(err)
		}
	}
}

// networkNow is what the tests look at of what GET /api/v1/network tells.
type networkNow struct {
	CanSet            bool
	Name, State       string
	CannotKeep        string
	Ports             []networkPort
	Title, Detail     string // of a problem
	SecondsLeft, VLAN int
}

type networkPort struct {
	Name, MAC, Gateway string
	Up                 bool
	VLAN               int
	Addresses, DNS     []string
}

// v4 are the addresses of IPv4 that the box has, and its ports in words.
func (n networkNow) v4() (list []string) {
	for _, p := range n.Ports {
		for _, a := range p.Addresses {
			if !strings.Contains(a, ":") {
				list = append(list, a)
			}
		}
	}
	return list
}

// changeNetwork gives the machine a static address, then a tagged network, keeping each over itself, and then one in which nobody reaches
// it, from which it comes back.
func changeNetwork(t *testing.T, vm *machine, pem []byte, password string) {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("no certificate in %q", pem)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}}}
	var session struct {
		AccessToken string `json:"access_token"`
	}
	ask := func(most time.Duration, port, method, path, body string, into any) (status int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, "https://127.0.0.1:"+port+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			return 0, err
		}
		if session.AccessToken != "" {
			req.Header.Set("Authorization", "Bearer "+session.AccessToken)
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return resp.StatusCode, json.NewDecoder(resp.Body).Decode(into)
	}
	must := func(port, method, path, body string, want int, into any) {
		t.Helper()
		if status, err := ask(time.Minute, port, method, path, body, into); err != nil || status != want {
			t.Fatalf("%s %s: %d, want %d: %v %+v", method, path, status, want, err, into)
		}
	}
	await := func(port, state string) (now networkNow) {
		t.Helper()
		began, most := time.Now(), 2*time.Second // a question to an address that is not there yet hangs, and is asked anew soon
		awaitFor(t, "the network that is "+state, func() bool {
			var n networkNow
			status, err := ask(most, port, http.MethodGet, "/network", "", &n)
			now, most = n, min(most*3/2, 20*time.Second)
			return err == nil && status == http.StatusOK && n.State == state
		})
		t.Logf("%s, with %v after %v", state, now.v4(), time.Since(began).Round(time.Second))
		return now
	}
	keep := func(port string) {
		t.Helper()
		if now := await(port, "trying"); now.CannotKeep != "" || now.SecondsLeft == 0 {
			t.Fatalf("it is tried, and cannot be kept: %+v", now)
		}
		must(port, http.MethodPost, "/network/keep", "", http.StatusAccepted, &networkNow{})
	}
	l := &vm.lan
	vm.await(t, "owner")
	must(l.dhcp, http.MethodPost, "/auth/login", `{"username":"owner","password":"`+password+`"}`, http.StatusOK, &session)
	now := await(l.dhcp, "kept")
	if p := now.Ports; !now.CanSet || now.Name != "annex.local" || len(p) != 1 || !p[0].Up || p[0].MAC == "" || p[0].Gateway != "10.0.2.2" ||
		!slices.Equal(p[0].DNS, []string{"10.0.2.3"}) || !slices.Equal(now.v4(), []string{"10.0.2.15/24"}) {
		t.Errorf("the daemon sees of the network: %+v", now)
	}

	must(l.dhcp, http.MethodPut, "/network", `{"address":"10.0.2.50/24","gateway":"10.0.2.2","dns":["10.0.2.3"]}`, http.StatusAccepted, &now)
	keep(l.static)
	now = await(l.static, "kept")
	if p := now.Ports; len(p) != 1 || p[0].Gateway != "10.0.2.2" || !slices.Equal(p[0].DNS, []string{"10.0.2.3"}) || !slices.Equal(now.v4(), []string{"10.0.2.50/24"}) {
		t.Errorf("with a static address: %+v", now)
	}

	must(l.static, http.MethodPut, "/network", `{"vlan":12}`, http.StatusAccepted, &now)
	l.tag.Store(12)
	keep(l.dhcp)
	now = await(l.dhcp, "kept")
	if p := now.Ports; len(p) != 2 || len(p[0].Addresses) != 0 || p[1].VLAN != 12 || p[1].Gateway != "10.0.2.2" || !slices.Equal(now.v4(), []string{"10.0.2.15/24"}) {
		t.Errorf("with a VLAN: %+v", now)
	}

	vm.await(t, "less patience")
	must(l.dhcp, http.MethodPut, "/network", `{"address":"10.77.0.5/24","vlan":12}`, http.StatusAccepted, &now)
	if now = await(l.dhcp, "undone"); !slices.Equal(now.v4(), []string{"10.0.2.15/24"}) {
		t.Errorf("it went back to %+v", now)
	}
}
