package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers"
)

func TestJobsThatFindNothingSaySo(t *testing.T) {
	t.Parallel()
	bare := []api.ServiceStep{{Address: "5"}}
	some := append(bare, api.ServiceStep{Address: "6", Facts: []api.Fact{{Name: "scene0", Value: "254 (100 %)"}, {Name: "scene1", Value: "0 (0 %)"}}})
	for want, told := range map[string][]api.ServiceStep{
		"ADDRESS         5\nnothing is set":                     bare,
		"ADDRESS  SCENE0  SCENE1\n5        nothing is set\n6  ": some,
	} {
		var out bytes.Buffer
		if err := (&serviceView{out: &out, told: told}).show(false); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("got %q, %v\nwant %q", out.String(), err, want)
		}
	}
	var out bytes.Buffer
	var rows []map[string]any
	if err := (&serviceView{out: &out, told: bare}).show(true); err != nil || json.Unmarshal(out.Bytes(), &rows) != nil || len(rows) != 1 || len(rows[0]) != 1 {
		t.Errorf("JSON %s, %v: want the address alone", out.String(), err)
	}
}

// TestAddressesOfEveryOtherDriver: whoever asks for addresses where the bus gives none is told
// where they come from.
func TestAddressesOfEveryOtherDriver(t *testing.T) {
	if len(addressedBy) != len(drivers.All)-1 {
		t.Errorf("%d of %d drivers are told not to give addresses, want all but dali", len(addressedBy), len(drivers.All))
	}
}
