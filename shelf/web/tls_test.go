package web

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func selfSigned(t *testing.T) (certPEM, keyPEM []byte) {
	t.Helper()
	certPEM, keyPEM, err := SelfSigned([]string{"controller.local", "localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	return certPEM, keyPEM
}

// fingerprint of a certificate as it is served.
func fingerprint(t *testing.T, certPEM, keyPEM []byte) string {
	t.Helper()
	c, err := FixedCertificate(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return c.Fingerprint()
}

func TestSelfSignedIsAcceptedForItsNamesOnly(t *testing.T) {
	certPEM, keyPEM := selfSigned(t)
	block, _ := pem.Decode(certPEM)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	for name, want := range map[string]bool{
		"controller.local": true, "localhost": true, "127.0.0.1": true, "::1": true, "10.0.0.1": false, "example.com": false,
	} {
		for _, year := range []int{2001, 2026, 2049} {
			_, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: pool, CurrentTime: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)})
			if (err == nil) != want {
				t.Errorf("%s in %d: %v, want accepted %v", name, year, err, want)
			}
		}
	}
	if cert.IsCA || cert.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("CA %v, algorithm %v; want an ECDSA certificate that is no authority", cert.IsCA, cert.PublicKeyAlgorithm)
	}
	if _, _, err := SelfSigned(nil, nil); err == nil {
		t.Error("a certificate for nobody was made")
	}
	sum := sha256.Sum256(cert.Raw)
	if fp := fingerprint(t, certPEM, keyPEM); len(fp) != 95 || !strings.EqualFold(strings.ReplaceAll(fp, ":", ""), hex.EncodeToString(sum[:])) {
		t.Errorf("fingerprint %q of %x", fp, sum)
	}
}

func TestCertificateFilesAreReadAgainWhenRenewed(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	put := func(cert, key []byte) {
		t.Helper()
		if err := os.WriteFile(certFile, cert, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(keyFile, key, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := CertificateFiles(certFile, keyFile, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("files that are not there were accepted")
	}
	cert1, key1 := selfSigned(t)
	put(cert1, key1)
	c, err := CertificateFiles(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	handshake := func() string {
		c.looked = time.Time{} // it is time to look
		if _, err := c.TLS().GetCertificate(nil); err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	fp1 := fingerprint(t, cert1, key1)
	if got := handshake(); got != fp1 {
		t.Errorf("serves %s, want %s", got, fp1)
	}
	cert2, key2 := selfSigned(t)
	put(cert2, key1) // half renewed
	if got := handshake(); got != fp1 {
		t.Error("a certificate without its key took the place of a good one")
	}
	put(cert2, key2)
	if handshake() != fingerprint(t, cert2, key2) {
		t.Error("the renewed certificate is not served")
	}
}

// serving starts Serve with TLS and returns its address and a client's pool.
func serving(t *testing.T, h http.Handler) (address string, pool *x509.CertPool, stop func() error) {
	t.Helper()
	certPEM, keyPEM := selfSigned(t)
	cert, err := FixedCertificate(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, h, cert.TLS(), newCrowd()) }()
	stop = func() error { cancel(); return <-done }
	return ln.Addr().String(), pool, stop
}

func TestServeSpeaksTLS12AndHTTP2(t *testing.T) {
	address, pool, stop := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Proto)) }))
	defer stop()
	for _, c := range []struct {
		name    string
		conf    *tls.Config
		version uint16
		proto   string
	}{
		{"TLS 1.3 with HTTP/2", &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}}, tls.VersionTLS13, "h2"},
		{"TLS 1.2 with HTTP/1.1", &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, tls.VersionTLS12, "http/1.1"},
		{"TLS 1.1 is refused", &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, 0, ""},
		{"an unknown authority is refused", &tls.Config{}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := tls.Dial("tcp", address, c.conf)
			if c.version == 0 {
				if err == nil {
					conn.Close()
					t.Error("accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if s := conn.ConnectionState(); s.Version != c.version || s.NegotiatedProtocol != c.proto {
				t.Errorf("got version %x, protocol %q", s.Version, s.NegotiatedProtocol)
			}
		})
	}
}

// A client may send as much as the protocol allows before it has seen what the server allows
// (RFC 9113, 6.9.2): 65,535 bytes. curl does.
func TestBodiesMayComeBeforeOurSettings(t *testing.T) {
	arrived := make(chan struct{})
	address, pool, stop := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-arrived // nothing is taken before, so that no window grows
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	}))
	defer stop()
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var head, sent bytes.Buffer
	fields := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", "/"}} {
		must(t, fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	sent.WriteString(http2.ClientPreface)
	out := http2.NewFramer(&sent, nil)
	must(t, out.WriteSettings())
	must(t, out.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true}))
	const most, frame = 65535, 16384
	for left := most; left > 0; left -= frame {
		must(t, out.WriteData(1, left <= frame, make([]byte, min(left, frame))))
	}
	must(t, out.WritePing(false, [8]byte{1}))
	if _, err := conn.Write(sent.Bytes()); err != nil {
		t.Fatal(err)
	}
	for in := http2.NewFramer(nil, conn); ; {
		f, err := in.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch f := f.(type) {
		case *http2.PingFrame:
			close(arrived)
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			t.Fatalf("refused: %v", f)
		case *http2.DataFrame:
			if string(f.Data()) != fmt.Sprint(most) {
				t.Fatalf("%s bytes arrived, want %d", f.Data(), most)
			}
			return
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestServeLetsAnswersUnderWayFinish(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	address, pool, stop := serving(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-release
		w.Write([]byte("done"))
	}))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	answered := make(chan error, 1)
	go func() {
		res, err := client.Get("https://" + address)
		if err == nil {
			res.Body.Close()
		}
		answered <- err
	}()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// The listener is closed first; then a new connection is refused.
	for deadline := time.Now().Add(3 * time.Minute); ; {
		c, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("still accepts connections")
		}
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the answer under way was cut off: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestOldCiphersAreRefused(t *testing.T) {
	certPEM, keyPEM, err := SelfSigned([]string{"x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := FixedCertificate(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	for suite, want := range map[uint16]bool{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA:    false,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA:    false,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: true,
	} {
		near, far := net.Pipe()
		server := tls.Server(far, c.TLS())
		go func() { server.Handshake(); far.Close() }()
		client := tls.Client(near, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}})
		if err := client.Handshake(); (err == nil) != want {
			t.Errorf("%s: %v, want accepted: %v", tls.CipherSuiteName(suite), err, want)
		}
		near.Close()
	}
}

func TestKeyThatEverybodyCanReadIsToldOf(t *testing.T) {
	certPEM, keyPEM, err := SelfSigned([]string{"x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	if err := errors.Join(os.WriteFile(cert, certPEM, 0o644), os.WriteFile(key, keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true} {
		var buf bytes.Buffer
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := CertificateFiles(cert, key, slog.New(slog.NewTextHandler(&buf, nil))); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(buf.String(), "chmod o-r"); told != want {
			t.Errorf("mode %o: told: %v, want %v", mode, told, want)
		}
	}
}

// Browsers are to come by TLS only where somebody vouches for the certificate: of a
// self-made one they could not be told to come back to it.
func TestBrowsersAreToldToKeepToTLS(t *testing.T) {
	ownCert, ownKey := selfSigned(t)
	authority, err := x509.ParseCertificate(decoded(t, ownCert))
	must(t, err)
	signer, err := x509.ParsePKCS8PrivateKey(decoded(t, ownKey))
	must(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "house.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
	}, authority, &key.PublicKey, signer)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	cert, err := FixedCertificate(ownCert, ownKey)
	must(t, err)
	e := New(Config{Log: slog.New(slog.DiscardHandler), Certificate: cert})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, e, cert.TLS(), newCrowd()) }()
	defer func() { cancel(); must(t, <-done) }()
	told := func() string {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get("https://" + ln.Addr().String() + "/")
		must(t, err)
		must(t, res.Body.Close())
		return res.Header.Get("Strict-Transport-Security")
	}
	if got := told(); got != "" {
		t.Errorf("with a self-made certificate browsers are told %q", got)
	}
	must(t, cert.Replace(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	if got := told(); got != "max-age=2592000" {
		t.Errorf("with a certificate that somebody vouches for browsers are told %q, want a month of TLS", got)
	}
}

func decoded(t *testing.T, text []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatal("no PEM")
	}
	return block.Bytes
}
