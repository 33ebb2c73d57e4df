package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/shelf/trust"
)

const (
	enrolMost  = 30 * time.Second
	answerMost = 256 << 10
)

// ErrCode says that the platform does not take the code, and never will.
var ErrCode = errors.New("the code is unknown, used or too old; have a new one made")

// Enrol turns a one-time code into credentials. The code is sent only to a platform that is known.
func Enrol(ctx context.Context, platform, code string, by trust.Trust) (wire.Credentials, error) {
	fail := func(err error) (wire.Credentials, error) {
		return wire.Credentials{}, fmt.Errorf("enrol at %s: %w", platform, err)
	}
	u, err := url.Parse(platform)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fail(errors.New("want an address such as https://platform.example"))
	}
	conf, err := by.Config(u.Host)
	if err != nil {
		return fail(err)
	}
	body, err := json.Marshal(wire.Enrolment{Code: code})
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, enrolMost)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath(wire.EnrolPath).String(), bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return fail(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return fail(err)
	}
	if res.StatusCode != http.StatusCreated {
		return fail(refused(res.StatusCode, text))
	}
	var c wire.Credentials
	if err := json.Unmarshal(text, &c); err != nil {
		return fail(fmt.Errorf("read its answer: %w", err))
	}
	if err := wire.CheckControllerID(c.Controller); err != nil || c.Broker == "" || c.Username == "" || c.Password == "" {
		return fail(errors.New("its answer has no usable credentials"))
	}
	if b, err := url.Parse(c.Broker); err != nil || b.Scheme != "mqtts" {
		return fail(fmt.Errorf("its broker %q is not reached over TLS", c.Broker))
	}
	return c, nil
}

// refused says what the platform said.
func refused(status int, body []byte) error {
	var said struct {
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // a proxy may have answered in words of its own
	if said.Message == "" {
		said.Message = said.Error
	}
	if status == http.StatusUnauthorized {
		return ErrCode
	}
	return fmt.Errorf("it answered %d %s", status, said.Message)
}
