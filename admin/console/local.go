package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
)

// SocketName is the file in the data directory where the command line asks the running
// daemon. Whoever may open it (mode 0600: the daemon's user and root) may do everything.
const SocketName = "console.sock"

// errNotRunning: no daemon serves the data directory.
var errNotRunning = errors.New("no daemon is running")

// errHungUp: the daemon went away in the middle of an answer.
var errHungUp = errors.New("the daemon ended or hung up")

// local asks the running daemon of one data directory what /api/v1 has, over the socket
// there.
type local struct {
	app  *App
	http http.Client
}

func (a *App) local() *local {
	return &local{a, http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if a.Daemon != nil {
				return a.Daemon(ctx)
			}
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(a.DataDir, SocketName))
		},
	}}}
}

// refused is why the daemon does not do what it was asked for, in its own words.
type refused struct{ api.Problem }

func (r refused) Error() string {
	text := r.Detail
	for _, f := range r.Errors {
		if !strings.Contains(r.Detail, f.Detail) {
			text += "; " + strings.TrimPrefix(f.Pointer+": ", ": ") + f.Detail
		}
	}
	if strings.HasPrefix(r.Detail, "there is no bus ") {
		text += "; 'controllerd bus list' shows those there are"
	}
	if r.Job != "" {
		text += fmt.Sprintf(" (controllerd job follow %s, or job cancel)", r.Job)
	}
	return text
}

// ask sends a request; in may be nil. Whoever asks closes the body of the answer.
func (l *local) ask(ctx context.Context, method, path string, in any) (*http.Response, error) {
	return l.askWith(ctx, method, path, in, nil)
}

func (l *local) askWith(ctx context.Context, method, path string, in any, header map[string]string) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://controllerd/api/v1"+path, body)
	if err != nil {
		return nil, err
	}
	for key, value := range header {
		req.Header.Set(key, value)
	}
	res, err := l.http.Do(req)
	var dial *net.OpError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, l.app.notRunning()
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &dial):
		return nil, l.app.accessAdvice(fmt.Errorf("ask the daemon: %w", dial))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errHungUp, err)
	case res.StatusCode < 300:
		return res, nil
	}
	defer res.Body.Close()
	var p api.Problem
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil || p.Detail == "" {
		return nil, fmt.Errorf("ask the daemon: %s", res.Status)
	}
	return nil, refused{p}
}

// call sends a request and reads the answer into out; in and out may be nil.
func (l *local) call(ctx context.Context, method, path string, in, out any) error {
	res, err := l.ask(ctx, method, path, in)
	if err != nil {
		return err
	}
	return received(res, out)
}

func received(res *http.Response, out any) error {
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("%w: read its answer: %w", errHungUp, err)
	}
	return nil
}

func (l *local) get(ctx context.Context, path string, out any) error {
	return l.call(ctx, http.MethodGet, path, nil, out)
}

// buses tells the state of every bus and its devices.
func (l *local) buses(ctx context.Context) ([]api.BusDetail, error) {
	var list []api.Bus
	if err := l.get(ctx, "/buses", &list); err != nil {
		return nil, err
	}
	out := make([]api.BusDetail, len(list))
	for i, b := range list {
		if err := l.get(ctx, "/buses/"+b.UUID, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// find returns the one thing that said means: an ID, or a name that only one has. What
// they are, and the command that lists them, is for the error.
func find[T any](list []T, said, what, listed string, name func(*T) (appliance.ID, string)) (found T, err error) {
	matches := 0
	for i := range list {
		id, called := name(&list[i])
		if fmt.Sprint(id) == said {
			return list[i], nil
		}
		if called == said {
			found, matches = list[i], matches+1
		}
	}
	switch matches {
	case 1:
		return found, nil
	case 0:
		return found, fmt.Errorf("%s %q: %w; '%s' shows those there are", what, said, appliance.ErrNotFound, listed)
	}
	return found, fmt.Errorf("%s %q: %d have this name; say which by its ID ('%s')", what, said, matches, listed)
}

// pathOf joins parts of a path, which may hold anything.
func pathOf(parts ...string) string {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/" + strings.Join(parts, "/")
}
