//go:build peers

package link_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/peertest"
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
	dir := t.TempDir()
	self, password := link.NewCredential("platform", "", true)
	files := func() {
		t.Helper()
		all, err := db.Credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"passwords": link.MosquittoPasswords(append([]platform.Credential{self}, all...)), "acl": link.MosquittoACL("platform", all),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	files()
	m := peertest.StartMosquitto(t, dir)
	return place{
		url: "tcp://" + m.Address,
		platform: link.Broker{
			URL:   "tcp://" + m.Address,
			Login: func() (string, string) { return "platform", password },
		},
		changed: func() {
			files()
			m.Reread()
			time.Sleep(200 * time.Millisecond) // it reads them between two rounds of its own
		},
		away: m.Stop, back: m.Start,
	}
}
