package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/docs"
	"svc.internal/controller/platform/login"
)

func loadOpenAPI(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil // tests ask wherever the program is
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// ours are all routes that are no pages or files.
var ours = regexp.MustCompile(`^/(api/|healthz|readyz|metrics|\.well-known/)`)

func TestOpenAPIKnowsEveryRouteAndDescribesEverything(t *testing.T) {
	doc, _ := loadOpenAPI(t)
	var described, served []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			described = append(described, method+" "+path)
			if op.Summary == "" || op.Description == "" || op.OperationID == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s %s lacks summary, description, name or tag", method, path)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("schema %s has no description", name)
		}
		for field, p := range schema.Value.Properties {
			if p.Value.Description == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
	e := newEstate(t, everyDoor)
	all, err := e.daemon.routes()
	if err != nil {
		t.Fatal(err)
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, r := range all.Routes() {
		if ours.MatchString(r.Path) {
			served = append(served, r.Method+" "+parameter.ReplaceAllString(r.Path, "{$1}"))
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %s\nserved    %s", strings.Join(described, ", "), strings.Join(served, ", "))
	}
}

// everyDoor are settings with which there is nothing that is not served.
var everyDoor = map[string]string{
	"WEBEX_WEBHOOK_SECRET": "a secret of tests", "ROOMOS_NETWORKS": "127.0.0.0/8",
	// There is no provider: browsers are led back and told so.
	"OIDC_ISSUER": "http://127.0.0.1:1", "OIDC_AUDIENCE": "platform", "OIDC_CLIENT_ID": "pages", "OIDC_REDIRECT_URL": "https://platform.example" + login.CallbackPath,
}

// reader compares what passes with the description, and notes what was answered.
type reader struct {
	t      *testing.T
	next   http.RoundTripper
	router routers.Router

	mu   sync.Mutex
	done map[string]bool // names of operations that succeeded
}

func (r *reader) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := r.next.RoundTrip(req)
	if err != nil || !ours.MatchString(req.URL.Path) {
		return res, err
	}
	route, params, err := r.router.FindRoute(req)
	if err != nil {
		r.t.Errorf("%s %s is not described: %v", req.Method, req.URL.Path, err)
		return res, nil
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if req.Header.Get("Content-Type") == "" { // which other tests leave out, and nobody insists on
		req.Header.Set("Content-Type", "application/json")
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(req.Context(), in); err != nil && res.StatusCode < 400 {
		r.t.Errorf("%s %s %s was taken, but is not as described: %v", req.Method, req.URL, body, err)
	}
	stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: options}
	if stream { // it has no end
		options.ExcludeResponseBody = true
	} else {
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return nil, err
		}
		res.Body = io.NopCloser(bytes.NewReader(text))
		out.SetBodyBytes(bytes.TrimSpace(text))
	}
	if err := openapi3filter.ValidateResponse(req.Context(), out); err != nil {
		r.t.Errorf("%s %s: %d is not as described: %v", req.Method, req.URL, res.StatusCode, err)
	}
	if res.StatusCode < 400 {
		r.mu.Lock()
		r.done[route.Operation.OperationID] = true
		r.mu.Unlock()
	}
	return res, nil
}

// Every door is opened once, and refuses once; requests and answers are compared with the
// description.
func TestAnswersAreAsOpenAPISays(t *testing.T) {
	doc, router := loadOpenAPI(t)
	e := newEstate(t, everyDoor)
	r := &reader{t: t, next: e.client.Transport, router: router, done: map[string]bool{}}
	e.client = &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	const json = "Content-Type: application/json"
	nobody := func(method, path, body string, status int, headers ...string) answer {
		t.Helper()
		return e.ask(method, path, body, append(headers, json)...).want(t, status, method+" "+path+" "+body)
	}
	ada := func(method, path, body string, status int) answer {
		t.Helper()
		return nobody(method, path, body, status, e.admin.bearer)
	}

	nobody("GET", "/healthz", "", 200)
	nobody("GET", "/readyz", "", 200)
	ada("GET", "/metrics", "", 200)
	nobody("GET", "/metrics", "", 401)
	nobody("GET", "/.well-known/jwks.json", "", 200)

	e.newPerson("bob", platform.RoleUser)
	second := e.login("bob")
	nobody("POST", "/api/auth/login", `{"username":"bob","password":"no"}`, 401)
	nobody("POST", "/api/auth/login", `{"username":"bob"}`, 400)
	browser := nobody("POST", "/api/auth/login", `{"username":"bob","password":"`+password+`","browser":true}`, 200, "Sec-Fetch-Site: same-origin")
	cookie := "Cookie: " + strings.Split(browser.Header.Get("Set-Cookie"), ";")[0]
	nobody("GET", "/api/auth/me", "", 200, cookie, "Sec-Fetch-Site: same-origin")
	nobody("GET", "/api/auth/me", "", 401)
	nobody("GET", "/api/auth/ways", "", 200)
	nobody("GET", login.SignOnPath, "", 303)
	nobody("GET", login.CallbackPath+"?code=1&state=2", "", 303)
	next := nobody("POST", "/api/auth/refresh", `{"refreshToken":"`+second.refresh+`"}`, 200)
	nobody("POST", "/api/auth/refresh", `{"refreshToken":"no"}`, 401)
	nobody("POST", "/api/auth/logout", `{"refreshToken":"`+next.str("refreshToken")+`"}`, 204)

	id, value := e.admin.newKey(`{"name":"one","permissions":{"control":true},"expiresAt":"2099-01-31T18:00:00Z"}`)
	key := "X-API-Key: " + value
	ada("POST", "/api/api-keys", `{}`, 400)
	ada("GET", "/api/api-keys", "", 200)
	ada("GET", "/api/api-keys/"+id, "", 200)
	ada("GET", "/api/api-keys/0", "", 404)
	ada("PUT", "/api/api-keys/"+id, `{"name":"two","expiresAt":null}`, 200)

	nobody("POST", chatPath, `{"message":"Which lights are on?"}`, 200, key)
	nobody("POST", chatPath, `{"message":"Which lights are on?","useSSE":true}`, 200, key)
	nobody("POST", chatPath, `{}`, 400, key)
	ada("POST", "/api/assistant/chat", `{"message":"Which lights are on?"}`, 200)
	nobody("POST", mcpPath, `{"method":"tools/list"}`, 200, key)
	nobody("POST", mcpPath, `{"method":"tools/call","tool":"chat","arguments":{"message":"Which lights are on?"}}`, 200, key)
	nobody("POST", mcpPath, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, 200, key)
	nobody("POST", mcpPath, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, key)
	nobody("POST", mcpPath, `{"method":"no"}`, 400, key)
	nobody("POST", mcpPath, `{"method":"tools/list"}`, 401)
	nobody("GET", mcpPath, "", 405, key)
	nobody("DELETE", mcpPath, "", 405, key)

	ada("GET", "/api/sites", "", 200)
	ada("GET", "/api/sites/rooms", "", 200)
	ada("GET", "/api/sites/none", "", 404)
	e.tower()
	ada("GET", "/api/sites/tower/energy", "", 200)
	ada("GET", "/api/sites/none/energy", "", 404)
	ada("GET", "/api/usage", "", 200)
	made := ada("POST", "/api/controllers", `{"name":"Annex"}`, 201)
	other := made.str("data.controllerId")
	code := ada("POST", "/api/controllers/"+other+"/code", "", 201).str("data.code")
	nobody("POST", "/api/controllers/enrol", `{"code":"`+code+`"}`, 201)
	nobody("POST", "/api/controllers/enrol", `{"code":"`+code+`"}`, 401)
	ada("DELETE", "/api/controllers/"+other, "", 204)
	ada("DELETE", "/api/controllers/none", "", 404)

	const devices = "/api/conferencing/devices"
	panelCode := e.room("lobby", "Lobby", "[1]")
	ada("POST", devices, `{}`, 400)
	ada("GET", devices, "", 200)
	ada("GET", devices+"/lobby", "", 200)
	ada("GET", devices+"/none", "", 404)
	ada("POST", devices+"/refresh", "", 409)
	ada("PUT", devices+"/lobby", `{"workspaceName":"Foyer"}`, 200)
	ada("POST", devices+"/lobby/test", "", 200)
	ada("GET", devices+"/lobby/bundle", "", 200)
	ada("GET", devices+"/lobby/bundle?platform=http://platform.example", "", 400)
	ada("GET", devices+"/none/bundle", "", 404)
	nobody("GET", devices, "", 401)
	ada("GET", rollOutPath, "", 200)
	ada("PUT", devices+"/lobby", `{"address":"127.0.0.1:1"}`, 200) // nobody is there
	ada("POST", rollOutPath, `{"action":"install","deviceIds":["lobby"],"username":"integrator","password":"x"}`, 200)
	ada("POST", rollOutPath, `{"action":"install"}`, 400)
	const panel = "/api/conferencing/panels/lobby"
	bearer := "Authorization: Bearer " + panelCode
	nobody("GET", panel, "", 200, bearer)
	nobody("GET", panel, "", 401)
	nobody("POST", panel+"/widget", `{"widgetId":"light_power","type":"changed","value":"on"}`, 200, bearer)
	nobody("POST", panel+"/widget", `{}`, 400, bearer)
	nobody("POST", panel+"/say", `{"text":"lights off"}`, 200, bearer)
	nobody("POST", panel+"/say", `{"text":"lights off","at":"2020-01-01T00:00:00Z"}`, 200, bearer)
	const said = "/api/conferencing/voice/action"
	nobody("POST", said, `{"deviceId":"lobby","text":"lights on"}`, 200, "X-Voice-Action-Token: "+e.voice)
	nobody("POST", said, `{"deviceId":"lobby"}`, 400, "X-Voice-Action-Token: "+e.voice)
	nobody("POST", said, `{"deviceId":"lobby","text":"lights on"}`, 401)
	const hook = "/api/conferencing/webhooks/webex"
	mac := hmac.New(sha256.New, []byte(everyDoor["WEBEX_WEBHOOK_SECRET"]))
	mac.Write([]byte(`[]`))
	nobody("POST", hook, `[]`, 204, "X-Spark-Signature: "+hex.EncodeToString(mac.Sum(nil)))
	nobody("POST", hook, `[]`, 401)
	for _, s := range []struct{ path, header string }{{"/api/events", e.admin.bearer}, {panel + "/events", bearer}} {
		e.peek(s.path, s.header)
	}
	ada("DELETE", devices+"/lobby/deploy", "", 200)
	ada("DELETE", devices+"/lobby", "", 204)
	ada("DELETE", "/api/api-keys/"+id, "", 200)
	ada("DELETE", "/api/api-keys/"+id+"?permanent=true", "", 204)

	never := []string{"getMcp", "deleteMcp", "refreshRoomDevices"} // refused here
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !r.done[op.OperationID] && !slices.Contains(never, op.OperationID) {
				t.Errorf("%s %s was never answered", method, path)
			}
		}
	}
}

// peek opens a stream and closes it after its first bytes.
func (e *estate) peek(path, header string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), "GET", e.url+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	name, value, _ := strings.Cut(header, ": ")
	req.Header.Set(name, value)
	res, err := e.client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := res.Body.Read(make([]byte, 1)); n != 1 || res.StatusCode != http.StatusOK {
		e.t.Errorf("%s: %d, %v", path, res.StatusCode, err)
	}
}
