package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/site/recording"
)

// TestFramesAreToldInWords: the monitor, the recorder and the ledger of /api/v1 say what passed as 'bus decode' does.
func TestFramesAreToldInWords(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, everydaySite)
	token := h.enter("admin")
	frames := func() (list []api.Frame) {
		t.Helper()
		_, body, _ := h.send(http.MethodGet, "/api/v1/buses/rtu/frames", token, "")
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return list
	}
	told := func(way string, words *regexp.Regexp) func() bool {
		return func() bool {
			for _, f := range frames() {
				if f.Direction == way && words.MatchString(f.Decoded) {
					return true
				}
			}
			return false
		}
	}
	h.await(time.Minute, "reads in words", told("sent", regexp.MustCompile(`^read .* request · unit 1 · addr \d+ · count \d+$`)))
	h.await(time.Minute, "answers in words", told("received", regexp.MustCompile(`^read .* response · unit 1 · values [\d ]+$`)))
	h.insist("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":40}`)
	var entries []api.Entry
	_, body, _ := h.send(http.MethodGet, "/api/v1/ledger?node=1&limit=1", token, "")
	if err := json.Unmarshal(body, &entries); err != nil || len(entries) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	_, body, _ = h.send(http.MethodGet, "/api/v1/ledger/"+entries[0].ID, token, "")
	if !regexp.MustCompile(`"decoded":"write [^"]* unit 1 · addr`).Match(body) {
		t.Errorf("the ledger does not tell the frames in words: %s", body)
	}
}

func TestProfilesAreListed(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, everydaySite)
	h.serve()
	token := h.enter("viewer")
	for query, want := range map[string]string{"": `{"driver":"modbus","name":"eastron-sdm120",`, "?driver=dali": `{"driver":"dali","name":"dali-dt6",`} {
		status, body, _ := h.send(http.MethodGet, "/api/v1/profiles"+query, token, "")
		if status != http.StatusOK || !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s: %d, without %s: %.300s", query, status, want, body)
		}
		if query != "" && bytes.Contains(body, []byte(`"driver":"modbus"`)) {
			t.Errorf("%s lists those of other drivers: %.300s", query, body)
		}
	}
}

// TestDiagnosticsHoldAllButSecrets opens the bundle of a controller at work and looks for everything secret that it has.
func TestDiagnosticsHoldAllButSecrets(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, everydaySite)
	token := h.enter("admin")
	h.insist("channelControl", `{"targetType":2,"targetId":4,"command":"DIM","dimLevel":40}`)
	_, body, _ := h.send(http.MethodPost, "/api/v1/auth/keys", token, `{"name":"Dashboard"}`)
	key := regexp.MustCompile(`ctl_[0-9a-f]+`).FindString(string(body))
	if key == "" {
		t.Fatalf("no key was made: %s", body)
	}
	// Somebody mistook a field for another, and a library tells too much.
	h.daemon.log.Warn("link is down", "url", "mqtts://house:swordfish@broker.example:8883", "password", "swordfish", "why", "Authorization: swordfish")
	h.daemon.log.Warn("refused", "why", "nobody has "+key+" or "+token)
	status, file, header := h.send(http.MethodGet, "/api/v1/diagnostics", token, "")
	if status != http.StatusOK || !strings.HasSuffix(header.Get("Content-Disposition"), `.zip"`) {
		t.Fatalf("%d %s: %s", status, header, file)
	}
	bundle, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range bundle.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(text)
	}
	for name, want := range map[string]string{
		"health.json": `"ready": true`, "update.json": `"none installed"`, "certificate.json": h.daemon.cert.Fingerprint(), "site.yaml": "Ground floor",
		"buses.json": `"lookedAt": "2`, "jobs.json": "[]", "ledger.jsonl": `"kind":"light-level"`, "log.txt": "WARN  link is down", "metrics.txt": "controller_build_info{", "frames.jsonl": `"protocol":"modbus-rtu"`,
	} {
		if !strings.Contains(parts[name], want) {
			t.Errorf("%s lacks %q:\n%.2000s", name, want, parts[name])
		}
	}
	frames := 0
	if err := recording.Read("frames.jsonl", strings.NewReader(parts["frames.jsonl"]), func(recording.Frame) error { frames++; return nil }); err != nil || frames == 0 {
		t.Errorf("the recording has %d frames: %v", frames, err)
	}
	for what, secret := range h.secrets(token, key) {
		for name, text := range parts {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", name, what)
			}
		}
	}
}

// TestARecorderIsSentAsARecording: one that other programs decode and play, without what looks like a secret.
func TestARecorderIsSentAsARecording(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everydaySite)
	token := h.enter("viewer")
	words := regexp.MustCompile(`^read .* request · unit 1 ·`)
	h.await(time.Minute, "a recording with a read in words", func() bool {
		status, file, header := h.send(http.MethodGet, "/api/v1/buses/rtu/recording", token, "")
		if status != http.StatusOK || !strings.HasSuffix(header.Get("Content-Disposition"), `.jsonl"`) {
			t.Fatalf("%d %s: %s", status, header, file)
		}
		found := false
		if err := recording.Read("frames.jsonl", bytes.NewReader(file), func(f recording.Frame) error {
			f.Explain(drivers.Decoders[f.Protocol])
			found = found || f.Bus == "rtu" && words.MatchString(f.Brief())
			return nil
		}); err != nil {
			t.Fatalf("%v: %s", err, file)
		}
		return found
	})
}

// secrets are all that a controller has, by what they are.
func (h *house) secrets(token, key string) map[string]string {
	h.t.Helper()
	out := map[string]string{"a password": housePassword, "a mistaken password": "swordfish", "a token": token, "an API key": key, "a password's hash": "$argon2id$", "a private key": "PRIVATE KEY"}
	for _, name := range []string{"token-secret", ownCertificate} {
		value, err := h.daemon.db.Secret(h.t.Context(), name, func() ([]byte, error) { return nil, errors.New("it has none") })
		if err != nil {
			h.t.Fatal(err)
		}
		out[name], out[name+" in hexadecimal digits"], out[name+" in base 64"] = string(value), hex.EncodeToString(value), base64.StdEncoding.EncodeToString(value)
	}
	return out
}

// TestCertificateIsReplacedWhileTheDaemonRuns gives it another one and sees it at the next connection and after a restart.
func TestCertificateIsReplacedWhileTheDaemonRuns(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, everydaySite)
	token := h.enter("admin")
	cert, key, err := web.SelfSigned([]string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := web.FixedCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	want := pair.Fingerprint()
	path := filepath.Join(h.dataDir, certificateFile)
	was := readText(path)
	reader, err := os.Open(path) // who reads it meanwhile
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	in, err := json.Marshal(api.NewCertificate{Certificate: string(cert), Key: string(key)})
	if err != nil {
		t.Fatal(err)
	}
	if status, body, _ := h.send(http.MethodPut, "/api/v1/certificate", token, string(in)); status != http.StatusOK || !strings.Contains(string(body), want) {
		t.Fatalf("%d %s", status, body)
	}
	served := func() string {
		t.Helper()
		conn, err := tls.Dial("tcp", h.daemon.doors.https.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
		return hex.EncodeToString(sum[:])
	}
	plain := strings.ToLower(strings.ReplaceAll(want, ":", ""))
	if got := served(); got != plain {
		t.Errorf("a new connection sees %s, want %s", got, plain)
	}
	if pem := readText(path); pem != string(cert) {
		t.Errorf("certificate.pem: %s", pem)
	}
	if read, err := io.ReadAll(reader); err != nil || string(read) != was {
		t.Errorf("who was reading the old certificate got %q, %v", read, err)
	}
	h.restart()
	if got := served(); got != plain {
		t.Errorf("after a restart it is %s, want %s", got, plain)
	}
}
