//go:build image

package buildroot

import (
	"os"
	"path/filepath"
	"testing"
)

// prepareWifi gives the guest what the appliance has for claiming it over its own Wi-Fi.
func prepareWifi(t *testing.T, guest string) {
	t.Helper()
	const units = "usr/lib/systemd/system/"
	for _, path := range []string{units + "appliance-wifi.service", units + "appliance-claim-page.socket", "usr/lib/appliance/wifi", "etc/udev/rules.d/85-radio.rules"} {
		to := filepath.Join(guest, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "board/common/overlay/"+path, to)
	}
	for link, to := range map[string]string{
		"etc/systemd/system/sockets.target.wants/appliance-claim-page.socket": "/" + units + "appliance-claim-page.socket",
		"usr/bin/ip": "busybox", // which Buildroot's system has of its own
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(guest, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(guest, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkWifi sees a phone, which is a radio in a network namespace, join the box's Wi-Fi, be led to the claim, and claim the box.
func checkWifi(t *testing.T, vm *machine) {
	t.Helper()
	for _, c := range []struct{ what, want string }{
		{"with a cable", "success, 1 notes"},
		{"with another code", "0 connections, refused"},
		{"with its code", "1 connections"},
		{"lease", "255.255.255.0 router 10.42.0.1 dns 10.42.0.1"},
		{"name", "10.42.0.1"},
		{"probe", "302 http://10.42.0.1/"},
		{"page", "https://10.42.0.1/claim 1"},
		{"claim", "HTTP/1.1 200 OK"},
		{"page after the claim", "404"},
		{"done", "active"},
	} {
		if got := vm.await(t, "wifi "+c.what+":"); got != c.want {
			t.Errorf("Wi-Fi, %s: %q, want %q", c.what, got, c.want)
		}
	}
}

func checkWifiIsOver(t *testing.T, vm *machine) {
	t.Helper()
	if got := vm.await(t, "wifi over:"); got != "success, 0 addresses" {
		t.Errorf("some time after the claim the Wi-Fi ended with %q", got)
	}
}
