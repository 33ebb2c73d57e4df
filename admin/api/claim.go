package api

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// ClaimFile holds the code, in the data directory, readable by its owner only.
const ClaimFile = "claim-code"

// Claim is the one-time code with which the first user of a controller is made. It
// exists while there is no user.
type Claim struct {
	path string

	mu   sync.Mutex
	code string // empty: there is nothing to claim
}

// NewClaim is the claim of a data directory.
func NewClaim(dataDir string) *Claim { return &Claim{path: filepath.Join(dataDir, ClaimFile)} }

// codeAlphabet leaves out what is easily taken for something else.
const codeAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// Open makes a code, unless there is one, and returns it. It is the one in the file
// if that is one: a restart does not void what somebody has written down.
func (c *Claim) Open() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code != "" {
		return c.code, nil
	}
	if old, err := os.ReadFile(c.path); err == nil && isCode(strings.TrimSpace(string(old))) {
		c.code = strings.TrimSpace(string(old))
		return c.code, nil
	}
	random := make([]byte, 12)
	rand.Read(random) // never fails, see crypto/rand
	var b strings.Builder
	for i, v := range random {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(codeAlphabet[v%32])
	}
	if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("make a claim code: %w", err)
	}
	if err := os.WriteFile(c.path, []byte(b.String()+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("make a claim code: %w", err)
	}
	c.code = b.String()
	return c.code, nil
}

func isCode(s string) bool {
	if len(s) != 14 || s[4] != '-' || s[9] != '-' {
		return false
	}
	return strings.Trim(strings.ReplaceAll(s, "-", ""), codeAlphabet) == ""
}

// Close voids the code: there is a user.
func (c *Claim) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = ""
	if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the claim code: %w", err)
	}
	return nil
}

// is reports whether that is the code; how people type it does not matter.
func (c *Claim) is(said string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	plain := func(s string) []byte {
		return []byte(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s)))
	}
	return c.code != "" && subtle.ConstantTimeCompare(plain(c.code), plain(said)) == 1
}

func (c *Claim) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code != ""
}

// ClaimState says whether a controller is still to be claimed.
type ClaimState struct {
	Claimed     bool   `json:"claimed"`
	Site        string `json:"site" doc:"Name of the site."`
	Fingerprint string `json:"fingerprint" doc:"Of the certificate (SHA-256), to compare with the one in the log."`
	Version     string `json:"version"`
	LoggedIn    bool   `json:"loggedIn" doc:"Whether this request came from somebody who is logged in: a page need not try."`
}

func (a *API) claimState(c echo.Context) error {
	_, err := a.caller(c)
	return answer(c, http.StatusOK, ClaimState{
		Claimed: !a.Claim.open(), Site: a.Core.Snapshot().Site.Name, Fingerprint: a.TLS.Fingerprint(), Version: a.Version, LoggedIn: err == nil,
	})
}

// ClaimRequest makes the first user, an admin.
type ClaimRequest struct {
	Code     string `json:"code" doc:"From the log, the console, or the file claim-code in the data directory."`
	Username string `json:"username"`
	Password string `json:"password" doc:"At least 10 characters."`
	Browser  bool   `json:"browser,omitempty" doc:"As at login."`
}

var (
	errClaimed    = refuse(http.StatusConflict, "this controller has been claimed; log in")
	errNotTheCode = &refusal{status: http.StatusForbidden, detail: "this is not the claim code", fields: []FieldError{{"/code", "is not the claim code"}}}
)

// claim makes the first user, and logs them in.
func (a *API) claim(c echo.Context) error {
	var in ClaimRequest
	if err := read(c, &in); err != nil {
		return err
	}
	if err := sameOrigin(c.Request()); err != nil {
		return err
	}
	if !a.Claim.open() {
		return errClaimed
	}
	attempt, wait := a.Brake.Begin("claim code", web.Peer(c.Request()))
	if wait > 0 {
		return tooMany(wait)
	}
	if err := attempt.Delay(c.Request().Context()); err != nil {
		return err
	}
	a.accountsMu.Lock() // two who have the code make one user
	defer a.accountsMu.Unlock()
	if !a.Claim.open() { // since a moment ago
		attempt.Void()
		return errClaimed
	}
	if !a.Claim.is(in.Code) {
		a.Log.Warn("claim failed: wrong code", "peer", web.Peer(c.Request()).String())
		return errNotTheCode
	}
	attempt.Succeeded()
	if len(a.Accounts.Users()) > 0 {
		return errClaimed
	}
	user, err := a.Accounts.AddUser(c.Request().Context(), in.Username, in.Password, account.RoleAdmin)
	if err != nil {
		return unusableAccount(err)
	}
	if err := a.Claim.Close(); err != nil {
		a.Log.Error("the claim code is void, but its file is still there", "why", err)
	}
	c.Set(callerKey, caller{name: user.Name, role: user.Role, from: c.RealIP()})
	a.auditAccount(c, "user.create", "user "+user.Name, map[string]string{"role": string(user.Role), "by": "claim code"})
	a.Log.Info("claimed", "user", user.Name, "peer", web.Peer(c.Request()).String())
	return a.begin(c, user, in.Browser)
}
