package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"

	"svc.internal/controller/store"
	"svc.internal/controller/web"
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
		return db.Secret(ctx, "tls-certificate", create)
	})
}

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
