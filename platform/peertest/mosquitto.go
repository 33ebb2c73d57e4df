//go:build peers

package peertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/shelf/freeport"
)

// Mosquitto is a broker that reads the files "passwords" and "acl" of a directory.
type Mosquitto struct {
	Address string // host and port

	t    testing.TB
	conf string

	mu  sync.Mutex
	run *exec.Cmd
}

// StartMosquitto runs Mosquitto, as docs/mqtt.md tells, until the test ends. Both files have to be there already. Further lines of
// its configuration are of its one listener.
func StartMosquitto(t testing.TB, dir string, further ...string) *Mosquitto {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	m := &Mosquitto{Address: "127.0.0.1:" + port, t: t, conf: filepath.Join(t.TempDir(), "mosquitto.conf")}
	conf := fmt.Sprintf("listener %s 127.0.0.1\n%s\nallow_anonymous false\nset_tcp_nodelay true\npassword_file %s\nacl_file %s\nuser root\nmax_queued_messages 0\n",
		port, strings.Join(further, "\n"), filepath.Join(dir, "passwords"), filepath.Join(dir, "acl"))
	if err := os.WriteFile(m.conf, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Start()
	t.Cleanup(m.Stop)
	return m
}

// Start starts it again, where it was.
func (m *Mosquitto) Start() {
	m.t.Helper()
	program, err := exec.LookPath("mosquitto")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/mosquitto"); err != nil {
			m.t.Fatal("mosquitto is missing: make peers installs it")
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run = exec.Command(program, "-c", m.conf)
	m.run.Stderr = m.t.Output()
	if err := m.run.Start(); err != nil {
		m.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", m.Address, time.Second)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("mosquitto does not listen: %v", err)
		}
	}
}

// Stop ends it.
func (m *Mosquitto) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		_ = m.run.Process.Signal(syscall.SIGTERM)
		_ = m.run.Wait()
		m.run = nil
	}
}

// Reread has it read its files again.
func (m *Mosquitto) Reread() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		_ = m.run.Process.Signal(syscall.SIGHUP)
	}
}
