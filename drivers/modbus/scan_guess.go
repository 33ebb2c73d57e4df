package modbus

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
)

// guesser finds out what one unit is. What was read once is not read again.
type guesser struct {
	search *search
	unit   byte
	at     *appliance.LineSettings
	seen   map[reading][]uint16
	lost   int      // readings whose answers were damaged every time
	known  *Profile // of a gateway that is asked for its gear
}

// reading names a reading.
type reading struct {
	table     table
	addr, qty int
}

// candidate is a profile that fits.
type candidate struct {
	profile *Profile
	model   string // the device names itself so; empty: it is a guess by numbers
	checks  int
}

func (s *search) guesser(n byte, at *appliance.LineSettings) *guesser {
	return &guesser{search: s, unit: n, at: at, seen: make(map[reading][]uint16)}
}

// guess tells what is at an address. A device that says what it is, is believed; else
// all profiles are named of which most numbers fit, since then reading cannot tell
// them apart.
func (g *guesser) guess() appliance.Found {
	s, n, at := g.search, g.unit, g.at
	f := appliance.Found{Address: unitKey(n)}
	fits := g.candidates()
	words := []string{"answers, and is none of the devices there are profiles for"}
	if len(fits) > 0 {
		best := fits[0].profile
		f.Kind, f.Gateway = best.Name, best.gateway()
		if !f.Gateway {
			f.Lights, f.Shades = len(best.lights), len(best.shades)
		}
		words = []string{"looks like: " + best.Title}
		if fits[0].model != "" {
			words = []string{fmt.Sprintf("says it is %s: %s", fits[0].model, best.Title)}
		}
		for _, c := range fits[1:] {
			f.Others = append(f.Others, c.profile.Name)
		}
		if len(fits) > 1 {
			words = append(words, "reading cannot tell these apart: the type plate can")
		}
		f.Serial, f.Version = g.text(best.Nameplate.Serial), g.text(best.Nameplate.Version)
		if f.Gateway {
			words = append(words, "the gear behind it are the nodes, such as "+best.gearAddress(n, 1, 0))
		}
	}
	if g.lost > 0 && len(fits) == 0 {
		words = []string{"answers, but so many of its answers are damaged that it cannot be told what it is"}
	}
	if name := g.identification(); name != "" {
		words = append(words, "calls itself "+name)
	}
	f.Detail = strings.Join(words, "; ")
	if at == nil {
		s.compare(&f, n, fits)
	}
	return f
}

// compare says so if the site has another device at this address.
func (s *search) compare(f *appliance.Found, n byte, fits []candidate) {
	u := s.driver.units[n]
	if u == nil {
		return
	}
	for _, c := range fits {
		if c.profile == u.profile {
			f.Kind, f.Others = c.profile.Name, nil // the site knows what reading cannot tell
			f.Detail = "is the " + c.profile.Title + " that the site says"
			return
		}
	}
	if !u.profile.recognisable() {
		return
	}
	if len(fits) == 0 {
		f.Detail += "; the site says " + u.profile.Name
		return
	}
	f.Finding = appliance.FoundProfile
	f.Detail = fmt.Sprintf("is not the %s that the site says: %s", u.profile.Name, f.Detail)
	f.Advice = "change the profile in the site file, or look whether the right device has this address"
}

// recognisable reports whether a scan could recognise the profile's device.
func (p *Profile) recognisable() bool { return len(p.Identify) > 0 || p.Nameplate.Model != nil }

// candidates are the profiles that fit best, in the order of their names.
func (g *guesser) candidates() []candidate {
	profiles := g.search.driver.profiles()
	names := slices.Sorted(maps.Keys(profiles))
	var told, fit []candidate
	for _, name := range names {
		p := profiles[name]
		if model := g.text(p.Nameplate.Model); model != "" && p.Nameplate.has(model) {
			told = append(told, candidate{profile: p, model: model, checks: 1})
		}
	}
	if len(told) == 1 {
		return told
	}
	for _, name := range names {
		p := profiles[name]
		if len(told) > 0 && !slices.ContainsFunc(told, func(c candidate) bool { return c.profile == p }) {
			continue
		}
		if len(p.Identify) > 0 && g.fits(p) {
			fit = append(fit, candidate{profile: p, checks: len(p.Identify)})
		}
	}
	if len(fit) == 0 {
		return told
	}
	most := slices.MaxFunc(fit, func(a, b candidate) int { return cmp.Compare(a.checks, b.checks) }).checks
	return slices.DeleteFunc(fit, func(c candidate) bool { return c.checks < most })
}

// profiles are those that a scan can name: the built-in ones and the installer's.
func (d *Driver) profiles() map[string]*Profile {
	all := maps.Clone(builtin())
	if d.library != nil {
		maps.Copy(all, d.library.Own)
	}
	return all
}

// has reports whether a model is one of this profile.
func (n *nameplateSpec) has(model string) bool {
	return slices.ContainsFunc(n.Is, func(is string) bool {
		return model == is || n.Model.Length > 0 && strings.HasPrefix(model, is)
	})
}

// fits reports whether all numbers are as the profile's device has them.
func (g *guesser) fits(p *Profile) bool {
	for i := range p.Identify {
		check := &p.Identify[i]
		words := g.read(check.At.Table, check.At.Address, check.At.words())
		if words == nil {
			return false
		}
		if x := check.At.number(words); !(x >= check.Min && x <= check.Max) { // NaN is neither
			return false
		}
	}
	return true
}

// text reads a line of a nameplate; empty if the device has none.
func (g *guesser) text(r *readSpec) string {
	if r == nil {
		return ""
	}
	qty := max(r.Length, r.At.words())
	words := g.read(r.At.Table, r.At.Address, qty)
	if words == nil {
		return ""
	}
	if r.Length == 0 {
		return strconv.FormatFloat(r.At.number(words), 'f', -1, 64)
	}
	var b []byte
	for _, w := range words {
		if w == 0 {
			break
		}
		if w < ' ' || w > '~' {
			return "" // no text at all
		}
		b = append(b, byte(w))
	}
	return strings.TrimSpace(string(b))
}

// readTries of an answer that comes damaged.
const readTries = 4

// read asks the unit, and again if the answer was damaged; nil: it refused.
func (g *guesser) read(t table, addr, qty int) []uint16 {
	key := reading{t, addr, qty}
	words, known := g.seen[key]
	if known {
		return words
	}
	r := request{unit: g.unit, fn: t.reads(), addr: uint16(addr), qty: uint16(qty)}
	for i := range readTries {
		a, err := g.ask(r, 5+2*qty)
		if err == nil {
			words = a.words
			if t.bits() {
				words = []uint16{a.word()}
			}
		}
		if !errors.Is(err, appliance.ErrDamaged) && (g.known == nil || !errors.Is(err, appliance.ErrSilent)) {
			break
		}
		if i == readTries-1 {
			g.lost++
		}
	}
	g.seen[key] = words
	return words
}

// ask asks the unit something whose answer has so many characters.
func (g *guesser) ask(r request, characters int) (answer, error) {
	timeout := g.search.driver.patience(g.unit, characters)
	if g.known != nil {
		timeout = max(timeout, g.known.Timing.ResponseTimeout)
	}
	a, _, err := g.search.ask(probe{request: r, at: g.at, timeout: timeout + extraAt(g.at, 8+characters)})
	return a, err
}

// identification is what the device answers to function 2B, for people.
func (g *guesser) identification() string {
	r := request{unit: g.unit, fn: readDeviceID}
	a, err := g.ask(r, 64)
	if err != nil {
		return ""
	}
	return strings.Join(a.id, ", ")
}
