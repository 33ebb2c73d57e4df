package main

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"log/slog"
	"net"
	"os"
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
	both, err := db.Secret(ctx, "tls-certificate", func() ([]byte, error) {
		hosts, ips := ownNames(cfg.hosts)
		cert, key, err := web.SelfSigned(hosts, ips)
		return append(cert, key...), err
	})
	if err != nil {
		return nil, err
	}
	cert, key, err := splitPEM(both)
	if err != nil {
		return nil, err
	}
	return web.FixedCertificate(cert, key)
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

// splitPEM parts a certificate and the key that follows it.
func splitPEM(both []byte) (cert, key []byte, err error) {
	rest := both
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			cert = append(cert, pem.EncodeToMemory(block)...)
		} else {
			key = append(key, pem.EncodeToMemory(block)...)
		}
	}
	if cert == nil || key == nil {
		return nil, nil, errors.New("stored certificate is incomplete; give an own one with --tls-cert and --tls-key")
	}
	return cert, key, nil
}

// ownNames lists the names and addresses under which clients may reach this host.
func ownNames(further []string) (hosts []string, ips []net.IP) {
	hosts = []string{"localhost"}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name, name+".local")
	}
	ips = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
				ips = append(ips, n.IP)
			}
		}
	}
	for _, h := range further {
		if ip := net.ParseIP(h); ip != nil {
			ips = append(ips, ip)
		} else {
			hosts = append(hosts, h)
		}
	}
	return hosts, ips
}
