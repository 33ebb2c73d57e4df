//go:build peers

package main

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/shelf/web"
)

// eachPeerBroker runs a test with Mosquitto, whose files the platform keeps as docs/mqtt.md tells, and which the platform finds where
// between tells; nil: where it is.
func eachPeerBroker(t *testing.T, p plan, between func(address string) string, test func(*testing.T, *estate, outage)) {
	t.Run("Mosquitto", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		file := func(name string) string { return filepath.Join(dir, name) }
		cert, key, err := web.SelfSigned([]string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		self, password := link.NewCredential("platform", "", true)
		for name, text := range map[string]string{
			"passwords": link.MosquittoPasswords([]platform.Credential{self}), "acl": link.MosquittoACL("platform", nil), "broker.pem": string(cert), "broker.key": string(key),
		} {
			if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := peertest.StartMosquitto(t, dir, "certfile "+file("broker.pem"), "keyfile "+file("broker.key"))
		rereads(t, m, file("passwords"))
		at := m.Address
		if between != nil {
			at = between(at)
		}
		settings := map[string]string{"MQTT_URL": "mqtts://platform:" + password + "@" + at, "MQTT_CA_FILE": file("broker.pem"), "MQTT_FILES": dir}
		maps.Copy(settings, p.settings)
		p.settings = settings
		test(t, newEstateOf(t, p), outage{m.Stop, m.Start})
	})
}

// rereads has Mosquitto read its files again when they change, as a path unit of systemd does.
func rereads(t *testing.T, m *peertest.Mosquitto, file string) {
	watch, done := time.NewTicker(100*time.Millisecond), make(chan struct{})
	go func() {
		defer close(done)
		var last time.Time
		for {
			select {
			case <-watch.C:
			case <-t.Context().Done():
				return
			}
			if now, err := os.Stat(file); err == nil && !now.ModTime().Equal(last) {
				last = now.ModTime()
				m.Reread()
			}
		}
	}()
	t.Cleanup(func() { watch.Stop(); <-done })
}
