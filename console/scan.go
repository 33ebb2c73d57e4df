package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"svc.internal/controller/appliance"
)

// Found is what a scan has to tell of one address.
type Found struct {
	Address string `json:"address"`
	// Finding is one of device, noAddress, note, collision, damaged, settings, babble,
	// silent, profile, late, echo, hindered; Trouble says that something has to be put right.
	Finding string   `json:"finding"`
	Trouble bool     `json:"trouble"`
	Kind    string   `json:"kind,omitempty"`   // the profile that fits best
	Others  []string `json:"others,omitempty"` // profiles that cannot be told apart from it by reading
	Label   string   `json:"label,omitempty"`
	Serial  string   `json:"serial,omitempty"`
	Version string   `json:"version,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Advice  string   `json:"advice,omitempty"`
	// Line settings at which a device answers, if not those of the bus.
	Line *Line `json:"line,omitempty"`
	// Gateway: what is behind it are nodes, the address itself is none.
	Gateway bool `json:"gateway,omitempty"`
	// Nodes of the site at this address.
	Nodes   []appliance.ID    `json:"nodes,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Groups  []string          `json:"groups,omitempty"`
	// Lights and Shades are how many outputs of either kind the device has; a shade
	// takes outputs that could be lights.
	Lights int `json:"lights,omitempty"`
	Shades int `json:"shades,omitempty"`
}

// Line settings of a serial port.
type Line struct {
	BaudRate int    `json:"baudRate"`
	Parity   string `json:"parity"`
	StopBits int    `json:"stopBits"`
}

// FoundOf tells what a scan found in the words of the console.
func FoundOf(f appliance.Found) Found {
	out := Found{
		Address: f.Address, Finding: string(f.Finding), Trouble: f.Finding.Trouble(), Kind: f.Kind, Others: f.Others,
		Label: f.Label, Serial: f.Serial, Version: f.Version, Detail: f.Detail, Advice: f.Advice, Gateway: f.Gateway,
		Nodes: f.Nodes, Options: f.Options, Groups: f.Groups,
		Lights: f.Lights, Shades: f.Shades,
	}
	if f.Line != (appliance.LineSettings{}) {
		out.Line = &Line{BaudRate: f.Line.BaudRate, Parity: f.Line.Parity, StopBits: f.Line.StopBits}
	}
	return out
}

// ScanEvent is one line of a scan's answer: a probe, something found, or the end.
type ScanEvent struct {
	Probing string `json:"probing,omitempty"`
	Found   *Found `json:"found,omitempty"`
	Done    bool   `json:"done,omitempty"`
	Error   string `json:"error,omitempty"`
}

// scanBacklog is how many events of a scan may wait for a slow reader; probes
// beyond it are not shown, what was found waits.
const scanBacklog = 256

// scan searches a bus and tells what it sees as it goes. It ends when the caller
// leaves.
func (d door) scan(w http.ResponseWriter, r *http.Request) {
	opts, err := scanOptions(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := make(chan ScanEvent, scanBacklog)
	go func() {
		defer close(events)
		err := d.core.Scan(ctx, r.PathValue("name"), opts, func(address string) {
			select {
			case events <- ScanEvent{Probing: address}:
			default:
			}
		}, func(f appliance.Found) {
			found := FoundOf(f)
			select {
			case events <- ScanEvent{Found: &found}:
			case <-ctx.Done():
			}
		})
		last := ScanEvent{Done: true}
		if err != nil {
			last.Error = err.Error()
		}
		select {
		case events <- last:
		case <-ctx.Done():
		}
	}()
	send := lines(w)
	for e := range events {
		if send(e) != nil {
			cancel()
		}
	}
}

func scanOptions(r *http.Request) (appliance.ScanOptions, error) {
	q := r.URL.Query()
	o := appliance.ScanOptions{AllSettings: q.Get("allSettings") == "1"}
	for key, to := range map[string]*int{"first": &o.First, "last": &o.Last} {
		text := q.Get(key)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return o, fmt.Errorf("%s=%q: want a number from 0", key, text)
		}
		*to = n
	}
	return o, nil
}

// Scan searches a bus and calls each as it goes.
func (c *Client) Scan(ctx context.Context, bus string, opts appliance.ScanOptions, each func(ScanEvent) error) error {
	q := url.Values{"first": {strconv.Itoa(opts.First)}, "last": {strconv.Itoa(opts.Last)}}
	if opts.AllSettings {
		q.Set("allSettings", "1")
	}
	done := false
	err := stream(ctx, c, http.MethodPost, "/buses/"+url.PathEscape(bus)+"/scan?"+q.Encode(), func(e ScanEvent) error {
		done = done || e.Done
		return each(e)
	})
	if !done && ctx.Err() == nil && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) {
		return errors.New("the daemon ended before the scan did; what is not listed was not looked for: scan again")
	}
	return err
}
