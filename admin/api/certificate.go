package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// TLS is how this controller shows who it is.
type TLS interface {
	// Fingerprint of the certificate, and the certificate (chain) itself.
	Fingerprint() string
	PEM() []byte
	// Fixed reports whether it comes from files that belong to somebody else.
	Fixed() bool
	// Replace takes another one and its key into use, at once and through restarts.
	Replace(ctx context.Context, certPEM, keyPEM []byte) error
}

// Certificate is what the controller shows to browsers and programs.
type Certificate struct {
	Subject     string    `json:"subject"`
	Issuer      string    `json:"issuer"`
	SelfSigned  bool      `json:"selfSigned"`
	Names       []string  `json:"names" doc:"Host names and addresses that it is good for."`
	NotBefore   time.Time `json:"notBefore"`
	NotAfter    time.Time `json:"notAfter"`
	Fingerprint string    `json:"fingerprint" doc:"SHA-256, as on the console and in the log."`
	CanReplace  bool      `json:"canReplace" doc:"False where it comes from files (--tls-cert): these are replaced."`
}

func (a *API) certificateShown() (Certificate, error) {
	block, _ := pem.Decode(a.TLS.PEM())
	leaf, err := x509.ParseCertificate(block.Bytes) // it is served, so it is one
	if err != nil {
		return Certificate{}, fmt.Errorf("read own certificate: %w", err)
	}
	out := Certificate{
		Subject: leaf.Subject.String(), Issuer: leaf.Issuer.String(), SelfSigned: bytes.Equal(leaf.RawSubject, leaf.RawIssuer),
		Names: namesOf(leaf), NotBefore: leaf.NotBefore.UTC(), NotAfter: leaf.NotAfter.UTC(), Fingerprint: a.TLS.Fingerprint(), CanReplace: !a.TLS.Fixed(),
	}
	return out, nil
}

func namesOf(leaf *x509.Certificate) []string {
	names := listOf(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

func (a *API) certificate(c echo.Context) error {
	shown, err := a.certificateShown()
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, shown)
}

// certificateFile is what clients trust the controller by.
func (a *API) certificateFile(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Content-Disposition", `attachment; filename="controller.pem"`)
	h.Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "application/x-pem-file", a.TLS.PEM())
}

// NewCertificate is a certificate with its key.
type NewCertificate struct {
	Certificate string `json:"certificate" doc:"PEM: the controller's own first, then those between it and its authority."`
	Key         string `json:"key" doc:"PEM, not encrypted."`
}

// replaceCertificate takes another certificate into use: new connections get it at once.
func (a *API) replaceCertificate(c echo.Context) error {
	var in NewCertificate
	if err := read(c, &in); err != nil {
		return err
	}
	if err := usable(in, time.Now()); err != nil {
		return err
	}
	if err := a.TLS.Replace(c.Request().Context(), []byte(in.Certificate), []byte(in.Key)); err != nil {
		if errors.Is(err, appliance.ErrInUse) {
			return &refusal{status: http.StatusConflict, detail: err.Error(), cause: err}
		}
		return err
	}
	shown, err := a.certificateShown()
	if err != nil {
		return err
	}
	a.auditAccount(c, "certificate.replace", "certificate", map[string]string{"fingerprint": shown.Fingerprint})
	return answer(c, http.StatusOK, shown)
}

// usable finds what browsers would refuse, before nobody can reach the page any more.
func usable(in NewCertificate, now time.Time) error {
	block, _ := pem.Decode([]byte(in.Certificate))
	if block == nil || block.Type != "CERTIFICATE" {
		return meaningless("/certificate", "want a certificate as PEM, which begins with -----BEGIN CERTIFICATE-----")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return meaningless("/certificate", "the certificate cannot be read: "+err.Error())
	}
	switch key, _ := pem.Decode([]byte(in.Key)); {
	case key == nil || key.Type == "CERTIFICATE":
		return meaningless("/key", "want the key as PEM, which begins with -----BEGIN PRIVATE KEY-----")
	case key.Type == "ENCRYPTED PRIVATE KEY" || key.Headers["DEK-Info"] != "":
		return meaningless("/key", "the key is encrypted; decrypt it first: openssl pkey -in key.pem -out plain.pem")
	case len(namesOf(leaf)) == 0:
		return meaningless("/certificate", "the certificate names no host: browsers refuse it; have one made with subject alternative names")
	case now.After(leaf.NotAfter):
		return meaningless("/certificate", "the certificate ended on "+leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	if _, err := tls.X509KeyPair([]byte(in.Certificate), []byte(in.Key)); err != nil {
		return meaningless("/key", "certificate and key do not fit together: "+err.Error())
	}
	return nil
}
