// Package trust knows a server by its certificate: by the authority that signed it, by
// itself, or by its fingerprint.
package trust

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Trust says by what to know a server; the zero Trust takes the certificates that the
// system trusts.
type Trust struct {
	// CA holds certificates as PEM: authorities, or the server's own, which then counts
	// whatever its names, until it expires.
	CA []byte
	// Fingerprint is the SHA-256 of the server's certificate: 64 hexadecimal digits, in
	// any case, with colons or without. Its certificate counts whatever its names and dates.
	Fingerprint string
	// Only is for servers that the system's authorities do not vouch for: none but
	// CA and Fingerprint count then, and with neither no server is known.
	Only bool
}

// Untrusted says that a server could not be known. Nothing was sent to it.
type Untrusted struct {
	Host        string
	Fingerprint string // of the certificate that it showed, 64 hexadecimal digits
	Err         error
}

func (e *Untrusted) Error() string {
	return fmt.Sprintf("the certificate of %s is not trusted (%v); if its fingerprint is %s, say so, or give its certificate authority", e.Host, e.Err, e.Fingerprint)
}

func (e *Untrusted) Unwrap() error { return e.Err }

var errNothingGiven = errors.New("neither its fingerprint nor a certificate was given")

// Config of TLS towards host that knows it by t.
func (t Trust) Config(host string) (*tls.Config, error) {
	roots, pinned, err := t.authorities()
	if err != nil {
		return nil, err
	}
	pin := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(t.Fingerprint), ":", ""))
	if b, err := hex.DecodeString(pin); err != nil || len(b) != sha256.Size && pin != "" {
		return nil, fmt.Errorf("fingerprint %q: want 64 hexadecimal digits", t.Fingerprint)
	}
	check := func(s tls.ConnectionState) error {
		leaf := s.PeerCertificates[0]
		shown := fingerprint(leaf)
		switch {
		case pin != "" && shown == pin:
			return nil
		case pin != "":
			return &Untrusted{host, shown, fmt.Errorf("it is not the one with the fingerprint %s", pin)}
		case t.Only && t.CA == nil:
			return &Untrusted{host, shown, errNothingGiven}
		case pinned[shown]:
			return valid(host, shown, leaf)
		}
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: s.ServerName, Roots: roots, Intermediates: between}); err != nil {
			return &Untrusted{host, shown, err}
		}
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it, and knows what to tell
		VerifyConnection:   check,
	}, nil
}

// authorities are those of t.CA, nil for the system's, and the fingerprints of all its
// certificates.
func (t Trust) authorities() (*x509.CertPool, map[string]bool, error) {
	if t.CA == nil {
		return nil, nil, nil
	}
	roots, pinned := x509.NewCertPool(), map[string]bool{}
	for rest := t.CA; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, fmt.Errorf("read a certificate of the file: %w", err)
		}
		roots.AddCert(cert)
		pinned[fingerprint(cert)] = true
	}
	if len(pinned) == 0 {
		return nil, nil, errors.New("the file with the certificate holds none")
	}
	return roots, pinned, nil
}

// valid refuses a certificate that is given itself when its time is over.
func valid(host, shown string, leaf *x509.Certificate) error {
	now := time.Now()
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return &Untrusted{host, shown, fmt.Errorf("it is valid from %s to %s only", leaf.NotBefore.Format(time.DateOnly), leaf.NotAfter.Format(time.DateOnly))}
	}
	return nil
}

func fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}
