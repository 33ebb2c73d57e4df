//go:build peers && soak

package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// demo is what make run starts, as a newcomer has it.
type demo struct {
	t          *testing.T
	Controller struct{ URL, CaFile, ClaimCodeFile string }
	Simulator  struct{ URL string } `json:"simbuilding"`
	client     *http.Client
	admin      string // token
}

// startDemo starts make run with CLAIM=1 in this checkout.
func startDemo(t *testing.T) *demo {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("make", "run")
	run.Dir, run.Env = root, append(os.Environ(), "CLAIM=1", "PORT_BASE=21440", "CGO_ENABLED=0")
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(filepath.Join(t.TempDir(), "run.log"))
	if err != nil {
		t.Fatal(err)
	}
	run.Stdout, run.Stderr = out, out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-run.Process.Pid, syscall.SIGINT)
		run.Wait()
		out.Close()
	})
	d := &demo{t: t, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	d.await("make run to say that it runs", func() bool {
		said, _ := os.ReadFile(out.Name())
		return bytes.Contains(said, []byte("Ctrl-C stops"))
	})
	text, err := os.ReadFile(filepath.Join(root, ".run", "demo.json"))
	if err != nil || json.Unmarshal(text, d) != nil {
		t.Fatalf("demo.json: %v %s", err, text)
	}
	return d
}

func (d *demo) await(what string, done func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("waited 5 minutes in vain for %s", what)
		}
	}
}

// ask sends a request to the controller, with the admin's token if there is one.
func (d *demo) ask(method, path, body string) []byte {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.Controller.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("If-Match", "*")
	if d.admin != "" {
		req.Header.Set("Authorization", "Bearer "+d.admin)
	}
	res, err := d.client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		d.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, answer, err)
	}
	return answer
}

// truth is what the simulated devices on a bus are.
func (d *demo) truth(bus string) (out []sim.Device) {
	d.t.Helper()
	res, err := http.Get(d.Simulator.URL + "/devices")
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	var all struct{ Devices []sim.Device }
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
		d.t.Fatal(err)
	}
	for _, dev := range all.Devices {
		if dev.Bus == bus {
			out = append(out, dev)
		}
	}
	return out
}

// TestSoakWalkOnTheDemo is an installer's afternoon with CLAIM=1 make run, a browser and curl: claim, a user for programs,
// scan, ten devices named and put into a room, dimmed, a shade measured, the report, a backup, and its restore elsewhere.
func TestSoakWalkOnTheDemo(t *testing.T) {
	if _, err := program(); err != nil { // is built before anybody waits for it
		t.Fatal(err)
	}
	d := startDemo(t)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 390, Height: 844, Scale: 2, Touch: true})
	tab.Go(d.Controller.URL)
	tab.WaitText("Claim this controller")
	code, err := os.ReadFile(d.Controller.ClaimCodeFile)
	if err != nil {
		t.Fatal(err)
	}
	tab.Type("input[name=code]", strings.TrimSpace(string(code)))
	tab.Type("input[name=username]", "admin")
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.WaitText("Atrium")
	inspect(t, tab, "demo-home-390-light-en")

	// A user for programs, and a program.
	tab.Go(d.Controller.URL + "/more/users")
	tab.Press("Add user")
	tab.Type("dialog input[name=username]", "building_os")
	tab.Type("dialog input[name=password]", "a program's password")
	pick(tab, "dialog select", "api_service")
	tab.Keys("\r")
	tab.WaitText("building_os can log in now")
	curl := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("curl", append([]string{"-fsS", "--cacert", d.Controller.CaFile}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("curl %v: %v %s", args, err, out)
		}
		return string(out)
	}
	var login struct {
		Token string `json:"auth_token"`
	}
	if err := json.Unmarshal([]byte(curl(d.Controller.URL+"/svc/api/authenticate", "-d", `{"username":"building_os","password":"a program's password"}`)), &login); err != nil {
		t.Fatal(err)
	}
	if got := curl("-H", "Authorization: Bearer "+login.Token, d.Controller.URL+"/svc/api/getClusters"); !strings.Contains(got, "Atrium") {
		t.Errorf("curl got %s", got)
	}

	// Ten devices that the building has, and the site no more: they are found, named and put into a room.
	var session api.Session
	if err := json.Unmarshal(d.ask(http.MethodPost, "/api/v1/auth/login", `{"username":"admin","password":"`+housePassword+`"}`), &session); err != nil {
		t.Fatal(err)
	}
	d.admin = session.AccessToken
	for id := 51; id <= 62; id++ {
		d.ask(http.MethodDelete, fmt.Sprint("/api/v1/nodes/", id), "")
	}
	tab.Go(d.Controller.URL + "/commission/upper-floor")
	tab.Press("Scan this bus")
	tab.Wait(`document.querySelector("input[name=name]")`)
	for i := range 10 {
		tab.WaitText(fmt.Sprintf("%d of 10 named", i))
		tab.Type("input[name=name]", fmt.Sprint("Found ", i+1))
		if i == 0 {
			pick(tab, "select", "new")
			tab.Type("input[name=other]", "Gallery")
		} else {
			tab.Wait(`[...document.querySelectorAll("option")].some(o => o.text === "Gallery")`)
			pick(tab, "select", "Gallery")
		}
		tab.Press("Next")
	}
	reads := func(text string) func() bool {
		return func() bool {
			return strings.Contains(uitest.Eval[string](tab, "document.body.innerText"), text)
		}
	}
	d.await("the scan to end", reads("10 devices were named."))
	inspect(t, tab, "demo-commissioned-390-light-en")

	// Dimmed as one, and true.
	tab.Go(d.Controller.URL + "/")
	tab.WaitText("Gallery")
	card := `.card:has(a[href^="/clusters/"]):has([aria-label="Level of Gallery"])`
	tab.Wait(fmt.Sprintf(`document.querySelector(%q)`, card))
	tap(tab, card+" .slider", .4)
	d.await("their twelve outputs at 40 percent", func() bool {
		at := 0
		for _, dev := range d.truth("upper-floor") {
			if dev.NodeID >= 51 && dev.NodeID <= 62 && len(dev.Channels) > 0 && dev.Channels[0].TargetLevel >= 38 && dev.Channels[0].TargetLevel <= 42 {
				at++
			}
		}
		return at == 12
	})

	// A shade is measured, and the building is put on paper.
	tab.Go(d.Controller.URL + "/commission/shade/5001")
	tab.Press("Measure the times")
	watch(tab, func() bool {
		for _, dev := range d.truth("ground-floor") {
			for _, shade := range dev.Shades {
				if shade.ShadeID == 5001 {
					return !shade.Moving
				}
			}
		}
		return false
	})
	tab.Go(d.Controller.URL + "/more/report")
	tab.WaitText("Found 10")
	if pdf := tab.PDF(); !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("the report is %d bytes, and no PDF", len(pdf))
	}

	// The backup, restored on an empty data directory.
	file := filepath.Join(t.TempDir(), "demo.backup")
	if err := os.WriteFile(file, d.ask(http.MethodGet, "/api/v1/backup", ""), 0o600); err != nil {
		t.Fatal(err)
	}
	there, here := &desk{t: t, dataDir: filepath.Join(filepath.Dir(d.Controller.CaFile))}, &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	here.must("restore", file)
	if got, want := here.must("site", "export"), there.must("site", "export"); got != want {
		t.Errorf("the restored building is\n%s\nwant\n%s", got, want)
	}
	for _, r := range tab.Foreign(d.Controller.URL) {
		t.Errorf("request to another origin: %s", r)
	}
}
