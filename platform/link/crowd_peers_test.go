//go:build peers

package link_test

import (
	"os"
	"testing"

	"svc.internal/controller/platform/peertest"
)

// TestCampaignACrowdReportsToTwoInstances is the same with two instances on PostgreSQL and Mosquitto: both hear everything,
// which must do no harm. With SOAK=1 there are 2,000 controllers.
func TestCampaignACrowdReportsToTwoInstances(t *testing.T) {
	controllers := 20
	if os.Getenv("SOAK") != "" {
		controllers = 2000
	}
	db := peertest.Database{DataDir: t.TempDir(), URL: peertest.Postgres(t)}
	one, two := db.Open(t), db.Open(t)
	crowd(t, mosquitto(t, one), controllers, one, two)
}
