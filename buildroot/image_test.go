//go:build image

package buildroot

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/shelf/freeport"
)

// patience is how long any single step may take: QEMU translates every instruction, on a machine that is busy.
const patience = 20 * time.Minute

// raspberryPi is the board of which QEMU has a Raspberry Pi 3 B.
const raspberryPi = "raspberrypi_64"

// firstPartition is where that of a card begins, as mtools want it.
const firstPartition = "@@1M"

// TestDebianSystemOnARM boots a 64-bit ARM system with 512 MB made of Debian's packages, our units and our daemon, walks
// through the public API with a building behind the network and one behind a serial port, tries to break out of the unit,
// stops the daemon's heart, looks at what a box on a wall has, and stops systemd's heart.
func TestDebianSystemOnARM(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	house := startHouse(t, work)
	password := secret(t)

	guest := filepath.Join(work, "guest")
	run(t, "cp", "-r", "testdata/guest", guest)
	put(t, filepath.Join(guest, "etc/acceptance/site.yaml"), siteFile(t, "tcp://10.0.2.2:"+house.port, "/dev/ttyS0"))
	put(t, filepath.Join(guest, "etc/acceptance/password"), password+"\n")
	put(t, filepath.Join(guest, "etc/systemd/system/probe.service"), probeUnit(t))
	wall := prepareWall(t, work, guest)

	card := prepareCard(t, work, guest)
	prepareWifi(t, guest)
	prepareNetwork(t, guest)

	binary := filepath.Join(work, "controllerd")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/controllerd")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build for ARM: %v\n%s", err, out)
	}
	run(t, "./debian/root.sh", filepath.Join(work, "out"), binary, guest)

	vm := boot(t, work, house)
	t.Logf("from power to ready: %s s", vm.await(t, "ready"))
	wall.checkUnclaimed(t, vm)
	card.check(t, vm)
	checkWifi(t, vm)
	if got := vm.await(t, "import"); !strings.Contains(got, "8 created") {
		t.Fatalf("import of the site: %s", got)
	}
	pem, err := base64.StdEncoding.DecodeString(vm.await(t, "certificate"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("memory of the daemon: %s bytes", vm.await(t, "memory"))

	changeNetwork(t, vm, pem, password)
	walk(t, vm, pem, password)
	for what, want := range map[string]string{
		"write-state": "allowed", "open-serial": "allowed",
		"write-etc": "refused", "write-usr": "refused", "write-root": "refused", "write-var": "refused", "write-run": "refused",
		"open-disk": "refused", "open-memory": "refused", "open-kernel-log": "refused", "open-tty": "refused",
		"become-root": "refused", "mount": "refused", "namespace": "refused", "set-clock": "refused",
		"load-module": "refused", "change-kernel": "refused", "see-others": "refused",
	} {
		if got := vm.await(t, "probe "+what); got != want {
			t.Errorf("%s from within the unit is %s, want %s", what, got, want)
		}
	}
	before := house.lights(t)
	vm.goOn(t)
	if got := vm.await(t, "watchdog"); got != "restarts=1 active=active same=no" {
		t.Errorf("after the daemon stood still: %s", got)
	}
	if after := house.lights(t); after != before {
		t.Errorf("after the daemon stood still the lights are %s, and were %s", after, before)
	}
	checkWifiIsOver(t, vm)
	vm.await(t, "done")
	if os.Getenv("SOAK") != "" {
		wall.check(t, vm, house) // three minutes and more
	}
}

// walk is the walk of the README, shortened: log in, look, dim both clusters, look again.
func walk(t *testing.T, vm *machine, pem []byte, password string) {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("no certificate in %q", pem)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}}}
	var token string
	call := func(path, body string, into any) {
		t.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		req, err := http.NewRequest(method, "https://127.0.0.1:"+vm.port+"/svc/api/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || json.Unmarshal(b, into) != nil {
			t.Fatalf("%s: %s %s %v", path, resp.Status, b, err)
		}
	}
	var login struct {
		Token string `json:"auth_token"`
	}
	call("authenticate", `{"username":"building_os","password":"`+password+`"}`, &login)
	token = login.Token
	deadline := time.Now().Add(patience)
	for {
		var nodes []struct{ ID int }
		call("getActiveNodes", "", &nodes)
		if len(nodes) == 4 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of 4 nodes are online", len(nodes))
		}
		time.Sleep(500 * time.Millisecond) // polls a machine that cannot be waited for otherwise
	}
	for cluster, level := range map[int]int{1: 40, 2: 70} {
		var done struct {
			Status  int
			Message string
		}
		call("channelControl", fmt.Sprintf(`{"targetType":2,"targetId":%d,"command":"DIM","dimLevel":%d}`, cluster, level), &done)
		if done.Status != 1 {
			t.Errorf("cluster %d: %s", cluster, done.Message)
		}
		var rows []struct {
			Value     string `json:"value"`
			ValueType string `json:"valueType"`
		}
		call(fmt.Sprintf("getLightLevels?targetType=2&targetId=%d", cluster), "", &rows)
		for _, r := range rows {
			if r.ValueType == "DIM_LEVEL" && r.Value != fmt.Sprint(level) {
				t.Errorf("cluster %d shows %s, want %d", cluster, r.Value, level)
			}
		}
	}
}

// probeUnit is the daemon's own unit with another program in it.
func probeUnit(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../systemd/controllerd.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := string(b)
	for _, r := range []struct{ line, by string }{
		{`(?m)^(Requires|After|Restart|RestartSec|WatchdogSec|NotifyAccess)=.*\n`, ""},
		{`(?m)^Type=.*`, "Type=oneshot\nStandardOutput=truncate:/run/probe"},
		{`(?m)^ExecStart=.*`, "ExecStart=/etc/acceptance/probe"},
	} {
		unit = regexp.MustCompile(r.line).ReplaceAllString(unit, r.by)
	}
	return unit
}

// house is the building outside of the machine.
type house struct {
	port   string // of its gateway, on loopback
	serial string // path of its serial line
	url    string // where its simulator tells the truth
}

func startHouse(t *testing.T, work string) house {
	t.Helper()
	h := house{port: freePort(t), serial: filepath.Join(work, "serial")}
	h.url = startSite(t, work, siteFile(t, "tcp://127.0.0.1:"+h.port, h.serial))
	awaitFor(t, "the building", func() bool { _, err := os.Stat(h.serial); return err == nil })
	return h
}

// lights tells what each output of the building really does.
func (h house) lights(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(h.url + "/devices")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all struct {
		Devices []struct {
			Name     string
			Channels []struct {
				On          bool
				TargetLevel int
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil || len(all.Devices) == 0 {
		t.Fatalf("%d devices, %v", len(all.Devices), err)
	}
	return fmt.Sprintf("%+v", all.Devices)
}

// startSite starts the building of a site file and returns where its simulator can be asked.
func startSite(t *testing.T, work, site string) string {
	t.Helper()
	address := "127.0.0.1:" + freePort(t)
	bin, file := filepath.Join(work, "simbuilding"), filepath.Join(work, "house.yaml")
	run(t, "go", "build", "-o", bin, "../cmd/simbuilding")
	put(t, file, site)
	start(t, filepath.Join(work, "house.log"), bin, "--site", file, "--listen", address)
	return "http://" + address
}

func siteFile(t *testing.T, network, serial string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/site.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("@NETWORK@", network, "@SERIAL@", serial).Replace(string(b))
}

// machine is a booted system.
type machine struct {
	console string // path of its log
	port    string // where its HTTPS port is on loopback, while it has the address that the network gives it
	second  net.Conn
	lan     lan
}

func boot(t *testing.T, work string, h house) *machine {
	t.Helper()
	out := filepath.Join(work, "out")
	vm := &machine{console: filepath.Join(work, "console.log")}
	cable := vm.lan.plugIn(t, work)
	vm.port = vm.lan.dhcp
	line, err := net.Listen("unix", filepath.Join(work, "go"))
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	tty, err := filepath.EvalSymlinks(h.serial)
	if err != nil {
		t.Fatal(err)
	}
	start(t, filepath.Join(work, "qemu.log"), "qemu-system-aarch64",
		"-M", "virt", "-cpu", "cortex-a53", "-smp", "2", "-m", "512", "-display", "none", "-monitor", "none", "-no-reboot",
		"-dtb", filepath.Join(work, "wall.dtb"), "-qmp", "unix:"+filepath.Join(work, "qmp")+",server=on,wait=off", "-device", "qemu-xhci",
		"-serial", "file:"+vm.console,
		"-kernel", filepath.Join(out, "kernel"), "-initrd", filepath.Join(out, "initramfs"),
		"-append", "console=ttyAMA0 quiet panic=5 systemd.mask=systemd-udev-settle.service systemd.getty_auto=no mitigations=off", // with them QEMU looks every page up anew after each system call
		"-drive", "if=none,id=disk,format=raw,cache=unsafe,file="+filepath.Join(out, "root.ext4"), "-device", "virtio-blk-pci,drive=disk",
		"-drive", "if=none,id=card,format=raw,file="+filepath.Join(work, "card.img"), "-device", "virtio-blk-pci,drive=card",
		"-netdev", cable, "-device", "virtio-net-pci,netdev=lan,romfile=",
		"-device", "virtio-rng-pci", "-device", "i6300esb",
		"-chardev", "serial,id=rs485,path="+tty, "-device", "pci-serial,chardev=rs485",
		"-chardev", "socket,id=second,path="+filepath.Join(work, "go"), "-device", "pci-serial,chardev=second")
	if err := line.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if vm.second, err = line.Accept(); err != nil {
		qemu, _ := os.ReadFile(filepath.Join(work, "qemu.log"))
		t.Fatalf("QEMU did not start: %v\n%s", err, qemu)
	}
	t.Cleanup(func() {
		vm.second.Close()
		if t.Failed() {
			b, _ := os.ReadFile(vm.console)
			t.Logf("end of the console:\n%s", b[max(0, len(b)-6000):])
		}
	})
	return vm
}

// await waits for a line of the acceptance and returns what it says.
func (vm *machine) await(t *testing.T, what string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)ACCEPTANCE ` + regexp.QuoteMeta(what) + ` ?(.*?)\r?$`)
	var found [][]byte
	awaitFor(t, "the system to say "+what, func() bool {
		b, err := os.ReadFile(vm.console)
		if err != nil {
			return false
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			b = b[:i+1] // whole lines only
		}
		found = line.FindSubmatch(b)
		return found != nil
	})
	return string(found[1])
}

// goOn tells the acceptance that the walk is over.
func (vm *machine) goOn(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(vm.second, "go\n"); err != nil {
		t.Fatal(err)
	}
}

func awaitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// start runs a program until the test ends.
func start(t *testing.T, log, name string, args ...string) {
	t.Helper()
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = f, f
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = c.Wait(); f.Close() })
}

func run(t *testing.T, name string, args ...string) (said string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func secret(t *testing.T) string {
	t.Helper()
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
