package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"svc.internal/controller/appliance"
)

// Core is what this door needs of the controller.
type Core interface {
	Snapshot() *appliance.Snapshot
	Recorder(bus string) (appliance.Recorder, error)
	Identify(ctx context.Context, bus, address string) error
	Services(bus string) ([]appliance.Service, error)
	Serve(ctx context.Context, bus, name string, inputs map[string]string, tell func(appliance.Told)) error
	Groups(bus string) (appliance.Grouping, error)
	WriteGroups(ctx context.Context, bus string, step func(appliance.GroupProgress)) error
	Scan(ctx context.Context, bus string, opts appliance.ScanOptions, step func(string), found func(appliance.Found)) error
	Calibrate(ctx context.Context, plan appliance.Calibration, w appliance.Watcher) (appliance.Calibrated, error)
	FindDirection(ctx context.Context, plan appliance.Nudge, saw func(ctx context.Context, toldUp bool) (appliance.Went, error)) (inverted bool, err error)
}

// Listen makes the socket in the data directory, in place of one that a killed
// daemon left. The caller holds the directory's lock, so no other daemon serves it.
func Listen(dataDir string) (net.Listener, error) {
	path := filepath.Join(dataDir, SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old console socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open console socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("protect console socket: %w", err)
	}
	return ln, nil
}

// Serve answers on ln until ctx ends. It owns ln. It returns when the shades that are
// moved through this door have been stopped, so the core has to outlast it.
func Serve(ctx context.Context, ln net.Listener, core Core, save SaveShade, log *slog.Logger) error {
	d := newDoor(core, save)
	defer d.sessions.wait()
	srv := &http.Server{
		Handler: d.handler(), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	stopped := context.AfterFunc(ctx, func() { srv.Close() })
	defer stopped()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve console: %w", err)
	}
	return nil
}

func (d door) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /buses", d.buses)
	mux.HandleFunc("GET /buses/{name}/frames", d.frames)
	mux.HandleFunc("POST /buses/{name}/scan", d.scan)
	mux.HandleFunc("POST /buses/{name}/identify", d.identify)
	mux.HandleFunc("GET /buses/{name}/groups", d.groups)
	mux.HandleFunc("POST /buses/{name}/groups", d.writeGroups)
	mux.HandleFunc("GET /buses/{name}/services", d.services)
	mux.HandleFunc("POST /buses/{name}/services/{service}", d.service)
	mux.HandleFunc("GET /shades", d.shades)
	mux.HandleFunc("POST /shades/{id}/calibrate", d.calibrate)
	mux.HandleFunc("POST /shades/{id}/direction", d.direction)
	mux.HandleFunc("POST /shades/{id}/answer", d.reply)
	return mux
}

// door is what stands behind the socket.
type door struct {
	core     Core
	sessions *sessions
}

func newDoor(core Core, save SaveShade) door {
	return door{core, &sessions{save: save, of: map[appliance.ID]*session{}}}
}

func (d door) buses(w http.ResponseWriter, _ *http.Request) {
	s := d.core.Snapshot()
	out := make([]Bus, 0, len(s.Buses))
	for _, b := range s.Buses {
		out = append(out, busOf(s, b))
	}
	answer(w, out)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func busOf(s *appliance.Snapshot, b *appliance.BusState) Bus {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	out := Bus{
		Name: b.Bus.Name, Driver: b.Bus.Driver, Port: b.Bus.Port, Options: b.Bus.Options, Up: b.Up, Fault: b.Fault,
		BoundMs: ms(b.Bound), TypicalMs: ms(b.Typical), Use: b.Use, DeadUse: b.DeadUse,
		Demand: b.Demand, Queue: b.Queue, Stats: Stats(b.Stats), Devices: []Device{},
	}
	for _, f := range s.Faults {
		if f.Where == "bus "+b.Bus.Name {
			out.Fault = "quarantined: " + f.What
		}
	}
	for _, n := range s.Nodes {
		if n.Node.Bus == b.Bus.UUID {
			out.Nodes++
			if n.Online {
				out.Online++
			}
		}
	}
	for _, dev := range b.Devices {
		d := Device{Device: dev.Device, Online: dev.Online, Nodes: []DeviceNode{}, Trouble: dev.Trouble, Why: dev.Why, Stats: Stats(dev.Stats)}
		for _, id := range dev.Nodes {
			if n := s.Node(id); n != nil {
				d.Nodes = append(d.Nodes, DeviceNode{id, n.Node.Name})
			}
		}
		if !dev.LastSeen.IsZero() {
			d.LastSeen = &dev.LastSeen
		}
		out.Devices = append(out.Devices, d)
	}
	return out
}

// frames sends the flight recorder and, with follow=1, what passes from then on.
func (d door) frames(w http.ResponseWriter, r *http.Request) {
	rec, err := d.core.Recorder(r.PathValue("name"))
	if err != nil {
		fail(w, http.StatusNotFound, err)
		return
	}
	send := lines(w)
	var live <-chan appliance.Frame
	if r.URL.Query().Get("follow") == "1" {
		live = rec.Follow(r.Context())
	}
	var last time.Time
	for _, f := range rec.Recent() {
		last = f.At
		if send(frameOf(f)) != nil {
			return
		}
	}
	if live == nil {
		return
	}
	for f := range live {
		if !f.At.After(last) {
			continue // it came in between, and was sent already
		}
		if send(frameOf(f)) != nil {
			return
		}
	}
}

// identifyTime is what a device gets to show itself.
const identifyTime = 30 * time.Second

// identify makes one device show itself.
func (d door) identify(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), identifyTime)
	defer cancel()
	if err := d.core.Identify(ctx, r.PathValue("name"), r.URL.Query().Get("address")); err != nil {
		fail(w, http.StatusConflict, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// lines returns a function that sends one JSON object a line, at once.
func lines(w http.ResponseWriter) func(any) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	return func(v any) error {
		if err := enc.Encode(v); err != nil {
			return err
		}
		return flush.Flush()
	}
}

func fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(problem{err.Error()})
}
