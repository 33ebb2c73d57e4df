//go:build image

package buildroot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const (
	cardCode = "ABCDE-FGHIJ-KLMNO-PQRST"
	cardKey  = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
)

// preparedCard is a card's first partition with what an owner wrote onto it, and the platform that it names.
type preparedCard struct {
	image    string
	enrolled atomic.Int64
}

// prepareCard makes the card, and gives the guest the units and scripts that the appliance has for it.
func prepareCard(t *testing.T, work, guest string) *preparedCard {
	t.Helper()
	c := &preparedCard{image: filepath.Join(work, "card.img")}
	platform := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != `{"code":"`+cardCode+`"}` {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c.enrolled.Add(1)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"controllerId":"annex-id","broker":"mqtts://127.0.0.1:1","username":"u","password":"p"}`)
	}))
	t.Cleanup(platform.Close)
	sum := sha256.Sum256(platform.Certificate().Raw)
	platformURL := strings.Replace(platform.URL, "127.0.0.1", "10.0.2.2", 1)

	// The example with its comments taken away, as an owner does it.
	text, err := os.ReadFile("board/common/controller.txt.example")
	if err != nil {
		t.Fatal(err)
	}
	file := string(text)
	for setting, value := range map[string]string{
		"hostname": "annex", "time-zone": "Europe/Zurich", "backup-key": cardKey, "platform": platformURL, "platform-code": cardCode,
		"platform-fingerprint": hex.EncodeToString(sum[:]),
	} {
		before, after, ok := strings.Cut(file, "\n#"+setting+"=")
		if !ok {
			t.Fatalf("the example has no %s", setting)
		}
		_, after, _ = strings.Cut(after, "\n")
		file = before + "\n" + setting + "=" + value + "\n" + after
	}
	put(t, filepath.Join(work, "controller.txt"), strings.ReplaceAll(file, "\n", "\r\n"))
	put(t, filepath.Join(work, "genimage.cfg"), `image boot.vfat { vfat { files = { "controller.txt" } } size = 32M }
image card.img { hdimage { partition-table-type = "gpt" align = 1M } partition boot { partition-type-uuid = "F" image = "boot.vfat" } }
`)
	if err := os.Mkdir(filepath.Join(work, "nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "genimage", "--loglevel", "1", "--rootpath", filepath.Join(work, "nothing"), "--tmppath", filepath.Join(work, "genimage"),
		"--inputpath", work, "--outputpath", work, "--config", filepath.Join(work, "genimage.cfg"))

	const units, scripts = "usr/lib/systemd/system/", "usr/lib/appliance/"
	for _, path := range []string{
		units + "appliance-card.service", units + "appliance-name.service", scripts + "card", scripts + "name",
	} {
		to := filepath.Join(guest, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "board/common/overlay/"+path, to)
	}
	for link, to := range map[string]string{
		"etc/systemd/system/multi-user.target.wants/appliance-card.service": "/usr/lib/systemd/system/appliance-card.service",
		"etc/systemd/system/multi-user.target.wants/appliance-name.service": "/usr/lib/systemd/system/appliance-name.service",
		"usr/bin/usleep": "busybox", "usr/bin/hostname": "busybox", // which Buildroot's system has of its own
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(guest, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(guest, link)); err != nil {
			t.Fatal(err)
		}
	}
	// Debian's su asks modules that its packages' scripts would have set up.
	put(t, filepath.Join(guest, "usr/bin/su"), "#!/bin/sh\nexec setpriv --reuid \"$5\" --regid \"$5\" --init-groups /bin/sh -c \"$4\"\n")
	if err := os.Chmod(filepath.Join(guest, "usr/bin/su"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// check sees what was written onto the card used and wiped.
func (c *preparedCard) check(t *testing.T, vm *machine) {
	t.Helper()
	for what, want := range map[string]string{"card": "success active", "name": "annex", "zone": "Europe/Zurich", "enrolled": "annex-id"} {
		if got := vm.await(t, what); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	if n := c.enrolled.Load(); n != 1 {
		t.Errorf("enrolled %d times", n)
	}
	result, err := exec.Command("mtype", "-i", c.image+firstPartition, "::controller-result.txt").CombinedOutput()
	if err != nil || !strings.Contains(string(result), "was taken over, and is overwritten and removed") || !strings.Contains(string(result), "hostname: annex") {
		t.Errorf("controller-result.txt: %v\n%s", err, result)
	}
	t.Logf("controller-result.txt:\n%s", result)
	if out, err := exec.Command("mdir", "-b", "-i", c.image+firstPartition, "::").CombinedOutput(); err != nil || strings.Contains(string(out), "controller.txt") {
		t.Errorf("controller.txt is still on the card: %v\n%s", err, out)
	}
	all, err := os.ReadFile(c.image)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(all, []byte(cardCode)); i >= 0 {
		t.Errorf("the code is still on the card, at %d", i)
	}
	console, err := os.ReadFile(vm.console)
	if err != nil || bytes.Contains(console, []byte(cardCode)) {
		t.Errorf("the console shows the code: %v", err)
	}
}
