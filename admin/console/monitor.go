package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/recording"
)

// monitorFlags say which frames are shown and where they go.
type monitorFlags struct {
	all, recent, asJSON bool
	last, count         int
	export              string
	maxSize             int64 // MB
	filter              frameFilter
}

func newBusMonitor(a *App) *cobra.Command {
	var f monitorFlags
	c := &cobra.Command{
		Use:   "monitor {BUS… | --all}",
		Short: "Show the frames that pass on buses, decoded, until Ctrl-C",
		Long: `Show the frames that pass on one or several buses, decoded, until Ctrl-C: first those of
the flight recorder, then what passes from now on. → was sent, ← was received, ✗ was
received and could not be used, … that frames are missing, since more passed than could
be shown.

--address, --direction, --text and --errors leave out everything else. An answer that
carries no address counts to the device that was asked. --export writes the frames that
are shown to a recording as well: one JSON object a line, see docs/operating.md. It is
for 'bus decode --file' and 'simbuilding replay', and to be sent to whoever looks for a fault; it
holds addresses and labels of devices, and no secrets.`,
		Example: `  controllerd bus monitor ground-floor --address 5
  controllerd bus monitor ground-floor --errors
  controllerd bus monitor --all --export night.jsonl
  controllerd bus monitor ground-floor --last 20`,
		Args: cli.Args(cobra.ArbitraryArgs),
	}
	flags := c.Flags()
	flags.BoolVar(&f.all, "all", false, "all buses of the site")
	flags.BoolVar(&f.recent, "recent", false, "show the last frames from the flight recorder and end")
	flags.IntVar(&f.last, "last", 0, "show the last `n` frames of each bus from the flight recorder and end")
	flags.IntVar(&f.count, "count", 0, "end after `n` frames")
	flags.StringVar(&f.filter.address, "address", "", "only frames from and to this `device`")
	flags.StringVar(&f.filter.direction, "direction", "", "only frames of one `way`: sent, received or discarded")
	flags.StringVar(&f.filter.text, "text", "", "only frames whose explanation holds this `text`, in large or small letters")
	flags.BoolVar(&f.filter.errors, "errors", false, "only what went wrong: damaged and unused bytes, refusals, a port that went")
	flags.StringVar(&f.export, "export", "", "write the frames to this `file` too")
	flags.Int64Var(&f.maxSize, "max-size", 100, "end when the file has this many `MB`")
	asJSON := cli.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("recent", "last")
	c.RunE = func(c *cobra.Command, names []string) error {
		f.asJSON = *asJSON
		if err := f.check(names); err != nil {
			return cli.Usage(err)
		}
		return a.monitor(c, names, f)
	}
	return c
}

func (f monitorFlags) check(names []string) error {
	ways := []string{"", "sent", "received", "discarded"}
	switch {
	case f.all == (len(names) > 0):
		return oneOf("name the buses to watch, or give --all", f.all)
	case !slices.Contains(ways, f.filter.direction):
		return fmt.Errorf("--direction %q: want sent, received or discarded", f.filter.direction)
	case f.last < 0 || f.count < 0 || f.maxSize < 1:
		return errors.New("--last and --count must not be negative, --max-size is 1 at least")
	}
	return nil
}

// monitor watches buses until it is told to end, or there is nothing more to come.
func (a *App) monitor(c *cobra.Command, names []string, f monitorFlags) (err error) {
	client := a.local()
	buses, err := watched(c.Context(), client, names)
	if err != nil {
		return err
	}
	m := &monitor{out: c.OutOrStdout(), asJSON: f.asJSON, several: len(buses) > 1, count: f.count}
	if f.export != "" {
		if m.file, err = recording.Create(f.export, "controllerd "+a.Version, f.maxSize*1e6); err != nil {
			return err
		}
		defer func() {
			if cerr := m.file.Close(); err == nil {
				err = cerr
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s of %s written to %s\n", count(m.shown, "frame", "frames"), count(len(buses), "bus", "buses"), f.export)
			if m.lost > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "%s missing in it; \"lost\" says where\n", count(m.lost, "frame is", "frames are"))
			}
		}()
	}
	g, ctx := errgroup.WithContext(c.Context())
	for _, b := range buses {
		g.Go(func() error { return m.watch(ctx, client, b, f) })
	}
	if err := g.Wait(); c.Context().Err() == nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil // whoever watches has seen enough
}

// watched are the buses of these names, or all.
func watched(ctx context.Context, client *local, names []string) ([]api.BusDetail, error) {
	all, err := client.buses(ctx)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var out []api.BusDetail
	for _, name := range names {
		i := slices.IndexFunc(all, func(b api.BusDetail) bool { return b.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("bus %q: %w; 'controllerd bus list' shows those there are", name, appliance.ErrNotFound)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// monitor shows frames of several buses, one at a time.
type monitor struct {
	out     io.Writer
	asJSON  bool
	several bool // name the bus on every line
	count   int  // end after so many; 0: do not

	mu    sync.Mutex
	file  *recording.Writer // nil: none
	shown int
	lost  int // frames that are missing in what was shown
}

// errEnough ends watching.
var errEnough = errors.New("enough was seen")

// watch shows one bus until ctx ends.
func (m *monitor) watch(ctx context.Context, client *local, b api.BusDetail, f monitorFlags) error {
	protocol := drivers.Protocol(b.Driver, b.Port, b.Options)
	filter := f.filter
	lost := 0 // before the next frame that is shown
	var recent []recording.Frame
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	whole := &joiner{fail: cancel, each: func(frame api.Frame) error {
		r := operations.Recorded(b.Name, protocol, frame)
		if lost += r.Lost; r.Lost > 0 {
			filter.asked = nil // who was asked last is not known
		}
		switch {
		case !filter.passes(r):
			return nil
		case f.last > 0:
			recent = append(recent, r)
			return nil
		}
		r.Lost, lost = lost, 0
		return m.show(r)
	}}
	err := client.frames(ctx, b.Name, !f.recent && f.last == 0, whole.take)
	if held := whole.end(); err == nil {
		err = held
	}
	for i := max(0, len(recent)-f.last); i < len(recent) && err == nil; i++ {
		err = m.show(recent[i])
	}
	return err
}

// show prints one frame: when, which way, the bytes, what they mean.
func (m *monitor) show(r recording.Frame) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != nil {
		if err := m.file.Write(r); err != nil {
			return err
		}
	}
	var err error
	if m.asJSON {
		err = json.NewEncoder(m.out).Encode(r)
	} else {
		bus := ""
		if m.several {
			bus = r.Bus + " "
		}
		gap := ""
		if r.Lost > 0 {
			gap = fmt.Sprintf("… %s%s missing here: more passed than could be shown\n", bus, count(r.Lost, "frame is", "frames are"))
		}
		_, err = fmt.Fprintf(m.out, "%s%s %s%s %s  %s\n", gap, r.At.Local().Format("15:04:05.000"), bus, arrows[r.Direction], r.Hex, r.Words())
	}
	m.lost += r.Lost
	if m.shown++; err == nil && m.shown == m.count {
		err = errEnough
	}
	return err
}

var arrows = map[string]string{"sent": "→", "received": "←", "discarded": "✗"}

// frameFilter says which frames of a bus are of interest. It remembers who was asked
// last, so each bus needs its own.
type frameFilter struct {
	address, direction, text string
	errors                   bool

	asked []string // addresses of the last frame that was sent
}

func (f *frameFilter) passes(r recording.Frame) bool {
	fields := r.Named()
	about := addressesOf(fields)
	switch {
	case r.Direction == "sent":
		f.asked = about
	case len(about) == 0:
		about = f.asked
	}
	switch {
	case f.direction != "" && r.Direction != f.direction:
	case f.errors && !wrong(r, fields):
	case f.address != "" && !slices.ContainsFunc(about, func(a string) bool { return strings.EqualFold(a, f.address) }):
	case !strings.Contains(strings.ToLower(r.Words()), strings.ToLower(f.text)):
	default:
		return true
	}
	return false
}

// addressesOf are the devices that a frame is from or for, as the site writes them.
func addressesOf(fields map[string]any) (list []string) {
	add := func(from map[string]any, keys ...string) {
		for _, key := range keys {
			if v, ok := from[key]; ok {
				list = append(list, strings.TrimPrefix(fmt.Sprint(v), "short "))
			}
		}
	}
	add(fields, "unit", "src", "dst", "address", "discovery_uid")
	if rdm, ok := fields["rdm"].(map[string]any); ok {
		add(rdm, "src", "dest")
	}
	return list
}

// wrong reports whether a frame tells of trouble.
func wrong(r recording.Frame, fields map[string]any) bool {
	if !r.OK || r.Direction == "discarded" || r.Note != "" {
		return true
	}
	for key, values := range map[string][]any{
		"msg": {"NACK"}, "kind": {"exception", "garbled", "conflict", "refused", "fault"}, "collision": nil,
	} {
		if v, ok := fields[key]; ok && (values == nil || slices.Contains(values, v)) {
			return true
		}
	}
	return false
}
