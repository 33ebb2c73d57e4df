package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

func loginRows() []row {
	return []row{
		{"authenticate", "a right password: responseCode 1, auth_token, refresh_token, tokenExpiresOn", Contract, (*run).logIn},
		{"authenticate.lifetime", "an access token lasts 3600 s by default", Contract, (*run).lifetime},
		{"authenticate.wrong", "a wrong password: responseCode 0, errorCode AuthFailed", Contract, func(r *run) error {
			return r.authFails(r.cfg.Username, r.cfg.Password+"-not")
		}},
		{"authenticate.unknown", "an unknown user is answered like a wrong password, with 200", Ours, func(r *run) error {
			return r.authFails("nobody-of-this-name", "nothing")
		}},
		{"authenticate.malformed", "a body that is no JSON: 400, status 0 and a message", Ours, func(r *run) error {
			return r.refused(http.MethodPost, "authenticate", "{", http.StatusBadRequest)
		}},
		{"refreshToken", "status true, message, and an auth_token that is good", Contract, (*run).refreshes},
		{"refreshToken.again", "using a refresh token does not end it", Ours, (*run).refreshes},
		{"refreshToken.wrong", "401, status false, Token invalid or expired", Ours, (*run).refreshFails},
	}
}

func (r *run) logIn() error {
	a, err := r.send(http.MethodPost, "authenticate", "", map[string]string{"username": r.cfg.Username, "password": r.cfg.Password})
	if err != nil {
		return err
	}
	o, err := a.object()
	if err != nil {
		return err
	}
	if a.status != http.StatusOK || o.integer("responseCode") != 1 {
		return fmt.Errorf("got %s, want responseCode 1", a)
	}
	r.token, r.refresh = o.text("auth_token"), o.text("refresh_token")
	r.lists["authenticate"] = listing{records: []record{o}}
	return check("answer", []record{o}, field{"responseCode", integer}, field{"auth_token", filled}, field{"refresh_token", filled}, field{"tokenExpiresOn", isoTime})
}

// lifetime allows for clocks that differ by minutes: the controller's is told by none of
// its answers for sure.
func (r *run) lifetime() error {
	if r.token == "" {
		return errNobody
	}
	ends, ok := parseTime(r.lists["authenticate"].records[0].text("tokenExpiresOn"))
	if !ok {
		return skip("tokenExpiresOn cannot be read")
	}
	switch left := time.Until(ends); {
	case left <= 0:
		return fmt.Errorf("the token of a moment ago ended %v ago; or this machine's clock is wrong", -left.Round(time.Second))
	case left < 50*time.Minute || left > 70*time.Minute:
		return skip(fmt.Sprintf("it lasts %v: the lifetime was changed, or the clocks differ", left.Round(time.Second)))
	}
	return nil
}

func (r *run) authFails(username, password string) error {
	a, err := r.send(http.MethodPost, "authenticate", "", map[string]string{"username": username, "password": password})
	if err != nil {
		return err
	}
	if a.status == http.StatusTooManyRequests {
		return skip("too many failed logins of late; try again in five minutes")
	}
	o, err := a.object()
	if err != nil {
		return err
	}
	if code, ok := integerOf(o["responseCode"]); !ok || code != 0 || o.text("errorCode") != "AuthFailed" {
		return fmt.Errorf("got %s, want responseCode 0 and errorCode AuthFailed", a)
	}
	if o["auth_token"] != nil || a.status != http.StatusOK {
		return fmt.Errorf("got %s, want 200 without a token", a)
	}
	return nil
}

func (r *run) refreshes() error {
	if r.refresh == "" {
		return errNobody
	}
	a, err := r.send(http.MethodPost, "refreshToken", r.token, map[string]string{"refresh_token": r.refresh})
	if err != nil {
		return err
	}
	o, err := a.object()
	if err != nil {
		return err
	}
	if a.status != http.StatusOK || o["status"] != true {
		return fmt.Errorf("got %s, want 200 and status true", a)
	}
	if err := check("answer", []record{o}, field{"message", text}, field{"auth_token", filled}); err != nil {
		return err
	}
	token := o.text("auth_token")
	got, err := r.send(http.MethodGet, "getClusters", token, nil)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("the new token is not good: getClusters answers %s", got)
	}
	r.token = token
	return nil
}

func (r *run) refreshFails() error {
	a, err := r.send(http.MethodPost, "refreshToken", r.token, map[string]string{"refresh_token": "not-a-token"})
	if err != nil {
		return err
	}
	o, err := a.object()
	if err != nil {
		return err
	}
	if a.status != http.StatusUnauthorized || o["status"] != false || o.text("message") != "Token invalid or expired" {
		return fmt.Errorf("got %s, want 401 with status false", a)
	}
	return nil
}

var reads = []string{
	"getClusters", "getActiveNodes", "getNodesForCluster?clusterId=1&tagType=ALL",
	"getLightLevels?targetType=1", "getShades", "getShadesForCluster?clusterId=1",
}

func doorRows() []row {
	var out []row
	for _, endpoint := range reads {
		out = append(out, row{"unauthorized." + name(endpoint), "without a token, and with a wrong one: 401, status 0, Authentication required", Contract, func(r *run) error {
			_, err := r.unauthorized(http.MethodGet, endpoint, nil)
			return err
		}})
	}
	return append(out,
		row{"json", "answers are JSON and say so", Contract, (*run).saysJSON},
		row{"docs", "interactive documentation at /docs, with the tag public-api", Contract, (*run).docs},
		row{"etag", "an ETag, and 304 when it is sent back", Ours, (*run).etag},
		row{"age", "X-State-Age tells how old the oldest value is", Ours, (*run).age},
	)
}

// unauthorized asks without a token and with a wrong one.
func (r *run) unauthorized(method, endpoint string, body any) (answer, error) {
	var a answer
	for _, token := range []string{"", "not.a.token"} {
		var err error
		if a, err = r.send(method, endpoint, token, body); err != nil {
			return a, err
		}
		o, err := a.object()
		if err != nil {
			return a, err
		}
		if status, ok := integerOf(o["status"]); !ok || status != 0 || a.status != http.StatusUnauthorized || o.text("message") != "Authentication required" {
			return a, fmt.Errorf("with the token %q: got %s, want 401 with status 0 and Authentication required", token, a)
		}
	}
	return a, nil
}

// refused expects an answer of our shape for errors.
func (r *run) refused(method, endpoint string, body any, status int) error {
	a, err := r.send(method, endpoint, r.token, body)
	if err != nil {
		return err
	}
	o, err := a.object()
	if err != nil {
		return err
	}
	if got, ok := integerOf(o["status"]); a.status != status || !ok || got != 0 || o.text("message") == "" {
		return fmt.Errorf("got %s, want %d with status 0 and a message", a, status)
	}
	return nil
}

func (r *run) saysJSON() error {
	a, err := r.get("getClusters")
	if err != nil {
		return err
	}
	if kind := a.header.Get("Content-Type"); !isJSON(kind) {
		return fmt.Errorf("getClusters: Content-Type is %q", kind)
	}
	return nil
}

// docs looks for the tag in the page, or in the description that the page shows.
func (r *run) docs() error {
	a, err := r.sendWith(http.MethodGet, "/docs", "", nil, nil)
	if err != nil {
		return err
	}
	if a.status/100 == 3 {
		if a, err = r.sendWith(http.MethodGet, "/docs/", "", nil, nil); err != nil {
			return err
		}
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("/docs: got %d, want 200", a.status)
	}
	if contains(a.body, "public-api") {
		return nil
	}
	for _, path := range []string{"/openapi.json", "/svc/api/openapi.json"} {
		if d, err := r.sendWith(http.MethodGet, path, "", nil, nil); err == nil && d.status == http.StatusOK && contains(d.body, `"public-api"`) {
			return nil
		}
	}
	return errors.New("neither /docs nor /openapi.json has the tag public-api")
}

func (r *run) etag() error {
	a, err := r.get("getClusters")
	if err != nil {
		return err
	}
	tag := a.header.Get("ETag")
	if tag == "" {
		return errors.New("getClusters has no ETag")
	}
	for range tries { // a value may change in between
		b, err := r.sendWith(http.MethodGet, "/svc/api/getClusters", r.token, nil, map[string]string{"If-None-Match": tag})
		if err != nil {
			return err
		}
		if b.status == http.StatusNotModified {
			return nil
		}
		tag = b.header.Get("ETag")
	}
	return errors.New("getClusters was never answered 304")
}

func (r *run) age() error {
	rows, err := r.list("getLightLevels?targetType=1")
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return skip("there is no value yet")
	}
	a, err := r.get("getLightLevels?targetType=1")
	if err != nil {
		return err
	}
	var seconds float64
	if _, err := fmt.Sscan(a.header.Get("X-State-Age"), &seconds); err != nil || seconds < 0 {
		return fmt.Errorf("X-State-Age is %q, want seconds", a.header.Get("X-State-Age"))
	}
	return nil
}
