package control_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// What a scan found is there until the last of a hundred devices has shown itself and got a name.
func TestAScanOutlivesWhatShowedItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		did := func(kind appliance.JobKind, subject string) string {
			t.Helper()
			j, err := ctl.Jobs().Start(appliance.Job{Kind: kind, Subject: subject}, func(context.Context, *control.JobHand) (any, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return j.ID
		}
		scan := did(appliance.JobScan, "bus")
		first := did(appliance.JobIdentify, "device 0")
		for i := range 100 {
			did(appliance.JobIdentify, fmt.Sprint("device ", i+1))
		}
		if _, ok := ctl.Jobs().Get(scan); !ok {
			t.Error("the scan is forgotten")
		}
		if _, ok := ctl.Jobs().Get(first); ok {
			t.Error("all that showed themselves are remembered")
		}
	})
}
