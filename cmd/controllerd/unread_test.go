package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/web/siege"
)

// TestAnswersThatNobodyTakes has one viewer ask for a list of a large building, again and again, and take nothing of it.
func TestAnswersThatNobodyTakes(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := large(t, unitMemory)
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

// TestLevelsThatNobodyTakes has somebody ask for all levels of a large building, each time after one has changed, and take
// nothing of it: each answer is one of its own.
func TestLevelsThatNobodyTakes(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := large(t, 112<<20)
	door, key := siege.Door{Addr: strings.TrimPrefix(b.url, "https://")}, map[string]string{"authorization": "Bearer " + b.login(account.RoleAPIService)}
	for i := range 160 {
		b.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, 100+i, 10+i%80))
		conn, statuses, err := door.Untaken(t.Context(), 1, "/svc/api/getLightLevels", key)
		if err != nil || statuses[0] != "200" {
			t.Fatalf("answer %d: %v %v; the kernel ended the daemon %d times", i, statuses, err, b.group.Kills(t))
		}
		t.Cleanup(func() { conn.Close() })
	}
	if status, body, _ := b.send("GET", "/svc/api/getLightLevels", b.login(account.RoleAPIService), ""); status != 200 || len(body) < 400_000 {
		t.Errorf("somebody who takes it: %d, %d bytes", status, len(body))
	}
	if n := b.group.Kills(t); n > 0 {
		t.Errorf("the kernel ended the daemon %d times", n)
	}
}

// large is the daemon of a building of 5,000 lights, in a process with so much memory.
func large(t *testing.T, memory int64) *broughtTo {
	t.Helper()
	site := "site: {name: Large}\nbuses:\n" + numbered("- {name: b%[1]d, driver: modbus, port: \"tcp://127.0.0.1:0\"}\n", 50) + "nodes:\n"
	for i := range 5000 {
		site += fmt.Sprintf("- {id: %d, name: \"Lamp %d, north\", bus: b%d, address: %d, profile: wirenboard-wb-mdm3, outputs: [%d]}\n", 100+i, i, i%50, 1+i/150, 1+i/50%3)
	}
	b := &broughtTo{house: newBuilding(t, site), group: confine.New(t, memory)}
	b.daemon = b.desk().serveIn(b.group)
	b.url, b.client = b.daemon.url, b.daemon.client
	b.client.Timeout = 2 * time.Minute
	return b
}
