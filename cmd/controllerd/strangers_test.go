package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/web/siege"
)

const strangersSite = `
site: {name: Besieged}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Dimmer, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Motors, bus: tcp, address: 2, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: Shade, node: 2, output: 1, travelUp: 20s, travelDown: 20s}
`

const (
	// strangersMemory is what the daemon may have in memory, whatever strangers do.
	strangersMemory = 100_000_000
	// strangersLog is what it may write to its log in an hour of attack.
	strangersLog = 1_000_000
)

// TestCampaignStrangers has strangers without a login do to a daemon, over HTTP/1.1 and
// HTTP/2 and all at once, what has brought it down before, while somebody known dims a
// lamp and stops a shade.
func TestCampaignStrangers(t *testing.T) {
	drivertest.Long(t)
	length := 10 * time.Second
	if soak() {
		length = 5 * time.Minute
	}
	h := newBuilding(t, strangersSite)
	d := h.desk()
	var group *confine.Group
	if soak() {
		group = confine.New(t, 200_000_000)
	}
	s := d.serveIn(group)
	honest := newHonest(t, s)
	waitFor(t, 30*time.Second, "lamp and shade to be there", func() bool {
		return honest.dim() && honest.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"UP"}`)
	})
	late := drivertest.Watch(t)
	quiet := honest.work(t, length/2)
	spare := late.Steps(5)

	ctx, cancel := context.WithCancel(t.Context())
	door := siege.Door{Addr: strings.TrimPrefix(s.url, "https://"), File: "/docs/swagger-ui-bundle.js", Posts: []string{"/svc/api/authenticate"}}
	var wg sync.WaitGroup
	wg.Go(func() { door.Attack(ctx) })
	if soak() {
		wg.Go(func() { door.Handshakes(ctx, 8) })
	}
	most := int64(0) // read once wg is done
	wg.Go(func() {
		for ctx.Err() == nil {
			now, err := siege.Resident(s.cmd.Process.Pid)
			if err != nil {
				t.Error(err)
				return
			}
			most = max(most, now)
			time.Sleep(50 * time.Millisecond)
		}
	})
	logged, began := toldOf(s.log.String()), time.Now()
	besieged := honest.work(t, length)
	told := float64(toldOf(s.log.String()) - logged)
	hour := told * time.Hour.Seconds() / time.Since(began).Seconds()
	if length < time.Minute {
		hour = told // a burst, and what follows it is too little to reckon with
	}
	cancel()
	wg.Wait()
	before, now := quantile(quiet, 0.99), quantile(besieged, 0.99)
	t.Logf("DIM and STOP: p50 %v, p99 %v in quiet, p50 %v, p99 %v under attack (%d and %d calls, the machine late by %v); memory %d MB at most; %.0f kB of log in an hour",
		quantile(quiet, 0.5), before, quantile(besieged, 0.5), now, len(quiet), len(besieged), late.Steps(1), most/1e6, hour/1e3)
	if most > strangersMemory {
		t.Errorf("the daemon had %d MB in memory, want at most %d", most/1e6, strangersMemory/1_000_000)
	}
	if now > 2*before+max(spare, late.Steps(5)) {
		t.Errorf("p99 of somebody known is %v under attack, %v in quiet, want at most twice that", now, before)
	}
	if hour > strangersLog {
		t.Errorf("%.0f kB of log in an hour, want at most %d", hour/1e3, strangersLog/1000)
	}
	select {
	case <-s.ended:
		t.Error("the daemon has ended")
	default:
	}
}

// toldOf is how many bytes of a log are not about what somebody known did.
func toldOf(log string) (n int) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, " user=") {
			n += len(line)
		}
	}
	return n
}

// honest is somebody with a login.
type honest struct {
	s     *served
	token string
	level int
}

func newHonest(t *testing.T, s *served) *honest {
	t.Helper()
	res, err := s.client.Post(s.url+"/svc/api/authenticate", "", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, account.RoleOperator, housePassword)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"auth_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("login: %d %v", res.StatusCode, err)
	}
	return &honest{s: s, token: answer.Token}
}

func (h *honest) dim() bool {
	h.level = (h.level + 7) % 100
	return h.call("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":1,"command":"DIM","dimLevel":%d}`, h.level))
}

// call reports whether a control call was answered with status 1.
func (h *honest) call(path, body string) bool {
	req, err := http.NewRequest("POST", h.s.url+"/svc/api/"+path, strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	res, err := h.s.client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return bytes.HasPrefix(data, []byte(`{"status":1`))
}

// work dims and stops for a while, and returns how long each call took, sorted.
func (h *honest) work(t *testing.T, length time.Duration) (took []time.Duration) {
	t.Helper()
	for until := time.Now().Add(length); time.Now().Before(until); {
		began := time.Now()
		ok := h.dim()
		took = append(took, time.Since(began))
		if !ok {
			t.Error("a DIM was not confirmed")
		}
		began = time.Now()
		if ok = h.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"STOP"}`); !ok {
			t.Error("a STOP was not confirmed")
		}
		took = append(took, time.Since(began))
		time.Sleep(5 * time.Millisecond)
	}
	slices.Sort(took)
	return took
}
