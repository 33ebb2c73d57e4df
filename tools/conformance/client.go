package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	answerMost = 30 * time.Second // of waiting for one answer
	bodyMost   = 64 << 20
)

// run is one session with a controller.
type run struct {
	ctx    context.Context
	cfg    Config
	base   *url.URL
	client *http.Client

	token, refresh string
	lists          map[string]listing // by path: read once
	before         []lightRow         // of what is commanded, to be put back
	commanded      bool
	notes          []string
}

type listing struct {
	records []record
	err     error
}

// answer of the controller.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, clip(a.body)) }

func clip(b []byte) string {
	const most = 200
	text := strings.TrimSpace(string(b))
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == "" {
		return "(empty)"
	}
	return text
}

// send makes one request of an endpoint; body nil: none.
func (r *run) send(method, endpoint, token string, body any) (answer, error) {
	return r.sendWith(method, "/svc/api/"+endpoint, token, body, nil)
}

func (r *run) sendWith(method, path, token string, body any, header map[string]string) (answer, error) {
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		if data, err = json.Marshal(b); err != nil {
			return answer{}, err
		}
	}
	req, err := http.NewRequestWithContext(r.ctx, method, strings.TrimSuffix(r.base.String(), "/")+path, bytes.NewReader(data))
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, bodyMost))
	return answer{res.StatusCode, res.Header, text}, err
}

var errNobody = skip("nobody could log in")

// get reads an endpoint as the account that logged in.
func (r *run) get(endpoint string) (answer, error) {
	if r.token == "" {
		return answer{}, errNobody
	}
	return r.send(http.MethodGet, endpoint, r.token, nil)
}

// list reads an array of objects.
func (r *run) list(endpoint string) ([]record, error) {
	if had, ok := r.lists[endpoint]; ok {
		return had.records, had.err
	}
	records, err := r.freshList(endpoint)
	r.lists[endpoint] = listing{records, err}
	return records, err
}

// freshList reads it again.
func (r *run) freshList(endpoint string) ([]record, error) {
	a, err := r.get(endpoint)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("%s: got %s, want 200 and an array", endpoint, a)
	}
	var records []record
	if err := decode(a.body, &records); err != nil || records == nil {
		return nil, fmt.Errorf("%s: got %s, want an array of objects", endpoint, clip(a.body))
	}
	return records, nil
}

// decode keeps numbers as they are written.
func decode(body []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something behind the JSON value")
	}
	return nil
}

// object reads an answer as one object.
func (a answer) object() (record, error) {
	var o record
	if err := decode(a.body, &o); err != nil || o == nil {
		return nil, fmt.Errorf("got %s, want a JSON object", a)
	}
	return o, nil
}
