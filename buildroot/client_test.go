//go:build image && built

package buildroot

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// client is a person's program at the appliance's door, which trusts the fingerprint on the console and nothing else.
type client struct {
	port, password string
	token          string
	pem            []byte
	http           *http.Client
}

func newClient(t *testing.T, b *board, fingerprint string) *client {
	t.Helper()
	c := &client{port: b.port, password: secret(t)}
	want := strings.ToLower(strings.ReplaceAll(fingerprint, ":", ""))
	c.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true, // the power is cut
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			sum := sha256.Sum256(raw[0])
			if got := hex.EncodeToString(sum[:]); got != want {
				return fmt.Errorf("certificate %s, and the console says %s", got, want)
			}
			c.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw[0]})
			return nil
		}},
	}}
	return c
}

// try calls /api/v1 or /svc/api and returns the status.
func (c *client) try(method, path string, body, into any) (int, error) {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return 0, err
		}
	}
	req, err := http.NewRequest(method, "https://127.0.0.1:"+c.port+path, &b)
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, errors.New(string(said))
	}
	if into == nil {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(said, into)
}

func (c *client) call(t *testing.T, method, path string, body, into any) {
	t.Helper()
	if status, err := c.try(method, path, body, into); err != nil {
		t.Fatalf("%s %s: %d %v", method, path, status, err)
	}
}

// serves waits until the API answers.
func (c *client) serves(t *testing.T) {
	t.Helper()
	awaitFor(t, "the API", func() bool { _, err := c.try("GET", "/readyz", nil, nil); return err == nil })
}

// claim makes the first user with the code from the console, and the one of Controller 1.0's clients.
func (c *client) claim(t *testing.T, code string) {
	t.Helper()
	c.call(t, "POST", "/api/v1/claim", map[string]any{"code": code, "username": "installer", "password": c.password}, nil)
	c.login(t)
	c.call(t, "POST", "/api/v1/auth/users", map[string]any{"username": "building_os", "password": c.password, "role": "api_service"}, nil)
}

func (c *client) login(t *testing.T) {
	t.Helper()
	var session struct {
		Token string `json:"access_token"`
	}
	c.token = ""
	c.call(t, "POST", "/api/v1/auth/login", map[string]any{"username": "installer", "password": c.password}, &session)
	c.token = session.Token
}

// furnish describes the acceptance's building, thing by thing, as a page does.
func (c *client) furnish(t *testing.T, network, serial string) {
	t.Helper()
	type m = map[string]any
	c.call(t, "POST", "/api/v1/buses", m{"name": "network", "driver": "modbus", "port": network}, nil)
	c.call(t, "POST", "/api/v1/buses", m{"name": "serial", "driver": "modbus", "port": serial, "line": m{"baudRate": 9600, "parity": "none", "stopBits": 2}}, nil)
	for i, n := range []m{
		{"name": "Office 1", "bus": "network"}, {"name": "Office 2", "bus": "network"},
		{"name": "Lobby 1", "bus": "serial"}, {"name": "Lobby 2", "bus": "serial"},
	} {
		n["id"], n["address"], n["profile"], n["outputs"] = i+1, "1", "wirenboard-wb-mdm3", []int{i%2 + 1}
		c.call(t, "POST", "/api/v1/nodes", n, nil)
	}
	c.call(t, "POST", "/api/v1/clusters", m{"id": 1, "name": "Offices", "nodes": []int{1, 2}}, nil)
	c.call(t, "POST", "/api/v1/clusters", m{"id": 2, "name": "Lobby", "nodes": []int{3, 4}}, nil)
}

// identities is what must never change: IDs and UUIDs of everything, and who may come in.
func (c *client) identities(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, list := range []string{"nodes", "clusters", "shades", "buses", "auth/users"} {
		var things []struct {
			ID   json.RawMessage
			UUID string
			Name string
			User string `json:"username"`
		}
		c.call(t, "GET", "/api/v1/"+list, nil, &things)
		for _, x := range things {
			fmt.Fprintln(&out, list, string(x.ID), x.UUID, x.Name, x.User)
		}
	}
	return out.String()
}

// version is what the appliance says it runs.
func (c *client) version(t *testing.T) string {
	t.Helper()
	var state struct{ Version string }
	c.call(t, "GET", "/api/v1/claim", nil, &state)
	return state.Version
}
