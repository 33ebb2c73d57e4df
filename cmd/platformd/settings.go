package main

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/shelf/cli"
)

// databaseURL names the variable with the PostgreSQL database to use instead of SQLite.
const databaseURL = "DATABASE_URL"

// settings are the same for all instances, and may have passwords in them: they come
// from the environment.
type settings struct {
	databaseURL string
	redisURL    string
	provider    login.ProviderConfig // without an issuer: none
	model       model.Model          // nil: none
	price       assistant.Price
	voice       voiceSettings
	rooms       conferencingSettings
	mqtt        brokerSettings
	tunnel      string // domain of host names that stand for controllers; empty: there is no tunnel
}

// domainName is one in lower case, of at least two labels: a certificate for *.example is no good.
var domainName = regexp.MustCompile(`^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$`)

func readSettings(getenv func(string) string) (settings, error) {
	s := settings{
		databaseURL: getenv(databaseURL),
		redisURL:    getenv("REDIS_URL"),
		provider: login.ProviderConfig{
			Issuer: getenv("OIDC_ISSUER"), Audience: getenv("OIDC_AUDIENCE"), KeysURL: getenv("OIDC_JWKS_URL"),
			NameClaim: getenv("OIDC_NAME_CLAIM"), RoleClaim: getenv("OIDC_ROLE_CLAIM"), AdminRole: getenv("OIDC_ADMIN_ROLE"),
			SignOn: login.SignOnConfig{ClientID: getenv("OIDC_CLIENT_ID"), Secret: getenv("OIDC_CLIENT_SECRET"), RedirectURL: getenv("OIDC_REDIRECT_URL")},
		},
	}
	var err error
	if err = checkDatabaseURL(s.databaseURL); err != nil {
		return settings{}, err
	}
	if err = checkAddress("REDIS_URL", s.redisURL, "redis://:password@host:6379", "redis", "rediss", "unix"); err != nil {
		return settings{}, err
	}
	if s.model, err = readModel(getenv); err != nil {
		return settings{}, err
	}
	if s.price, err = readPrice(getenv); err != nil {
		return settings{}, err
	}
	if s.rooms, err = readConferencingSettings(getenv); err != nil {
		return settings{}, err
	}
	if s.voice, err = readVoiceSettings(getenv); err != nil {
		return settings{}, err
	}
	if s.mqtt, err = readBrokerSettings(getenv); err != nil {
		return settings{}, err
	}
	if s.tunnel = getenv("TUNNEL_DOMAIN"); s.tunnel != "" && !domainName.MatchString(s.tunnel) {
		return settings{}, cli.Usage(fmt.Errorf("TUNNEL_DOMAIN is %q; want the domain that controllers' host names end with, such as tunnel.platform.example", s.tunnel))
	}
	if s.provider.Issuer == "" && s.provider.SignOn.ClientID != "" {
		return settings{}, cli.Usage(errors.New("OIDC_CLIENT_ID is set without OIDC_ISSUER; name the identity provider"))
	}
	switch create := getenv("OIDC_CREATE_USERS"); create {
	case "", "false", "0":
	case "true", "1":
		s.provider.CreateUsers = true
	default:
		return settings{}, fmt.Errorf("OIDC_CREATE_USERS is %q; want true or false", create)
	}
	return s, nil
}

// checkDatabaseURL lets through what the driver takes besides, host=… user=….
func checkDatabaseURL(text string) error {
	if !strings.Contains(text, "://") && strings.Contains(text, "=") {
		return nil
	}
	return checkAddress(databaseURL, text, "postgres://user:password@host/database", "postgres", "postgresql")
}

// checkAddress refuses a variable that is set to something else than an address with one of these schemes. What it says
// has no password in it.
func checkAddress(name, text, want string, schemes ...string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s cannot be read as an address; want one such as %s, with the special characters of a password percent-encoded", name, want))
	}
	if slices.Contains(schemes, u.Scheme) {
		return nil
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	given := u.String()
	if at := strings.LastIndexByte(given, '@'); at >= 0 { // user:password@host, without a scheme
		given = "…" + given[at:]
	}
	return cli.Usage(fmt.Errorf("%s is %q; want an address such as %s", name, given, want))
}
