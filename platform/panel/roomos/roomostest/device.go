// Package roomostest plays RoomOS devices as Cisco documents them, for tests of what speaks to them.
package roomostest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// User and Password are of the administrator that every device knows.
const User, Password = "integrator", `p"ä:ss`

// Device takes one document at a time, knows its administrator, and keeps macros, panels, certificates and settings. It looks at all
// that it is sent, headers included, and fails the test over what is not as documented.
type Device struct {
	// Plays has its macro ask the platform, as the one of a kit does. Set before the first request.
	Plays bool

	t      testing.TB
	server *httptest.Server
	ctx    context.Context

	mu       sync.Mutex
	Busy     int    // so many requests are answered with 503 yet
	Unknown  string // begins the commands that this RoomOS does not know
	Refuses  string // begins the commands that it refuses
	Instead  http.HandlerFunc
	Asked    int
	Did      []string
	Settings map[string]string
	Macros   map[string]string
	Running  map[string]bool
	Panels   map[string]string
	Trusted  []string
	Hosts    []string
	stop     context.CancelFunc // ends the macros that run; nil: none does
	playing  sync.WaitGroup
}

// New plays a device on a port of its own, with a certificate that nobody vouches for, until the test ends.
func New(t testing.TB) *Device {
	d := &Device{t: t, Settings: map[string]string{}, Macros: map[string]string{}, Running: map[string]bool{}, Panels: map[string]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	d.ctx = ctx
	d.server = httptest.NewUnstartedServer(d)
	d.server.Config.ErrorLog = log.New(io.Discard, "", 0) // who does not trust it says so itself
	d.server.StartTLS()
	t.Cleanup(func() { cancel(); d.server.Close(); d.playing.Wait() })
	return d
}

// Address is host and port of the device.
func (d *Device) Address() string { return strings.TrimPrefix(d.server.URL, "https://") }

// Certificate is what it shows, PEM.
func (d *Device) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})
}

// Seen is how many requests there were, and the macro of a name as it is there; empty: none.
func (d *Device) Seen(name string) (asked int, macro string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Asked, d.Macros[name]
}

// Hang has the macros that run ask no more, until they are started again.
func (d *Device) Hang() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
	d.playing.Wait()
}

func (d *Device) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Asked++
	if d.Instead != nil {
		d.Instead(w, r)
		return
	}
	if r.Method != "POST" || r.URL.Path != "/putxml" || r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "text/xml" {
		d.t.Errorf("a device was asked %s %s as %q", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	if name, sent, ok := r.BasicAuth(); !ok || name != User || sent != Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if d.Busy > 0 {
		d.Busy--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	leaves, err := read(r.Body)
	if err != nil {
		d.t.Errorf("a device was sent what is no XML: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, "<?xml version=\"1.0\"?>\n", d.obey(leaves))
}

// leaf is an element without others in it.
type leaf struct {
	path    string
	value   string
	command bool // it, or the element that it is in, is marked as a command
}

func read(document io.Reader) (leaves []leaf, err error) {
	var path []string
	var commands []bool
	var value string
	deeper := false
	for d := xml.NewDecoder(document); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return leaves, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			commands = append(commands, slices.Contains(token.Attr, xml.Attr{Name: xml.Name{Local: "command"}, Value: "True"}))
			value, deeper = "", false
		case xml.CharData:
			value += string(token)
		case xml.EndElement:
			if !deeper {
				leaves = append(leaves, leaf{strings.Join(path, "."), value, slices.Contains(commands, true)})
			}
			path, commands, deeper = path[:len(path)-1], commands[:len(commands)-1], true
		}
	}
}

func (d *Device) obey(leaves []leaf) string {
	if strings.HasPrefix(leaves[0].path, "Configuration.") {
		for _, l := range leaves {
			d.Settings[strings.TrimPrefix(l.path, "Configuration.")] = l.value
		}
		d.Did = append(d.Did, "Configuration")
		return "<Configuration><Success/></Configuration>"
	}
	parameters := []string{"Name", "Overwrite", "PanelId", "Expression", "body"}
	given := map[string]string{}
	var what string
	for _, l := range leaves {
		names := strings.Split(l.path, ".")
		last := names[len(names)-1]
		if slices.Contains(parameters, last) {
			given[last] = l.value
			names = names[:len(names)-1]
		}
		if what = strings.Join(names[1:], "."); names[0] != "Command" || !l.command {
			d.t.Errorf("%s is no command", l.path)
		}
	}
	result := strings.ReplaceAll(what, ".", "") + "Result"
	no := func(reason string) string {
		return fmt.Sprintf(`<Command><%s status="Error"><Reason>%s</Reason></%s></Command>`, result, reason, result)
	}
	switch {
	case d.Unknown != "" && strings.HasPrefix(what, d.Unknown):
		return no("Unknown command")
	case d.Refuses != "" && strings.HasPrefix(what, d.Refuses):
		return no("Storage is full")
	}
	d.Did = append(d.Did, what)
	name, panelID := given["Name"], given["PanelId"]
	switch what {
	case "Security.Certificates.CA.Add":
		d.Trusted = append(d.Trusted, given["body"])
	case "HttpClient.Allow.Hostname.Add":
		d.Hosts = append(d.Hosts, given["Expression"])
	case "UserInterface.Extensions.Panel.Save":
		d.Panels[panelID] = given["body"]
	case "UserInterface.Extensions.Panel.Remove":
		if d.Panels[panelID] == "" {
			return no("No such panel")
		}
		delete(d.Panels, panelID)
	case "Macros.Macro.Save":
		d.Macros[name] = given["body"]
	case "Macros.Macro.Activate", "Macros.Macro.Deactivate", "Macros.Macro.Remove":
		if d.Macros[name] == "" {
			return no("No such macro")
		}
		if d.Running[name] = what == "Macros.Macro.Activate"; what == "Macros.Macro.Remove" {
			delete(d.Macros, name)
		}
	case "Macros.Runtime.Restart":
		d.restart()
	default:
		d.t.Errorf("a device was told %s", what)
	}
	return "<Command><" + result + ` status="OK"/></Command>`
}

// restart has all macros that are on begin anew. The caller holds d.mu.
func (d *Device) restart() {
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
	if !d.Plays {
		return
	}
	ctx, stop := context.WithCancel(d.ctx)
	d.stop = stop
	for name, macro := range d.Macros {
		if d.Running[name] {
			trusted := slices.Clone(d.Trusted)
			d.playing.Go(func() { d.play(ctx, macro, trusted) })
		}
	}
}

var constant = regexp.MustCompile(`(?m)^const (\w+) = ([^;]+);`)

// play asks the platform as the macro of a kit does: what the room shows, and then again once that is something else.
func (d *Device) play(ctx context.Context, macro string, trusted []string) {
	is := map[string]string{}
	for _, m := range constant.FindAllStringSubmatch(macro, -1) {
		if text, err := strconv.Unquote(m[2]); err == nil {
			m[2] = text
		}
		is[m[1]] = m[2]
	}
	pool := x509.NewCertPool()
	for _, ca := range trusted {
		pool.AppendCertsFromPEM([]byte(ca))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for since := ""; ctx.Err() == nil; {
		at := fmt.Sprintf("%s/api/conferencing/panels/%s?wait=20&macro=%s&since=%s", is["platform"], url.PathEscape(is["deviceId"]), is["version"], since)
		tag, err := ask(ctx, client, at, is["code"])
		if since = tag; err == nil {
			continue
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

func ask(ctx context.Context, client *http.Client, at, code string) (tag string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+code)
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var told struct{ Tag string }
	if err := json.NewDecoder(res.Body).Decode(&told); err != nil || res.StatusCode != http.StatusOK {
		return "", errors.Join(errors.New(res.Status), err)
	}
	return told.Tag, nil
}
