package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

const slowSite = `
site: {name: Slow}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0", options: {responseTimeout: 3s}}
nodes:
  - {id: 1, name: Dimmer, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
`

// TestAnOrderlyStopLetsCommandsFinish tells the daemon to end while a command waits for the
// answer of a slow device: it gets its true answer, and the ledger has it after the next start.
func TestAnOrderlyStopLetsCommandsFinish(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newBuilding(t, slowSite)
	d := h.desk()
	s := d.serve()
	somebody := newHonest(t, s)
	waitFor(t, time.Minute, "the lamp to be there", somebody.dim)
	h.fault(sim.Fault{Bus: "tcp", Address: "1", Kind: sim.FaultDelay, DelayMs: 300})
	writes := func(f sim.Frame) bool { // function 6 or 16, behind the seven bytes of Modbus TCP
		return len(f.Hex) > 16 && (f.Hex[14:16] == "06" || f.Hex[14:16] == "10")
	}
	_, last := h.sentTo("tcp", 0, writes)
	answered := make(chan bool, 1)
	go func() {
		answered <- somebody.call("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":77}`)
	}()
	waitFor(t, time.Minute, "the command on the wire", func() bool { n, _ := h.sentTo("tcp", last, writes); return n > 0 })
	s.stop()
	if !<-answered {
		t.Error("a command under way was not confirmed, though its device obeyed")
	}

	s = d.serve()
	defer s.stop()
	var login struct {
		Token string `json:"access_token"`
	}
	res, err := s.client.Post(s.url+"/api/v1/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, account.RoleOperator, housePassword)))
	if err != nil {
		t.Fatal(err)
	}
	err = json.NewDecoder(res.Body).Decode(&login)
	if res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, s.url+"/api/v1/ledger?limit=5", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+login.Token)
	if res, err = s.client.Do(req); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var entries []api.Entry
	if err := json.Unmarshal(text, &entries); err != nil || len(entries) == 0 || !entries[0].OK || !strings.Contains(string(text), `"level":77`) {
		t.Errorf("the ledger has %s (%v)", text, err)
	}
}
