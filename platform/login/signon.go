package login

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/labstack/echo/v4"
	"golang.org/x/oauth2"

	"svc.internal/controller/platform"
)

// SignOnConfig says as whom the platform speaks to the provider when browsers log in there.
type SignOnConfig struct {
	ClientID string // empty: browsers do not log in there
	// Secret of the client; empty for a public one, which PKCE alone protects.
	Secret string
	// RedirectURL is where the provider sends browsers back: the platform's own address, with
	// [CallbackPath].
	RedirectURL string
}

func (c SignOnConfig) check() error {
	if c.ClientID == "" {
		if c.RedirectURL != "" || c.Secret != "" {
			return errors.New("OIDC_CLIENT_ID is not set: it goes with OIDC_REDIRECT_URL and OIDC_CLIENT_SECRET")
		}
		return nil
	}
	u, err := url.Parse(c.RedirectURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) || u.Path != CallbackPath || u.RawQuery != "" {
		return fmt.Errorf("OIDC_REDIRECT_URL is %q; want the platform's own address, such as https://platform.example%s", c.RedirectURL, CallbackPath)
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// signOn is the code flow of OpenID Connect with PKCE (RFC 7636), for browsers.
type signOn struct {
	cfg      SignOnConfig
	keys     *keySet
	verifier *oidc.IDTokenVerifier // of tokens for this client
}

// client is how to speak to the provider, as its discovery document says now.
func (s *signOn) client(ctx context.Context) (*oauth2.Config, error) {
	d, err := s.keys.discover(ctx)
	if err != nil {
		return nil, err
	}
	if d.Authorization == "" || d.Token == "" {
		return nil, errors.New("the discovery document names no authorization_endpoint or no token_endpoint")
	}
	style := oauth2.AuthStyleInHeader // what no list of methods means
	if s.cfg.Secret == "" || len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: s.cfg.ClientID, ClientSecret: s.cfg.Secret, RedirectURL: s.cfg.RedirectURL, Scopes: []string{oidc.ScopeOpenID, "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: d.Authorization, TokenURL: d.Token, AuthStyle: style},
	}, nil
}

// flow is what one browser keeps between leaving for the provider and coming back.
type flow struct{ state, nonce, verifier, to string }

const (
	// flowCookie holds a flow. It is sent when another site leads back here, so it is Lax; the
	// session itself is Strict.
	flowCookie = "__Host-plat-signon"
	flowLife   = 600 // seconds that somebody has at the provider
	toMost     = 512 // bytes of a path to go on at
)

func (f flow) cookie() *http.Cookie {
	value := strings.Join([]string{f.state, f.nonce, f.verifier, base64.RawURLEncoding.EncodeToString([]byte(f.to))}, ".")
	return &http.Cookie{Name: flowCookie, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: flowLife}
}

func flowOf(r *http.Request) (flow, bool) {
	c, err := r.Cookie(flowCookie)
	if err != nil {
		return flow{}, false
	}
	parts := strings.Split(c.Value, ".")
	if len(parts) != 4 || slices.Contains(parts[:3], "") {
		return flow{}, false
	}
	to, err := base64.RawURLEncoding.DecodeString(parts[3])
	return flow{parts[0], parts[1], parts[2], string(to)}, err == nil
}

// ways tells the log-in page how one may log in.
func (r *Room) ways(c echo.Context) error {
	return send(c, map[string]any{"success": true, "data": map[string]bool{"signOn": r.tokens.signOn() != nil}})
}

// What the log-in page is told in its address of how a sign-on ended.
const (
	signedOn = "done"
	failed   = "failed"  // it did not work; the log says why
	refused  = "refused" // at the provider
	unknown  = "unknown" // the provider knows them, we do not
)

// leadBack sends a browser to the log-in page. Nothing secret is in the address.
func leadBack(c echo.Context, how, to string) error {
	q := url.Values{"signon": {how}}
	if to != "" {
		q.Set("to", to)
	}
	return sendTo(c, "/login?"+q.Encode())
}

func sendTo(c echo.Context, to string) error {
	h := c.Response().Header()
	h["Cache-Control"] = []string{"no-store"}
	h.Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, to)
}

// begin sends a browser to the provider.
func (r *Room) begin(c echo.Context) error {
	f := flow{state: randomText(), nonce: randomText(), verifier: oauth2.GenerateVerifier(), to: c.QueryParam("to")}
	if len(f.to) > toMost {
		f.to = ""
	}
	client, err := r.tokens.signOn().client(c.Request().Context())
	if err != nil {
		r.tokens.provider.log.Warn("nobody can log in at the identity provider", "why", err)
		return leadBack(c, failed, f.to)
	}
	c.SetCookie(f.cookie())
	return sendTo(c, client.AuthCodeURL(f.state, oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)))
}

// callback takes a browser that comes back from the provider, and logs in who it says it is.
func (r *Room) callback(c echo.Context) error {
	f, ok := flowOf(c.Request())
	gone := flow{}.cookie()
	gone.Value, gone.MaxAge = "", -1
	c.SetCookie(gone)
	log, provider := r.tokens.provider.log, r.tokens.provider
	if !ok || subtle.ConstantTimeCompare([]byte(c.QueryParam("state")), []byte(f.state)) != 1 {
		log.Debug("somebody came from the identity provider who was not sent there")
		return leadBack(c, failed, "")
	}
	if c.QueryParam("error") == "access_denied" {
		return leadBack(c, refused, f.to)
	}
	user, err := provider.signedOn(c.Request().Context(), f, c.QueryParams())
	if errors.Is(err, platform.ErrUnauthorized) {
		return leadBack(c, unknown, f.to)
	}
	if err != nil {
		log.Warn("a log-in at the identity provider failed", "why", err)
		return leadBack(c, failed, f.to)
	}
	session := randomText()
	if _, err := r.store.StartSession(c.Request().Context(), user, hash(session)); errors.Is(err, platform.ErrUnauthorized) {
		return leadBack(c, unknown, f.to)
	} else if err != nil {
		return err
	}
	setCookie(c, session)
	return leadBack(c, signedOn, f.to)
}

// signedOn exchanges the code that a browser brought, and says who that is;
// [platform.ErrUnauthorized] is somebody whom we do not let in.
func (p *Provider) signedOn(ctx context.Context, f flow, q url.Values) (platform.User, error) {
	if from := q.Get("iss"); from != "" && from != p.cfg.Issuer { // RFC 9207
		return platform.User{}, fmt.Errorf("the answer is of issuer %q", from)
	}
	if q.Get("error") != "" || q.Get("code") == "" {
		return platform.User{}, fmt.Errorf("the provider says %q", q.Get("error"))
	}
	client, err := p.signOn.client(ctx)
	if err != nil {
		return platform.User{}, err
	}
	got, err := client.Exchange(oidc.ClientContext(ctx, p.signOn.keys.client), q.Get("code"), oauth2.VerifierOption(f.verifier))
	if err != nil {
		return platform.User{}, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := got.Extra("id_token").(string)
	token, err := p.signOn.verifier.Verify(ctx, raw)
	if err != nil {
		return platform.User{}, fmt.Errorf("check the token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.nonce)) != 1 {
		return platform.User{}, errors.New("the token is of another log-in: its nonce differs")
	}
	user, err := p.known(ctx, token)
	if err != nil {
		return platform.User{}, err
	}
	return p.keepRole(ctx, token.Subject, user)
}

// keepRole writes down the role that the provider gives, for as long as the session lasts.
func (p *Provider) keepRole(ctx context.Context, subject string, user platform.User) (platform.User, error) {
	if p.cfg.RoleClaim == "" {
		return user, nil
	}
	if err := p.users.SetRole(ctx, user.Name, user.Role); err != nil {
		return platform.User{}, err
	}
	return p.users.UserOfProvider(ctx, p.cfg.Issuer, subject)
}
