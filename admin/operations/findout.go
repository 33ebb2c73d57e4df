package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/modbus"
)

const (
	// findOutMost bounds finding out, however slowly things go.
	findOutMost = 6 * time.Minute
	// findOutWait is how long a port or a connection may take to open: a gateway that takes one
	// connection only has to notice that the last has ended.
	findOutWait = 2500 * time.Millisecond
)

// FindOut begins to find out what is on a port that no bus uses, as a job: it listens, and asks in
// the words of one driver after the other, at the settings that lines usually have, until somebody
// answers. It only reads. A bus that is put on the port meanwhile ends it. It fails with
// [appliance.ErrInUse], [*appliance.JobConflict], or ErrOutOfRange if that is no port.
func (p *Ports) FindOut(port string, by appliance.Origin) (appliance.Job, error) {
	plan, err := planFor(port)
	if err != nil {
		return appliance.Job{}, err
	}
	device := line.DeviceOf(plan[0].bus.Port)
	if bus := p.user(device); bus != "" {
		return appliance.Job{}, fmt.Errorf("port %s: bus %s uses it: %w; scan that bus, or switch it off first", port, bus, appliance.ErrInUse)
	}
	about := appliance.Job{Kind: appliance.JobFindOut, Subject: "port " + device, Address: port, By: by}
	return p.Core.Jobs().Start(about, func(ctx context.Context, on *control.JobHand) (any, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, findOutMost, fmt.Errorf("given up after %v", findOutMost))
		defer cancel()
		ctx, giveWay := context.WithCancelCause(ctx)
		defer giveWay(nil)
		go p.watch(ctx, device, giveWay)
		err := p.ask(ctx, plan, on)
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return nil, err
	})
}

// user is the bus that is on a device and not switched off; empty: none.
func (p *Ports) user(device string) string {
	for _, b := range p.Core.Snapshot().Buses {
		if !b.Bus.Disabled && samePlace(b.Bus.Port, device) {
			return b.Bus.Name
		}
	}
	return ""
}

// samePlace reports whether a bus's port leads to a device, or is the same address under another scheme.
func samePlace(port, device string) bool {
	_, a, socket := strings.Cut(port, "://")
	_, b, other := strings.Cut(device, "://")
	if socket || other {
		return socket && other && cmp.Or(withPort(a), a) == cmp.Or(withPort(b), b)
	}
	return line.DeviceOf(port) == device
}

// watch ends finding out when a bus wants the port.
func (p *Ports) watch(ctx context.Context, device string, giveWay context.CancelCauseFunc) {
	for {
		s := p.Core.Snapshot()
		if bus := p.user(device); bus != "" {
			giveWay(fmt.Errorf("given up, since bus %s is on this port now", bus))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.Superseded():
		}
	}
}

// question is one way to ask on a port.
type question struct {
	what string // for people
	bus  appliance.Bus
	opts appliance.ScanOptions
	most time.Duration // about as long as it may take, for the progress
}

// ask asks one question after the other until somebody answers.
func (p *Ports) ask(ctx context.Context, plan []question, on *control.JobHand) error {
	var all, done time.Duration
	for _, q := range plan {
		all += q.most
	}
	alone := Alone{Drivers: drivers.On(p.On), DataDir: p.DataDir, Wait: findOutWait}
	answered, steps := false, 0
	for _, q := range plan {
		began := time.Now()
		step := func(address string) {
			steps++
			share := float64(done+min(time.Since(began), q.most)) / float64(all)
			on.Progress(appliance.JobProgress{Text: q.what + ": " + address, Done: steps, Share: share})
		}
		step("opening")
		err := alone.Scan(ctx, appliance.Site{Buses: []appliance.Bus{q.bus}}, q.opts, step, func(f appliance.Found) {
			if f.Finding == appliance.FoundEcho {
				q.bus.Options = maps.Clone(q.bus.Options)
				if q.bus.Options == nil {
					q.bus.Options = map[string]string{}
				}
				q.bus.Options["echo"] = "true"
			}
			if f.Line != (appliance.LineSettings{}) {
				q.bus.Line = f.Line
			}
			answered = answered || f.Finding == appliance.FoundDevice
			if f.Finding == appliance.FoundDevice || f.Finding.Trouble() {
				on.Item(appliance.PortAnswer{Bus: q.bus, Found: f}, func(old any) bool { return old.(appliance.PortAnswer).Found.Same(f) })
			}
		})
		if err != nil || answered {
			return err
		}
		done += q.most
	}
	return errNobody
}

var errNobody = errors.New("nobody answered: Modbus was tried at all usual bit rates and parities, Somfy SDN, DALI gateways and DMX widgets. " +
	"Check the power of the devices and of the gateway, and the wiring (A and B may be swapped); an Open DMX port never answers")

// First addresses are asked at all settings, the rest at the most usual ones only: makers deliver
// devices with a low address, or with the one on their label.
const firstAddresses, usual = 8, 4

// planFor lists what is asked on a port, what takes little first.
func planFor(port string) ([]question, error) {
	scheme, addr, socket := strings.Cut(port, "://")
	if !socket {
		if err := line.CheckPort(port); err != nil {
			return nil, fmt.Errorf("%w: %w", appliance.ErrOutOfRange, err)
		}
		return serialPlan(port), nil
	}
	host := withPort(addr)
	if scheme != "tcp" && scheme != "rtu+tcp" || host == "" {
		return nil, fmt.Errorf("%w: port %q: want a device path from /, or tcp://host:port", appliance.ErrOutOfRange, port)
	}
	return socketPlan(host), nil
}

// withPort is host:port, with the port of Modbus where none is said; empty: it is neither.
func withPort(addr string) string {
	if host, port, err := net.SplitHostPort(addr); err == nil && host != "" && port != "" {
		return addr
	}
	host := strings.Trim(addr, "[]")
	if host == "" || strings.ContainsAny(host, " /@") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return ""
	}
	return net.JoinHostPort(host, "502")
}

func serialPlan(port string) []question {
	settings := modbus.UsualSettings()
	rtu := func(at []appliance.LineSettings, first, last int, most time.Duration) question {
		return question{"Modbus", busOn(port, "modbus", nil), appliance.ScanOptions{First: first, Last: last, FindOut: at}, most}
	}
	plan := []question{rtu(settings[:usual], 1, firstAddresses, 8*time.Second)}
	plan = append(plan, others(port)...)
	return append(plan, rtu(settings[usual:], 1, firstAddresses, 30*time.Second), rtu(settings[:usual], firstAddresses+1, modbus.LastUnit, 2*time.Minute))
}

func socketPlan(host string) []question {
	once := make([]appliance.LineSettings, 1) // they are set in the gateway
	ask := func(what, port string, first, last int, most time.Duration) question {
		return question{what, busOn(port, "modbus", nil), appliance.ScanOptions{First: first, Last: last, FindOut: once}, most}
	}
	plan := []question{
		ask("Modbus TCP", "tcp://"+host, 1, 4, 5*time.Second),
		ask("Modbus by a serial server", "rtu+tcp://"+host, 1, firstAddresses, 3*time.Second),
	}
	plan = append(plan, others("tcp://"+host)...)
	return append(plan, ask("Modbus by a serial server", "rtu+tcp://"+host, firstAddresses+1, modbus.LastUnit, 40*time.Second))
}

// others ask in the words of the drivers whose lines have one setting.
func others(port string) []question {
	find := appliance.ScanOptions{FindOut: make([]appliance.LineSettings, 1)}
	list := []question{{"Somfy SDN", busOn(port, "sdn", nil), find, 3 * time.Second}}
	for _, gateway := range []string{"luba", "sci", "atx"} {
		list = append(list, question{"DALI gateway " + gateway, busOn(port, "dali", map[string]string{"gateway": gateway}), find, 2 * time.Second})
	}
	return append(list, question{"DMX widget", busOn(port, "dmx", nil), find, time.Second})
}

func busOn(port, driver string, options map[string]string) appliance.Bus {
	return appliance.Bus{UUID: appliance.NewUUID(), Name: "to be found out", Driver: driver, Port: port, Options: options}
}
