package cloudlink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.internal/controller/wire"
)

// Trust says by what to know the platform; the zero Trust takes the certificates that the system trusts.
type Trust struct {
	CA          []byte // PEM
	Fingerprint string // SHA-256 of the platform's certificate, hexadecimal, colons allowed
}

const (
	enrolMost  = 30 * time.Second
	answerMost = 256 << 10
)

// ErrUntrusted says that the platform could not be known; Fingerprint is of the certificate it showed.
type ErrUntrusted struct {
	Host, Fingerprint string
	Err               error
}

func (e *ErrUntrusted) Error() string {
	return fmt.Sprintf("the certificate of %s is not trusted (%v); if its fingerprint is %s, say so, or give its certificate authority", e.Host, e.Err, e.Fingerprint)
}

func (e *ErrUntrusted) Unwrap() error { return e.Err }

// Enrol turns a one-time code into credentials. The code is sent only to a platform that is known.
func Enrol(ctx context.Context, platform, code string, trust Trust) (wire.Credentials, error) {
	fail := func(err error) (wire.Credentials, error) {
		return wire.Credentials{}, fmt.Errorf("enrol at %s: %w", platform, err)
	}
	u, err := url.Parse(platform)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fail(errors.New("want an address such as https://platform.example"))
	}
	conf, err := trust.config(u.Host)
	if err != nil {
		return fail(err)
	}
	body, err := json.Marshal(wire.Enrolment{Code: code})
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, enrolMost)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath(wire.EnrolPath).String(), bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return fail(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return fail(err)
	}
	if res.StatusCode != http.StatusCreated {
		return fail(refused(res.StatusCode, text))
	}
	var c wire.Credentials
	if err := json.Unmarshal(text, &c); err != nil {
		return fail(fmt.Errorf("read its answer: %w", err))
	}
	if err := wire.CheckControllerID(c.Controller); err != nil || c.Broker == "" || c.Username == "" || c.Password == "" {
		return fail(errors.New("its answer has no usable credentials"))
	}
	if b, err := url.Parse(c.Broker); err != nil || b.Scheme != "mqtts" {
		return fail(fmt.Errorf("its broker %q is not reached over TLS", c.Broker))
	}
	return c, nil
}

// refused says what the platform said.
func refused(status int, body []byte) error {
	var said struct {
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // a proxy may have answered in words of its own
	if said.Message == "" {
		said.Message = said.Error
	}
	if status == http.StatusUnauthorized {
		return errors.New("the code is unknown, used or too old; have a new one made")
	}
	return fmt.Errorf("it answered %d %s", status, said.Message)
}

// config of TLS that knows the platform. A certificate that is pinned counts whatever its names and dates.
func (t Trust) config(host string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != nil {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("the file with the certificate authority holds no certificate")
		}
	}
	pin := strings.ToLower(strings.ReplaceAll(t.Fingerprint, ":", ""))
	if b, err := hex.DecodeString(pin); err != nil || len(b) != sha256.Size && pin != "" {
		return nil, fmt.Errorf("fingerprint %q: want 64 hexadecimal digits", t.Fingerprint)
	}
	conf.InsecureSkipVerify = true // VerifyConnection does it, and knows what to tell
	conf.VerifyConnection = func(s tls.ConnectionState) error {
		leaf := s.PeerCertificates[0]
		sum := sha256.Sum256(leaf.Raw)
		shown := hex.EncodeToString(sum[:])
		if pin != "" {
			if shown != pin {
				return fmt.Errorf("the certificate has the fingerprint %s, not the one that was given", shown)
			}
			return nil
		}
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: s.ServerName, Roots: conf.RootCAs, Intermediates: between}); err != nil {
			return &ErrUntrusted{host, shown, err}
		}
		return nil
	}
	return conf, nil
}
