package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// fetchPause is the least time between two fetches of a provider's keys, whatever
	// tokens are sent.
	fetchPause = 30 * time.Second
	// keysLife is how long keys are believed without asking again, so that one which
	// the provider has withdrawn goes here too.
	keysLife = time.Hour
	// documentMost bytes of what a provider answers are read.
	documentMost = 1 << 20
)

// keySet holds a provider's keys. It implements oidc.KeySet, whose own fetches anew
// for each bad token.
type keySet struct {
	cfg    ProviderConfig
	now    func() time.Time
	log    *slog.Logger
	client *http.Client

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time     // when keys were taken over
	tried    time.Time     // when they were asked for
	fetching chan struct{} // closed when the last fetch has ended
}

// VerifySignature returns what stands in a token that one of the keys signed.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	allowed := make([]jose.SignatureAlgorithm, len(algorithms))
	for i, a := range algorithms {
		allowed[i] = jose.SignatureAlgorithm(a)
	}
	jws, err := jose.ParseSigned(token, allowed)
	if err != nil {
		return nil, err
	}
	if len(jws.Signatures) != 1 {
		return nil, fmt.Errorf("token has %d signatures, want one", len(jws.Signatures))
	}
	header := jws.Signatures[0].Header
	for _, key := range s.find(ctx, header.KeyID) {
		if key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := jws.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, fmt.Errorf("no key of the provider's signed it (kid %q)", header.KeyID)
}

// find returns the keys with this ID, all if a token names none. Only tokens with an
// unknown one wait for the provider.
func (s *keySet) find(ctx context.Context, id string) []jose.JSONWebKey {
	s.mu.Lock()
	found := s.with(id)
	if now := s.now(); (len(found) == 0 || now.Sub(s.fetched) >= keysLife) && now.Sub(s.tried) >= fetchPause {
		s.tried, s.fetching = now, make(chan struct{})
		go s.fetch(context.WithoutCancel(ctx), s.fetching) // ends with the client's timeouts
	}
	fetching := s.fetching
	s.mu.Unlock()
	if len(found) > 0 || fetching == nil {
		return found
	}
	select {
	case <-fetching:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.with(id)
}

func (s *keySet) with(id string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, k := range s.keys {
		if id == "" || k.KeyID == id {
			found = append(found, k)
		}
	}
	return found
}

// fetch takes the provider's keys over.
func (s *keySet) fetch(ctx context.Context, done chan struct{}) {
	defer close(done)
	keys, err := s.ask(ctx)
	if err != nil {
		s.log.Warn("fetch the keys of the identity provider", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.fetched = keys, s.now()
}

func (s *keySet) ask(ctx context.Context) ([]jose.JSONWebKey, error) {
	url := s.cfg.KeysURL
	if url == "" {
		d, err := s.discover(ctx)
		if err != nil {
			return nil, err
		}
		if d.Keys == "" {
			return nil, errors.New("the discovery document names no jwks_uri")
		}
		url = d.Keys
	}
	var set jose.JSONWebKeySet
	if err := s.get(ctx, url, &set); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, k := range set.Keys {
		if k.IsPublic() && k.Valid() && (k.Use == "" || k.Use == "sig") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New(url + " has no keys that sign")
	}
	return keys, nil
}

// document is what a provider says of itself (OpenID Connect Discovery 1.0, section 3).
type document struct {
	Issuer        string   `json:"issuer"`
	Keys          string   `json:"jwks_uri"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
}

func (s *keySet) discover(ctx context.Context) (d document, err error) {
	if err := s.get(ctx, strings.TrimSuffix(s.cfg.Issuer, "/")+"/.well-known/openid-configuration", &d); err != nil {
		return d, err
	}
	if d.Issuer != s.cfg.Issuer {
		return d, fmt.Errorf("discovery document is of issuer %q; want issuer %q as in OIDC_ISSUER", d.Issuer, s.cfg.Issuer)
	}
	return d, nil
}

func (s *keySet) get(ctx context.Context, url string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %s", url, answer.Status)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, documentMost)).Decode(into); err != nil {
		return fmt.Errorf("get %s: %w", url, err)
	}
	return nil
}
