package reader

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"svc.internal/controller/shelf/intake"
	"svc.internal/controller/shelf/trust"
)

// Config says which controller is read.
type Config struct {
	URL                string
	Username, Password string
	// Refresh is a refresh token in place of a password.
	Refresh string
	TLS     *tls.Config
	Timeout time.Duration // of one request, 20 s if zero
	Pace    time.Duration // from one request to the next, 250 ms if zero
}

const (
	timeoutMost = 20 * time.Second
	paceLeast   = 250 * time.Millisecond
	tries       = 3
)

// Bounds of answers, in bytes. A list of 10,000 lamps has less than half of what one may
// have.
const (
	listMost   = 16 << 20
	loginMost  = 64 << 10
	headerMost = 64 << 10
)

// Source is the name of the controller at an address, by which its IDs are known: host
// and port.
func Source(address string) (string, error) {
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port, nil
}

// parse checks an address. Plain HTTP is for this machine only: a password goes over it.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if strings.Contains(address, "@") { // and it is not to be repeated in the error
		return nil, errors.New("want an address without name and password; they are given apart")
	}
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%q: want an address such as https://old-controller.local", address)
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q: want scheme, host and port alone, such as %s://%s; the path is known", address, u.Scheme, u.Host)
	}
	if u.Scheme == "http" && !thisMachine(u.Hostname()) {
		return nil, fmt.Errorf("%q: plain HTTP is for this machine only, since the password would go out in clear; use https://%s", address, u.Host)
	}
	u.Path, u.ForceQuery = "", false
	return u, nil
}

// thisMachine reports whether a host, as it is written, can be this machine. What a name stands for, only dialling tells.
func thisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// loopbackOnly refuses every address but those of this machine, when the name is resolved and before anything is sent.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s is not this machine, and plain HTTP is for it only, since the password would go out in clear; use https://", address)
	}
	return nil
}

// transport is how a controller is reached: over plain HTTP directly, as a proxy would carry it elsewhere.
func transport(scheme string, conf *tls.Config) *http.Transport {
	t := &http.Transport{TLSClientConfig: conf, Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1}
	if scheme == "http" {
		t.Proxy, t.DialContext = nil, (&net.Dialer{Control: loopbackOnly}).DialContext
	}
	return t
}

// client talks to one controller. It can do nothing but log in and read.
type client struct {
	cfg            Config
	base           string
	http           *http.Client
	next           time.Time // no request before
	token, refresh string
}

func newClient(cfg Config) (*client, error) {
	u, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	return &client{
		cfg: cfg, base: u.String() + "/svc/api/", refresh: cfg.Refresh,
		http: &http.Client{
			Transport:     transport(u.Scheme, cfg.TLS),
			Timeout:       cmp.Or(cfg.Timeout, timeoutMost),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// errRefused says that the controller does not know who asks.
var errRefused = errors.New("it does not let this account in")

// authenticate gets a token by the refresh token if there is one, else by the password.
func (c *client) authenticate(ctx context.Context) error {
	if c.refresh != "" {
		var out struct {
			Token string `json:"auth_token"`
		}
		status, body, err := c.send(ctx, http.MethodPost, "refreshToken", map[string]string{"refresh_token": c.refresh})
		if err != nil {
			return fmt.Errorf("renew the token: %w", err)
		}
		if status == http.StatusOK && json.Unmarshal(body, &out) == nil && out.Token != "" {
			c.token = out.Token
			return nil
		}
		if c.cfg.Password == "" {
			return fmt.Errorf("renew the token: %w; log in again", errRefused)
		}
	}
	status, body, err := c.send(ctx, http.MethodPost, "authenticate", map[string]string{"username": c.cfg.Username, "password": c.cfg.Password})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	var out struct {
		Code    any    `json:"responseCode"`
		Token   string `json:"auth_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return fmt.Errorf("log in: it answered %d %s, which is not the Controller 1.0 API", status, c.said(body))
	}
	if fmt.Sprint(out.Code) != "1" || out.Token == "" {
		return fmt.Errorf("log in as %s: %w; are name and password right?", c.cfg.Username, errRefused)
	}
	c.token, c.refresh = out.Token, out.Refresh
	return nil
}

// get reads an endpoint, and logs in once more if the token is over, whatever was said
// of its time.
func (c *client) get(ctx context.Context, endpoint string) ([]byte, error) {
	status, body, err := c.send(ctx, http.MethodGet, endpoint, nil)
	if err == nil && status == http.StatusUnauthorized {
		if err := c.authenticate(ctx); err != nil {
			return nil, err
		}
		status, body, err = c.send(ctx, http.MethodGet, endpoint, nil)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", endpoint, err)
	case status != http.StatusOK && status != http.StatusNoContent:
		return nil, fmt.Errorf("read %s: it answered %d %s", endpoint, status, c.said(body))
	}
	return body, nil
}

// send makes one request, up to three times if the controller fails or is cut off.
func (c *client) send(ctx context.Context, method, endpoint string, body any) (status int, answer []byte, err error) {
	var data []byte
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	for range tries {
		if err := c.wait(ctx); err != nil {
			return 0, nil, err
		}
		status, answer, err = c.once(ctx, method, endpoint, data)
		// These would be so at the next try, too.
		lasting := errors.As(err, new(*trust.Untrusted)) || errors.As(err, new(*intake.TooMuch))
		if ctx.Err() != nil || err == nil && status < 500 || lasting {
			break
		}
	}
	return status, answer, err
}

func (c *client) once(ctx context.Context, method, endpoint string, data []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+endpoint, bytes.NewReader(data))
	if err != nil {
		return 0, nil, err
	}
	if data != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" && method == http.MethodGet {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	most := int64(loginMost)
	if method == http.MethodGet {
		most = listMost
	}
	body, err := intake.All(ctx, res.Body, intake.Limit{What: "its answer", Bytes: most, Advice: "is it the right controller?"})
	return res.StatusCode, body, err
}

// wait keeps the pace.
func (c *client) wait(ctx context.Context) error {
	timer := time.NewTimer(time.Until(c.next))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.next = time.Now().Add(cmp.Or(c.cfg.Pace, paceLeast))
	return nil
}

func clip(b []byte) string {
	const most = 200
	text := strings.TrimSpace(string(b))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// said is the beginning of an answer, for an error. It goes into logs, and to people who do
// not know the password: a server that repeats what it was asked does not get it there.
func (c *client) said(answer []byte) string {
	text := string(answer)
	for _, secret := range []string{c.cfg.Password, c.cfg.Refresh, c.token, c.refresh} {
		if secret == "" {
			continue
		}
		quoted, _ := json.Marshal(secret) // of a string it cannot fail
		for _, form := range []string{strings.Trim(string(quoted), `"`), secret, url.QueryEscape(secret)} {
			text = strings.ReplaceAll(text, form, "…")
		}
	}
	return clip([]byte(text))
}

// Shown looks which controller is at an address, and which certificate it shows. Nothing is
// sent to it: the connection ends when the certificate has come.
func Shown(ctx context.Context, address string) (source, fingerprint string, err error) {
	u, err := parse(address)
	if err != nil {
		return "", "", err
	}
	if source, err = Source(address); err != nil || u.Scheme == "http" {
		return source, "", errors.Join(err, errors.New("it is reached over plain HTTP, and has no certificate"))
	}
	conf, err := trust.Trust{Only: true}.Config(u.Host)
	if err != nil {
		return "", "", err
	}
	conf.ServerName = u.Hostname()
	ctx, done := context.WithTimeout(ctx, timeoutMost)
	defer done()
	conn, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", source)
	var untrusted *trust.Untrusted
	switch {
	case errors.As(err, &untrusted):
		return source, untrusted.Fingerprint, nil
	case err != nil:
		return "", "", fmt.Errorf("ask %s for its certificate: %w", source, err)
	}
	return source, "", errors.Join(fmt.Errorf("%s has shown no certificate", source), conn.Close())
}
