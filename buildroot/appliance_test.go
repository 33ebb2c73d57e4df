//go:build image && built

package buildroot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// virt is the board that QEMU's machine of that name is.
const virt = "qemu_aarch64"

// images is the folder with what "make image BOARD=…" or "make image-offline" built for a board; the test is skipped if nothing was, and
// fails where CI asked for it.
func images(t *testing.T, board string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("../output/image", board))
	if err != nil {
		t.Fatal(err)
	}
	if d := os.Getenv("IMAGE_DIR"); d != "" {
		dir = filepath.Join(d, board)
	}
	if _, err := os.Stat(filepath.Join(dir, "sdcard.img")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no image of this board was built: %v", err)
		}
		t.Skipf("no image of this board was built: %v", err)
	}
	return dir
}

// installed is a board that an installer has claimed and furnished, and the client they did it with.
func installed(t *testing.T, board string, extra ...string) (*board, *client) {
	t.Helper()
	images(t, board) // or nothing is started
	h := startHouse(t, t.TempDir())
	b := newBoard(t, board, h, extra...)
	on := time.Now()
	b.power(t)
	fingerprint := b.said(t, 1, `Certificate: ([0-9A-Fa-f:]{64,})`)
	c := newClient(t, b, fingerprint)
	c.serves(t)
	t.Logf("from power to the API's first answer, the first start of all: %.0f s", time.Since(on).Seconds())
	c.claim(t, b.said(t, 1, `Claim code: (\S+)`))
	serial := "/dev/ttyUSB0"
	if board == raspberryPi {
		serial = "/dev/rs485-pins"
	}
	c.furnish(t, "tcp://10.0.2.2:"+h.port, serial)
	return b, c
}

// TestAppliance boots the image that was built, claims and furnishes it as an installer does who sees its console, and walks
// through the public API with lights behind the network and behind a USB adapter.
func TestAppliance(t *testing.T) {
	t.Parallel()
	b, c := installed(t, virt)
	b.works(t, c)
}

// works walks through the public API, takes the power away and looks whether everything is as it was.
func (b *board) works(t *testing.T, c *client) {
	t.Helper()
	walk(t, &machine{port: b.port}, c.pem, c.password)
	before := c.identities(t)

	// Switched off and on, it is the same, and the lights are as they were.
	b.cut(t)
	on := time.Now()
	b.power(t)
	c.serves(t)
	t.Logf("from power to the API's first answer: %.0f s", time.Since(on).Seconds())
	c.login(t)
	if after := c.identities(t); after != before {
		t.Errorf("after a power cut:\n%s\nbefore:\n%s", after, before)
	}
	b.said(t, 1, `In a browser: https://controller-[0-9a-f]{6}\.local +or by address: 10\.0\.2\.15`)
	report := b.plug(t, nil)
	awaitFor(t, "the address on an empty stick", func() bool { return strings.Contains(report(), "by address: 10.0.2.15") })
	t.Log(memory(t, report()))
	b.unplug(t)
	b.moves(t, c)
	if strings.Contains(b.console(t), "Claim code") {
		t.Error("a claimed appliance still shows a claim code")
	}
}

// moves gives it an address that stays, kept over itself, and takes that away again with a stick.
func (b *board) moves(t *testing.T, c *client) {
	t.Helper()
	moved := *c
	moved.port = b.static
	become := func(c *client, state string) {
		t.Helper()
		awaitFor(t, "the network that is "+state, func() bool {
			var now networkNow
			_, err := c.try("GET", "/api/v1/network", nil, &now)
			return err == nil && now.State == state && now.CannotKeep == ""
		})
	}
	c.call(t, "PUT", "/api/v1/network", map[string]any{"address": "10.0.2.50/24", "gateway": "10.0.2.2", "dns": []string{"10.0.2.3"}}, nil)
	become(&moved, "trying")
	moved.call(t, "POST", "/api/v1/network/keep", nil, nil)
	become(&moved, "kept")
	none := filepath.Join(b.work, "none")
	put(t, none, "")
	report := b.plug(t, map[string]string{"DHCP": none})
	awaitFor(t, "what a stick says of the network", func() bool { return strings.Contains(report(), "takes its address from the network again") })
	b.unplug(t)
	become(c, "kept")
}

// memory is what a stick's report says of the whole system.
func memory(t *testing.T, report string) string {
	t.Helper()
	line := regexp.MustCompile(`memory +(\d+ of \d+ MB are free for use)`).FindStringSubmatch(report)
	if line == nil {
		t.Fatalf("the report tells no memory:\n%s", report)
	}
	return line[1]
}

// damage is what is said of a bundle that did not arrive as it was made.
const damage = `signature|verif|verity|corrupt|invalid|failed`

// TestUpdate installs bundles from a USB stick: those that are not for this box are refused, one whose buses are broken is undone
// by the health gate, one that does not start by the bootloader, and a good one stays and keeps everything.
func TestUpdate(t *testing.T) {
	t.Parallel()
	b, c := installed(t, virt)
	walk(t, &machine{port: b.port}, c.pem, c.password)
	first := c.version(t)
	v := newBundles(t, b.name, first)

	for _, refused := range []struct{ name, bundle, why string }{
		{"signed by another key", v.bundle(t, "other", first+".1", b.name, otherKeys(t), nil), `signature|certificate|verif`},
		{"for another board", v.bundle(t, "board", first+".1", "beaglebone", v.keys, nil), `it is for controller-beaglebone`},
		{"older", v.bundle(t, "older", "0.0.1", b.name, v.keys, nil), `older than`},
		{"damaged", damaged(t, v.bundle(t, "damaged", first+".1", b.name, v.keys, nil)), damage},
	} {
		report := b.plug(t, map[string]string{"update.raucb": refused.bundle})
		said := ""
		awaitFor(t, "the report on a bundle "+refused.name, func() bool { said = report(); return strings.Contains(said, "is not installed") })
		if !regexp.MustCompile(refused.why).MatchString(said) {
			t.Errorf("a bundle %s: the report says\n%s", refused.name, said)
		}
		t.Logf("a bundle %s: %s", refused.name, said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:])
		b.unplug(t)
	}

	b.updates(t, c, v, []update{
		{"whose buses are broken", `return\[\d+\]: .*to %s was undone by the health gate`, false, breakBuses},
		{"that does not start", `to %s was undone by the bootloader`, false, loseInit},
		{"that does not find its data", `to %s was undone by the bootloader`, false, loseData},
		{"that is good", `updated from .* to %s`, true, nil},
	})
}

// update is one that is installed from a USB stick.
type update struct {
	name, settled string // and what the console says in the end: not what a gate says of itself before it starts the box anew
	stays         bool
	change        func(t *testing.T, root string)
}

// updates installs one after the other and looks whether the right system runs then, with everything from before.
func (b *board) updates(t *testing.T, c *client, v *bundles, updates []update) {
	t.Helper()
	before, first := c.identities(t), v.version
	for i, update := range updates {
		version := fmt.Sprintf("%s.%d", first, i+2)
		bundle := v.bundle(t, fmt.Sprint("update", i), version, b.name, v.keys, update.change)
		b.plug(t, map[string]string{"update.raucb": bundle})
		b.said(t, i+1, `is installed beside`)
		began := time.Now()
		b.said(t, 1, fmt.Sprintf(update.settled, regexp.QuoteMeta(version)))
		t.Logf("an update %s: settled %.0f s after its installation", update.name, time.Since(began).Seconds())
		b.unplug(t)
		c.serves(t)
		c.login(t)
		want := first
		if update.stays {
			want = version
		}
		if got := b.system(t); got != want {
			t.Errorf("after an update %s version %s runs, want %s", update.name, got, want)
		}
		if after := c.identities(t); after != before {
			t.Errorf("after an update %s:\n%s\nbefore:\n%s", update.name, after, before)
		}
		walk(t, &machine{port: b.port}, c.pem, c.password)
		if t.Failed() {
			return
		}
	}
}

// system is the version of the whole system, which a stick without a wish is told.
func (b *board) system(t *testing.T) string {
	t.Helper()
	report := b.plug(t, nil)
	defer b.unplug(t)
	var said string
	awaitFor(t, "the report on an empty stick", func() bool { said = report(); return strings.Contains(said, "nothing on the stick") })
	return regexp.MustCompile(`version +(\S+)`).FindStringSubmatch(said)[1]
}

// bundles makes update bundles of the image's own system.
type bundles struct {
	dir, root, version, keys string
}

func newBundles(t *testing.T, board, version string) *bundles {
	t.Helper()
	images := images(t, board)
	return &bundles{dir: t.TempDir(), root: filepath.Join(images, "rootfs.ext4"), version: version, keys: filepath.Join(images, "../keys")}
}

// bundle is the path of one with a version, for a board, signed with keys, of a system that was changed.
func (v *bundles) bundle(t *testing.T, name, version, board, keys string, change func(t *testing.T, root string)) string {
	t.Helper()
	content := filepath.Join(v.dir, name)
	if err := os.Mkdir(content, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(content)
	root := filepath.Join(content, "rootfs.ext4")
	run(t, "cp", "--sparse=always", v.root, root)
	release := filepath.Join(v.dir, "os-release")
	run(t, "debugfs", "-R", "dump /usr/lib/os-release "+release, root)
	text, err := os.ReadFile(release)
	if err != nil {
		t.Fatal(err)
	}
	put(t, release, regexp.MustCompile(`(?m)^VERSION_ID=.*$`).ReplaceAllString(string(text), "VERSION_ID="+version))
	debugfs(t, root, "rm /usr/lib/os-release", "write "+release+" /usr/lib/os-release")
	if change != nil {
		change(t, root)
	}
	put(t, filepath.Join(content, "manifest.raucm"),
		"[update]\ncompatible=controller-"+board+"\nversion="+version+"\n[bundle]\nformat=verity\n[image.rootfs]\nfilename=rootfs.ext4\n")
	out := filepath.Join(v.dir, name+".raucb")
	run(t, "rauc", "bundle", "--cert="+keys+"/signing.pem", "--key="+keys+"/signing.key", content, out)
	return out
}

func debugfs(t *testing.T, root string, commands ...string) {
	t.Helper()
	for _, c := range commands {
		out, err := exec.Command("debugfs", "-w", "-R", c, root).CombinedOutput()
		if err != nil || strings.Contains(string(out), "not found") {
			t.Fatalf("debugfs %s: %v\n%s", c, err, out)
		}
	}
}

// loseInit takes a system its first program.
func loseInit(t *testing.T, root string) { debugfs(t, root, "rm /usr/lib/systemd/systemd") }

// loseData has a system look for its data where they are not.
func loseData(t *testing.T, root string) {
	t.Helper()
	fstab := filepath.Join(t.TempDir(), "fstab")
	put(t, fstab, "/dev/root / ext4 ro,noatime 0 0\nPARTLABEL=gone /var ext4 noatime,x-systemd.device-timeout=5s 0 2\n")
	debugfs(t, root, "rm /etc/fstab", "write "+fstab+" /etc/fstab")
}

// breakBuses puts in a daemon that hears nobody on serial lines.
func breakBuses(t *testing.T, root string) { replaceDaemon(t, root, deafen(t)) }

// replaceDaemon puts in a daemon that was built from this source but for some files.
func replaceDaemon(t *testing.T, root string, replace map[string]string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "controllerd")
	build := exec.Command("go", "build", "-trimpath", "-overlay", overlay(t, replace), "-ldflags", "-s -w", "-o", binary, "../cmd/controllerd")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build another daemon: %v\n%s", err, out)
	}
	debugfs(t, root, "rm /usr/bin/controllerd", "write "+binary+" /usr/bin/controllerd", "sif /usr/bin/controllerd mode 0100755")
}

func otherKeys(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	run(t, "../buildroot/board/common/keys.sh", dir)
	return dir
}

// damaged is a copy of a bundle with one byte of its content turned round.
func damaged(t *testing.T, bundle string) string {
	t.Helper()
	b, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/3] ^= 0xFF
	out := filepath.Join(t.TempDir(), "damaged.raucb")
	if err := os.WriteFile(out, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// deafen returns a build overlay in which the Modbus driver takes every RTU frame for damaged.
func deafen(t *testing.T) map[string]string {
	t.Helper()
	path, err := filepath.Abs("../drivers/modbus/frame.go")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const right = "return n >= 2 && crc16(frame[:n]) =="
	if strings.Count(string(b), right) != 1 {
		t.Fatalf("%s does not check frames as it did: mend this test", path)
	}
	deaf := filepath.Join(t.TempDir(), "frame.go")
	put(t, deaf, strings.Replace(string(b), right, "return n < 0 && crc16(frame[:n]) ==", 1))
	return map[string]string{path: deaf}
}
