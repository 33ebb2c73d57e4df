package conformance

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config of a run.
type Config struct {
	URL                string // of the controller, without /svc/api
	Username, Password string
	// Reader and ReaderPassword are of an account that may read only; empty: there is none.
	Reader, ReaderPassword string
	TLS                    *tls.Config
	// Commands is what may be commanded; nil: nothing.
	Commands *Target
	// Settle is how long a value may take to show what a light was told, 15 s if zero;
	// shades get twelve times as long.
	Settle time.Duration
}

// Source says where a row comes from.
type Source string

// Sources of rows.
const (
	Contract Source = "contract"
	Ours     Source = "ours" // our decision where the contract is silent
)

// Verdict on a row.
type Verdict string

// Verdicts.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "FAILED"  // the contract does not hold
	Differs Verdict = "differs" // from our decision, which the contract leaves open
	Skipped Verdict = "skipped"
)

// Result is one row and what was found.
type Result struct {
	ID      string        `json:"id"`
	About   string        `json:"about"`
	Source  Source        `json:"source"`
	Verdict Verdict       `json:"verdict"`
	Detail  string        `json:"detail,omitempty"` // what was found otherwise, or why the row was skipped
	Took    time.Duration `json:"-"`
}

// Report of a run.
type Report struct {
	URL     string   `json:"url"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Differs int      `json:"differs"`
	Skipped int      `json:"skipped"`
	Rows    []Result `json:"rows"`
	// Notes are what whoever ran it should know besides.
	Notes []string `json:"notes,omitempty"`
}

// row is one thing to be asked.
type row struct {
	id, about string
	source    Source
	check     func(*run) error
}

// skip is the error of a row that cannot be asked here.
type skip string

func (s skip) Error() string { return string(s) }

// Run asks everything. It fails only if the controller cannot be reached at all.
func Run(ctx context.Context, cfg Config) (Report, error) {
	base, err := parseAddress(cfg.URL)
	if err != nil {
		return Report{}, fmt.Errorf("conformance of %s: %w", cfg.URL, err)
	}
	cfg.Settle = cmp.Or(cfg.Settle, 15*time.Second)
	transport := &http.Transport{TLSClientConfig: cfg.TLS, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	r := &run{ctx: ctx, cfg: cfg, base: base, lists: map[string]listing{}, client: &http.Client{
		Transport: transport, Timeout: answerMost,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if _, err := r.send(http.MethodGet, "getClusters", "", nil); err != nil {
		return Report{}, fmt.Errorf("conformance of %s: %w", cfg.URL, err)
	}
	report := Report{URL: cfg.URL}
	for _, w := range rows() {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		began := time.Now()
		res := Result{ID: w.id, About: w.about, Source: w.source}
		res.Verdict, res.Detail = verdict(w, w.check(r))
		res.Took = time.Since(began)
		report.add(res)
	}
	r.putBack()
	report.Notes = r.notes
	return report, ctx.Err()
}

// rows in the order in which they are asked: logging in first, commands last.
func rows() []row {
	var all []row
	for _, section := range [][]row{loginRows(), doorRows(), clusterRows(), nodeRows(), shadeRows(), levelRows(), refusalRows(), commandRows()} {
		all = append(all, section...)
	}
	return all
}

func verdict(w row, err error) (Verdict, string) {
	var s skip
	switch {
	case err == nil:
		return Passed, ""
	case errors.As(err, &s):
		return Skipped, err.Error()
	case w.source == Ours:
		return Differs, err.Error()
	}
	return Failed, err.Error()
}

func (r *Report) add(res Result) {
	r.Rows = append(r.Rows, res)
	switch res.Verdict {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Differs:
		r.Differs++
	case Skipped:
		r.Skipped++
	}
}

// parseAddress checks the address of a controller. Plain HTTP is for loopback only: a password
// goes over it.
func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("want an address such as https://controller.local")
	}
	if h := u.Hostname(); u.Scheme == "http" && h != "localhost" && h != "::1" && !strings.HasPrefix(h, "127.") {
		return nil, errors.New("plain HTTP is for loopback only; want https://")
	}
	u.Path, u.RawQuery = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/svc/api"), ""
	return u, nil
}
