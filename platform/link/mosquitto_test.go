//go:build peers

package link_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/store"
)

func eachPeerBroker(t *testing.T, test func(*testing.T, *store.Store, place)) {
	t.Run("Mosquitto", func(t *testing.T) {
		db := openStore(t)
		test(t, db, mosquitto(t, db))
	})
}

// mosquitto runs Mosquitto with the files that docs/mqtt.md tells of.
func mosquitto(t *testing.T, db *store.Store) place {
	t.Helper()
	program, err := exec.LookPath("mosquitto")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/mosquitto"); err != nil {
			t.Fatal("mosquitto is missing: make peers installs it")
		}
	}
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	passwords, acl, conf := filepath.Join(dir, "passwords"), filepath.Join(dir, "acl"), filepath.Join(dir, "mosquitto.conf")
	self, password := link.NewCredential("platform", "", true)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := func() {
		t.Helper()
		all, err := db.Credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		write(passwords, link.MosquittoPasswords(append([]platform.Credential{self}, all...)))
		write(acl, link.MosquittoACL("platform", all))
	}
	files()
	write(conf, fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous false\npassword_file %s\nacl_file %s\nuser root\nmax_queued_messages 0\n", port, passwords, acl))
	var run *exec.Cmd
	start := func() {
		run = exec.Command(program, "-c", conf)
		run.Stderr = t.Output()
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "mosquitto listens", func() bool {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
	}
	stop := func() {
		_ = run.Process.Signal(syscall.SIGTERM)
		_ = run.Wait()
	}
	start()
	t.Cleanup(func() { stop() })
	return place{
		url: "tcp://" + address,
		platform: link.Broker{
			URL:   "tcp://" + address,
			Login: func() (string, string) { return "platform", password },
		},
		changed: func() {
			files()
			if err := run.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // it reads them between two rounds of its own
		},
		away: stop, back: start,
	}
}
