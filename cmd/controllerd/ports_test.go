package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/drivers/line/pty"
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
	aside := filepath.Join(t.TempDir(), "ttyUSB0") // a name tells nothing
	if err := os.Symlink("/dev/zero", aside); err != nil {
		t.Fatal(err)
	}
	for _, driver := range []string{"sdn", "dmx"} {
		for _, port := range []string{"/etc/shadow", "/etc/passwd", "/proc/self/mem", "/dev/../etc/passwd", "/dev", elsewhere, "/dev/null", "/dev/random", aside} {
			status, body, _ := h.send(http.MethodPost, "/api/v1/buses", operator, `{"name":"mine","driver":"`+driver+`","port":"`+port+`"}`)
			if status/100 != 4 || !strings.Contains(string(body), "want a terminal below /dev") {
				t.Errorf("%s at %s: %d %s", driver, port, status, body)
			}
		}
	}
	terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	byName := filepath.Join(t.TempDir(), "adapter")
	if err := os.Symlink(terminal.SlavePath(), byName); err != nil {
		t.Fatal(err)
	}
	if status, body, _ := h.send(http.MethodPost, "/api/v1/buses", operator, `{"name":"theirs","driver":"sdn","port":"`+byName+`"}`); status != 201 {
		t.Errorf("a name of a terminal: %d %s", status, body)
	}
	if status, body, _ := h.send(http.MethodPost, "/api/v1/buses", operator, `{"name":"mine","driver":"sdn","port":"/dev/serial/by-id/not-plugged-in"}`); status != 201 {
		t.Errorf("a port that is not plugged in: %d %s", status, body)
	}
}
