package web

import (
	"encoding/pem"
	"errors"
	"net"
	"os"
)

// OwnCertificate is the one that a program makes for itself at its first start, for the
// names of this host and further ones. keep remembers what it is made of: it gives what it
// was given before, or takes what create makes.
func OwnCertificate(further []string, keep func(create func() ([]byte, error)) ([]byte, error)) (*Certificate, error) {
	both, err := keep(func() ([]byte, error) {
		cert, key, err := SelfSigned(OwnNames(further))
		return append(cert, key...), err
	})
	if err != nil {
		return nil, err
	}
	cert, key, err := splitPEM(both)
	if err != nil {
		return nil, err
	}
	return FixedCertificate(cert, key)
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

// OwnNames lists the names and addresses under which clients may reach this host.
func OwnNames(further []string) (hosts []string, ips []net.IP) {
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
