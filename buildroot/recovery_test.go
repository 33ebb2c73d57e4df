//go:build image && built

package buildroot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRecovery updates an appliance through the browser's doors, goes back to the system before with a stick, and forgets
// everything with another. On the way its name is heard on the network.
func TestRecovery(t *testing.T) {
	t.Parallel()
	heard := filepath.Join(t.TempDir(), "heard.pcap")
	b, c := installed(t, virt, "-object", "filter-dump,id=heard,netdev=lan,file="+heard)
	name := b.said(t, 1, `In a browser: https://(controller-[0-9a-f]{6})\.local`)
	announced := fmt.Sprintf("%c%s\x05local", len(name), name) // as DNS writes names (RFC 1035, 3.1)
	awaitFor(t, "the name on the network (RFC 6762)", func() bool {
		frames, err := os.ReadFile(heard)
		return err == nil && bytes.Contains(frames, []byte(announced))
	})

	first, before := b.system(t), c.identities(t)
	v := newBundles(t, b.name, first)
	bundle := func(name, version string) string {
		return v.bundle(t, name, version, b.name, v.keys, nil)
	}
	second, third := first+".1", first+".2"

	c.upload(t, damaged(t, bundle("damaged", second)))
	if said := c.updated(t, "refused"); !regexp.MustCompile(damage).MatchString(said) {
		t.Errorf("a damaged bundle, handed over in the browser: %s", said)
	}
	c.upload(t, bundle("second", second))
	b.said(t, 1, `updated from \S+ to `+regexp.QuoteMeta(second))
	c.serves(t)
	c.login(t)
	c.updated(t, "updated")
	if got := b.system(t); got != second {
		t.Fatalf("after an update in the browser %s runs, want %s", got, second)
	}

	// A power cut tears what says which system is started: it is the same one.
	b.cut(t)
	b.tear(t, "bootstate")
	b.power(t)
	c.serves(t)
	c.login(t)
	if got := b.system(t); got != second {
		t.Fatalf("with a torn bootloader environment %s runs, want %s", got, second)
	}

	shelf := shelf(t, bundle("third", third))
	c.call(t, "POST", "/api/v1/update/fetch", map[string]any{"url": shelf}, nil)
	b.said(t, 1, `updated from \S+ to `+regexp.QuoteMeta(third))
	c.serves(t)
	c.login(t)
	if got := b.system(t); got != third {
		t.Fatalf("after an update from an address %s runs, want %s", got, third)
	}

	b.wish(t, "RECOVER", "the other system is started")
	c.serves(t)
	c.login(t)
	if got := b.system(t); got != second {
		t.Errorf("after RECOVER %s runs, want %s, the one before", got, second)
	}
	if after := c.identities(t); after != before {
		t.Errorf("after two updates and RECOVER:\n%s\nbefore:\n%s", after, before)
	}
	walk(t, &machine{port: b.port}, c.pem, c.password)

	b.cut(t)
	b.power(t) // a console of its own
	c.serves(t)
	b.wish(t, "FACTORY-RESET", "everything is forgotten")
	code := b.said(t, 1, `Claim code: (\S+)`)
	fresh := newClient(t, b, b.said(t, 2, `Certificate: ([0-9A-Fa-f:]{64,})`))
	fresh.serves(t)
	if string(fresh.pem) == string(c.pem) {
		t.Error("after a factory reset it has the certificate from before")
	}
	fresh.claim(t, code)
	if got := fresh.identities(t); strings.Contains(got, "Office") || !strings.Contains(got, "installer") {
		t.Errorf("after a factory reset it knows\n%s", got)
	}
	if got := b.system(t); got != second {
		t.Errorf("after a factory reset %s runs, want %s: systems are not forgotten", got, second)
	}
}

// tear spoils the beginning of a partition of the card.
func (b *board) tear(t *testing.T, partition string) {
	t.Helper()
	f, err := os.OpenFile(b.card, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := make([]byte, 128*128) // GPT: 128 entries of 128 bytes from the third sector on
	if _, err := f.ReadAt(table, 2*512); err != nil {
		t.Fatal(err)
	}
	name := make([]byte, 0, 2*len(partition)+2)
	for _, r := range partition + "\x00" {
		name = append(name, byte(r), 0)
	}
	for entry := range slices.Chunk(table, 128) {
		if bytes.HasPrefix(entry[56:], name) {
			start := int64(binary.LittleEndian.Uint64(entry[32:])) * 512
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xA5}, 512), start); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("the card has no partition %s", partition)
}

// upload hands a bundle over as the page does.
func (c *client) upload(t *testing.T, bundle string) {
	t.Helper()
	f, err := os.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	req, err := http.NewRequest("POST", "https://127.0.0.1:"+c.port+"/api/v1/update", f)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("handing over %s: %s", bundle, resp.Status)
	}
}

// updated waits until the browser is told how an update ended, and returns the report.
func (c *client) updated(t *testing.T, status string) string {
	t.Helper()
	var now struct{ Status, Report string }
	awaitFor(t, "the update to be "+status, func() bool {
		_, err := c.try("GET", "/api/v1/update", nil, &now)
		return err == nil && now.Status == status
	})
	return now.Report
}

// shelf serves a file to the board and returns its address there.
func shelf(t *testing.T, path string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) }))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "http://10.0.2.2:" + port + "/update.raucb"
}

// wish plugs in a stick with an empty file of that name and waits for the report and the start that follows.
func (b *board) wish(t *testing.T, name, says string) {
	t.Helper()
	empty := filepath.Join(t.TempDir(), name)
	put(t, empty, "")
	starts := strings.Count(b.console(t), "Starting kernel")
	report := b.plug(t, map[string]string{name: empty})
	awaitFor(t, "the report on "+name, func() bool { return strings.Contains(b.console(t), says) })
	awaitFor(t, "a new start", func() bool { return strings.Count(b.console(t), "Starting kernel") > starts })
	awaitFor(t, "the stick to be done with", func() bool { return strings.Contains(report(), "nothing on the stick") })
	b.unplug(t)
}
