package publicapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

func loadOpenAPI(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

func TestOpenAPITagsComeInOrderAndEverythingIsDescribed(t *testing.T) {
	doc, _ := loadOpenAPI(t)
	if len(doc.Tags) != 2 || doc.Tags[0].Name != "health" || doc.Tags[1].Name != "public-api" {
		t.Errorf("tags are %v, want health, public-api", doc.Tags)
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
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || op.Description == "" {
				t.Errorf("%s %s has no summary or description", method, path)
			}
		}
	}
}

// TestOpenAPIKnowsEveryRoute compares the description with the router.
func TestOpenAPIKnowsEveryRoute(t *testing.T) {
	doc, _ := loadOpenAPI(t)
	var described, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	for _, r := range newHouse(t, lobby().snapshot()).echo.Routes() {
		if r.Method != "OPTIONS" && r.Method != "HEAD" && !strings.HasPrefix(r.Path, "/docs") && r.Path != "/" && r.Path != "/openapi.json" {
			served = append(served, r.Method+" "+r.Path)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %v\nserved    %v", described, served)
	}
}

// TestAnswersAreAsOpenAPISays sends good and bad requests to every endpoint and
// validates requests and real answers against openapi.json.
func TestAnswersAreAsOpenAPISays(t *testing.T) {
	_, router := loadOpenAPI(t)
	h := newHouse(t, lobby().snapshot())
	admin, viewer := h.token(account.RoleAdmin), h.token(account.RoleViewer)
	login := `{"username":"admin","password":"correct horse admin"}`
	u, _ := h.accounts.User("admin")
	refresh, _ := h.accounts.NewRefreshToken(t.Context(), u)
	type exchange struct {
		method, path, body, token string
		status                    int
		header                    string
	}
	var exchanges []exchange
	for _, path := range strings.Fields(readPaths) {
		exchanges = append(exchanges, exchange{"GET", path, "", viewer, 200, ""}, exchange{"GET", path, "", "", 401, ""},
			exchange{"GET", path, "", h.token(account.RoleNone), 403, ""}, exchange{"GET", path, "", viewer, 304, "If-None-Match: *"})
	}
	for path, body := range controls {
		exchanges = append(exchanges, exchange{"POST", path, body, admin, 200, ""}, exchange{"POST", path, body, "", 401, ""},
			exchange{"POST", path, body, viewer, 403, ""}, exchange{"POST", path, `{}`, admin, 400, ""},
			exchange{"POST", path, strings.Repeat(" ", 70000), admin, 413, ""})
	}
	exchanges = append(exchanges,
		exchange{"GET", "/svc/api/getLightLevels?targetType=2&targetId=1", "", admin, 200, ""},
		exchange{"GET", "/svc/api/getLightLevels?targetType=2&targetId=9", "", admin, 404, ""},
		exchange{"GET", "/svc/api/getLightLevels?targetType=9", "", admin, 400, ""},
		exchange{"GET", "/svc/api/getNodesForCluster?clusterId=1&tagType=PERIPHERAL", "", admin, 200, ""},
		exchange{"GET", "/svc/api/getNodesForCluster?clusterId=9", "", admin, 404, ""},
		exchange{"GET", "/svc/api/getNodesForCluster", "", admin, 400, ""},
		exchange{"GET", "/svc/api/getShadesForCluster?clusterId=9", "", admin, 404, ""},
		exchange{"GET", "/svc/api/getShadesForCluster?clusterId=x", "", admin, 400, ""},
		exchange{"POST", "/svc/api/shadeControl", `{"targetType":3,"targetId":5001,"command":"POS","posValue":50}`, admin, 200, ""},
		exchange{"POST", "/svc/api/authenticate", login, "", 200, ""},
		exchange{"POST", "/svc/api/authenticate", `{"username":"admin","password":"no"}`, "", 200, ""},
		exchange{"POST", "/svc/api/authenticate", `{}`, "", 400, ""},
		exchange{"POST", "/svc/api/refreshToken", `{"refresh_token":"` + refresh + `"}`, admin, 200, ""},
		exchange{"POST", "/svc/api/refreshToken", `{"refresh_token":"no"}`, "", 401, ""},
		exchange{"POST", "/svc/api/refreshToken", `{}`, "", 401, ""},
		exchange{"POST", "/svc/api/refreshToken", `{}`, admin, 400, ""},
		exchange{"GET", "/healthz", "", "", 200, ""}, exchange{"GET", "/readyz", "", "", 200, ""},
		exchange{"GET", "/metrics", "", admin, 200, ""}, exchange{"GET", "/metrics", "", "", 401, ""},
	)
	for _, x := range exchanges {
		t.Run(fmt.Sprintf("%d %s %s %.40s", x.status, x.method, x.path, x.body), func(t *testing.T) {
			checkExchange(t, h, router, x.method, x.path, x.body, x.token, x.header, x.status)
		})
	}
	t.Run("status 0", func(t *testing.T) {
		h.core.answer(func(_ context.Context, cmd appliance.Command) (appliance.Entry, error) {
			return appliance.Entry{ID: "01"}, appliance.ErrNotFound
		})
		for path, body := range controls {
			checkExchange(t, h, router, "POST", path, body, admin, "", 200)
		}
	})
	t.Run("503 and 500", func(t *testing.T) {
		for status, err := range map[int]error{503: appliance.ErrOverloaded, 500: io.ErrUnexpectedEOF} {
			h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) { return appliance.Entry{}, err })
			for path, body := range controls {
				checkExchange(t, h, router, "POST", path, body, admin, "", status)
			}
		}
		h.ready = appliance.ErrBusDown
		checkExchange(t, h, router, "GET", "/readyz", "", "", "", 503)
	})
	t.Run("429", func(t *testing.T) {
		for range 10 {
			h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"no"}`)
		}
		checkExchange(t, h, router, "POST", "/svc/api/authenticate", login, "", "", 429)
	})
}

func checkExchange(t *testing.T, h *house, router routers.Router, method, path, body, token, header string, status int) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Fatal(err)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	reqErr := openapi3filter.ValidateRequest(t.Context(), in)
	if good := status < 400; good && reqErr != nil {
		t.Errorf("a good request is not as described: %v", reqErr)
	} else if status == 400 && reqErr == nil {
		t.Errorf("a refused request is as described")
	}
	r.Body = io.NopCloser(strings.NewReader(body))
	w := httptest.NewRecorder()
	h.echo.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("got %d %s, want %d", w.Code, w.Body, status)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Result().Header,
		Options: in.Options}
	out.SetBodyBytes(bytes.TrimSpace(w.Body.Bytes()))
	if w.Body.Len() == 0 {
		if want := status == http.StatusForbidden || status == http.StatusNotModified; !want {
			t.Errorf("%d has no body", status)
		}
	}
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("the answer is not as described: %v\n%s", err, w.Body)
	}
}
