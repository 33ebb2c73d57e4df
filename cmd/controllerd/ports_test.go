package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/shelf/account"
)

// Whoever may change a bus could otherwise have the daemon open any file of the machine.
func TestOnlySerialPortsAreTakenForPorts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, smallSite)
	operator := h.apiToken(account.RoleOperator)
	elsewhere := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/etc/passwd", elsewhere); err != nil {
		t.Fatal(err)
	}
	for _, driver := range []string{"sdn", "dmx"} {
		for _, port := range []string{"/etc/shadow", "/etc/passwd", "/proc/self/mem", "/dev/../etc/passwd", "/dev", elsewhere} {
			status, body, _ := h.send(http.MethodPost, "/api/v1/buses", operator, `{"name":"mine","driver":"`+driver+`","port":"`+port+`"}`)
			if status/100 != 4 || !strings.Contains(string(body), "character device below /dev") {
				t.Errorf("%s at %s: %d %s", driver, port, status, body)
			}
		}
	}
	if status, body, _ := h.send(http.MethodPost, "/api/v1/buses", operator, `{"name":"mine","driver":"sdn","port":"/dev/serial/by-id/not-plugged-in"}`); status != 201 {
		t.Errorf("a port that is not plugged in: %d %s", status, body)
	}
}
