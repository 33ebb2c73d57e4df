package main

import (
	"context"
	"log/slog"

	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/web"
)

// certificate is the operator's own, or the one made at the first start.
func certificate(ctx context.Context, db *store.Store, cfg serveConfig, log *slog.Logger) (*web.Certificate, error) {
	if cfg.certFile != "" {
		return web.CertificateFiles(cfg.certFile, cfg.keyFile, log)
	}
	return web.OwnCertificate(cfg.hosts, func(create func() ([]byte, error)) ([]byte, error) {
		return db.Secret(ctx, "tls-certificate", create)
	})
}
