package link_test

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/site"
	"svc.internal/controller/wire"
)

// TestCampaignACrowdReports has many controllers report 100 things each at once: nothing that the broker acknowledged is
// lost. With SOAK=1 there are 500 of them.
func TestCampaignACrowdReports(t *testing.T) {
	controllers, points := 20, 100
	if os.Getenv("SOAK") != "" {
		controllers = 500
	}
	db := openStore(t)
	at := embedded(t, db)
	passwords := make([]string, controllers)
	for i := range passwords {
		passwords[i] = addController(t, db, at, fmt.Sprint("house-", i))
	}
	recorder := site.NewRecorder(db, slog.New(slog.DiscardHandler))
	run(t, recorder.Run)
	l := link.New(link.Config{Broker: at.platform, Store: db, Log: testLog(t), Take: func(m link.Message) { recorder.Take(t.Context(), site.Message(m)) }})
	run(t, l.Run)
	eventually(t, "the platform is connected", l.Connected)

	began := time.Now()
	var wg sync.WaitGroup
	var connecting = make(chan struct{}, 32) // proving who one is costs most
	for i := range controllers {
		wg.Go(func() {
			cid := fmt.Sprint("house-", i)
			connecting <- struct{}{}
			c, err := dial(t, at.url, wire.ClientID(cid), cid, passwords[i], nil)
			<-connecting
			if err != nil {
				t.Errorf("%s: %v", cid, err)
				return
			}
			var sent []mqtt.Token
			for id := range int64(points) {
				b, err := wire.Envelope{ID: fmt.Sprint(cid, "-", id), Type: wire.TypeState, TS: time.Now()}.
					Seal(wire.State{Kind: wire.KindNode, ID: id, Name: "Light", Tag: "NODE", Level: &wire.Value{Value: float64(id), At: time.Now(), Source: wire.Measured}})
				if err != nil {
					t.Error(err)
					return
				}
				sent = append(sent, c.Publish(wire.StateTopic(cid, wire.KindNode, id), 1, true, b))
			}
			for _, token := range sent {
				if !token.WaitTimeout(2*time.Minute) || token.Error() != nil {
					t.Errorf("%s: not acknowledged: %v", cid, token.Error())
					return
				}
			}
		})
	}
	wg.Wait()
	acknowledged := time.Since(began)
	reader := site.NewReader(db)
	eventually(t, "everything is saved", func() bool {
		for i := controllers - 1; i >= 0; i-- {
			if d, err := reader.Devices(t.Context(), fmt.Sprint("house-", i)); err != nil || len(d) != points {
				return false
			}
		}
		return true
	})
	saved := time.Since(began)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("%d controllers with %d things each: acknowledged after %v, saved %v later; heap %d MB, from the system %d MB",
		controllers, points, acknowledged.Round(time.Millisecond), (saved - acknowledged).Round(time.Millisecond), mem.HeapAlloc>>20, mem.Sys>>20)
	for i := range controllers {
		devices, err := reader.Devices(t.Context(), fmt.Sprint("house-", i))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range devices {
			if d.Level == nil || d.Level.Value != float64(d.ID) {
				t.Errorf("house-%d: %+v", i, d)
			}
		}
	}
}
