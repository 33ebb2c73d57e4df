package web

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// SelfSigned makes a certificate of our own for these host names and addresses
// (the first one is also the common name): ECDSA P-256, not a certificate
// authority, so that whoever trusts it trusts this controller and nothing else.
// It is valid from 2000 to 2049 whatever the clock says, since it is made at
// first start, when a board without battery may believe it is 1970, and since
// nobody comes to renew a certificate that clients have pinned.
func SelfSigned(hosts []string, ips []net.IP) (certPEM, keyPEM []byte, err error) {
	if len(hosts) == 0 && len(ips) == 0 {
		return nil, nil, errors.New("make certificate: no host name or address to make it for")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	public, err := key.PublicKey.ECDH()
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	keyID := sha1.Sum(public.Bytes()) // RFC 5280 §4.2.1.2 method (1); a name, not a protection
	name := "controller"
	if len(hosts) > 0 {
		name = hosts[0]
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: clipName(name), Organization: []string{"Lighting and shade controller"}},
		NotBefore:             time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2049, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		SubjectKeyId:          keyID[:],
		AuthorityKeyId:        keyID[:],
		DNSNames:              hosts,
		IPAddresses:           ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	return certPEM, keyPEM, nil
}

// clipName keeps a common name within the 64 characters that X.520 allows.
func clipName(s string) string {
	if len(s) > 64 {
		return s[:64]
	}
	return s
}

// Certificate is the certificate that is served now.
type Certificate struct {
	now atomic.Pointer[tls.Certificate]

	// Only for a certificate in files.
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	looked  time.Time // when the files were last looked at
	certPEM []byte    // what was read then
	keyPEM  []byte
}

// FixedCertificate serves the given certificate until [Certificate.Replace].
func FixedCertificate(certPEM, keyPEM []byte) (*Certificate, error) {
	c := &Certificate{}
	if err := c.Replace(certPEM, keyPEM); err != nil {
		return nil, err
	}
	return c, nil
}

// Replace serves another certificate from now on.
func (c *Certificate) Replace(certPEM, keyPEM []byte) error {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("use certificate: %w", err)
	}
	c.now.Store(&pair)
	return nil
}

// lookEvery is how soon a renewed certificate file is noticed.
const lookEvery = 10 * time.Second

// CertificateFiles serves the certificate (chain) and key in these PEM files.
// They are read again when they change, so a renewal needs no restart; a
// renewal that cannot be used is logged and the old certificate stays.
func CertificateFiles(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	if info, err := os.Stat(keyFile); err == nil && info.Mode().Perm()&0o004 != 0 {
		log.Warn("everybody on this machine can read the key of the certificate; take that away with: chmod o-r "+keyFile, "file", keyFile)
	}
	if _, err := c.read(); err != nil {
		return nil, err
	}
	c.looked = time.Now()
	return c, nil
}

// read takes the files over if they are new.
func (c *Certificate) read() (changed bool, err error) {
	certPEM, err := os.ReadFile(c.certFile)
	if err != nil {
		return false, fmt.Errorf("read certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(c.keyFile)
	if err != nil {
		return false, fmt.Errorf("read key of certificate: %w", err)
	}
	if bytes.Equal(certPEM, c.certPEM) && bytes.Equal(keyPEM, c.keyPEM) {
		return false, nil
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return false, fmt.Errorf("use certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	c.certPEM, c.keyPEM = certPEM, keyPEM
	c.now.Store(&pair)
	return true, nil
}

// look reads the files again if it is time to. One handshake in ten seconds pays
// for it; the others do not wait.
func (c *Certificate) look() {
	if c.certFile == "" || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return
	}
	c.looked = time.Now()
	changed, err := c.read()
	switch {
	case err != nil:
		c.log.Warn("renewed certificate not usable, the old one stays", "error", err)
	case changed:
		c.log.Info("certificate renewed", "file", c.certFile, "fingerprint", c.Fingerprint())
	}
}

// Fingerprint is the SHA-256 of the certificate that is served now, as people
// compare it: upper-case pairs with colons.
func (c *Certificate) Fingerprint() string {
	sum := sha256.Sum256(c.now.Load().Certificate[0])
	var b strings.Builder
	for i, c := range sum {
		if i > 0 {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%02X", c)
	}
	return b.String()
}

// Vouched reports whether somebody else than the certificate itself vouches for it.
func (c *Certificate) Vouched() bool {
	leaf := c.now.Load().Leaf
	return !bytes.Equal(leaf.RawIssuer, leaf.RawSubject)
}

// PEM is the certificate (chain) that is served now, for clients to trust.
func (c *Certificate) PEM() []byte {
	var out []byte
	for _, der := range c.now.Load().Certificate {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return out
}

// TLS is the configuration of a server with this certificate: TLS 1.2 at least, its
// authenticated ciphers with forward secrecy alone, HTTP/2 offered.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		CipherSuites: []uint16{ // of TLS 1.2; those of 1.3 are all good
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c.look()
			return c.now.Load(), nil
		},
	}
}
