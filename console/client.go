package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"syscall"
)

// ErrNotRunning: no daemon serves this data directory.
var ErrNotRunning = errors.New("no daemon is running on this data directory")

// Client asks the daemon of one data directory.
type Client struct{ http http.Client }

// NewClient makes a client; nothing is asked yet.
func NewClient(dataDir string) *Client {
	path := filepath.Join(dataDir, SocketName)
	return &Client{http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
	}}}
}

// Buses tells the state of every bus.
func (c *Client) Buses(ctx context.Context) ([]Bus, error) {
	return list[Bus](ctx, c, "/buses")
}

func list[T any](ctx context.Context, c *Client, path string) (out []T, err error) {
	res, err := c.ask(ctx, http.MethodGet, path)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("read answer of the daemon: %w", err)
	}
	return out, nil
}

// Frames calls each for every recorded frame, and with follow for those to come,
// until ctx ends or each fails.
func (c *Client) Frames(ctx context.Context, bus string, follow bool, each func(Frame) error) error {
	path := "/buses/" + url.PathEscape(bus) + "/frames"
	if follow {
		path += "?follow=1"
	}
	return stream(ctx, c, http.MethodGet, path, each)
}

// Identify makes one device of a bus show itself.
func (c *Client) Identify(ctx context.Context, bus, address string) error {
	q := url.Values{"address": {address}}
	res, err := c.ask(ctx, http.MethodPost, "/buses/"+url.PathEscape(bus)+"/identify?"+q.Encode())
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func stream[T any](ctx context.Context, c *Client, method, path string, each func(T) error) error {
	res, err := c.ask(ctx, method, path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			return fmt.Errorf("read answer of the daemon: %w", err)
		}
		if err := each(v); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil // the caller has seen enough
	}
	return in.Err()
}

func (c *Client) ask(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://console"+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("ask the daemon: %w", err)
	case res.StatusCode < 300:
		return res, nil
	}
	defer res.Body.Close()
	var p problem
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil || p.Message == "" {
		return nil, fmt.Errorf("ask the daemon: %s", res.Status)
	}
	return nil, Refusal(p.Message)
}

// Refusal is why the daemon does not do what it was asked for, in its own words.
type Refusal string

func (r Refusal) Error() string { return string(r) }
