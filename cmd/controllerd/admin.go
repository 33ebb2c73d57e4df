package main

import (
	"context"
	"path/filepath"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/network"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
	"svc.internal/controller/store/past"
)

// newAdmin makes the door /api/v1. Its tokens have an audience of their own, so that
// neither API takes the other's.
func (d *daemon) newAdmin(ctx context.Context, tokenLife time.Duration, shown api.TLS, within api.Within, system api.System, brake *web.Brake, clock web.Clock) (*api.API, error) {
	secret, err := d.db.Secret(ctx, "token-secret", randomSecret)
	if err != nil {
		return nil, err
	}
	tokens, err := bearer.New(secret, "internal", tokenLife, d.db, clock)
	if err != nil {
		return nil, err
	}
	return api.New(api.Config{
		Core: d.core, Jobs: d.core, Accounts: d.db, Keeper: d.db, Editor: d.db, Auditor: d.db, History: whatWas{d.past, d.db}, Rules: d.rules, Tokens: tokens, Brake: brake, Houses: operations.Houses{Store: d.db, DataDir: d.dataDir},
		Claim: api.NewClaim(d.dataDir), Version: version, TLS: shown, Within: within, Backups: backups{d, d.nightly.offsite}, SiteFiles: operations.SiteFiles{DB: d.db, DataDir: d.dataDir}, Profiles: profilesHere, Log: d.log, System: system,
	}), nil
}

// whatWas is the past of things, and the ledger's.
type whatWas struct {
	*past.Recorder
	ledger *store.Store
}

func (w whatWas) Entries(ctx context.Context, limit int, before string) ([]appliance.Entry, error) {
	return w.ledger.Entries(ctx, limit, before)
}

// systemBelow is the system of an appliance that tells of itself in dir; empty: the
// system is somebody else's.
func systemBelow(dir, dataDir string, fetchLocal bool) api.System {
	if dir == "" {
		return api.System{}
	}
	return api.System{
		Inbox: filepath.Join(dataDir, "update", "upload.raucb"), StatusFile: filepath.Join(dir, "told"), FetchLocal: fetchLocal,
		Network: network.Box{Inbox: filepath.Join(dataDir, "network"), Told: filepath.Join(dir, "network")},
	}
}

// claimable opens the claim while there is no user, and voids it when there is one.
func (d *daemon) claimable() {
	if len(d.db.Users()) > 0 {
		if err := d.admin.Claim.Close(); err != nil {
			d.log.Error("the claim code is void, but its file is still there", "why", err)
		}
		return
	}
	code, err := d.admin.Claim.Open()
	if err != nil {
		d.log.Error("nobody can log in yet, and no claim code can be made; make a user with: controllerd user add NAME --role admin", "why", err)
		return
	}
	if len(d.db.Keys()) > 0 { // programs have the controller in use already
		d.log.Info("there is no user yet, only API keys; the claim code makes one in a browser", "code", code, "fingerprint", d.cert.Fingerprint())
		return
	}
	d.log.Warn("nobody can log in yet; open this controller's address in a browser and give the claim code, or make a user with: controllerd user add NAME --role admin",
		"code", code, "fingerprint", d.cert.Fingerprint())
}

// profilesHere are the built-in profiles as /api/v1 tells them.
func profilesHere() (list []api.Profile) {
	for _, p := range drivers.Profiles() {
		list = append(list, api.Profile(p))
	}
	return list
}
