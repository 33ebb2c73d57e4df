package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/web/siege"
)

// TestAnswersThatNobodyTakes has one viewer ask for a list of a large building, again and again, and take nothing of it.
func TestAnswersThatNobodyTakes(t *testing.T) {
	drivertest.Long(t)
	site := "site: {name: Large}\nbuses:\n" + numbered("- {name: b%[1]d, driver: modbus, port: \"tcp://127.0.0.1:0\"}\n", 50) + "nodes:\n"
	for i := range 5000 {
		site += fmt.Sprintf("- {id: %d, name: \"Lamp %d, north\", bus: b%d, address: %d, profile: wirenboard-wb-mdm3, outputs: [%d]}\n", 100+i, i, i%50, 1+i/150, 1+i/50%3)
	}
	b := &broughtTo{house: newBuilding(t, site), group: confine.New(t, unitMemory)}
	b.daemon = b.desk().serveIn(b.group)
	b.url, b.client = b.daemon.url, b.daemon.client
	b.client.Timeout = 2 * time.Minute
	door, viewer := siege.Door{Addr: strings.TrimPrefix(b.url, "https://")}, map[string]string{"authorization": "Bearer " + b.enter("viewer")}
	var all sync.WaitGroup
	var begun atomic.Int64
	for i := range 8 {
		all.Go(func() {
			conn, statuses, err := door.Untaken(t.Context(), 16, "/api/v1/nodes", viewer)
			if err != nil {
				t.Errorf("connection %d: %v; the kernel ended the daemon %d times", i, err, b.group.Kills(t))
				return
			}
			t.Cleanup(func() { conn.Close() })
			for _, s := range statuses {
				if s == "200" {
					begun.Add(1)
				}
			}
		})
	}
	all.Wait()
	if begun.Load() == 0 {
		t.Error("no answer has begun")
	}
	if n := b.group.Kills(t); n > 0 {
		t.Fatalf("the kernel ended the daemon %d times", n)
	}
	if status, body, _ := b.send("GET", "/api/v1/nodes", b.enter("admin"), ""); status != 200 {
		t.Errorf("somebody else meanwhile: %d %.200s", status, body)
	}
}
