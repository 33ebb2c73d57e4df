package offsite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
	"golang.org/x/net/webdav"
	"golang.org/x/sys/unix"
)

const user, password = "owner", "correct horse battery"

var night = time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

// backupOf makes a backup of random bytes.
func backupOf(size int) ([]byte, func(context.Context) (File, error)) {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	return data, func(context.Context) (File, error) { return opened{bytes.NewReader(data)}, nil }
}

// house is a place of some kind, with a way to look at what is there past it.
type house struct {
	name  string
	place Place
	files func() map[string][]byte
	put   func(name string)
}

// davServer is the WebDAV server of golang.org/x/net, behind a password; around may stand before it.
func davServer(t *testing.T, around func(http.Handler) http.Handler) (Address, string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
	dav := http.Handler(&webdav.Handler{Prefix: "/dav", FileSystem: webdav.Dir(dir), LockSystem: webdav.NewMemLS()})
	if around != nil {
		dav = around(dav)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		dav.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return Address{Kind: WebDAV, URL: server.URL + "/dav/backups", User: user, Password: password, Fingerprint: printOf(server)}, filepath.Join(dir, "backups")
}

func printOf(s *httptest.Server) string {
	sum := sha256.Sum256(s.Certificate().Raw)
	return hex.EncodeToString(sum[:])
}

// s3Server is gofakes3, which checks signatures.
func s3Server(t *testing.T) (Address, *s3mem.Backend) {
	t.Helper()
	kept := s3mem.New()
	must(t, kept.CreateBucket(t.Context(), "bucket"))
	server := httptest.NewTLSServer(gofakes3.New(kept, gofakes3.WithV4Auth(map[string]string{user: password})).Server())
	t.Cleanup(server.Close)
	return Address{Kind: S3, URL: server.URL + "/bucket/of mine/", User: user, Password: password, Region: "eu-central-1", Fingerprint: printOf(server)}, kept
}

// stick is a file system of its own, of some kilobytes, which only this test sees: its thread ends with it.
func stick(t *testing.T, kilobytes int) string {
	t.Helper()
	runtime.LockOSThread()
	dir := filepath.Join(t.TempDir(), "stick")
	must(t, os.Mkdir(dir, 0o700))
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("needs to mount, which CI may: ", err)
		}
		t.Skip("needs to mount: ", err)
	}
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must(t, unix.Mount("stick", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", kilobytes)))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func filesIn(t *testing.T, dir string) map[string][]byte {
	out := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		out[e.Name()] = data
	}
	return out
}

func placeOf(t *testing.T, a Address) Place {
	t.Helper()
	p, err := a.Place()
	must(t, err)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func houses(t *testing.T) []house {
	dav, dir := davServer(t, nil)
	bucket, kept := s3Server(t)
	plugged := stick(t, 1024)
	inFolder := func(dir string) (func() map[string][]byte, func(string)) {
		return func() map[string][]byte { return filesIn(t, dir) }, func(name string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600)) }
	}
	davFiles, davPut := inFolder(dir)
	stickFiles, stickPut := inFolder(plugged)
	return []house{
		{"stick", Stick{plugged}, stickFiles, stickPut},
		{"WebDAV", placeOf(t, dav), davFiles, davPut},
		{"S3", placeOf(t, bucket), func() map[string][]byte {
			out := map[string][]byte{}
			list, err := kept.ListBucket(t.Context(), "bucket", nil, gofakes3.ListBucketPage{})
			must(t, err)
			for _, c := range list.Contents {
				o, err := kept.GetObject(t.Context(), "bucket", c.Key, nil)
				must(t, err)
				data, err := io.ReadAll(o.Contents)
				must(t, err)
				out[strings.TrimPrefix(c.Key, "of mine/")] = data
			}
			return out
		}, func(name string) {
			_, err := kept.PutObject(t.Context(), "bucket", "of mine/"+name, nil, strings.NewReader("x"), 1)
			must(t, err)
		}},
	}
}

func TestTheNewestCopiesStayAndNothingElseIsTouched(t *testing.T) {
	for _, h := range houses(t) {
		s := Series{ID: "0a1b2c3d", Keep: 3}
		strangers := []string{
			"holiday.jpg", "controller-ffffffff-20200101T030000Z.backup.age", "controller-0a1b2c3d-notes.txt", "controller-0a1b2c3d-20200101T030000Z.backup.age.old", "nightly-20200101T030000Z",
		}
		for _, name := range strangers {
			h.put(name)
		}
		ahead := s.name(night.AddDate(10, 0, 0)) // of a clock that was wrong
		h.put(ahead)
		h.put(s.part()) // what a power cut left
		var last []byte
		for day := range 5 {
			data, make := backupOf(70_000)
			sent, err := Send(t.Context(), h.place, s, night.AddDate(0, 0, day), make)
			if err != nil || sent.Note != "" || sent.Size != 70_000 {
				t.Fatalf("%s: day %d: got %+v, %v", h.name, day, sent, err)
			}
			if last = h.files()[sent.Name]; !bytes.Equal(last, data) {
				t.Fatalf("%s: day %d: %d bytes are there, and not what was sent", h.name, day, len(last))
			}
		}
		want := append(strangers, ahead, s.name(night.AddDate(0, 0, 3)), s.name(night.AddDate(0, 0, 4)))
		if h.name == "S3" {
			want = append(want, s.part()) // is never written there
		}
		var got []string
		for name := range h.files() {
			got = append(got, name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got  %v\nwant %v", h.name, got, want)
		}
	}
}

// around is a WebDAV server that does one thing otherwise.
func around(method string, do func(next http.Handler, w http.ResponseWriter, r *http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == method {
				do(next, w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func says(status int) func(http.Handler, http.ResponseWriter, *http.Request) {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func stalls(_ http.Handler, w http.ResponseWriter, r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, 1000)
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	standsStill(r)
}

// standsStill waits for longer than anybody has patience: a server is not told that its client has left before it has read all.
func standsStill(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(4 * time.Second):
	}
}

func TestWhatFailsIsToldAndHarmsNothing(t *testing.T) {
	half := func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body[:len(body)/2])), int64(len(body)/2)
		next.ServeHTTP(w, r)
	}
	hangsUp := func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 40_000))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(httptest.NewRecorder(), r) // half of it stays
		panic(http.ErrAbortHandler)
	}
	another := httptest.NewTLSServer(http.NotFoundHandler())
	another.Close()
	_, wrong := printOf(another), strings.Repeat("ab", sha256.Size)
	for _, c := range []struct {
		name   string
		around func(http.Handler) http.Handler
		with   func(a *Address)
		want   string
	}{
		{"nobody listens", nil, func(a *Address) { a.URL = another.URL }, "connection refused"},
		{"no such name", nil, func(a *Address) { a.URL = "https://nowhere.invalid/x" }, "no server has the name nowhere.invalid"},
		{"a wrong password", nil, func(a *Address) { a.Password = "wrong horse" }, "does not take user and password"},
		{"another certificate", nil, func(a *Address) { a.Fingerprint = wrong }, "is not trusted"},
		{"a certificate that nobody vouches for", nil, func(a *Address) { a.Fingerprint = "" }, "is not trusted"},
		{"no such folder", nil, func(a *Address) { a.URL += "/lost" }, "there is no such folder"},
		{"no WebDAV", around("PROPFIND", says(405)), nil, "no folder of such a server"},
		{"it has moved", around("PROPFIND", func(_ http.Handler, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/dav", http.StatusMovedPermanently)
		}), nil, "https://elsewhere.example/dav"},
		{"full", around("PUT", says(507)), nil, "the server is full"},
		{"too large", around("PUT", says(413)), nil, "as large as the backup"},
		{"broken", around("PUT", says(500)), nil, "500 Internal Server Error"},
		{"no MOVE", around("MOVE", says(403)), nil, "403 Forbidden to MOVE"},
		{"not to be read", around("GET", says(403)), nil, "cannot be read back"},
		{"stalls while it is sent", around("PUT", func(_ http.Handler, _ http.ResponseWriter, r *http.Request) { standsStill(r) }), nil, "nothing moved for"},
		{"stalls while it is read back", around("GET", stalls), nil, "nothing moved for"},
		{"stalls at the beginning", around("PROPFIND", stalls), nil, "nothing moved for"},
		{"keeps half of it", around("PUT", half), nil, "not what was written"},
		{"hangs up half-way", around("PUT", hangsUp), nil, "does not answer as it should"},
		{"says that it took it", around("PUT", func(_ http.Handler, w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
		}), nil, "cannot be read back"},
		{"says that it renamed it", around("MOVE", says(201)), nil, "not there under its name"},
		{"an answer that is no XML", around("PROPFIND", func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(207)
			fmt.Fprint(w, "<multistatus>")
		}), nil, "cannot be read"},
		{"an answer without an end", around("PROPFIND", func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(207)
			for line := bytes.Repeat([]byte("<!-- -->"), 1000); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}), nil, "too many files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var fails atomic.Bool
			a, dir := davServer(t, func(next http.Handler) http.Handler {
				bad := next
				if c.around != nil {
					bad = c.around(next)
				}
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if fails.Load() {
						bad.ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			s := Series{ID: "0a1b2c3d", Keep: 1}
			_, make := backupOf(1_000_000)
			first, err := Send(t.Context(), placeOf(t, a), s, night, make)
			must(t, err)
			before := filesIn(t, dir)[first.Name]
			fails.Store(true)
			bad := a
			if c.with != nil {
				c.with(&bad)
			}
			_, again := backupOf(1_000_000)
			hurried := s
			if c.want == "nothing moved for" {
				hurried.patience = time.Second
			}
			_, err = Send(t.Context(), placeOf(t, bad), hurried, night.AddDate(0, 0, 1), again)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), bad.Password) || strings.Contains(err.Error(), bad.User)) {
				t.Errorf("%v tells who and the password", err)
			}
			whole := filesIn(t, dir)
			delete(whole, s.part())
			if len(whole) != 1 || !bytes.Equal(whole[first.Name], before) {
				t.Errorf("the copy of before is not as it was: %d files", len(whole))
			}
			fails.Store(false)
			third, err := Send(t.Context(), placeOf(t, a), s, night.AddDate(0, 0, 2), again)
			if now := filesIn(t, dir); err != nil || len(now) != 1 || len(now[third.Name]) != 1_000_000 {
				t.Errorf("afterwards: %v, and %d files", err, len(now))
			}
		})
	}
}

func TestWhatABucketRefuses(t *testing.T) {
	a, _ := s3Server(t)
	s := Series{ID: "0a1b2c3d", Keep: 1}
	for name, c := range map[string]struct {
		with func(a *Address)
		want string
	}{
		"a wrong secret key":  {func(a *Address) { a.Password = "wrong horse" }, "SignatureDoesNotMatch"},
		"a wrong access key":  {func(a *Address) { a.User = "stranger" }, "does not take user and password"},
		"no such bucket":      {func(a *Address) { a.URL = strings.Replace(a.URL, "/bucket/", "/other/", 1) }, "NoSuchBucket"},
		"another certificate": {func(a *Address) { a.Fingerprint = strings.Repeat("ab", sha256.Size) }, "is not trusted"},
	} {
		bad := a
		c.with(&bad)
		_, make := backupOf(1000)
		if _, err := Send(t.Context(), placeOf(t, bad), s, night, make); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), bad.Password) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestSticks(t *testing.T) {
	dir := stick(t, 256)
	s := Series{ID: "0a1b2c3d", Keep: 5}
	_, small := backupOf(100_000)
	first, err := Send(t.Context(), Stick{dir}, s, night, small)
	must(t, err)
	_, large := backupOf(200_000)
	if _, err := Send(t.Context(), Stick{dir}, s, night.AddDate(0, 0, 1), large); err == nil || !strings.Contains(err.Error(), "the stick is full") {
		t.Errorf("full: got %v", err)
	}
	if now := filesIn(t, dir); len(now) != 1 || len(now[first.Name]) != 100_000 {
		t.Errorf("full: %d files are there, want the one of before", len(now))
	}
	must(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if _, err := Send(t.Context(), Stick{dir}, s, night.AddDate(0, 0, 1), small); err == nil || !strings.Contains(err.Error(), "write-protected") {
		t.Errorf("read-only: got %v", err)
	}
	must(t, unix.Mount("", dir, "", unix.MS_REMOUNT, ""))
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("mine"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, s.part())))
	if _, err := Send(t.Context(), Stick{dir}, s, night.AddDate(0, 0, 1), small); err == nil {
		t.Error("what leads out of the stick was followed")
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "mine" {
		t.Errorf("what is outside holds %d bytes, %v", len(data), err)
	}
	must(t, unix.Unmount(dir, 0))
	for name, dir := range map[string]string{"pulled out": dir, "none ever": filepath.Join(dir, "no")} {
		if _, err := Send(t.Context(), Stick{dir}, s, night, small); !errors.Is(err, ErrNoStick) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if there := filesIn(t, dir); len(there) != 0 {
		t.Errorf("%d files were written where no stick is", len(there))
	}
}

func TestNothingIsMadeForAPlaceThatDoesNotAnswer(t *testing.T) {
	_, err := Send(t.Context(), Stick{t.TempDir()}, Series{ID: "0a1b2c3d", Keep: 1}, night, func(context.Context) (File, error) {
		t.Error("a backup was made for nobody")
		return nil, errors.New("never")
	})
	if !errors.Is(err, ErrNoStick) {
		t.Errorf("got %v", err)
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	good := Address{Kind: WebDAV, URL: "https://cloud.example/dav", User: user, Password: password}
	for field, bad := range map[string]func(a *Address){
		"kind":        func(a *Address) { a.Kind = "ftp" },
		"url":         func(a *Address) { a.URL = "http://cloud.example/dav" },
		"user":        func(a *Address) { a.User = "" },
		"password":    func(a *Address) { a.Password = "" },
		"fingerprint": func(a *Address) { a.Fingerprint = "abc" },
		"ca":          func(a *Address) { a.CA = "no PEM" },
	} {
		a := good
		bad(&a)
		var wrong *FieldError
		if _, err := a.Place(); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	for _, at := range []string{"", "cloud.example/dav", "https:///dav", "https://me:secret@cloud.example/dav", "https://cloud.example/dav?x=1", "https://cloud.example/dav#x", "file:///etc"} {
		a := good
		a.URL = at
		if _, err := a.Place(); err == nil {
			t.Errorf("%s was taken", at)
		}
	}
	a := good
	a.Kind = S3 // without a bucket
	a.URL = "https://s3.example/"
	if _, err := a.Place(); err == nil {
		t.Error("no bucket was taken for one")
	}
}

func TestOwnAuthority(t *testing.T) {
	a, _ := davServer(t, nil)
	conn, err := tls.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(a.URL, "https://"), "/dav/backups"), &tls.Config{InsecureSkipVerify: true})
	must(t, err)
	defer conn.Close()
	a.Fingerprint, a.CA = "", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw}))
	_, make := backupOf(1000)
	if _, err := Send(t.Context(), placeOf(t, a), Series{ID: "0a1b2c3d", Keep: 1}, night, make); err != nil {
		t.Error(err)
	}
}

func TestACopyIsOverdueAfterThreeDays(t *testing.T) {
	for _, c := range []struct {
		name   string
		copies *Copies
		since  time.Time
		yes    bool
	}{
		{"none is wanted", nil, time.Time{}, false},
		{"wanted since two days, and none was made", &Copies{Since: night.AddDate(0, 0, -2)}, night.AddDate(0, 0, -2), false},
		{"wanted since four days, and none was made", &Copies{Since: night.AddDate(0, 0, -4)}, night.AddDate(0, 0, -4), true},
		{"made yesterday", &Copies{Since: night.AddDate(-1, 0, 0), Last: night.AddDate(0, 0, -1)}, night.AddDate(0, 0, -1), false},
		{"made four days ago", &Copies{Since: night.AddDate(-1, 0, 0), Last: night.AddDate(0, 0, -4)}, night.AddDate(0, 0, -4), true},
		{"made tomorrow, by a clock that was wrong", &Copies{Last: night.AddDate(0, 0, 1)}, night.AddDate(0, 0, 1), false},
	} {
		if since, yes := c.copies.Overdue(night); yes != c.yes || !since.Equal(c.since) {
			t.Errorf("%s: got %v %v", c.name, since, yes)
		}
	}
}
