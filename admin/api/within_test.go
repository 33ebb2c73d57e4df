package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// fixedTLS is a certificate in memory.
type fixedTLS struct {
	*web.Certificate
	files bool
}

func newFixedTLS(t *testing.T) *fixedTLS {
	t.Helper()
	cert, key := newPair(t)
	c, err := web.FixedCertificate(cert, key)
	must(t, err)
	return &fixedTLS{c, false}
}

func newPair(t *testing.T) (cert, key []byte) {
	t.Helper()
	cert, key, err := web.SelfSigned([]string{"controller.local"}, []net.IP{net.IPv4(192, 0, 2, 7)})
	must(t, err)
	return cert, key
}

func (f *fixedTLS) Fixed() bool { return f.files }

func (f *fixedTLS) Replace(_ context.Context, cert, key []byte) error {
	if f.files {
		return appliance.ErrInUse
	}
	return f.Certificate.Replace(cert, key)
}

// within is how this house looks from within: no bus of it records.
func (h *house) within() api.Within {
	nothing := func(context.Context, io.Writer) error { return nil }
	return api.Within{
		Explain: func(*appliance.Bus, api.Frame) string { return "" },
		Record:  func(io.Writer, iter.Seq2[*appliance.Bus, api.Frame]) error { return nil },
		Lines:   h.lines, Ports: &h.ports, Ready: h.core.Ready, Kept: func() error { return h.db.Kept() }, Site: nothing, Metrics: nothing, Started: time.Now(),
	}
}

// The log in memory is bounded, tells no secret, and keeps what is wrong longer than the rest.
func TestLogsAreKeptBoundedAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var written bytes.Buffer
	log := h.lines.Log(slog.New(slog.NewTextHandler(&written, nil)))
	begin := time.Now()
	log.With("bus", "attic").WithGroup("line").Warn("bus is down", "why", "no such port")
	log.Debug("nobody asked for this")
	log.Info("claimable", "code", "AAAA-BBBB-CCCC", "password", "hunter2")
	for range 3000 {
		log.Info("request", "path", strings.Repeat("x", 4000))
	}
	if !strings.Contains(written.String(), "AAAA-BBBB-CCCC") {
		t.Error("the console does not tell the claim code")
	}
	c := h.as(account.RoleAdmin)
	get := func(query string) (lines []api.LogLine) {
		t.Helper()
		c.must(200, "GET", "/logs?"+query, nil, &lines)
		return lines
	}
	all := get("limit=1500")
	if len(all) != 1001 || len(all[0].Details) > 2100 || all[0].ID <= all[1].ID {
		t.Errorf("%d lines, the newest with %d characters; want 1001, newest first", len(all), len(all[0].Details))
	}
	if last := all[len(all)-1]; last.Message != "bus is down" || last.Details != `bus=attic line.why="no such port"` || last.Level != "WARN" || last.At.Before(begin.Add(-time.Second)) {
		t.Errorf("the warning is told as %+v", last)
	}
	if got := get("level=WARN&contains=ATTIC"); len(got) != 1 {
		t.Errorf("%d warnings about the attic, want 1", len(got))
	}
	if got := get("level=ERROR"); len(got) != 0 {
		t.Errorf("%d errors", len(got))
	}
	if got := get("since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)); len(got) != 0 {
		t.Errorf("%d lines of the future", len(got))
	}
	log.Info("claimable", "code", "AAAA-BBBB-CCCC", "password", "hunter2")
	if got := get("after=" + jsonOf(t, all[0].ID)); len(got) != 1 || got[0].Details != "code=(hidden) password=(hidden)" {
		t.Errorf("after the newest: %+v", got)
	}
	c.must(400, "GET", "/logs?level=LOUD", nil, nil)
	c.must(400, "GET", "/logs?since=yesterday", nil, nil)
	h.as(account.RoleOperator).must(403, "GET", "/logs", nil, nil)
	h.as(account.RoleOperator).must(403, "GET", "/diagnostics", nil, nil)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func TestHealthTellsWhatTheControllerIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var got api.Health
	h.as(account.RoleViewer).must(200, "GET", "/health", nil, &got)
	if got.Version != "test" || !got.Kept || got.NotKept != "" || got.StartedAt.IsZero() || got.Faults == nil {
		t.Errorf("%+v", got)
	}
}

func TestCertificateIsShownAndReplaced(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c, viewer := h.as(account.RoleAdmin), h.as(account.RoleViewer)
	var was, is api.Certificate
	viewer.must(200, "GET", "/certificate", nil, &was)
	if was.Fingerprint != h.tls.Fingerprint() || strings.Join(was.Names, " ") != "controller.local 192.0.2.7" || !was.SelfSigned || !was.CanReplace ||
		was.NotAfter.Year() != 2049 || !strings.Contains(was.Subject, "CN=controller.local") {
		t.Errorf("%+v", was)
	}
	if status, _, body := viewer.do("GET", "/certificate/pem", nil); status != http.StatusOK || !bytes.Equal(body, h.tls.PEM()) {
		t.Errorf("file: %d %s", status, body)
	}
	cert, key := newPair(t)
	_, other := newPair(t)
	for name, in := range map[string]api.NewCertificate{
		"no PEM":         {Certificate: "certificate", Key: string(key)},
		"no key":         {Certificate: string(cert), Key: "key"},
		"another's key":  {Certificate: string(cert), Key: string(other)},
		"no certificate": {Certificate: string(key), Key: string(key)},
	} {
		if status, _, body := c.do("PUT", "/certificate", in); status != http.StatusUnprocessableEntity || !bytes.Contains(body, []byte(`"pointer":"/`)) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	viewer.must(403, "PUT", "/certificate", "{}", nil)
	c.must(200, "PUT", "/certificate", api.NewCertificate{Certificate: string(cert), Key: string(key)}, &is)
	if is.Fingerprint == was.Fingerprint || is.Fingerprint != h.tls.Fingerprint() {
		t.Errorf("replaced by %s, shown is %s", is.Fingerprint, h.tls.Fingerprint())
	}
	h.tls.files = true
	c.must(409, "PUT", "/certificate", api.NewCertificate{Certificate: string(cert), Key: string(key)}, nil)
}
