package bearer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// people are accounts in memory.
type people struct {
	mu    sync.Mutex
	users map[string]account.User
	keys  map[string]account.Key
}

func newPeople(names ...string) *people {
	p := &people{users: map[string]account.User{}, keys: map[string]account.Key{}}
	for _, n := range names {
		p.users[n] = account.User{Name: n, UUID: appliance.NewUUID(), Role: account.RoleOperator, Revision: 3}
	}
	return p
}

func (p *people) User(name string) (account.User, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, ok := p.users[name]
	return u, ok
}

func (p *people) KeyOf(secret string) (account.Key, bool) {
	k, ok := p.keys[secret]
	return k, ok
}

// hands is a clock that a test moves.
type hands struct{ wall, mono atomic.Int64 }

func newHands() *hands {
	h := &hands{}
	h.wall.Store(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).UnixNano())
	return h
}

func (h *hands) clock() web.Clock {
	return web.Clock{
		Wall: func() time.Time { return time.Unix(0, h.wall.Load()) },
		Mono: func() time.Duration { return time.Duration(h.mono.Load()) },
	}
}

var testSecret = []byte("0123456789abcdef0123456789abcdef")

func newTokens(t testing.TB, p *people, h *hands) *Tokens {
	t.Helper()
	tokens, err := New(testSecret, "", time.Hour, p, h.clock())
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func issue(t testing.TB, tokens *Tokens, p *people, name string) string {
	t.Helper()
	u, _ := p.User(name)
	token, _, err := tokens.Issue(u)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenOfAnEarlierProcess(t *testing.T) {
	for _, c := range []struct {
		name string
		wall time.Duration // between issue and the new process's first look
		ok   bool
	}{
		{"is good within its hour by wall time", 59 * time.Minute, true},
		{"ends with its hour", time.Hour, false},
		{"is void long after", 1000 * time.Hour, false},
		{"is good if the clock went back by seconds", -30 * time.Second, true},
		{"is void if the clock went back to where its age cannot be told", -50 * 365 * 24 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, h := newPeople("anna"), newHands()
			h.mono.Store(int64(500 * time.Hour)) // another monotonic clock than the next process has
			token := issue(t, newTokens(t, p, h), p, "anna")
			h.wall.Add(int64(c.wall))
			h.mono.Store(0)
			if _, ok := newTokens(t, p, h).Caller(token); ok != c.ok {
				t.Errorf("got %v, want %v", ok, c.ok)
			}
		})
	}
	t.Run("is not prolonged by a clock that jumps back after the first look", func(t *testing.T) {
		p, h := newPeople("anna"), newHands()
		token := issue(t, newTokens(t, p, h), p, "anna")
		next := newTokens(t, p, h)
		h.wall.Add(int64(30 * time.Minute))
		if _, ok := next.Caller(token); !ok {
			t.Fatal("refused within its hour")
		}
		h.wall.Add(int64(-29 * time.Minute))
		h.mono.Add(int64(30 * time.Minute))
		if _, ok := next.Caller(token); ok {
			t.Error("good for more than an hour")
		}
	})
}

func TestTokenForgeriesAreRefused(t *testing.T) {
	p, h := newPeople("anna"), newHands()
	tokens := newTokens(t, p, h)
	good := issue(t, tokens, p, "anna")
	parts := strings.Split(good, ".")
	sign := func(header, payload string, secret []byte) string {
		b := base64.RawURLEncoding
		head := b.EncodeToString([]byte(header)) + "." + b.EncodeToString([]byte(payload))
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(head))
		return head + "." + b.EncodeToString(m.Sum(nil))
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tokens.Caller(sign(`{"alg":"HS256"}`, string(payload), testSecret)); !ok {
		t.Fatal("the test cannot sign; what follows would prove nothing")
	}
	var cl map[string]any
	if err := json.Unmarshal(payload, &cl); err != nil {
		t.Fatal(err)
	}
	without := func(key string) string {
		m := map[string]any{}
		for k, v := range cl {
			if k != key {
				m[k] = v
			}
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
	for name, token := range map[string]string{
		"empty":                  "",
		"foreign secret":         sign(`{"alg":"HS256"}`, string(payload), []byte(strings.Repeat("x", 32))),
		"alg none":               base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"alg none, signed":       sign(`{"alg":"none"}`, string(payload), testSecret),
		"alg HS512":              sign(`{"alg":"HS512"}`, string(payload), testSecret),
		"no subject":             sign(`{"alg":"HS256"}`, without("sub"), testSecret),
		"no expiry":              sign(`{"alg":"HS256"}`, without("exp"), testSecret),
		"no issue":               sign(`{"alg":"HS256"}`, without("iat"), testSecret),
		"no uuid":                sign(`{"alg":"HS256"}`, without("uid"), testSecret),
		"no revision":            sign(`{"alg":"HS256"}`, without("rev"), testSecret),
		"no process and expired": sign(`{"alg":"HS256"}`, strings.Replace(without("bid"), `"exp":`, `"exp":1,"old":`, 1), testSecret),
		"payload not JSON":       sign(`{"alg":"HS256"}`, "x", testSecret),
		"trailing part":          good + ".x",
		"trailing newline":       good + "\n",
		"too long":               good + strings.Repeat("A", longestToken),
		"another user's name":    sign(`{"alg":"HS256"}`, strings.Replace(string(payload), `"anna"`, `"bert"`, 1), testSecret),
	} {
		if who, ok := tokens.Caller(token); ok {
			t.Errorf("%s: let in as %+v", name, who)
		}
	}
}

func TestTokenCacheIsBoundedAndGoesOnWorking(t *testing.T) {
	p, h := newPeople("anna"), newHands()
	tokens := newTokens(t, p, h)
	var all []string
	for range cachedTokens + 200 {
		h.mono.Add(1) // another token each time
		all = append(all, issue(t, tokens, p, "anna"))
	}
	for _, token := range all {
		if _, ok := tokens.Caller(token); !ok {
			t.Fatal("a good token was refused")
		}
	}
	if n := len(*tokens.verified.Load()); n > cachedTokens {
		t.Errorf("%d tokens are kept, want at most %d", n, cachedTokens)
	}
	for i := range 500 {
		tokens.Caller(fmt.Sprintf("a.b.%d", i))
	}
	for _, token := range all {
		if _, ok := tokens.Caller(token); !ok {
			t.Fatal("a good token was refused the second time")
		}
	}
}

func TestTokenOfAVerifiedUserCostsNoSignatureCheck(t *testing.T) {
	p, h := newPeople("anna"), newHands()
	tokens := newTokens(t, p, h)
	token := issue(t, tokens, p, "anna")
	tokens.Caller(token)
	if n := testing.AllocsPerRun(100, func() { tokens.Caller(token) }); n > 0 {
		t.Errorf("a known token costs %v allocations, want none", n)
	}
}

// Two tokens may have the same hash.
func TestTokenWithTheHashOfAnotherIsItsOwn(t *testing.T) {
	p, h := newPeople("anna", "bert"), newHands()
	tokens := newTokens(t, p, h)
	anna, bert := issue(t, tokens, p, "anna"), issue(t, tokens, p, "bert")
	tokens.Caller(bert)
	known := *tokens.verified.Load()
	known[maphash.String(tokens.seed, anna)] = known[maphash.String(tokens.seed, bert)]
	for range 2 {
		if who, ok := tokens.Caller(anna); !ok || who.Name != "anna" {
			t.Errorf("anna's token is that of %+v", who)
		}
	}
}

func TestTokenSecretsAndLifetimesThatAreTooSmallAreRefused(t *testing.T) {
	if _, err := New([]byte("short"), "", time.Hour, newPeople(), web.SystemClock()); err == nil {
		t.Error("a short secret was accepted")
	}
	if _, err := New(testSecret, "", 0, newPeople(), web.SystemClock()); err == nil {
		t.Error("no lifetime was accepted")
	}
}

func FuzzToken(f *testing.F) {
	p, h := newPeople("anna"), newHands()
	tokens := newTokens(f, p, h)
	good := issue(f, tokens, p, "anna")
	f.Add(good)
	f.Add(good[:len(good)-2])
	f.Add("ctl_" + strings.Repeat("a", 64))
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		if who, ok := tokens.Caller(token); ok && token != good {
			t.Fatalf("%q was let in as %+v", token, who)
		}
	})
}

func BenchmarkKnownToken(b *testing.B) {
	p, h := newPeople("anna"), newHands()
	tokens := newTokens(b, p, h)
	token := issue(b, tokens, p, "anna")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := tokens.Caller(token); !ok {
			b.Fatal("refused")
		}
	}
}

func TestTokenOfOneDoorIsNoGoodAtAnother(t *testing.T) {
	p, h := newPeople("anna"), newHands()
	public := newTokens(t, p, h)
	admin, err := New(testSecret, "admin", time.Hour, p, h.clock())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		issued, shown *Tokens
		ok            bool
	}{
		{"public at public", public, public, true}, {"admin at admin", admin, admin, true},
		{"public at admin", public, admin, false}, {"admin at public", admin, public, false},
	} {
		if _, ok := c.shown.Caller(issue(t, c.issued, p, "anna")); ok != c.ok {
			t.Errorf("%s: let in: %v, want %v", c.name, ok, c.ok)
		}
	}
}
