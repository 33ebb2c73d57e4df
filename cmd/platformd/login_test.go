package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// The row "Login" of our decisions.
func TestLogin(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleAdmin)
		a := h.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`"}`).want(t, 200, "log in")
		expires, err := time.Parse(time.RFC3339, a.str("expiresAt"))
		if life := time.Until(expires); err != nil || life < 14*time.Minute || life > 15*time.Minute {
			t.Errorf("expires in %v: %s", life, a.text)
		}
		if a.str("token") == "" || a.str("refreshToken") == "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %v %s", a.Header, a.text)
		}
		if me := ada.api("GET", "/api/auth/me", "").want(t, 200, "me"); me.str("data.username") != "ada" || me.str("data.role") != "admin" {
			t.Errorf("got %s", me.text)
		}
		wrong := h.ask("POST", "/api/auth/login", `{"username":"ada","password":"wrong password"}`).want(t, 401, "wrong password")
		nobody := h.ask("POST", "/api/auth/login", `{"username":"nobody","password":"wrong password"}`).want(t, 401, "nobody")
		if wrong.text != nobody.text || wrong.str("error") != "Unauthorized" || wrong.member("success") != false {
			t.Errorf("a wrong password is told from a wrong name: %s, %s", wrong.text, nobody.text)
		}
		for _, body := range []string{``, `{`, `[]`, `{}`, `{"username":"ada"}`, `{"username":1,"password":"x"}`} {
			h.ask("POST", "/api/auth/login", body).want(t, 400, body)
		}
		h.ask("POST", "/api/auth/login", `{"username":"a\u0000","password":"x"}`).want(t, 401, "a name that there cannot be")
	})
}

func TestRefreshRotatesAndReuseEndsTheFamily(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		other := h.login("ada")
		refresh := func(token string) answer {
			return h.ask("POST", "/api/auth/refresh", `{"refreshToken":"`+token+`"}`)
		}
		second := refresh(ada.refresh).want(t, 200, "refresh")
		if second.str("refreshToken") == ada.refresh || second.str("token") == "" || second.str("expiresAt") == "" {
			t.Errorf("got %s", second.text)
		}
		third := refresh(second.str("refreshToken")).want(t, 200, "refresh again")
		reused := refresh(ada.refresh).want(t, 401, "use the first one again")
		if reused.str("error") != "Unauthorized" || reused.member("success") != false || reused.str("message") == "" {
			t.Errorf("got %s", reused.text)
		}
		refresh(third.str("refreshToken")).want(t, 401, "the newest of the family")
		h.ask("GET", "/api/auth/me", "", "Authorization: Bearer "+third.str("token")).want(t, 401, "a token of the family")
		other.api("GET", "/api/auth/me", "").want(t, 200, "another session of hers")
		refresh("").want(t, 400, "no token")
		refresh("nonsense").want(t, 401, "nonsense")

		h.ask("POST", "/api/auth/logout", `{"refreshToken":"`+other.refresh+`"}`).want(t, 204, "log out")
		other.api("GET", "/api/auth/me", "").want(t, 401, "after logging out")
		refresh(other.refresh).want(t, 401, "refresh after logging out")
	})
}

func TestADisabledUserStopsAtOnceAndReturns(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		_, one := ada.newKey(`{"name":"one"}`)
		_, two := ada.newKey(`{"name":"two"}`)
		if h.knock(one) != 200 || h.knock(two) != 200 {
			t.Fatal("the keys do not work")
		}
		if err := h.db.SetDisabled(t.Context(), "ada", true); err != nil {
			t.Fatal(err)
		}
		if h.knock(one) != 401 || h.knock(two) != 401 {
			t.Error("keys of a disabled user work")
		}
		ada.api("GET", "/api/api-keys", "").want(t, 401, "the token of a disabled user")
		h.ask("POST", "/api/auth/refresh", `{"refreshToken":"`+ada.refresh+`"}`).want(t, 401, "refresh")
		h.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`"}`).want(t, 401, "log in")
		if err := h.db.SetDisabled(t.Context(), "ada", false); err != nil {
			t.Fatal(err)
		}
		if h.knock(one) != 200 || h.knock(two) != 200 {
			t.Error("keys of a user who was enabled again do not work")
		}
		ada.api("GET", "/api/api-keys", "").want(t, 401, "the old token of a user who was enabled again")
		h.login("ada").api("GET", "/api/api-keys", "").want(t, 200, "a new one")
	})
}

// parts of a token, decoded.
func parts(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	for i, into := range []*map[string]any{&header, &claims} {
		b, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

func TestTokensCanBeCheckedWithThePublishedKeysAndOnlyOursAreGood(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	ada := h.newPerson("ada", platform.RoleUser)
	token := strings.TrimPrefix(ada.bearer, "Authorization: Bearer ")
	header, claims := parts(t, token)
	if header["alg"] != "EdDSA" || header["kid"] == nil {
		t.Fatalf("header %v", header)
	}
	var set struct {
		Keys []struct{ Kid, X, Kty, Crv, Alg string }
	}
	jwks := h.ask("GET", "/.well-known/jwks.json", "").want(t, 200, "keys")
	if err := json.Unmarshal([]byte(jwks.text), &set); err != nil {
		t.Fatal(err)
	}
	var public ed25519.PublicKey
	for _, k := range set.Keys {
		if k.Kid == header["kid"] {
			x, err := base64.RawURLEncoding.DecodeString(k.X)
			if err != nil || k.Kty != "OKP" || k.Crv != "Ed25519" || k.Alg != "EdDSA" {
				t.Fatalf("key %+v", k)
			}
			public = x
		}
	}
	if _, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return public, nil }, jwt.WithValidMethods([]string{"EdDSA"})); err != nil {
		t.Fatalf("with the published key: %v", err)
	}
	if strings.Contains(jwks.text, `"d"`) {
		t.Error("private keys are published")
	}

	_, foreign, _ := ed25519.GenerateKey(nil)
	sign := func(method jwt.SigningMethod, key any, kid any, change func(jwt.MapClaims)) string {
		c := jwt.MapClaims{}
		for k, v := range claims {
			c[k] = v
		}
		if change != nil {
			change(c)
		}
		unsigned := jwt.NewWithClaims(method, c)
		unsigned.Header["kid"] = kid
		text, err := unsigned.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	signature := token[strings.LastIndexByte(token, '.'):]
	unsigned := func(header string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + strings.Split(token, ".")[1]
	}
	for name, bad := range map[string]string{
		"none":                        sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header["kid"], nil),
		"none with a signature":       unsigned(`{"alg":"none"}`) + signature,
		"HS256 with the public key":   sign(jwt.SigningMethodHS256, []byte(public), header["kid"], nil),
		"another's key":               sign(jwt.SigningMethodEdDSA, foreign, header["kid"], nil),
		"an unknown kid":              sign(jwt.SigningMethodEdDSA, foreign, "unknown", nil),
		"no kid":                      unsigned(`{"alg":"EdDSA","typ":"JWT"}`) + signature,
		"signature of something else": token[:strings.LastIndexByte(token, '.')-1] + "A" + signature,
		"cut":                         token[:len(token)-5],
		"no signature":                strings.TrimSuffix(token, signature) + ".",
		"a stranger's issuer":         sign(jwt.SigningMethodEdDSA, foreign, header["kid"], func(c jwt.MapClaims) { c["iss"] = "https://id.example" }),
		"longer than any token":       token + strings.Repeat("A", 9000),
		"not a token at all":          "hello",
		"white space":                 "a b",
	} {
		if bad == token {
			t.Fatalf("%s is the good one", name)
		}
		a := h.ask("GET", "/api/auth/me", "", "Authorization: Bearer "+bad)
		if a.StatusCode != 401 {
			t.Errorf("%s: got %d %s", name, a.StatusCode, a.text)
		}
	}
	ada.api("GET", "/api/auth/me", "").want(t, 200, "the good one")
}

func TestGuessingOneAccountIsBraked(t *testing.T) {
	for range 3 { // the window may end in the midst of it
		tried, braked := guessed(t)
		if tried == 10 && braked == 4 {
			return
		}
		t.Logf("%d passwords were tried and %d refused", tried, braked)
	}
	t.Error("want 10 passwords tried of 14, and 4 refused")
}

// guessed has somebody guess fourteen times at once.
func guessed(t *testing.T) (tried, braked int) {
	t.Helper()
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	h.newPerson("ada", platform.RoleUser)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 14 {
		wg.Go(func() {
			a := h.ask("POST", "/api/auth/login", `{"username":"ada","password":"wrong password"}`)
			mu.Lock()
			defer mu.Unlock()
			switch a.StatusCode {
			case 401:
				tried++
			case 429:
				braked++
				if a.member("limit") != 10.0 || a.member("windowMs") != 300000.0 || a.str("error") != "Rate limit exceeded" || a.Header.Get("Retry-After") == "" {
					t.Errorf("got %v %s", a.Header, a.text)
				}
			default:
				t.Errorf("status %d", a.StatusCode)
			}
		})
	}
	wg.Wait()
	return tried, braked
}
