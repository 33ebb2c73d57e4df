package modbus

import (
	"fmt"
	"log/slog"
	"net"
	"slices"

	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/profile"
)

// Open makes a driver for one bus; it is an [appliance.OpenFunc]. It opens no
// port and sends nothing.
func Open(cfg appliance.BusConfig) (appliance.Opened, error) { return OpenOn(cfg, nil) }

// OpenOn does so on other ports than those of this machine; nil: on these.
func OpenOn(cfg appliance.BusConfig, ports *line.Ports) (appliance.Opened, error) {
	options, err := readBusOptions(cfg.Bus.Options)
	if err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	o := &opening{
		cfg: cfg, ports: ports,
		driver: &Driver{
			name: cfg.Bus.Name, options: options, log: cfg.Log,
			units: make(map[byte]*unit), things: make(map[appliance.Ref]*thing),
		},
		out: appliance.Opened{
			Device: make(map[appliance.ID]string), Channels: make(map[appliance.ID][]appliance.Channel),
			Shades:      make(map[appliance.ID]appliance.Channel),
			BrokenNodes: make(map[appliance.ID]error), BrokenShades: make(map[appliance.ID]error),
		},
	}
	if o.driver.log == nil {
		o.driver.log = slog.New(slog.DiscardHandler)
	}
	o.library = known().ReadOwn(cfg.DataDir, func(err error) { o.driver.log.Warn("a profile cannot be used", "error", err) })
	if err := o.port(); err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	o.driver.peer.unnumbered = !o.driver.codec.tcp
	o.place()
	if err := o.line(); err != nil {
		return appliance.Opened{}, err
	}
	o.note()
	o.driver.library = o.library
	o.driver.settle()
	o.out.Driver, o.out.InFlight = o.driver, o.driver.options.inFlight
	return o.out, nil
}

// opening is a bus while it is being opened.
type opening struct {
	cfg     appliance.BusConfig
	ports   *line.Ports
	library *profile.Library[*Profile]
	driver  *Driver
	out     appliance.Opened
	address string // port, completed
	serial  bool
	placed  []placedNode
}

// placedNode is a node whose entry could be read.
type placedNode struct {
	node    appliance.Node
	profile *Profile
	address address
	groups  []int
	options nodeOptions
	unit    *unit
}

// port reads what the bus is connected to.
func (o *opening) port() error {
	port := o.cfg.Bus.Port
	scheme, addr, socket := strings.Cut(port, "://")
	if scheme != "tcp" && o.driver.options.inFlight > 1 {
		return fmt.Errorf("option inFlight: port %q takes one transaction at a time; only tcp:// tells by numbers which answer is to what", port)
	}
	if !socket {
		o.address, o.serial = port, true
		o.driver.codec = newCodec(false, false)
		return nil
	}
	switch scheme {
	case "tcp":
		if _, _, err := net.SplitHostPort(addr); err != nil && !strings.Contains(strings.Trim(addr, "[]"), "]:") {
			if !strings.Contains(addr, ":") || strings.HasSuffix(addr, "]") {
				addr += ":502"
			}
		}
		o.driver.codec = newCodec(true, o.driver.options.tolerateUnitZero)
	case "rtu+tcp":
		o.driver.codec = newCodec(false, false)
	default:
		return fmt.Errorf("port %q: want a device path such as /dev/serial/by-id/…, tcp://host:port or rtu+tcp://host:port", port)
	}
	if o.cfg.Bus.Line != (appliance.LineSettings{}) {
		return fmt.Errorf("port %q is a socket: it has no line settings (those of a serial server are set in the server)", port)
	}
	o.address = scheme + "://" + addr
	return nil
}

// line makes the line, once it is known which devices are on it. Its errors name the
// bus.
func (o *opening) line() error {
	var settings appliance.LineSettings
	var silence, calm time.Duration
	if !o.driver.codec.tcp {
		calm = o.patience()
	}
	if o.serial {
		var profiles []*Profile
		for _, p := range o.placed {
			profiles = append(profiles, p.profile)
		}
		var err error
		if settings, err = completeLine(o.cfg.Bus.Line, profiles); err != nil {
			return fmt.Errorf("bus %s: %w", o.cfg.Bus.Name, err)
		}
		silence = rtuSilence(settings.BaudRate)
	} else if !o.driver.codec.tcp {
		// A serial server cuts frames by silence; what passes between it and us
		// is not ours to time, but two requests in one packet would be.
		silence = 2 * time.Millisecond
	}
	l, err := line.New(line.Config{
		Name: o.cfg.Bus.Name, Port: o.address, Serial: settings, Silence: silence,
		OpenSilence: calm, Echo: o.driver.options.echo, InFlight: o.driver.options.inFlight, Log: o.driver.log, Ports: o.ports,
	})
	if err != nil {
		return err
	}
	o.driver.line, o.driver.silence, o.driver.settings = l, silence, settings
	return nil
}

// patience is how long an answer may be under way that somebody asked for who had the
// port before. An RTU answer tells its unit, function and length, not its registers.
func (o *opening) patience() time.Duration {
	longest := defaultTimeout
	for _, u := range o.driver.units {
		longest = max(longest, u.timeout)
	}
	return min(longest, time.Second)
}

// place puts every node and shade at its unit. What cannot be placed is set
// aside with the reason.
func (o *opening) place() {
	for _, node := range o.cfg.Nodes {
		if err := o.placeNode(node); err != nil {
			o.out.BrokenNodes[node.ID] = err
		}
	}
	o.singleGroups()
	o.setAside()
	o.shades()
	for i := range o.placed {
		if err := o.channels(&o.placed[i]); err != nil {
			o.out.BrokenNodes[o.placed[i].node.ID] = err
			delete(o.out.Device, o.placed[i].node.ID)
		}
	}
	for id := range o.out.BrokenNodes {
		o.driver.options.broadcast = false // it would reach this one, too
		o.forget(id)
	}
}

// forget drops the shades of a node that is set aside.
func (o *opening) forget(id appliance.ID) {
	for _, shade := range o.cfg.Shades {
		if shade.Node != id || o.out.BrokenShades[shade.ID] != nil {
			continue
		}
		o.out.BrokenShades[shade.ID] = fmt.Errorf("its node %d is set aside: %w", id, o.out.BrokenNodes[id])
		delete(o.out.Shades, shade.ID)
		delete(o.driver.things, appliance.Ref{Shade: shade.ID})
		for _, u := range o.driver.units {
			u.things = slices.DeleteFunc(u.things, func(t *thing) bool { return t.ref.Shade == shade.ID })
		}
	}
}

func (o *opening) placeNode(node appliance.Node) error {
	p, err := o.library.Find(node.Profile)
	if err != nil {
		return err
	}
	options, err := readNodeOptions(node.Options)
	if err != nil {
		return err
	}
	a, err := parseAddress(node.Address, p)
	if err != nil {
		return err
	}
	groups, err := parseGroups(node.Groups, p)
	if err != nil {
		return err
	}
	u := o.driver.units[a.unit]
	if u != nil && u.profile != p {
		return fmt.Errorf("address %q: unit %d is a %s already (node %d); one unit has one profile", node.Address, a.unit, u.profile.Name, u.firstNode)
	}
	if p.gateway() {
		for _, other := range o.placed {
			if other.address == a {
				return fmt.Errorf("address %q is taken by node %d (%s)", node.Address, other.node.ID, other.node.Name)
			}
		}
	}
	if u == nil {
		u = o.driver.newUnit(a.unit, p, node.ID)
		o.driver.units[a.unit] = u
	}
	u.tune(options)
	o.placed = append(o.placed, placedNode{node: node, profile: p, address: a, groups: groups, options: options, unit: u})
	o.out.Device[node.ID] = u.key
	return nil
}

// singleGroups notes per gateway line which configured gear is in which group.
func (o *opening) singleGroups() {
	for _, p := range o.placed {
		for _, g := range p.groups {
			key := groupKey{p.address.line, g}
			p.unit.groups[key] = append(p.unit.groups[key], p.address)
		}
	}
}

// setAside gives up groups that hold gear whose entries are broken: it would move, too.
func (o *opening) setAside() {
	for _, node := range o.cfg.Nodes {
		if o.out.BrokenNodes[node.ID] == nil {
			continue
		}
		for _, u := range o.driver.units {
			for key := range u.groups {
				if slices.ContainsFunc(node.Groups, func(text string) bool { return isGroup(text, key.group) }) {
					delete(u.groups, key)
				}
			}
		}
	}
}

// shades places the shades; their outputs are taken from the lights.
func (o *opening) shades() {
	for _, shade := range o.cfg.Shades {
		if err := o.placeShade(shade); err != nil {
			o.out.BrokenShades[shade.ID] = err
		}
	}
}

func (o *opening) placeShade(shade appliance.Shade) error {
	i := slices.IndexFunc(o.placed, func(p placedNode) bool { return p.node.ID == shade.Node })
	if i < 0 {
		if err := o.out.BrokenNodes[shade.Node]; err != nil {
			return fmt.Errorf("its node %d is set aside: %w", shade.Node, err)
		}
		return fmt.Errorf("its node %d is not on this bus", shade.Node)
	}
	p := o.placed[i]
	if len(p.profile.shades) == 0 {
		return fmt.Errorf("node %d (%s): a %s has no shade outputs", p.node.ID, p.node.Name, p.profile.Title)
	}
	if shade.Output < 1 || shade.Output > len(p.profile.shades) {
		return fmt.Errorf("shade output %d of node %d: a %s has outputs 1 to %d", shade.Output, p.node.ID, p.profile.Title, len(p.profile.shades))
	}
	out := p.profile.shades[shade.Output-1]
	for _, t := range p.unit.things {
		if t.out == out {
			return fmt.Errorf("shade output %d of unit %d is taken by shade %d", shade.Output, p.unit.number, t.ref.Shade)
		}
	}
	t := p.unit.add(appliance.Ref{Shade: shade.ID}, out, p.address)
	t.inverted = shade.Inverted
	o.driver.things[t.ref] = t
	channel := appliance.Channel{Abilities: out.abilities(), ReverseDelay: out.spec.ReverseDelay, Release: out.spec.Release}
	if out.spec.Holds {
		channel.Release = -1
	}
	o.out.Shades[shade.ID] = channel
	return nil
}

// channels makes a node's outputs its channels.
func (o *opening) channels(p *placedNode) error {
	outputs, err := o.chosen(p)
	if err != nil {
		return err
	}
	var made []*thing
	for i, out := range outputs {
		for _, t := range p.unit.things {
			if t.out == out && t.address == p.address {
				return fmt.Errorf("output %d of address %s is taken by node %d", out.number, p.node.Address, t.ref.Node)
			}
		}
		t := &thing{ref: appliance.Ref{Node: p.node.ID, Channel: i + 1}, unit: p.unit, out: out, address: p.address}
		if err := t.configure(p); err != nil {
			return err
		}
		made = append(made, t)
	}
	var list []appliance.Channel
	for _, t := range made {
		if o.cfg.Last != nil {
			if last, ok := o.cfg.Last(t.ref); ok {
				t.recall(last)
			}
		}
		p.unit.things = append(p.unit.things, t)
		o.driver.things[t.ref] = t
		list = append(list, t.channel())
	}
	o.out.Channels[p.node.ID] = list
	return nil
}

// chosen are the outputs of the profile that are the node's channels: those the
// installer picked, else all that no shade is made of. Nobody knows which outputs a
// shade is made of whose entry is broken: then none is a light by default that a shade
// could be made of, or "all lights on" would drive a blind.
func (o *opening) chosen(p *placedNode) ([]*output, error) {
	lights := p.profile.lights
	taken := make(map[int]appliance.ID)
	for _, shade := range o.cfg.Shades {
		if len(p.node.Outputs) > 0 || shade.Node != p.node.ID || o.out.BrokenShades[shade.ID] == nil {
			continue
		}
		for _, out := range p.profile.shades {
			for _, n := range out.occupies {
				taken[n] = shade.ID
			}
		}
	}
	for _, t := range p.unit.things {
		for _, n := range t.out.occupies {
			taken[n] = t.ref.Shade
		}
	}
	var list []*output
	if len(p.node.Outputs) == 0 {
		for _, out := range lights {
			if _, ok := taken[out.number]; !ok {
				list = append(list, out)
			}
		}
		return list, nil
	}
	for i, n := range p.node.Outputs {
		switch {
		case n < 1 || n > len(lights):
			return nil, fmt.Errorf("output %d: a %s has outputs 1 to %d", n, p.profile.Title, len(lights))
		case taken[n] != 0:
			return nil, fmt.Errorf("output %d of unit %d belongs to shade %d and cannot be a light", n, p.unit.number, taken[n])
		case slices.Contains(p.node.Outputs[:i], n):
			return nil, fmt.Errorf("output %d is named twice", n)
		}
		list = append(list, lights[n-1])
	}
	return list, nil
}

// newUnit is a device of this bus.
func (d *Driver) newUnit(number byte, p *Profile, node appliance.ID) *unit {
	u := &unit{
		number: number, key: unitKey(number), profile: p, firstNode: node,
		timeout: p.Timing.ResponseTimeout, guard: max(p.Timing.Guard, d.options.guard),
		cache: make(map[point]cached), groups: make(map[groupKey][]address),
	}
	if d.options.responseTimeout > 0 {
		u.timeout = d.options.responseTimeout
	}
	if u.timeout == 0 {
		u.timeout = defaultTimeout
		if d.codec.tcp {
			u.timeout = defaultTCPTimeout
		}
	}
	return u
}

// Response time-outs where neither profile nor installer says one. A gateway's
// must be longer than the serial one behind it.
const (
	defaultTimeout    = 200 * time.Millisecond
	defaultTCPTimeout = time.Second
)
