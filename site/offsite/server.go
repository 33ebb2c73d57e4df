package offsite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"svc.internal/controller/shelf/trust"
)

// Address is a folder of a server, and who may write there.
type Address struct {
	Kind        string `json:"kind"`           // webdav or s3
	URL         string `json:"url"`            // https://…; of S3 with the bucket, and below it the folder
	User        string `json:"user,omitempty"` // of S3 the access key
	Password    string `json:"password,omitempty"`
	Region      string `json:"region,omitempty"`      // of S3; us-east-1 if empty
	Fingerprint string `json:"fingerprint,omitempty"` // as in [trust.Trust]; empty with CA: what the system trusts
	CA          string `json:"ca,omitempty"`          // PEM
}

// Kinds of addresses.
const (
	WebDAV = "webdav"
	S3     = "s3"
)

// FieldError is what is wrong with one field of an address, by its name in JSON.
type FieldError struct{ Field, Why string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Why }

// Unfit tells what is wrong with which field.
func (e *FieldError) Unfit() (field, why string) { return e.Field, e.Why }

// Place checks an address, and is what is there. Nothing is sent yet. Its errors are [*FieldError].
func (a Address) Place() (Place, error) {
	at, err := url.Parse(a.URL)
	switch {
	case err != nil || at.Scheme != "https" || at.Hostname() == "":
		return nil, &FieldError{"url", "want an address such as https://cloud.example/remote.php/dav/files/me/backups; http:// is not taken: the password would be readable on the way"}
	case at.User != nil:
		return nil, &FieldError{"url", "user and password do not belong in the address: give them in their own fields"}
	case at.RawQuery != "" || at.Fragment != "":
		return nil, &FieldError{"url", "want the address of a folder, without ? and #"}
	case a.User == "" || strings.ContainsAny(a.User, ":\x00\r\n"):
		return nil, &FieldError{"user", "this is needed, without a colon"}
	case a.Password == "":
		return nil, &FieldError{"password", "this is needed"}
	}
	by := trust.Trust{Fingerprint: a.Fingerprint}
	if a.CA != "" {
		by.CA = []byte(a.CA)
	}
	conf, err := by.Config(at.Hostname())
	if err != nil {
		field := "fingerprint"
		if a.CA != "" && a.Fingerprint == "" {
			field = "ca"
		}
		return nil, &FieldError{field, err.Error()}
	}
	s := server{at: at, client: &http.Client{
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSClientConfig: conf, TLSHandshakeTimeout: 10 * time.Second,
			ExpectContinueTimeout: 2 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true, DisableCompression: true, // what is read back is compared
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	switch a.Kind {
	case WebDAV:
		s.sign = func(r *http.Request, _ string) error { r.SetBasicAuth(a.User, a.Password); return nil }
		return davFolder{s}, nil
	case S3:
		return newBucket(s, a)
	}
	return nil, &FieldError{"kind", "want webdav or s3"}
}

// server is what WebDAV and S3 have in common.
type server struct {
	at     *url.URL
	client *http.Client
	sign   func(r *http.Request, payload string) error // payload: the SHA-256 of the body, in hexadecimal digits
}

// file is the address of a file in the folder.
func (s server) file(name string) *url.URL { return s.at.JoinPath(name) }

// answerMost bounds what is read of an answer that is no file.
const answerMost = 4 << 20

// do sends one request, and returns its answer if that is of the wanted status. The caller closes its body.
func (s server) do(ctx context.Context, method string, at *url.URL, head http.Header, body io.Reader, size int64, payload string, want ...int) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, err
	}
	if head != nil {
		r.Header = head
	}
	r.Header.Set("User-Agent", "controllerd")
	r.ContentLength = size
	if err := s.sign(r, payload); err != nil {
		return nil, err
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, s.unreached(err)
	}
	for _, code := range want {
		if res.StatusCode == code {
			return res, nil
		}
	}
	defer res.Body.Close()
	return nil, s.refused(method, res)
}

// done is do for an answer of which nothing is wanted.
func (s server) done(ctx context.Context, method string, at *url.URL, head http.Header, body io.Reader, size int64, payload string, want ...int) error {
	res, err := s.do(ctx, method, at, head, body, size, payload, want...)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, answerMost))
	return errors.Join(err, res.Body.Close())
}

// unreached words why a server did not answer, without the address that the error has in it.
func (s server) unreached(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	var unknown *trust.Untrusted
	if errors.As(err, &unknown) {
		return unknown
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return fmt.Errorf("no server has the name %s (%w)", s.at.Hostname(), err)
	}
	return fmt.Errorf("%s does not answer as it should: %w", s.at.Host, err)
}

// refused words what a server answered instead.
func (s server) refused(method string, res *http.Response) error {
	said := fmt.Sprintf("%s answered %s to %s", s.at.Host, res.Status, method)
	var why struct{ Code string } // of S3
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if xml.Unmarshal(text, &why) == nil && why.Code != "" {
		said += fmt.Sprintf(": %.60q", why.Code)
	}
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("the server does not take user and password, or they may not do that (%s)", said)
	case code >= 300 && code < 400:
		to, _ := res.Location()
		if to != nil {
			said += " and sends to " + to.Scheme + "://" + to.Host + to.EscapedPath()
		}
		return fmt.Errorf("the folder has another address: give that (%s)", said)
	case code == http.StatusNotFound, code == http.StatusConflict:
		return fmt.Errorf("there is no such folder: make it there, or mend the address (%s)", said)
	case code == http.StatusMethodNotAllowed, code == http.StatusNotImplemented:
		return fmt.Errorf("this is no folder of such a server, or it does not allow what is needed (%s)", said)
	case code == http.StatusInsufficientStorage:
		return fmt.Errorf("the server is full (%s)", said)
	case code == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("the server does not take files as large as the backup (%s)", said)
	}
	return errors.New(said)
}

func (s server) get(ctx context.Context, name string) (io.ReadCloser, error) {
	res, err := s.do(ctx, http.MethodGet, s.file(name), nil, nil, 0, emptySum, http.StatusOK)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// emptySum is the SHA-256 of nothing.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// davFolder is a folder of a WebDAV server (RFC 4918).
type davFolder struct{ server }

const propfind = `<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>`

// List asks for what the folder has in it.
func (w davFolder) List(ctx context.Context, _ string) ([]string, error) {
	head := http.Header{"Depth": {"1"}, "Content-Type": {"application/xml"}}
	folder := *w.at
	folder.Path = strings.TrimSuffix(folder.Path, "/") + "/"
	res, err := w.do(ctx, "PROPFIND", &folder, head, strings.NewReader(propfind), int64(len(propfind)), "", http.StatusMultiStatus)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, answerMost+1))
	if err != nil {
		return nil, w.unreached(err)
	}
	if len(text) > answerMost {
		return nil, errors.New("the folder has too many files in it: give one of its own for backups")
	}
	names, err := hrefs(text)
	if err != nil {
		return nil, fmt.Errorf("what %s answered to PROPFIND cannot be read: %w", w.at.Host, err)
	}
	return names, nil
}

// hrefs are the last parts of the addresses that an answer names.
func hrefs(text []byte) (names []string, err error) {
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name == (xml.Name{Space: "DAV:", Local: "href"}) {
			var href string
			if err := d.DecodeElement(&href, &start); err != nil {
				return nil, err
			}
			if at, err := url.Parse(strings.TrimSpace(href)); err == nil {
				names = append(names, path.Base(at.Path))
			}
		}
	}
}

// Put sends a file.
func (w davFolder) Put(ctx context.Context, name string, content io.Reader, size int64, _ [sha256.Size]byte) error {
	head := http.Header{"Content-Type": {"application/octet-stream"}, "Expect": {"100-continue"}} // who refuses says so before it is sent
	return w.done(ctx, http.MethodPut, w.file(name), head, content, size, "", http.StatusOK, http.StatusCreated, http.StatusNoContent)
}

// Get reads a file.
func (w davFolder) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	return w.get(ctx, name)
}

// Rename gives a file another name, in place of one that has it.
func (w davFolder) Rename(ctx context.Context, from, to string) error {
	head := http.Header{"Destination": {w.file(to).String()}, "Overwrite": {"T"}}
	return w.done(ctx, "MOVE", w.file(from), head, nil, 0, "", http.StatusCreated, http.StatusNoContent)
}

// Remove removes a file.
func (w davFolder) Remove(ctx context.Context, name string) error {
	return w.done(ctx, http.MethodDelete, w.file(name), nil, nil, 0, "", http.StatusOK, http.StatusNoContent, http.StatusAccepted, http.StatusNotFound)
}
