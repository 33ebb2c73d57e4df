package main

import (
	"fmt"
	"log/slog"
	"os"

	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/store"
)

// identityProvider reads from the environment whom to believe about people besides our
// own login: nobody, if OIDC_ISSUER is not set.
func identityProvider(db *store.Store, log *slog.Logger) (*login.Provider, error) {
	cfg := login.ProviderConfig{
		Issuer: os.Getenv("OIDC_ISSUER"), Audience: os.Getenv("OIDC_AUDIENCE"), KeysURL: os.Getenv("OIDC_JWKS_URL"),
		NameClaim: os.Getenv("OIDC_NAME_CLAIM"), RoleClaim: os.Getenv("OIDC_ROLE_CLAIM"), AdminRole: os.Getenv("OIDC_ADMIN_ROLE"),
	}
	switch create := os.Getenv("OIDC_CREATE_USERS"); create {
	case "", "false", "0":
	case "true", "1":
		cfg.CreateUsers = true
	default:
		return nil, fmt.Errorf("OIDC_CREATE_USERS is %q; want true or false", create)
	}
	if cfg.Issuer == "" {
		return nil, nil
	}
	return login.NewProvider(cfg, db, log)
}
