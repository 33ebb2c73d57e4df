package dali

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Open makes a driver for one DALI line; it is an [appliance.OpenFunc]. It opens
// no port and sends nothing.
func Open(cfg appliance.BusConfig) (appliance.Opened, error) { return OpenOn(cfg, nil) }

// OpenOn does so on other ports than those of this machine; nil: on these.
func OpenOn(cfg appliance.BusConfig, ports *line.Ports) (appliance.Opened, error) {
	options, err := readBusOptions(cfg.Bus.Options)
	if err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	gw := gateways[options.gateway]
	port, settings, err := portOf(cfg.Bus, gw)
	if err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	heard := &groupSet{}
	l, err := newLine(cfg, ports, gw, heard, port, settings)
	if err != nil {
		return appliance.Opened{}, err
	}
	d := &Driver{
		name: cfg.Bus.Name, options: options, log: cfg.Log, byRef: make(map[appliance.Ref]*gear), shows: make(chan Send, 1),
		wire: &wire{name: cfg.Bus.Name, line: l, gw: gw, timeout: options.timeout(), window: options.answerWait, heardGroups: heard, turn: make(chan struct{}, 1)},
	}
	out := appliance.Opened{
		Driver: d, Device: make(map[appliance.ID]string), Channels: make(map[appliance.ID][]appliance.Channel),
		Shades:      make(map[appliance.ID]appliance.Channel),
		BrokenNodes: make(map[appliance.ID]error), BrokenShades: make(map[appliance.ID]error),
	}
	for _, node := range cfg.Nodes {
		g, err := d.place(node)
		if err != nil {
			out.BrokenNodes[node.ID] = err
			d.setAside(node)
			continue
		}
		if cfg.Last != nil {
			if last, ok := cfg.Last(g.ref); ok {
				g.recall(last)
			}
		}
		out.Device[node.ID] = g.key
		out.Channels[node.ID] = []appliance.Channel{g.channel()}
	}
	for _, s := range cfg.Shades {
		out.BrokenShades[s.ID] = fmt.Errorf("a DALI line has no shade outputs; put the shade on the bus of its motor")
	}
	slices.SortFunc(d.gears, func(a, b *gear) int { return a.short - b.short })
	return out, nil
}

// setAside keeps frames to all, and to the groups that the site says it is in, from
// being used where a gear cannot be commanded: it would be lit along unasked.
func (d *Driver) setAside(node appliance.Node) {
	d.options.broadcast = false
	for _, text := range node.Groups {
		if set, err := parseGroups([]string{text}); err == nil {
			d.spoilt |= set
		}
	}
}

// timeout for the gateway to confirm a frame: the HAT answers each frame at once,
// the others queue it while the DALI line is taken.
func (o busOptions) timeout() time.Duration {
	switch {
	case o.gatewayTimeout > 0:
		return o.gatewayTimeout
	case o.gateway == "atx":
		return 300 * time.Millisecond
	}
	return time.Second
}

// portOf completes what the bus is connected to.
func portOf(bus appliance.Bus, gw gateway) (string, appliance.LineSettings, error) {
	if addr, ok := strings.CutPrefix(bus.Port, "tcp://"); ok {
		if bus.Line != (appliance.LineSettings{}) {
			return "", bus.Line, fmt.Errorf("port %q is a socket: it has no line settings (those of a serial server are set in the server)", bus.Port)
		}
		// A serial server passes bytes on; an answer that came too late must not be
		// taken for the next one, which is what this scheme of the line sees to.
		return "rtu+tcp://" + addr, bus.Line, nil
	}
	if strings.Contains(bus.Port, "://") {
		return "", bus.Line, fmt.Errorf("port %q: want a device path such as /dev/serial/by-id/…, or tcp://host:port of a serial server", bus.Port)
	}
	s, def := bus.Line, gw.settings()
	if s.BaudRate == 0 {
		s.BaudRate = def.BaudRate
	}
	if s.Parity == "" {
		s.Parity = def.Parity
	}
	if s.DataBits == 0 {
		s.DataBits = def.DataBits
	}
	if s.StopBits == 0 {
		s.StopBits = def.StopBits
	}
	return bus.Port, s, nil
}

// place makes a gear of a node's entry.
func (d *Driver) place(node appliance.Node) (*gear, error) {
	p, ok := profiles[node.Profile]
	if !ok {
		return nil, fmt.Errorf("profile %q is unknown; DALI gear is one of %s", node.Profile, profileNames())
	}
	short, err := parseShort(node.Address)
	if err != nil {
		return nil, err
	}
	groups, err := parseGroups(node.Groups)
	if err != nil {
		return nil, err
	}
	options, err := readNodeOptions(node.Options)
	if err != nil {
		return nil, err
	}
	if len(node.Outputs) > 1 || len(node.Outputs) == 1 && node.Outputs[0] != 1 {
		return nil, fmt.Errorf("outputs %v: a DALI gear has one output, 1", node.Outputs)
	}
	for _, other := range d.gears {
		if other.short == short {
			return nil, fmt.Errorf("address %d is taken by node %d (%s)", short, other.ref.Node, other.title)
		}
	}
	g := &gear{
		ref: appliance.Ref{Node: node.ID, Channel: 1}, title: node.Name, short: short, key: gearKey(short), groups: groups,
		profile: p, kind: node.Profile, curve: curves[options.curve], fade: options.fade, minLevel: appliance.Level(options.minLevel), settled: true,
	}
	if err := g.tune(options); err != nil {
		return nil, err
	}
	d.gears = append(d.gears, g)
	d.byRef[g.ref] = g
	return g, nil
}

// tune applies the range of colour temperatures.
func (g *gear) tune(o nodeOptions) error {
	if o.kelvinMin != 0 || o.kelvinMax != 0 {
		if !g.profile.abilities.Has(appliance.CanTune) {
			return fmt.Errorf("options kelvinMin, kelvinMax: this profile has no colour temperature")
		}
		if o.kelvinMin != 0 {
			g.profile.kelvinMin = appliance.Kelvin(o.kelvinMin)
		}
		if o.kelvinMax != 0 {
			g.profile.kelvinMax = appliance.Kelvin(o.kelvinMax)
		}
		if g.profile.kelvinMin >= g.profile.kelvinMax {
			return fmt.Errorf("options kelvinMin %d, kelvinMax %d: the first must be lower", g.profile.kelvinMin, g.profile.kelvinMax)
		}
	}
	if !g.profile.abilities.Has(appliance.CanDim) && o.minLevel != 0 {
		return fmt.Errorf("option minLevel: this profile only switches")
	}
	return nil
}
