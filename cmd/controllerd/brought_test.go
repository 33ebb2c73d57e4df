package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/site/backup"
)

// unitMemory is what the unit gives the daemon (MemoryMax).
const unitMemory = 256 << 20

// broughtTo is a house whose daemon is the delivered program, in the memory that its unit
// gives it, and an installer who is logged in.
type broughtTo struct {
	*house
	daemon *served
	group  *confine.Group
	admin  string
}

func newBroughtTo(t *testing.T) *broughtTo {
	t.Helper()
	b := &broughtTo{house: newBuilding(t, everydaySite), group: confine.New(t, unitMemory)}
	b.daemon = b.desk().serveIn(b.group)
	b.url, b.client = b.daemon.url, b.daemon.client
	b.client.Timeout = 2 * time.Minute // the machine may be busy
	b.admin = b.enter("admin")
	b.lives(t)
	return b
}

// lives fails the test if the daemon was killed, or no longer does what it is there for.
func (b *broughtTo) lives(t *testing.T) {
	t.Helper()
	if n := b.group.Kills(t); n != 0 {
		t.Fatalf("the kernel ended the daemon %d times for want of memory", n)
	}
	select {
	case <-b.daemon.ended:
		t.Fatalf("the daemon has ended: %s", b.daemon.log)
	default:
	}
	user := newHonest(t, b.daemon)
	waitFor(t, 30*time.Second, "a lamp to be dimmed", user.dim)
}

// refuses brings something and wants it refused in words, by a daemon that lives on.
func (b *broughtTo) refuses(t *testing.T, path, brought string, status int, words string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, strings.NewReader(brought))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.admin)
	res, err := b.client.Do(req)
	if err != nil {
		t.Errorf("POST %s: %v", path, err)
	} else {
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status || !strings.Contains(string(body), words) {
			t.Errorf("POST %s: %d %.500s, %v; want %d with %q", path, res.StatusCode, body, err, status, words)
		}
	}
	b.lives(t)
}

// sealed is a backup with these bytes for its archive, and the right checksum.
func sealed(archive []byte) string {
	out := append([]byte("controllerd backup 1\n"), archive...)
	sum := sha256.Sum256(out)
	return string(append(out, sum[:]...))
}

// sparseArchive has one file of a few bytes that says it has 100 GB, in the newest of GNU's
// formats.
func sparseArchive(t *testing.T) []byte {
	t.Helper()
	const told = 100 << 30
	var out bytes.Buffer
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=database", fmt.Sprintf("GNU.sparse.realsize=%d", int64(told))} {
		n := len(r) + 2
		for n != len(fmt.Sprintf("%d %s\n", n, r)) {
			n++
		}
		records += fmt.Sprintf("%d %s\n", n, r)
	}
	content := fmt.Sprintf("1\n%d\n0\n", int64(told)) // one fragment, at the very end, of no bytes
	out.Write(rawEntry('x', "PaxHeaders.0/database", []byte(records)))
	out.Write(rawEntry('0', "GNUSparseFile.0/database", append([]byte(content), make([]byte, 512-len(content))...)))
	out.Write(make([]byte, 1024))
	// As it was before there was a budget: this is how it is taken.
	if h, err := tar.NewReader(bytes.NewReader(out.Bytes())).Next(); err != nil || h.Size != told {
		t.Fatalf("no sparse archive: %+v, %v", h, err)
	}
	return out.Bytes()
}

// rawEntry is a header and content, rounded up to whole blocks.
func rawEntry(kind byte, name string, content []byte) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000600\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00%011o\x00        ", len(content), 0))
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(h, append(content, make([]byte, (512-len(content)%512)%512)...)...)
}

func archiveOf(t *testing.T, entries ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileBackups(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := newBroughtTo(t)
	const drill = "/api/v1/backup/drill"
	var many []*tar.Header
	for i := range 30_000 {
		many = append(many, &tar.Header{Name: fmt.Sprintf("profiles/p%d.yaml", i), Mode: 0o600})
	}
	for _, c := range []struct{ name, file, words string }{
		{"a sparse entry of 100 GB", sealed(sparseArchive(t)), "no plain file"},
		{"many entries", sealed(archiveOf(t, many...)), "more than 2000 files"},
		{"a link", sealed(archiveOf(t, &tar.Header{Name: "database", Typeflag: tar.TypeSymlink, Linkname: "/dev/zero"})), "no plain file"},
		{"a size that no bytes bear out", sealed(rawEntry('0', "database", make([]byte, 1<<20))[:512]), "no plain file"},
		{"a database of no bytes", sealed(archiveOf(t, &tar.Header{Name: "database", Mode: 0o600})), "holds no database"},
		{"32 MB of zeros", strings.Repeat("\x00", 32<<20), "not a backup"},
		{"32 MB that are encrypted, as it says", "age-encryption.org/v1\n" + strings.Repeat("\x00", 31<<20), "passphrase"},
		{"a database of 31 MB", sealed(append(rawEntry('0', "database", bytes.Repeat([]byte("SQLite format 3\x00"), 31<<16)), make([]byte, 1024)...)), "it holds no database"},
	} {
		t.Run(c.name, func(t *testing.T) { b.refuses(t, drill, c.file, http.StatusUnprocessableEntity, c.words) })
	}
	t.Run("an honest one", func(t *testing.T) {
		_, file, _ := b.send(http.MethodGet, "/api/v1/backup", b.admin, "")
		var d api.Drilled
		status, body, _ := b.send(http.MethodPost, drill, b.admin, string(file))
		if err := json.Unmarshal(body, &d); err != nil || status != http.StatusOK || d.Nodes != 3 {
			t.Errorf("%d %s", status, body)
		}
	})
}

// TestABackupWithAView: whatever reads the tables of such a database reads without end.
func TestABackupWithAView(t *testing.T) {
	t.Parallel()
	b := newBroughtTo(t)
	_, file, _ := b.send(http.MethodGet, "/api/v1/backup", b.admin, "")
	archive, err := backup.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "database")
	if err := os.WriteFile(path, archive.Database, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "ALTER TABLE node RENAME TO other; CREATE VIEW node AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT other.* FROM n, other")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	altered, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b.refuses(t, "/api/v1/backup/drill", sealed(append(rawEntry('0', "database", altered), make([]byte, 1024)...)), http.StatusUnprocessableEntity, "view node")
}
