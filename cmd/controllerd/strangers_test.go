package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	// strangersDisk is by how much the data may grow at most, whatever comes in.
	strangersDisk = 64_000_000
	// strangersLog is what the daemon may write to its log in an hour of attack.
	strangersLog = 1_000_000
	// loginEvery is how often somebody known logs in meanwhile, less often than the brake counts.
	loginEvery = 3 * time.Second
)

// TestCampaignStrangers has everybody do to a daemon, in a control group as large as its unit's, all that has brought it down
// before, over HTTP/1.1 and HTTP/2 and all at once: strangers without a login and people who bring hostile files and an old
// controller, while somebody known dims a lamp, stops a shade and logs in.
func TestCampaignStrangers(t *testing.T) {
	drivertest.Long(t)
	length := 10 * time.Second
	if soak() {
		length = 5 * time.Minute
	}
	h := newBuilding(t, patient(strangersSite))
	d := h.desk()
	group := confine.New(t, unitMemory)
	s := d.serveIn(group, "--appliance", t.TempDir())
	honest := newHonest(t, s)
	waitFor(t, 30*time.Second, "lamp and shade to be there", func() bool {
		return honest.dim() && honest.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"UP"}`)
	})
	party := hostile(t, s)
	late := drivertest.Watch(t)
	quiet := honest.work(t, length/2)
	spare := late.Steps(5)

	end := siege.Begin(t, party)
	watched := siege.Watch(t, s.cmd.Process.Pid, h.dataDir)
	logged, began := toldOf(s.log.String()), time.Now()
	besieged := honest.work(t, length)
	told := float64(toldOf(s.log.String()) - logged)
	hour := told * time.Hour.Seconds() / time.Since(began).Seconds()
	if length < time.Minute {
		hour = told // a burst, and what follows it is too little to reckon with
	}
	most, grown := watched()
	end().Check(t)
	before, now := quantile(quiet, 0.99), quantile(besieged, 0.99)
	t.Logf("DIM and STOP: p50 %v, p99 %v in quiet, p50 %v, p99 %v under attack (%d and %d calls, the machine late by %v); memory %d MB at most; disk %d kB more at most; %.0f kB of log in an hour",
		quantile(quiet, 0.5), before, quantile(besieged, 0.5), now, len(quiet), len(besieged), late.Steps(1), most/1e6, grown/1e3, hour/1e3)
	if kills := group.Kills(t); kills > 0 {
		t.Errorf("the kernel ended the daemon %d times", kills)
	}
	if now > 2*before+max(spare, late.Steps(5)) {
		t.Errorf("p99 of somebody known is %v under attack, %v in quiet, want at most twice that", now, before)
	}
	if grown > strangersDisk {
		t.Errorf("the data grew by %d MB, want at most %d", grown/1e6, strangersDisk/1_000_000)
	}
	if hour > strangersLog {
		t.Errorf("%.0f kB of log in an hour, want at most %d", hour/1e3, strangersLog/1000)
	}
	if s.gone() {
		t.Error("the daemon has ended")
	}
}

// hostile is everybody who attacks a daemon.
func hostile(t *testing.T, s *served) siege.Party {
	t.Helper()
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	admin, viewer := enterAs(t, s, account.RoleAdmin), enterAs(t, s, account.RoleViewer)
	yaml := []string{admin, "Content-Type: application/yaml"}
	mayBring := []siege.Request{
		{Name: "sparse backup", Path: "/backup/drill", Header: []string{admin}, File: file("sparse", siege.SparseBackup())},
		{Name: "backup of 30 MB", Path: "/backup/drill", Header: []string{admin}, File: file("large", siege.LargeBackup(30<<20)), Pause: time.Second},
		{Name: "backup to restore", Path: "/backup/restore", Header: []string{admin}, File: file("restored", siege.SparseBackup())},
		{Name: "site file of empty nodes", Path: "/site/file/preview", Header: yaml, File: file("nodes.yaml", siege.EmptyNodes(3_500_000))},
		{Name: "site file of aliases", Path: "/site/file/preview", Header: yaml, File: file("aliases.yaml", siege.Aliases())},
		{Name: "bundle that is none", Path: "/update", Header: []string{admin}, File: file("none.raucb", make([]byte, 8<<20))},
		{Name: "bundle cut off", Path: "/update", Header: []string{admin}, File: file("cut.raucb", append([]byte("hsqs"), make([]byte, 8<<20)...)), Missing: 1 << 20},
		{Name: "guesses at a password", Path: "/auth/login", Body: `{"username":"admin","password":"guess %"}`},
		{Name: "guesses at the claim", Path: "/claim", Body: `{"code":"AAAA-BBBB-CCCC","username":"u%","password":"a password of mine"}`},
	}
	for i := range mayBring {
		r := &mayBring[i]
		r.Method, r.Path, r.Pause = "POST", "/api/v1"+r.Path, max(r.Pause, 50*time.Millisecond)
	}
	return siege.Party{
		Door:       siege.Door{Addr: strings.TrimPrefix(s.url, "https://"), File: "/docs/swagger-ui-bundle.js", Posts: []string{"/svc/api/authenticate"}},
		Handshakes: 8,
		Requests: append(mayBring,
			siege.Request{Name: "event streams", Method: "GET", Path: "/api/v1/events", Header: []string{viewer}, Unread: 5 * time.Second, Places: 80},
			siege.Request{Name: "answers unread", Method: "GET", Path: "/api/v1/openapi.json", Header: []string{viewer}, Unread: 2 * time.Second, Places: 20},
		),
		Old: &siege.OldController{Preview: "/api/v1/migrations/preview", Jobs: "/api/v1/jobs/", Header: []string{admin}},
	}
}

// enterAs logs somebody into /api/v1 and returns the header for it.
func enterAs(t *testing.T, s *served, role account.Role) string {
	t.Helper()
	res, err := s.client.Post(s.url+"/api/v1/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, role, housePassword)))
	if err != nil {
		t.Errorf("log in with the right password to /api/v1: %v", err)
		return ""
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Errorf("log in with the right password to /api/v1: %d %v", res.StatusCode, err)
	}
	return "Authorization: Bearer " + answer.Token
}

// toldOf is how many bytes of a log are not about what the one who is honest did.
func toldOf(log string) (n int) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, " user="+string(account.RoleOperator)) {
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

func (h *honest) stop() bool {
	return h.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"STOP"}`)
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

// work dims and stops for a while, logs in now and then, and returns how long each call took, sorted.
func (h *honest) work(t *testing.T, length time.Duration) (took []time.Duration) {
	t.Helper()
	login, unconfirmed := time.Now(), 0
	for until := time.Now().Add(length); time.Now().Before(until) && !h.s.gone(); time.Sleep(5 * time.Millisecond) {
		if time.Since(login) > loginEvery {
			login = time.Now()
			enterAs(t, h.s, account.RoleAdmin)
		}
		for _, call := range []func() bool{h.dim, h.stop} {
			began := time.Now()
			if !call() {
				unconfirmed++
			}
			took = append(took, time.Since(began))
		}
	}
	if unconfirmed > 0 {
		t.Errorf("%d of %d calls were not confirmed", unconfirmed, len(took))
	}
	slices.Sort(took)
	return took
}
