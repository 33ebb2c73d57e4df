// Package roomos speaks to RoomOS devices themselves, by their xAPI over HTTPS: it puts a panel and its macro on, and takes
// them off.
//
// A request is XML that is posted to /putxml with basic authentication, as Cisco's guide to customization of RoomOS
// devices and its API reference guides ("Using HTTP POST") have it:
//
//	<Command><Macros><Macro><Activate command="True"><Name>…</Name></Activate></Macro></Macros></Command>
//	→ <Command><MacroActivateResult status="OK"/></Command>
//
// A device does one such request a second, queues 30, and answers 503 to more ("Known limitations" of the release notes).
package roomos

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/shelf/trust"
)

// What callers tell apart.
var (
	// ErrCredentials says that a device knows no such user and password. It is asked once: devices lock users out who guess.
	ErrCredentials = errors.New("user name or password is wrong, or the user is not an administrator of the device")
	// ErrUnknown says that a device does not know a command: its RoomOS is too old, or set up without it.
	ErrUnknown = errors.New("the device does not know this command; its RoomOS is too old (macros need RoomOS 9.2 or newer, and a device that can run them)")
	// ErrBusy says that a device had too much to do for as long as it was waited for.
	ErrBusy = errors.New("the device had too much to do; try again later")
)

// Device is one that is spoken to.
type Device struct {
	Address  string // host or host:port
	Username string
	Password string

	client *http.Client
	dialer *net.Dialer
	pause  time.Duration // after the first answer that it is busy
}

// Outside says that an address may not be asked. Nothing was sent there.
type Outside struct{ Address netip.Addr }

func (e *Outside) Error() string {
	return fmt.Sprintf("%s is in none of the networks that may be asked; the operator of the platform names these with ROOMOS_NETWORKS", e.Address)
}

const (
	// connectMost is how long a device may take to take a connection, and then to show its certificate.
	connectMost = 10 * time.Second
	// callMost is how long one request may take: it may stand behind 30 others.
	callMost   = 45 * time.Second
	answerMost = 1 << 20
	// busyFirst is the pause after the first 503; it doubles, up to busyTries requests in all.
	busyFirst = 2 * time.Second
	busyTries = 5
)

// New makes a device that is known by t.
func New(address, username, password string, t trust.Trust) (*Device, error) {
	host, err := platform.HostOf(address)
	if err != nil {
		return nil, err
	}
	config, err := t.Config(host)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: connectMost}
	return &Device{Address: address, Username: username, Password: password, dialer: dialer, pause: busyFirst, client: &http.Client{
		Timeout:       callMost,
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: connectMost},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the password goes nowhere else
	}}, nil
}

// within has a device be asked at addresses in networks only, whatever its name stands for at the moment of asking.
func (d *Device) within(networks []netip.Prefix) {
	d.dialer.Control = func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		ip := at.Addr().Unmap()
		if !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip.WithZone("")) }) {
			return &Outside{ip}
		}
		return nil
	}
}

// Close ends connections that are kept.
func (d *Device) Close() { d.client.CloseIdleConnections() }

// step is one request, and what it does in words.
type step struct {
	what string
	body element
	gone bool // that what is to be removed is not there is as good
}

// Install puts panel and macro of a kit on, and has the macro run. allowHost adds the platform to the hosts that macros may
// ask, for devices that have a list of these.
func (d *Device) Install(ctx context.Context, kit panel.Kit, allowHost bool) error {
	steps := []step{{what: "let macros run and ask", body: tree("Configuration",
		tree("HttpClient", text("Mode", "On")), tree("Macros", text("Mode", "On"), text("AutoStart", "On")))}}
	if kit.Certificate != nil {
		steps = append(steps, step{what: "trust the platform's certificate", body: command([]string{"Security", "Certificates", "CA", "Add"}, text("body", string(kit.Certificate)))})
	}
	if allowHost {
		steps = append(steps, step{what: "allow the platform's host", body: command([]string{"HttpClient", "Allow", "Hostname", "Add"}, text("Expression", hostExpression(kit)))})
	}
	name := text("Name", panel.MacroName)
	steps = append(steps,
		step{what: "save the panel", body: command([]string{"UserInterface", "Extensions", "Panel", "Save"}, text("PanelId", panel.MacroName), text("body", kit.Panel()))},
		step{what: "save the macro", body: command([]string{"Macros", "Macro", "Save"}, name, text("Overwrite", "True"), text("body", kit.Macro()))},
		step{what: "activate the macro", body: command([]string{"Macros", "Macro", "Activate"}, name)},
		step{what: "start the macro", body: command([]string{"Macros", "Runtime", "Restart"})},
	)
	return d.run(ctx, steps)
}

// Remove takes panel and macro off. Settings and certificate stay: others may need them.
func (d *Device) Remove(ctx context.Context) error {
	name := text("Name", panel.MacroName)
	return d.run(ctx, []step{
		{what: "deactivate the macro", body: command([]string{"Macros", "Macro", "Deactivate"}, name), gone: true},
		{what: "remove the macro", body: command([]string{"Macros", "Macro", "Remove"}, name), gone: true},
		{what: "remove the panel", body: command([]string{"UserInterface", "Extensions", "Panel", "Remove"}, text("PanelId", panel.MacroName)), gone: true},
		{what: "stop the macro", body: command([]string{"Macros", "Runtime", "Restart"})},
	})
}

func (d *Device) run(ctx context.Context, steps []step) error {
	for _, s := range steps {
		err := d.put(ctx, s.body)
		var refused *Refused
		if s.gone && errors.As(err, &refused) && !errors.Is(err, ErrUnknown) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// hostExpression is the regular expression for the platform's host alone.
func hostExpression(kit panel.Kit) string {
	at, err := url.Parse(kit.Platform)
	if err != nil {
		return "" // a kit has none such
	}
	return "^" + strings.ReplaceAll(at.Hostname(), ".", `\.`) + "$"
}

// put posts one document, again after a pause while the device has too much to do.
func (d *Device) put(ctx context.Context, body element) error {
	document, err := xml.Marshal(body)
	if err != nil {
		return err
	}
	pause := d.pause
	for try := 1; ; try++ {
		err := d.post(ctx, document)
		if !errors.Is(err, ErrBusy) || try == busyTries {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		pause *= 2
	}
}

func (d *Device) post(ctx context.Context, document []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+d.Address+"/putxml", bytes.NewReader(document))
	if err != nil {
		return err
	}
	r.SetBasicAuth(d.Username, d.Password)
	r.Header.Set("Content-Type", "text/xml")
	res, err := d.client.Do(r)
	if err != nil {
		var untrusted *trust.Untrusted
		if errors.As(err, &untrusted) {
			return untrusted // nothing was sent
		}
		var outside *Outside
		if errors.As(err, &outside) {
			return outside
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the address stands beside it anyway
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return fmt.Errorf("no whole answer: %w", err)
	}
	switch res.StatusCode {
	case http.StatusOK:
		return outcome(answer)
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrCredentials
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return ErrBusy
	case http.StatusNotFound:
		return fmt.Errorf("answer %s: nothing there takes commands; is it a RoomOS device, with its web interface on?", res.Status)
	}
	var refused *Refused
	if err := outcome(answer); errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("answer %s", res.Status)
}
