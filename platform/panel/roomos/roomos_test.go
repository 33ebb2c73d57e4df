package roomos

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos/roomostest"
	"svc.internal/controller/shelf/trust"
)

func device(t *testing.T, s *roomostest.Device, password string) *Device {
	t.Helper()
	d, err := New(s.Address(), roomostest.User, password, trust.Trust{CA: s.Certificate()})
	if err != nil {
		t.Fatal(err)
	}
	d.pause = time.Millisecond
	t.Cleanup(d.Close)
	return d
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
	s := roomostest.New(t)
	// The platform's certificate vouches for itself, as that of the stand-in does.
	kit := lobby(t, s.Certificate())
	d := device(t, s, roomostest.Password)
	for range 2 { // again is the same
		s.Did = nil
		if err := d.Install(t.Context(), kit, true); err != nil {
			t.Fatal(err)
		}
		want := "Configuration Security.Certificates.CA.Add HttpClient.Allow.Hostname.Add UserInterface.Extensions.Panel.Save Macros.Macro.Save Macros.Macro.Activate Macros.Runtime.Restart"
		if got := strings.Join(s.Did, " "); got != want {
			t.Errorf("it was told\n%s, want\n%s", got, want)
		}
	}
	if s.Settings["HttpClient.Mode"] != "On" || s.Settings["Macros.Mode"] != "On" || s.Settings["Macros.AutoStart"] != "On" || len(s.Settings) != 3 {
		t.Errorf("it has the settings %v", s.Settings)
	}
	if s.Macros[panel.MacroName] != kit.Macro() || !s.Running[panel.MacroName] {
		t.Errorf("it runs another macro: %s", s.Macros[panel.MacroName])
	}
	if s.Panels[panel.MacroName] != kit.Panel() {
		t.Errorf("it shows another panel: %s", s.Panels[panel.MacroName])
	}
	if s.Trusted[0] != string(s.Certificate()) || s.Hosts[0] != `^rooms\.example$` {
		t.Errorf("it trusts %s and may ask %s", s.Trusted[0], s.Hosts[0])
	}
	for range 2 { // off, and off again
		s.Did = nil
		if err := d.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Macros) > 0 || len(s.Panels) > 0 {
		t.Errorf("it has %v %v still", s.Macros, s.Panels)
	}
}

func TestADeviceIsToldOnlyWhatItNeeds(t *testing.T) {
	s := roomostest.New(t)
	if err := device(t, s, roomostest.Password).Install(t.Context(), lobby(t, nil), false); err != nil {
		t.Fatal(err)
	}
	if len(s.Trusted) > 0 || len(s.Hosts) > 0 {
		t.Errorf("it trusts %v and may ask %v", s.Trusted, s.Hosts)
	}
}

func TestWhatADeviceDoesNotDoIsNamed(t *testing.T) {
	answers := func(status int, body string) func(*roomostest.Device) {
		return func(s *roomostest.Device) {
			s.Instead = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, body) }
		}
	}
	for name, c := range map[string]struct {
		set   func(*roomostest.Device)
		is    error
		says  string
		asked int // requests; 0: any
	}{
		"old RoomOS":             {func(s *roomostest.Device) { s.Unknown = "Macros" }, ErrUnknown, "save the macro: the device does not know this command; its RoomOS is too old", 0},
		"it refuses":             {func(s *roomostest.Device) { s.Refuses = "UserInterface" }, nil, "save the panel: the device refused: Storage is full", 0},
		"busy for ever":          {func(s *roomostest.Device) { s.Busy = 1000 }, ErrBusy, "too much to do", busyTries},
		"parameters":             {answers(200, `<Command><MacroSaveResult status="ParameterError"/></Command>`), nil, "the device refused: ParameterError", 1},
		"one of two":             {answers(200, `<Command><A status="OK"/><B status="Error"><Reason>no</Reason></B></Command>`), nil, "the device refused: no", 1},
		"an error without one":   {answers(200, `<Command><Error>Unknown command</Error></Command>`), ErrUnknown, "", 1},
		"another server":         {answers(200, `<!doctype html><p>Welcome`), errStrange, "none of a RoomOS device", 1},
		"nothing":                {answers(200, ``), errStrange, "", 1},
		"status as a word":       {answers(200, `<Command><Text>status="OK"</Text></Command>`), errStrange, "", 1},
		"no such path":           {answers(404, ``), nil, "is it a RoomOS device", 1},
		"not an administrator":   {answers(403, ``), ErrCredentials, "", 1},
		"an error of the server": {answers(500, `<Command><A status="OK"/></Command>`), nil, "answer 500", 1},
		"sent elsewhere": {func(s *roomostest.Device) {
			s.Instead = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://elsewhere.example/putxml", http.StatusTemporaryRedirect)
			}
		}, nil, "answer 307", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := roomostest.New(t)
			c.set(s)
			err := device(t, s, roomostest.Password).Install(t.Context(), lobby(t, nil), false)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %v and %q", err, c.is, c.says)
			}
			if c.asked > 0 && s.Asked != c.asked {
				t.Errorf("it was asked %d times, want %d", s.Asked, c.asked)
			}
			if strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), roomostest.Password) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

func TestAWrongPasswordIsTriedOnce(t *testing.T) {
	s := roomostest.New(t)
	err := device(t, s, "wrong").Install(t.Context(), lobby(t, nil), false)
	if !errors.Is(err, ErrCredentials) || s.Asked != 1 || len(s.Did) > 0 {
		t.Errorf("got %v after %d requests, which did %v", err, s.Asked, s.Did)
	}
}

func TestABusyDeviceIsWaitedFor(t *testing.T) {
	s := roomostest.New(t)
	s.Busy = busyTries - 1
	if err := device(t, s, roomostest.Password).Install(t.Context(), lobby(t, nil), false); err != nil {
		t.Fatal(err)
	}
	if s.Macros[panel.MacroName] == "" {
		t.Error("it has no macro")
	}
}

func TestNothingIsSentToADeviceThatIsNotKnown(t *testing.T) {
	s := roomostest.New(t)
	for name, by := range map[string]trust.Trust{"by the system": {}, "by another fingerprint": {Fingerprint: strings.Repeat("ab", 32)}} {
		d, err := New(s.Address(), roomostest.User, roomostest.Password, by)
		if err != nil {
			t.Fatal(err)
		}
		err = d.Install(t.Context(), lobby(t, nil), false)
		d.Close()
		var untrusted *trust.Untrusted
		if !errors.As(err, &untrusted) || s.Asked != 0 {
			t.Errorf("%s: got %v, and it was asked %d times", name, err, s.Asked)
			continue
		}
		known, err := New(s.Address(), roomostest.User, roomostest.Password, trust.Trust{Fingerprint: untrusted.Fingerprint})
		if err != nil {
			t.Fatal(err)
		}
		if err := known.Remove(t.Context()); err != nil {
			t.Errorf("known by the fingerprint that the error told: %v", err)
		}
		known.Close()
		s.Asked = 0
	}
}

func TestAddressesOfDevices(t *testing.T) {
	for address, good := range map[string]bool{
		"10.0.0.5": true, "room-kit.example": true, "10.0.0.5:8443": true, "[2001:db8::1]": true,
		"": false, "https://10.0.0.5": false, "10.0.0.5/putxml": false, "user@10.0.0.5": false, "a b": false, "10.0.0.5?x": false, ":443": false,
	} {
		if _, err := New(address, roomostest.User, roomostest.Password, trust.Trust{}); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}
