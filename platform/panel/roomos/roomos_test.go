package roomos

import (
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/shelf/trust"
)

// standIn is a device as Cisco documents it: it takes one document at a time, knows its administrator, and keeps macros,
// panels, certificates and settings.
type standIn struct {
	t      *testing.T
	server *httptest.Server

	mu       sync.Mutex
	busy     int    // so many requests are answered with 503 yet
	unknown  string // begins the commands that this RoomOS does not know
	refuses  string // begins the commands that it refuses
	instead  http.HandlerFunc
	asked    int
	did      []string
	settings map[string]string
	macros   map[string]string
	running  map[string]bool
	panels   map[string]string
	trusted  []string
	hosts    []string
}

const user, password = "integrator", `p"ä:ss`

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, settings: map[string]string{}, macros: map[string]string{}, running: map[string]bool{}, panels: map[string]string{}}
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0) // who does not trust it says so itself
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

func (s *standIn) address() string { return strings.TrimPrefix(s.server.URL, "https://") }

func (s *standIn) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
}

func (s *standIn) device(t *testing.T, password string) *Device {
	t.Helper()
	d, err := New(s.address(), user, password, trust.Trust{CA: s.certificate()})
	if err != nil {
		t.Fatal(err)
	}
	d.pause = time.Millisecond
	t.Cleanup(d.Close)
	return d
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.instead != nil {
		s.instead(w, r)
		return
	}
	if r.Method != "POST" || r.URL.Path != "/putxml" || r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "text/xml" {
		s.t.Errorf("a device was asked %s %s as %q", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	if name, sent, ok := r.BasicAuth(); !ok || name != user || sent != password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if s.busy > 0 {
		s.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	leaves, err := read(r.Body)
	if err != nil {
		s.t.Errorf("a device was sent what is no XML: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, "<?xml version=\"1.0\"?>\n", s.obey(leaves))
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

func (s *standIn) obey(leaves []leaf) string {
	if strings.HasPrefix(leaves[0].path, "Configuration.") {
		for _, l := range leaves {
			s.settings[strings.TrimPrefix(l.path, "Configuration.")] = l.value
		}
		s.did = append(s.did, "Configuration")
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
			s.t.Errorf("%s is no command", l.path)
		}
	}
	result := strings.ReplaceAll(what, ".", "") + "Result"
	no := func(reason string) string {
		return fmt.Sprintf(`<Command><%s status="Error"><Reason>%s</Reason></%s></Command>`, result, reason, result)
	}
	switch {
	case s.unknown != "" && strings.HasPrefix(what, s.unknown):
		return no("Unknown command")
	case s.refuses != "" && strings.HasPrefix(what, s.refuses):
		return no("Storage is full")
	}
	s.did = append(s.did, what)
	name, panelID := given["Name"], given["PanelId"]
	switch what {
	case "Security.Certificates.CA.Add":
		s.trusted = append(s.trusted, given["body"])
	case "HttpClient.Allow.Hostname.Add":
		s.hosts = append(s.hosts, given["Expression"])
	case "UserInterface.Extensions.Panel.Save":
		s.panels[panelID] = given["body"]
	case "UserInterface.Extensions.Panel.Remove":
		if s.panels[panelID] == "" {
			return no("No such panel")
		}
		delete(s.panels, panelID)
	case "Macros.Macro.Save":
		s.macros[name] = given["body"]
	case "Macros.Macro.Activate", "Macros.Macro.Deactivate", "Macros.Macro.Remove":
		if s.macros[name] == "" {
			return no("No such macro")
		}
		if s.running[name] = what == "Macros.Macro.Activate"; what == "Macros.Macro.Remove" {
			delete(s.macros, name)
		}
	case "Macros.Runtime.Restart":
	default:
		s.t.Errorf("a device was told %s", what)
	}
	return "<Command><" + result + ` status="OK"/></Command>`
}

func lobby(t *testing.T, served []byte) panel.Kit {
	t.Helper()
	k, err := panel.NewKit(platform.RoomDevice{ID: "lobby", Workspace: "<Lobby> & \"bar\"", Controller: "c", Clusters: []int64{1}, Deployed: true, Code: "SECRET"}, "https://rooms.example:8443", served)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestADeviceGetsPanelAndMacroInOrder(t *testing.T) {
	s := newStandIn(t)
	// The platform's certificate vouches for itself, as that of the stand-in does.
	kit := lobby(t, s.certificate())
	d := s.device(t, password)
	for range 2 { // again is the same
		s.did = nil
		if err := d.Install(t.Context(), kit, true); err != nil {
			t.Fatal(err)
		}
		want := "Configuration Security.Certificates.CA.Add HttpClient.Allow.Hostname.Add UserInterface.Extensions.Panel.Save Macros.Macro.Save Macros.Macro.Activate Macros.Runtime.Restart"
		if got := strings.Join(s.did, " "); got != want {
			t.Errorf("it was told\n%s, want\n%s", got, want)
		}
	}
	if s.settings["HttpClient.Mode"] != "On" || s.settings["Macros.Mode"] != "On" || s.settings["Macros.AutoStart"] != "On" || len(s.settings) != 3 {
		t.Errorf("it has the settings %v", s.settings)
	}
	if s.macros[panel.MacroName] != kit.Macro() || !s.running[panel.MacroName] {
		t.Errorf("it runs another macro: %s", s.macros[panel.MacroName])
	}
	if s.panels[panel.MacroName] != kit.Panel() {
		t.Errorf("it shows another panel: %s", s.panels[panel.MacroName])
	}
	if s.trusted[0] != string(s.certificate()) || s.hosts[0] != `^rooms\.example$` {
		t.Errorf("it trusts %s and may ask %s", s.trusted[0], s.hosts[0])
	}
	for range 2 { // off, and off again
		s.did = nil
		if err := d.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.macros) > 0 || len(s.panels) > 0 {
		t.Errorf("it has %v %v still", s.macros, s.panels)
	}
}

func TestADeviceIsToldOnlyWhatItNeeds(t *testing.T) {
	s := newStandIn(t)
	if err := s.device(t, password).Install(t.Context(), lobby(t, nil), false); err != nil {
		t.Fatal(err)
	}
	if len(s.trusted) > 0 || len(s.hosts) > 0 {
		t.Errorf("it trusts %v and may ask %v", s.trusted, s.hosts)
	}
}

func TestWhatADeviceDoesNotDoIsNamed(t *testing.T) {
	answers := func(status int, body string) func(*standIn) {
		return func(s *standIn) {
			s.instead = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, body) }
		}
	}
	for name, c := range map[string]struct {
		set   func(*standIn)
		is    error
		says  string
		asked int // requests; 0: any
	}{
		"old RoomOS":             {func(s *standIn) { s.unknown = "Macros" }, ErrUnknown, "save the macro: the device does not know this command; its RoomOS is too old", 0},
		"it refuses":             {func(s *standIn) { s.refuses = "UserInterface" }, nil, "save the panel: the device refused: Storage is full", 0},
		"busy for ever":          {func(s *standIn) { s.busy = 1000 }, ErrBusy, "too much to do", busyTries},
		"parameters":             {answers(200, `<Command><MacroSaveResult status="ParameterError"/></Command>`), nil, "the device refused: ParameterError", 1},
		"one of two":             {answers(200, `<Command><A status="OK"/><B status="Error"><Reason>no</Reason></B></Command>`), nil, "the device refused: no", 1},
		"an error without one":   {answers(200, `<Command><Error>Unknown command</Error></Command>`), ErrUnknown, "", 1},
		"another server":         {answers(200, `<!doctype html><p>Welcome`), errStrange, "none of a RoomOS device", 1},
		"nothing":                {answers(200, ``), errStrange, "", 1},
		"status as a word":       {answers(200, `<Command><Text>status="OK"</Text></Command>`), errStrange, "", 1},
		"no such path":           {answers(404, ``), nil, "is it a RoomOS device", 1},
		"not an administrator":   {answers(403, ``), ErrCredentials, "", 1},
		"an error of the server": {answers(500, `<Command><A status="OK"/></Command>`), nil, "answer 500", 1},
		"sent elsewhere": {func(s *standIn) {
			s.instead = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://elsewhere.example/putxml", http.StatusTemporaryRedirect)
			}
		}, nil, "answer 307", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t)
			c.set(s)
			err := s.device(t, password).Install(t.Context(), lobby(t, nil), false)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %v and %q", err, c.is, c.says)
			}
			if c.asked > 0 && s.asked != c.asked {
				t.Errorf("it was asked %d times, want %d", s.asked, c.asked)
			}
			if strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), password) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

func TestAWrongPasswordIsTriedOnce(t *testing.T) {
	s := newStandIn(t)
	err := s.device(t, "wrong").Install(t.Context(), lobby(t, nil), false)
	if !errors.Is(err, ErrCredentials) || s.asked != 1 || len(s.did) > 0 {
		t.Errorf("got %v after %d requests, which did %v", err, s.asked, s.did)
	}
}

func TestABusyDeviceIsWaitedFor(t *testing.T) {
	s := newStandIn(t)
	s.busy = busyTries - 1
	if err := s.device(t, password).Install(t.Context(), lobby(t, nil), false); err != nil {
		t.Fatal(err)
	}
	if s.macros[panel.MacroName] == "" {
		t.Error("it has no macro")
	}
}

func TestNothingIsSentToADeviceThatIsNotKnown(t *testing.T) {
	s := newStandIn(t)
	for name, by := range map[string]trust.Trust{"by the system": {}, "by another fingerprint": {Fingerprint: strings.Repeat("ab", 32)}} {
		d, err := New(s.address(), user, password, by)
		if err != nil {
			t.Fatal(err)
		}
		err = d.Install(t.Context(), lobby(t, nil), false)
		d.Close()
		var untrusted *trust.Untrusted
		if !errors.As(err, &untrusted) || s.asked != 0 {
			t.Errorf("%s: got %v, and it was asked %d times", name, err, s.asked)
			continue
		}
		known, err := New(s.address(), user, password, trust.Trust{Fingerprint: untrusted.Fingerprint})
		if err != nil {
			t.Fatal(err)
		}
		if err := known.Remove(t.Context()); err != nil {
			t.Errorf("known by the fingerprint that the error told: %v", err)
		}
		known.Close()
		s.asked = 0
	}
}

func TestAddressesOfDevices(t *testing.T) {
	for address, good := range map[string]bool{
		"10.0.0.5": true, "room-kit.example": true, "10.0.0.5:8443": true, "[2001:db8::1]": true,
		"": false, "https://10.0.0.5": false, "10.0.0.5/putxml": false, "user@10.0.0.5": false, "a b": false, "10.0.0.5?x": false, ":443": false,
	} {
		if _, err := New(address, user, password, trust.Trust{}); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}
