// Package network is how the box is in the network: what its ports have, and what the system below, which alone may set it, is asked for.
package network

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Setting is how the box is in the network. The zero Setting has each port take its address from the network (DHCP). IPv6 is not of it:
// that finds its addresses by itself.
type Setting struct {
	// Address is the box's own, with the length of its network; invalid: from the network (DHCP).
	Address netip.Prefix
	// Gateway leads to other networks; invalid: none. Only with an Address.
	Gateway netip.Addr
	// DNS are the servers that are asked for names, 3 at most. Only with an Address.
	DNS []netip.Addr
	// VLAN is the tag of all that the port sends, 1 to 4094; 0: none.
	VLAN int
	// Port is the name of the port that all this is for; empty: the only one.
	Port string
}

// most of DNS: resolvers ask no more.
const mostDNS = 3

// Unfit is what is wrong with one field of a Setting, in words for whoever set it.
type Unfit struct{ Field, Why string }

func (u Unfit) Error() string { return u.Field + ": " + u.Why }

// Unfit returns the field, in small letters, and what to do.
func (u Unfit) Unfit() (field, why string) { return u.Field, u.Why }

// Check returns an Unfit where s cannot work on a box with these ports.
func (s Setting) Check(ports []Port) error {
	if s.VLAN < 0 || s.VLAN > 4094 {
		return Unfit{"vlan", "a VLAN is a number from 1 to 4094; none: leave it out"}
	}
	if err := s.checkPort(ports); err != nil {
		return err
	}
	if !s.Address.IsValid() {
		switch {
		case s.Gateway.IsValid():
			return Unfit{"gateway", "with DHCP the network tells the gateway: leave it out, or set an address, too"}
		case len(s.DNS) > 0:
			return Unfit{"dns", "with DHCP the network tells the DNS servers: leave them out, or set an address, too"}
		}
		return nil
	}
	if err := s.checkAddress(); err != nil {
		return err
	}
	if g := s.Gateway; g.IsValid() {
		switch {
		case !g.Is4() || !s.Address.Contains(g):
			return Unfit{"gateway", fmt.Sprintf("the gateway has to be in the network %v, or the box does not reach it; without other networks leave it out", s.Address.Masked())}
		case g == s.Address.Addr():
			return Unfit{"gateway", "that is the box's own address; the gateway is the router's"}
		case s.reserved(g):
			return Unfit{"gateway", fmt.Sprintf("%v is the network's own or its broadcast address, which no router has", g)}
		}
	}
	if len(s.DNS) > mostDNS {
		return Unfit{"dns", fmt.Sprintf("%d DNS servers at most", mostDNS)}
	}
	for _, d := range s.DNS {
		if d.Zone() != "" || d.IsUnspecified() || d.IsLoopback() || d.IsMulticast() {
			return Unfit{"dns", fmt.Sprintf("%v is no address of a DNS server", d)}
		}
	}
	return nil
}

func (s Setting) checkPort(ports []Port) error {
	var names []string
	for _, p := range ports {
		if p.VLAN == 0 {
			names = append(names, p.Name)
		}
	}
	switch {
	case s.Port != "" && !slices.Contains(names, s.Port):
		return Unfit{"port", fmt.Sprintf("there is no port %s here, only: %s", s.Port, strings.Join(names, ", "))}
	case s.Port == "" && len(names) > 1 && (s.Address.IsValid() || s.VLAN > 0):
		return Unfit{"port", "there are several ports: say for which of them this is: " + strings.Join(names, ", ")}
	}
	return nil
}

func (s Setting) checkAddress() error {
	a, bits := s.Address.Addr(), s.Address.Bits()
	switch {
	case !a.Is4():
		return Unfit{"address", "want an IPv4 address; IPv6 finds its addresses by itself"}
	case bits < 8 || bits > 30:
		return Unfit{"address", "the length of the network is 8 to 30, mostly 24, which is the mask 255.255.255.0"}
	case a.IsLoopback(), a.IsMulticast(), a.IsLinkLocalUnicast(), a.As4()[0] == 0, a.As4()[0] >= 240:
		return Unfit{"address", fmt.Sprintf("%v is an address that no box can have", a)}
	case s.reserved(a):
		return Unfit{"address", fmt.Sprintf("%v is the network's own or its broadcast address in %v: want one between these, or another mask", a, s.Address.Masked())}
	}
	return nil
}

// reserved reports whether a is the first or the last address of the network.
func (s Setting) reserved(a netip.Addr) bool {
	b := a.As4()
	mask := ^uint32(0) >> s.Address.Bits()
	host := binary.BigEndian.Uint32(b[:]) & mask
	return host == 0 || host == mask
}

// Reached returns why a connection to this address of the box does not show that the setting works; "": it does. The zero Addr is no
// address at all, as of a connection within the box.
func (s Setting) Reached(at netip.Addr) string {
	at = at.Unmap().WithZone("")
	switch {
	case !at.IsValid():
		return "you are on the box itself; open it from where it will be used"
	case s.Address.IsValid() && at != s.Address.Addr():
		return fmt.Sprintf("you came to %v, which does not show that %v can be reached; open the box at https://%v and keep it there", at, s.Address.Addr(), s.Address.Addr())
	case !s.Address.IsValid() && (at.IsLoopback() || at.IsLinkLocalUnicast()):
		return fmt.Sprintf("you came to %v, which a box has without any network; open it at the address that the network gave it", at)
	}
	return ""
}

// text is a Setting as the system below reads and tells it: a line each.
func (s Setting) text() string {
	var b strings.Builder
	if s.Address.IsValid() {
		fmt.Fprintf(&b, "address=%v\n", s.Address)
	} else {
		b.WriteString("address=dhcp\n")
	}
	if s.Gateway.IsValid() {
		fmt.Fprintf(&b, "gateway=%v\n", s.Gateway)
	}
	if len(s.DNS) > 0 {
		fmt.Fprintf(&b, "dns=%s\n", strings.Trim(fmt.Sprint(s.DNS), "[]"))
	}
	if s.VLAN > 0 {
		fmt.Fprintf(&b, "vlan=%d\n", s.VLAN)
	}
	if s.Port != "" {
		fmt.Fprintf(&b, "port=%s\n", s.Port)
	}
	return b.String()
}

// settingOf reads what the system told, which has checked it.
func settingOf(of map[string]string) (s Setting) {
	s.Address, _ = netip.ParsePrefix(of["address"])
	s.Gateway, _ = netip.ParseAddr(of["gateway"])
	s.DNS = addresses(of["dns"])
	s.VLAN, _ = strconv.Atoi(of["vlan"])
	s.Port = of["port"]
	return s
}

// addresses are those of a list with blanks between.
func addresses(text string) (list []netip.Addr) {
	for _, word := range strings.Fields(text) {
		if a, err := netip.ParseAddr(word); err == nil {
			list = append(list, a)
		}
	}
	return list
}
