package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"svc.internal/controller/platform"
)

// ProviderConfig says whom to believe about people.
type ProviderConfig struct {
	Issuer string // as it stands in tokens
	// Audience is what a token must be made for; without one, tokens for anything
	// else that the provider serves would be good here.
	Audience string
	// KeysURL is where the provider's keys are; empty: as its discovery document says.
	KeysURL string
	// CreateUsers makes a user of everybody who comes with a good token.
	CreateUsers bool
	// NameClaim holds a user's name; empty: preferred_username.
	NameClaim string
	// RoleClaim holds roles, as text or a list of it; whoever has AdminRole there is an
	// administrator. Empty: the role that is kept here.
	RoleClaim, AdminRole string
	// SignOn lets browsers log in at the provider.
	SignOn SignOnConfig
}

// Users keeps those whom a provider vouches for.
type Users interface {
	UserOfProvider(ctx context.Context, issuer, subject string) (platform.User, error)
	// AddUserOfProvider returns who is there already. [platform.ErrNotFound] means that
	// the name is somebody else's.
	AddUserOfProvider(ctx context.Context, issuer, subject, name string, role platform.Role) (platform.User, error)
	// SetRole changes what a user may do, from the next log-in on.
	SetRole(ctx context.Context, name string, role platform.Role) error
}

// Provider judges the tokens of an identity provider.
type Provider struct {
	cfg      ProviderConfig
	users    Users
	log      *slog.Logger
	verifier *oidc.IDTokenVerifier
	signOn   *signOn // nil: browsers do not log in there
}

// algorithms that a provider may sign with: none whose key is a shared secret.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// NewProvider asks the provider for nothing yet: it need not be there.
func NewProvider(cfg ProviderConfig, users Users, log *slog.Logger) (*Provider, error) {
	return newProvider(cfg, users, log, time.Now)
}

func newProvider(cfg ProviderConfig, users Users, log *slog.Logger, now func() time.Time) (*Provider, error) {
	for name, text := range map[string]string{"OIDC_ISSUER": cfg.Issuer, "OIDC_JWKS_URL": cfg.KeysURL} {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
			return nil, fmt.Errorf("%s is %q; want a URL that begins with https://", name, text)
		}
	}
	switch {
	case cfg.Issuer == "":
		return nil, errors.New("OIDC_ISSUER is empty; it must be as the tokens have it")
	case cfg.Audience == "":
		return nil, errors.New("OIDC_AUDIENCE is not set: tokens that the provider made for other programs would be good here")
	case (cfg.RoleClaim == "") != (cfg.AdminRole == ""):
		return nil, errors.New("OIDC_ROLE_CLAIM and OIDC_ADMIN_ROLE go together")
	}
	if err := cfg.SignOn.check(); err != nil {
		return nil, err
	}
	if cfg.NameClaim == "" {
		cfg.NameClaim = "preferred_username"
	}
	keys := &keySet{cfg: cfg, now: now, log: log, client: &http.Client{Timeout: 10 * time.Second}}
	verifier := func(audience string) *oidc.IDTokenVerifier {
		return oidc.NewVerifier(cfg.Issuer, keys, &oidc.Config{ClientID: audience, SupportedSigningAlgs: algorithms, Now: now})
	}
	p := &Provider{cfg: cfg, users: users, log: log, verifier: verifier(cfg.Audience)}
	if cfg.SignOn.ClientID != "" {
		p.signOn = &signOn{cfg: cfg.SignOn, keys: keys, verifier: verifier(cfg.SignOn.ClientID)}
	}
	return p, nil
}

func (p *Provider) user(ctx context.Context, token string) (platform.User, error) {
	checked, err := p.verifier.Verify(ctx, token)
	if err != nil {
		p.log.Debug("a token of the identity provider was refused", "why", err)
		return platform.User{}, platform.ErrUnauthorized
	}
	return p.known(ctx, checked)
}

// known is whom a token that was checked names, with the role that it gives;
// [platform.ErrUnauthorized] is somebody whom we do not let in.
func (p *Provider) known(ctx context.Context, checked *oidc.IDToken) (platform.User, error) {
	var claims map[string]any
	if err := checked.Claims(&claims); err != nil || checked.Subject == "" {
		return platform.User{}, platform.ErrUnauthorized
	}
	user, err := p.users.UserOfProvider(ctx, p.cfg.Issuer, checked.Subject)
	if errors.Is(err, platform.ErrNotFound) && p.cfg.CreateUsers {
		user, err = p.create(ctx, checked.Subject, claims)
	}
	switch {
	case errors.Is(err, platform.ErrNotFound), errors.Is(err, platform.ErrInvalid), err == nil && user.Disabled:
		return platform.User{}, platform.ErrUnauthorized
	case err != nil:
		return platform.User{}, err
	}
	if p.cfg.RoleClaim != "" {
		user.Role = p.role(claims)
	}
	return user, nil
}

func (p *Provider) create(ctx context.Context, subject string, claims map[string]any) (platform.User, error) {
	name, _ := claims[p.cfg.NameClaim].(string)
	if name == "" {
		name = subject
	}
	user, err := p.users.AddUserOfProvider(ctx, p.cfg.Issuer, subject, name, platform.RoleUser)
	if errors.Is(err, platform.ErrNotFound) { // the name is somebody else's
		user, err = p.users.AddUserOfProvider(ctx, p.cfg.Issuer, subject, name+" ("+subject+")", platform.RoleUser)
	}
	if err == nil {
		p.log.Info("a user came from the identity provider for the first time", "user", user.Name)
	}
	return user, err
}

func (p *Provider) role(claims map[string]any) platform.Role {
	var roles []any
	switch v := claims[p.cfg.RoleClaim].(type) {
	case string:
		roles = []any{v}
	case []any:
		roles = v
	}
	if slices.Contains(roles, any(p.cfg.AdminRole)) {
		return platform.RoleAdmin
	}
	return platform.RoleUser
}
