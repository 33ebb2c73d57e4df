package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/systemd"
)

// secondInstance is what whoever starts another one on this machine has to know.
const secondInstance = "a second instance on one machine needs --listen, --mqtt-listen and --data-dir of its own; docs/platform.md, Several instances"

// bind takes every address, or none: whoever starts a second instance hears of all flags at
// once. inside: the broker is in this process, and its listener is returned.
func (d *daemon) bind(cfg serveConfig, inside bool) (mqtt net.Listener, err error) {
	var taken []net.Listener
	var wrong []error
	listen := func(what, flag, address string, open func(string) (net.Listener, error)) net.Listener {
		l, err := open(address)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("serve %s: %w%s", what, err, cli.ListenHint(flag, err)))
			return nil
		}
		taken = append(taken, l)
		return l
	}
	tcp := func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	if cfg.listen != "" {
		d.https = listen("HTTPS", "--listen", cfg.listen, systemd.Listen)
	}
	if cfg.insecureHTTP != "" {
		d.http = listen("plain HTTP", "--insecure-http", cfg.insecureHTTP, tcp)
	}
	if inside {
		mqtt = listen("MQTT", "--mqtt-listen", cfg.mqttListen, tcp)
	}
	if len(wrong) == 0 {
		return mqtt, nil
	}
	for _, l := range taken {
		l.Close()
	}
	err = errors.Join(wrong...)
	if len(wrong) > 1 && errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s\n%w", secondInstance, err)
	}
	return nil, err
}

// claim takes the data directory for the broker inside, until the file is closed: two
// brokers on the same files spoil what both keep.
func (a *app) claim() (*os.File, error) {
	if err := os.MkdirAll(a.dataDir, 0o700); err != nil {
		return nil, a.accessAdvice(fmt.Errorf("take the data directory: %w", err))
	}
	f, err := os.OpenFile(filepath.Join(a.dataDir, "platformd.lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, a.accessAdvice(fmt.Errorf("take the data directory: %w", err))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, cli.Usage(fmt.Errorf("another platformd has its broker in %s: choose another directory with --data-dir, or one broker for both with MQTT_URL\n%s",
				a.dataDir, secondInstance))
		}
		return nil, fmt.Errorf("take the data directory %s: %w", a.dataDir, err)
	}
	return f, nil
}
