package link_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/site"
	"svc.internal/controller/platform/store"
)

// points is how many things each controller of a crowd reports.
const points = 100

// TestCampaignACrowdReports has many controllers report 100 things each at once into one instance on embedded defaults:
// nothing that the broker acknowledged is lost. With SOAK=1 there are 500 of them.
func TestCampaignACrowdReports(t *testing.T) {
	controllers := 20
	if os.Getenv("SOAK") != "" {
		controllers = 500
	}
	db := openStore(t)
	crowd(t, embedded(t, db), controllers, db)
}

// crowd has controllers report to instances of the platform, each with a store of its own.
func crowd(t *testing.T, at place, controllers int, instances ...*store.Store) {
	unread := at
	unread.changed = func() {} // once for all
	passwords := make([]string, controllers)
	for i := range passwords {
		passwords[i] = addController(t, instances[0], unread, fmt.Sprint("house-", i))
	}
	at.changed()
	for _, db := range instances {
		recorder := site.NewRecorder(db, quota.NewBook(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
		run(t, recorder.Run)
		l := link.New(link.Config{Broker: at.platform, Store: db, Log: testLog(t), Take: func(m link.Message) { recorder.Take(context.Background(), site.Message(m)) }})
		run(t, l.Run)
		eventually(t, "the platform is connected", l.Connected)
	}
	clients := make([]*client, controllers)
	together(controllers, 32, func(i int) { // proving who one is costs most
		cid := fmt.Sprint("house-", i)
		c, err := dial(t, at.url, wire.ClientID(cid), cid, passwords[i], func(o *mqtt.ClientOptions) { o.SetKeepAlive(10 * time.Minute).SetPingTimeout(10 * time.Minute) })
		if err != nil {
			t.Errorf("%s: %v", cid, err)
			return
		}
		clients[i] = c
	})
	if t.Failed() {
		return
	}
	before := heapInUse()
	most := peak(t)
	began := time.Now()
	together(controllers, controllers, func(i int) { reports(t, clients[i], fmt.Sprint("house-", i)) })
	acknowledged := time.Since(began)
	reader := site.NewReader(instances[len(instances)-1])
	for deadline := time.Now().Add(10 * time.Minute); !t.Failed() && !saved(t, reader, controllers); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("something that was acknowledged is not saved after 10 minutes")
		}
	}
	t.Logf("%d controllers with %d things each into %d instances: acknowledged after %v (%.0f messages/s), saved %v later; heap %d MB before, %d MB at most, with the clients",
		controllers, points, len(instances), acknowledged.Round(time.Millisecond), float64(controllers*points)/acknowledged.Seconds(),
		(time.Since(began) - acknowledged).Round(time.Millisecond), before>>20, most()>>20)
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

// together does something n times, so many at once.
func together(n, atOnce int, do func(i int)) {
	places := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			places <- struct{}{}
			do(i)
			<-places
		})
	}
	wg.Wait()
}

// reports says the state of all things of a controller, and waits until the broker has it.
func reports(t *testing.T, c *client, cid string) {
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
		if !token.WaitTimeout(10*time.Minute) || token.Error() != nil {
			t.Errorf("%s: not acknowledged: %v", cid, token.Error())
			return
		}
	}
}

// saved reports whether everything is there.
func saved(t *testing.T, reader *site.Reader, controllers int) bool {
	for i := controllers - 1; i >= 0; i-- {
		if d, err := reader.Devices(t.Context(), fmt.Sprint("house-", i)); err != nil || len(d) != points {
			return false
		}
	}
	return true
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak watches the heap until it is asked for the most that was in use.
func peak(t *testing.T) (most func() uint64) {
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan uint64)
	go func() {
		var m runtime.MemStats
		var top uint64
		for ctx.Err() == nil {
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapInuse)
			time.Sleep(100 * time.Millisecond)
		}
		seen <- top
	}()
	return func() uint64 { cancel(); return <-seen }
}
