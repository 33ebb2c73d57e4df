package modbus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

// gearSpec is what a gateway tells of the gear behind it, asked when it is scanned.
type gearSpec struct {
	Present *checkSpec   `yaml:"present"` // the number that says that the gear is there
	Status  *cellSpec    `yaml:"status"`  // as gear answers QUERY STATUS
	Forward *forwardSpec `yaml:"forward"`
}

// forwardSpec are the holding registers by which a gateway sends a frame of ours to
// its line.
type forwardSpec struct {
	Send   int `yaml:"send"`   // address and command, which sends them
	Status int `yaml:"status"` // 1: it was answered
	Answer int `yaml:"answer"`
}

// Limits of a DALI line, and what gear is asked (IEC 62386-102).
const (
	shortAddresses = 64
	queryGroupsLow = 0xC0 // groups 0 to 7, one bit each; the command after it asks for 8 to 15
	groupsAByte    = 8

	gearFailure = 1 << 0
	lampFailure = 1 << 1
)

// gear tells of each gear behind a gateway what the gateway knows.
func (g *guesser) gear(gateway appliance.Found) {
	p := g.search.driver.profiles()[gateway.Kind]
	if p == nil || len(gateway.Others) > 0 {
		return
	}
	if p.Gear == nil || p.Gear.Present == nil {
		g.search.Tell(appliance.Found{
			Address: unitKey(g.unit), Finding: appliance.FoundNote,
			Detail: "this gateway does not say which gear is behind it: enter the gear yourself, such as " + p.gearAddress(g.unit, 1, 0),
		})
		return
	}
	g.known = p
	for line := 1; line <= max(p.Lines, 1); line++ {
		for short := 0; short < shortAddresses && !g.search.over(); short++ {
			g.gearAt(p, line, short, gateway)
		}
	}
}

// gearAddress is the address of a node behind a gateway, as a site file has it.
func (p *Profile) gearAddress(unit byte, line, short int) string {
	if p.Addressing == "line-gear" {
		return fmt.Sprintf("%d/%d.%d", unit, line, short)
	}
	return fmt.Sprintf("%d/%d", unit, short)
}

// cellAt reads a number of one gear; nil: the gateway does not tell.
func (g *guesser) cellAt(c *cellSpec, line, short int) *float64 {
	if c == nil {
		return nil
	}
	words := g.read(c.Table, c.Address+(line-1)*c.PerLine+short*c.PerGear, c.words())
	if words == nil {
		return nil
	}
	x := c.number(words)
	return &x
}

// gearAt tells of the gear with one short address, or that the site's does not answer.
func (g *guesser) gearAt(p *Profile, line, short int, gateway appliance.Found) {
	present := p.Gear.Present
	f := appliance.Found{
		Address: p.gearAddress(g.unit, line, short), Kind: p.Name, Finding: gateway.Finding, Line: gateway.Line, Advice: gateway.Advice,
		Lights: len(p.lights),
	}
	switch x := g.cellAt(&present.At, line, short); {
	case x == nil && g.search.over():
	case x == nil:
		g.search.Tell(appliance.Found{Address: f.Address, Finding: appliance.FoundDamaged,
			Detail: "whether gear is here could not be read from the gateway", Advice: "scan again"})
	case *x < present.Min || *x > present.Max:
		if g.search.configured(g.unit, line, short) {
			g.search.Tell(appliance.Found{Address: f.Address, Finding: appliance.FoundSilent,
				Detail: "the gateway says that this gear does not answer", Advice: "check its mains and its place on the DALI line"})
		}
	default:
		words := []string{"DALI gear"}
		if level := p.lights[0].level; level != nil && level.read != nil {
			if raw := g.cellAt(level.read.spec, line, short); raw != nil && !level.spec.absent(*raw) {
				words = append(words, fmt.Sprintf("at %d %%", level.spec.levelOf(*raw, "")))
			}
		}
		if status := g.cellAt(p.Gear.Status, line, short); status != nil {
			words = append(words, failures(int(*status))...)
		}
		groups, told := g.groupsOf(p.Gear.Forward, short)
		switch {
		case !told:
			words = append(words, "its groups cannot be read")
		case len(groups) > 0:
			f.Groups = groups
			words = append(words, "in groups "+strings.Join(groups, " "))
		}
		f.Detail = strings.Join(words, ", ")
		g.search.Tell(f)
	}
}

// configured reports whether the site has gear at an address.
func (s *search) configured(unit byte, line, short int) bool {
	u := s.driver.units[unit]
	return u != nil && slices.ContainsFunc(u.things, func(t *thing) bool {
		return max(t.address.line, 1) == line && t.address.gear == short
	})
}

// failures are those that a status tells.
func failures(status int) (words []string) {
	if status&gearFailure != 0 {
		words = append(words, "THE GEAR HAS FAILED")
	}
	if status&lampFailure != 0 {
		words = append(words, "THE LAMP HAS FAILED")
	}
	return words
}

// groupsOf reads the table of groups of one gear, by a frame of ours.
func (g *guesser) groupsOf(f *forwardSpec, short int) (groups []string, told bool) {
	if f == nil {
		return nil, false
	}
	for half := range 2 {
		bits, ok := g.forward(f, byte(short<<1|1), byte(queryGroupsLow+half))
		if !ok {
			return nil, false
		}
		for i := range groupsAByte {
			if bits>>i&1 != 0 {
				groups = append(groups, strconv.Itoa(half*groupsAByte+i))
			}
		}
	}
	return groups, true
}

// forward sends a query to the DALI line and reads its answer.
func (g *guesser) forward(f *forwardSpec, address, query byte) (answer uint16, ok bool) {
	// Not as a single register: the answer to that looks like an adapter's echo.
	send := request{unit: g.unit, fn: writeRegisters, addr: uint16(f.Send), values: []uint16{uint16(address)<<8 | uint16(query)}}
	for range readTries {
		if _, err := g.ask(send, 8); err != nil {
			var refused *Exception
			if errors.As(err, &refused) || errors.Is(err, scan.ErrOver) {
				return 0, false
			}
			continue // sent again, a query does no harm
		}
		status, err := g.ask(request{unit: g.unit, fn: readHolding, addr: uint16(f.Status), qty: 1}, 7)
		if err != nil || status.word() != 1 {
			continue
		}
		a, err := g.ask(request{unit: g.unit, fn: readHolding, addr: uint16(f.Answer), qty: 1}, 7)
		if err == nil {
			return a.word(), true
		}
	}
	return 0, false
}
