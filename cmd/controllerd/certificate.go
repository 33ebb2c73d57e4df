package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
)

// randomSecret is 256 bits nobody can guess.
func randomSecret() ([]byte, error) {
	b := make([]byte, 32)
	rand.Read(b)
	return b, nil
}

// certificate is the installer's own, or the one made at the first start.
func certificate(ctx context.Context, db *store.Store, cfg serveConfig, log *slog.Logger) (*web.Certificate, error) {
	if cfg.certFile != "" {
		return web.CertificateFiles(cfg.certFile, cfg.keyFile, log)
	}
	return web.OwnCertificate(cfg.hosts, func(create func() ([]byte, error)) ([]byte, error) {
		return db.Secret(ctx, ownCertificate, create)
	})
}

// identity is the certificate that the daemon shows, with where it is kept.
type identity struct {
	*web.Certificate
	db      *store.Store
	fixed   bool // it comes from files
	publish func(*web.Certificate) error
}

// Fixed reports whether the certificate comes from files.
func (i *identity) Fixed() bool { return i.fixed }

// Replace takes another certificate into use, once it is kept.
func (i *identity) Replace(ctx context.Context, certPEM, keyPEM []byte) error {
	if i.fixed {
		return fmt.Errorf("replace certificate: it comes from the files of --tls-cert and --tls-key: replace these, no restart is needed: %w", appliance.ErrInUse)
	}
	both := slices.Concat(certPEM, []byte{'\n'}, keyPEM)
	if err := i.db.ReplaceSecret(ctx, ownCertificate, both); err != nil {
		return fmt.Errorf("replace certificate: %w", err)
	}
	if err := i.Certificate.Replace(certPEM, keyPEM); err != nil {
		return err
	}
	return i.publish(i.Certificate)
}

// ownCertificate is the name of the secret that holds certificate and key.
const ownCertificate = "tls-certificate"

// absolute is a path that means the same in whichever directory; "" stays.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}
