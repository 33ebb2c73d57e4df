package assistant

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// The motor of a shade is a device of its own, with a fault of its own.
func TestAFaultOfAShadesMotorIsTold(t *testing.T) {
	b := sitetest.New().Remember()
	for i := range 3 {
		d := platform.Device{Controller: sitetest.ID, Kind: platform.KindPeripheral, ID: int64(900 + i), Name: fmt.Sprint("Canteen motor ", i+1), Zones: []int64{sitetest.Canteen}, Online: true}
		if i == 1 {
			d.Trouble = "blocked"
		}
		b.DeviceList = append(b.DeviceList, d)
	}
	e := on(b)
	for i, question := range []string{"Is there a shade motor that's stuck?", "fault in any shade motor?", "is any canteen motor stuck?", "Klemmt ein Motor?"} {
		reply := ask(t, e, platform.Inquiry{Session: fmt.Sprint("motors ", i), Message: question})
		if !strings.Contains(reply.Text, "Canteen motor 2") || strings.HasPrefix(reply.Text, "No") {
			t.Errorf("%q: %s", question, reply.Text)
		}
	}
}
