//go:build peers

package dmxsim

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/drivers/line/pty"
)

// ola is a running olad with one USB Pro: the simulated widget.
type ola struct {
	t   *testing.T
	log bytes.Buffer
}

// olaPort is where OLA's own clients look for the daemon; they have no option for
// another.
const olaPort = "127.0.0.1:9010"

// startOLA runs olad on the widget's pseudo-terminal, with every plugin off that
// would touch a network.
func startOLA(t *testing.T, w *Widget) *ola {
	t.Helper()
	for _, program := range []string{"olad", "ola_dev_info", "ola_patch", "ola_set_dmx", "ola_rdm_discover", "ola_rdm_get", "ola_rdm_set"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: install the Debian package ola (make peers)", err)
		}
	}
	if conn, err := net.DialTimeout("tcp", olaPort, time.Second); err == nil {
		conn.Close()
		t.Fatalf("another olad listens on %s; end it first", olaPort)
	}
	pair, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.Serve(ctx, pair.Master()) }()
	t.Cleanup(func() {
		cancel()
		pair.Close()
		if err := <-served; err != nil {
			t.Errorf("widget: %v", err)
		}
	})
	if err := os.Chmod(pair.SlavePath(), 0o666); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	config, devices := filepath.Join(dir, "config"), filepath.Join(dir, "dev")
	device := filepath.Join(devices, fmt.Sprintf("ttyPRO%d", os.Getpid()))
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(config, "ola-"+name+".conf"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{config, devices} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(pair.SlavePath(), device); err != nil {
		t.Fatal(err)
	}
	write("usbserial", fmt.Sprintf("device_dir = %s\ndevice_prefix = ttyPRO\nenabled = true\npro_fps_limit = 40\n", devices))
	for name := range strings.FieldsSeq(`artnet dummy e131 espnet ftdidmx gpio karate kinet milinst nanoleaf opendmx
		openpixelcontrol osc pathport renard sandnet shownet spi spidmx stageprofi uartdmx usbdmx`) {
		write(name, "enabled = false\n")
	}

	o := &ola{t: t}
	daemon := exec.Command("olad", "--no-http", "--no-register-with-dns-sd", "-i", "lo", "-c", config, "-l", "3")
	daemon.Stdout, daemon.Stderr, daemon.Dir = &o.log, &o.log, dir
	daemon.Env = append(os.Environ(), "HOME="+dir)
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 { // olad refuses to run as root
		daemon.SysProcAttr.Credential = olaUser(t, dir)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	t.Cleanup(func() {
		daemon.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			daemon.Process.Kill()
			<-ended
		}
		os.Remove(filepath.Join("/var/lock", "LCK.."+filepath.Base(device)))
		if t.Failed() {
			said := o.log.String()
			t.Logf("olad said at last:\n%s", said[max(0, len(said)-4000):])
		}
	})
	o.until("olad found the widget", func() bool { return strings.Contains(o.run("ola_dev_info"), "Enttec Usb Pro Device") })
	return o
}

// olaUser gives the directory to the user that the Debian package made.
func olaUser(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("olad")
	if err != nil {
		t.Fatalf("%v: install the Debian package ola (make peers)", err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	}); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// run runs one of OLA's clients and returns what it printed.
func (o *ola) run(program string, args ...string) string {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if ctx.Err() != nil {
		o.t.Fatalf("%s %v does not end: %s", program, args, out)
	}
	if err != nil && program != "ola_dev_info" { // which is run before olad listens
		o.t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return string(out)
}

func (o *ola) until(what string, ok func() bool) {
	o.t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			o.t.Fatalf("still not: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestOLADrivesTheWidget(t *testing.T) {
	w, err := New(Config{
		Nodes: []Node{{Address: "1", Profile: "dmx-rgbw"}, {Address: "5", Profile: "dmx-dimmer"}},
		Responders: []Responder{
			{UID: 0x7a7000012345, Start: 1, Footprint: 4, Model: 0x0102, Label: "Lobby"},
			{UID: 0x7a7000012346, Start: 5, Footprint: 1},
			{UID: 0x454e00000001, Start: 9, Footprint: 3},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := startOLA(t, w)
	info := o.run("ola_dev_info")
	if !strings.Contains(info, "Serial #: 12345678") || !strings.Contains(info, "firmware 2.4") {
		t.Errorf("OLA took the widget for:\n%s", info)
	}
	device := "1"
	for line := range strings.Lines(info) {
		if strings.Contains(line, "Enttec Usb Pro Device") {
			device = strings.TrimSuffix(strings.Fields(line)[1], ":")
		}
	}
	o.run("ola_patch", "-d", device, "-p", "0", "-u", "1")

	o.run("ola_set_dmx", "-u", "1", "-d", "255,128,64,32,51")
	o.until("the fixtures show what OLA set", func() bool {
		d := w.Devices()
		return d[0].Channels[0].RGBW == [4]byte{255, 128, 64, 32} && d[1].Channels[0].Level == 20
	})

	// Patching has begun a discovery, beside which a second one finds nothing.
	o.until("OLA discovered the three devices", func() bool {
		found := o.run("ola_rdm_discover", "-u", "1", "-f")
		for _, uid := range []string{"7a70:00012345", "7a70:00012346", "454e:00000001"} {
			if !strings.Contains(found, uid) {
				return false
			}
		}
		return true
	})
	answer := o.run("ola_rdm_get", "-u", "1", "--uid", "7a70:00012345", "device_info")
	if !strings.Contains(answer, "DMX Footprint: 4") || !strings.Contains(answer, "DMX Start Address: 1") {
		t.Errorf("device info:\n%s", answer)
	}
	if label := o.run("ola_rdm_get", "-u", "1", "--uid", "7a70:00012345", "device_label"); !strings.Contains(label, "Lobby") {
		t.Errorf("label:\n%s", label)
	}
	o.run("ola_rdm_set", "-u", "1", "--uid", "7a70:00012345", "dmx_start_address", "101")
	if got := w.Responders()[0].Start; got != 101 {
		t.Errorf("OLA set the start address, the device has %d", got)
	}
	o.run("ola_rdm_set", "-u", "1", "--uid", "454e:00000001", "identify_device", "1")
	if r := w.Responders()[2]; !r.Identifying {
		t.Errorf("OLA made the device identify itself: %+v", r)
	}
	o.run("ola_set_dmx", "-u", "1", "-d", "0,0,0,0,0")
	o.until("all dark", func() bool { return w.Universe() == [512]byte{} })
	if c := w.Counters(); c.Noise != 0 {
		t.Errorf("%d bytes of OLA's were not understood", c.Noise)
	}
}
