package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/shelf/freeport"
)

const (
	userName     = "bench"
	userPassword = "a password to measure with"
)

// daemon is a controllerd that runs on a data directory of its own.
type daemon struct {
	*process
	dataDir string
	address string // host:port
	pem     []byte
	token   string
	begun   time.Time // when it was executed
}

// profile of ten lights in ten neighbouring holding registers.
const profile = `name: ten-registers
title: ten lights in ten neighbouring registers
source: made for this measurement
outputs:
  - kind: light
    count: 10
    level:
      at: {table: holding, address: 0, stride: 1}
      map: percent
`

// prepare makes a data directory with a site and a user.
func (r *run) prepare(ctx context.Context, name, site string) (dataDir string, err error) {
	dataDir = filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Join(dataDir, "profiles"), 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, name+".yaml")
	if err := errors.Join(
		os.WriteFile(filepath.Join(dataDir, "profiles", "ten-registers.yaml"), []byte(profile), 0o600),
		os.WriteFile(file, []byte(site), 0o600),
	); err != nil {
		return "", err
	}
	if err := r.controllerd(ctx, dataDir, "", "site", "import", file); err != nil {
		return "", err
	}
	return dataDir, r.controllerd(ctx, dataDir, userPassword+"\n", "user", "add", userName, "--role", "api_service", "--password-stdin")
}

// controllerd runs one of its commands.
func (r *run) controllerd(ctx context.Context, dataDir, stdin string, args ...string) error {
	_, err := r.ask(ctx, dataDir, stdin, args...)
	return err
}

// ask runs one of its commands and returns what that prints.
func (r *run) ask(ctx context.Context, dataDir, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "controllerd"), append([]string{"--data-dir", dataDir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("controllerd %s: %w\n%s%s", strings.Join(args, " "), err, out, complaint.String())
	}
	return out, nil
}

// serve starts the daemon on a prepared data directory.
func (r *run) serve(ctx context.Context, dataDir string) (*daemon, error) {
	d := &daemon{dataDir: dataDir}
	var err error
	if d.address, err = freeAddress(); err != nil {
		return nil, err
	}
	d.begun = time.Now()
	d.process, err = r.start(ctx, false, filepath.Join(r.bin, "controllerd"), "--data-dir", dataDir, "serve", "--listen", d.address)
	if err != nil {
		return nil, err
	}
	if err := d.await(ctx); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// await waits until the daemon takes connections.
func (d *daemon) await(ctx context.Context) error {
	for deadline := time.Now().Add(20 * time.Second); ; {
		c, err := net.Dial("tcp", d.address)
		if err == nil {
			c.Close()
			d.pem, err = os.ReadFile(filepath.Join(d.dataDir, "certificate.pem"))
			return err
		}
		select {
		case why := <-d.done:
			d.done <- why
			return fmt.Errorf("controllerd ended by itself: %v", why)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.New("controllerd takes no connection after 20 s")
		}
	}
}

// login gets a token as any client would.
func (d *daemon) login() error {
	c, err := dial(d.address, d.pem)
	if err != nil {
		return err
	}
	defer c.close()
	body, err := c.do(request(http.MethodPost, "/svc/api/authenticate", "", fmt.Sprintf(`{"username":%q,"password":%q}`, userName, userPassword)))
	if err != nil {
		return err
	}
	var answer struct {
		Token string `json:"auth_token"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Token == "" {
		return fmt.Errorf("log in: %s", body)
	}
	d.token = answer.Token
	return nil
}

// awaitOnline waits until that many nodes answer.
func (d *daemon) awaitOnline(ctx context.Context, nodes int) error {
	for deadline := time.Now().Add(time.Minute); ; {
		online, err := d.metric(`controller_things{family="node",status="online"}`)
		if err == nil && int(online) >= nodes {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%v of %d nodes are online after a minute (%v)", online, nodes, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// metric reads one number from /metrics.
func (d *daemon) metric(name string) (float64, error) {
	c, err := dial(d.address, d.pem)
	if err != nil {
		return 0, err
	}
	defer c.close()
	body, err := c.do(request(http.MethodGet, "/metrics", d.token, ""))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(body) {
		if value, ok := strings.CutPrefix(string(line), name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s", name)
}

// freeAddress finds a port on loopback that nobody uses.
func freeAddress() (string, error) {
	port, err := freeport.Find()
	return net.JoinHostPort("127.0.0.1", port), err
}
