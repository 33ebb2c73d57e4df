// Package webex is Cisco's cloud of conferencing devices: their list, and commands to them, by the workspace integration's
// credentials.
package webex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
)

// API is where Webex answers.
const API = "https://webexapis.com/v1"

// Config of a client: what the integration was given in Control Hub.
type Config struct {
	URL          string // [API] if empty
	ClientID     string
	ClientSecret string
	RefreshToken string
}

// Client implements [panel.Provider].
type Client struct {
	cfg  Config
	http *http.Client

	mu    sync.Mutex
	token string
	until time.Time
}

var _ panel.Provider = (*Client)(nil)

const (
	callMost  = 10 * time.Second
	bodyMost  = 4 << 20
	pageMost  = 100 // pages of a list
	triesMost = 3
	// waitMost is how long a Retry-After is obeyed within a call.
	waitMost = 5 * time.Second
	// early is how long before its end a token is renewed.
	early = 5 * time.Minute
)

// New makes a client; it asks nothing yet.
func New(cfg Config) *Client {
	if cfg.URL == "" {
		cfg.URL = API
	}
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	return &Client{cfg: cfg, http: &http.Client{Timeout: callMost}}
}

// Devices lists all devices, with the names of their workspaces.
func (c *Client) Devices(ctx context.Context) ([]panel.Found, error) {
	type item struct {
		ID        string `json:"id"`
		Name      string `json:"displayName"`
		Workspace string `json:"workspaceId"`
	}
	read := func(what string) ([]item, error) {
		var all []item
		next := c.cfg.URL + "/" + what
		for range pageMost {
			var page struct {
				Items []item `json:"items"`
			}
			header, err := c.call(ctx, http.MethodGet, next, nil, &page)
			if err != nil {
				return nil, fmt.Errorf("list %s at Webex: %w", what, err)
			}
			all = append(all, page.Items...)
			if next = c.nextPage(header); next == "" {
				return all, nil
			}
		}
		return all, nil
	}
	workspaces, err := read("workspaces")
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, w := range workspaces {
		names[w.ID] = w.Name
	}
	devices, err := read("devices")
	if err != nil {
		return nil, err
	}
	var out []panel.Found
	for _, d := range devices {
		name := names[d.Workspace]
		if name == "" {
			name = d.Name
		}
		out = append(out, panel.Found{ID: d.ID, Workspace: name})
	}
	return out, nil
}

// nextPage is the address of the next page of a list, if it is one of ours; the token goes nowhere else.
func (c *Client) nextPage(h http.Header) string {
	for _, link := range strings.Split(h.Get("Link"), ",") {
		at, rel, ok := strings.Cut(link, ";")
		at = strings.Trim(strings.TrimSpace(at), "<>")
		if ok && strings.Contains(rel, `rel="next"`) && strings.HasPrefix(at, c.cfg.URL+"/") {
			return at
		}
	}
	return ""
}

// SetWidget has a widget show a value; an empty one takes it back.
func (c *Client) SetWidget(ctx context.Context, device, widget, value string) error {
	if value == "" {
		return c.command(ctx, device, "UserInterface.Extensions.Widget.UnsetValue", map[string]any{"WidgetId": widget}, "")
	}
	return c.command(ctx, device, "UserInterface.Extensions.Widget.SetValue", map[string]any{"WidgetId": widget, "Value": value}, "")
}

// SavePanel puts a panel onto a device.
func (c *Client) SavePanel(ctx context.Context, device, id, description string) error {
	return c.command(ctx, device, "UserInterface.Extensions.Panel.Save", map[string]any{"PanelId": id}, description)
}

// RemovePanel takes a panel off a device.
func (c *Client) RemovePanel(ctx context.Context, device, id string) error {
	return c.command(ctx, device, "UserInterface.Extensions.Panel.Remove", map[string]any{"PanelId": id}, "")
}

// OpenPanel shows a panel.
func (c *Client) OpenPanel(ctx context.Context, device, id string) error {
	return c.command(ctx, device, "UserInterface.Extensions.Panel.Open", map[string]any{"PanelId": id}, "")
}

// saidFor is for how many seconds a sentence stands on the screen, and saidMost how many characters of it.
const saidFor, saidMost = 6, 500

// Say shows a sentence on the screen.
func (c *Client) Say(ctx context.Context, device, text string) error {
	if r := []rune(text); len(r) > saidMost {
		text = string(r[:saidMost-1]) + "…"
	}
	return c.command(ctx, device, "UserInterface.Message.TextLine.Display", map[string]any{"Text": text, "Duration": saidFor}, "")
}

func (c *Client) command(ctx context.Context, device, key string, arguments map[string]any, body string) error {
	in := struct {
		Device    string         `json:"deviceId"`
		Arguments map[string]any `json:"arguments"`
		Body      string         `json:"body,omitempty"`
	}{device, arguments, body}
	if _, err := c.call(ctx, http.MethodPost, c.cfg.URL+"/xapi/command/"+key, in, nil); err != nil {
		return fmt.Errorf("%s on device %q: %w", key, device, err)
	}
	return nil
}

// errToken says that a token is good no longer.
var errToken = errors.New("the token is refused by Webex")

// call asks once, and again after a renewed token or a pause that Webex asks for.
func (c *Client) call(ctx context.Context, method, at string, in, out any) (http.Header, error) {
	for try := 1; ; try++ {
		header, wait, err := c.once(ctx, method, at, in, out)
		if err == nil || try == triesMost || wait > waitMost || !errors.Is(err, errToken) && wait == 0 {
			return header, err
		}
		if errors.Is(err, errToken) {
			c.mu.Lock()
			c.token = ""
			c.mu.Unlock()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (c *Client) once(ctx context.Context, method, at string, in, out any) (h http.Header, wait time.Duration, err error) {
	token, err := c.access(ctx)
	if err != nil {
		return nil, 0, err
	}
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, 0, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, bodyMost))
	if err != nil {
		return nil, 0, err
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return nil, 0, errToken
	case res.StatusCode == http.StatusNotFound:
		return nil, 0, platform.ErrNotFound
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return nil, time.Duration(max(seconds, 1)) * time.Second, fmt.Errorf("answer of Webex: %s", res.Status)
	case res.StatusCode >= 300:
		var said struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(data, &said) // whatever it is, the status says that it failed
		return nil, 0, fmt.Errorf("answer of Webex: %s %s", res.Status, said.Message)
	}
	if out == nil {
		return res.Header, 0, nil
	}
	return res.Header, 0, json.Unmarshal(data, out)
}

// access returns a token that is good, renewing it if needed.
func (c *Client) access(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && time.Now().Before(c.until) {
		return c.token, nil
	}
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {c.cfg.ClientID}, "client_secret": {c.cfg.ClientSecret}, "refresh_token": {c.cfg.RefreshToken}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL+"/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("renew the token of the Webex integration: %w", err)
	}
	defer res.Body.Close()
	var out struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, bodyMost)).Decode(&out); err != nil || res.StatusCode != http.StatusOK || out.Token == "" {
		return "", fmt.Errorf("renew the token of the Webex integration: %s; check WEBEX_CLIENT_ID, WEBEX_CLIENT_SECRET and WEBEX_REFRESH_TOKEN", res.Status)
	}
	life := time.Duration(out.Seconds) * time.Second
	c.token, c.until = out.Token, time.Now().Add(life-min(early, life/2))
	return c.token, nil
}
