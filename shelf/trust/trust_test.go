package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// certificate makes one for nobody's name that ends at the given time.
func certificate(t *testing.T, until time.Time) (tls.Certificate, []byte, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until, DNSNames: []string{"elsewhere.example"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), hex.EncodeToString(sum[:])
}

func TestWhoIsTrusted(t *testing.T) {
	good, goodPEM, goodPrint := certificate(t, time.Now().Add(time.Hour/2))
	old, oldPEM, oldPrint := certificate(t, time.Now().Add(-time.Minute))
	colons := func(s string) string {
		var parts []string
		for i := 0; i < len(s); i += 2 {
			parts = append(parts, strings.ToUpper(s[i:i+2]))
		}
		return strings.Join(parts, ":")
	}
	for _, c := range []struct {
		name  string
		shown tls.Certificate
		trust Trust
		ok    bool
	}{
		{"a fingerprint", good, Trust{Fingerprint: goodPrint}, true},
		{"a fingerprint with colons, in capitals", good, Trust{Fingerprint: colons(goodPrint), Only: true}, true},
		{"the fingerprint of one that expired", old, Trust{Fingerprint: oldPrint}, true},
		{"another fingerprint", good, Trust{Fingerprint: oldPrint}, false},
		{"another fingerprint, though its certificate is given", good, Trust{Fingerprint: oldPrint, CA: goodPEM}, false},
		{"itself, whatever its names", good, Trust{CA: goodPEM, Only: true}, true},
		{"itself, expired", old, Trust{CA: oldPEM}, false},
		{"somebody else", good, Trust{CA: oldPEM}, false},
		{"nothing", good, Trust{Only: true}, false},
		{"the system", good, Trust{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := false
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
			server.TLS = &tls.Config{Certificates: []tls.Certificate{c.shown}}
			server.StartTLS()
			defer server.Close()
			conf, err := c.trust.Config("there")
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{TLSClientConfig: conf}
			defer transport.CloseIdleConnections()
			res, err := (&http.Client{Transport: transport}).Get(server.URL)
			if err == nil {
				res.Body.Close()
			}
			if (err == nil) != c.ok || asked != c.ok {
				t.Errorf("got error %v, asked %v, want it trusted: %v", err, asked, c.ok)
			}
			var untrusted *Untrusted
			if err != nil && (!errors.As(err, &untrusted) || len(untrusted.Fingerprint) != 64) {
				t.Errorf("got %v, want the fingerprint told", err)
			}
		})
	}
}

func TestUselessTrustIsRefused(t *testing.T) {
	for _, bad := range []Trust{{Fingerprint: "abc"}, {Fingerprint: "zz"}, {CA: []byte("no PEM")}, {CA: []byte{}}} {
		if _, err := bad.Config("there"); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
