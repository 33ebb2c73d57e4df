package api

import (
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/network"
)

// Network is how the box is in the network.
type Network struct {
	CanSet      bool            `json:"canSet" doc:"Whether PUT sets it: true on an appliance. Elsewhere the system that the controller runs on does, and only ports are told."`
	Name        string          `json:"name,omitempty" doc:"By which it is found without an address, such as controller-4f2a6b.local; it stays whatever the address."`
	Ports       []NetworkPort   `json:"ports" doc:"As they are now, with VLANs on them."`
	State       string          `json:"state,omitempty" enum:"kept,asked,trying,undone,refused" doc:"Of the setting. asked: the system has not begun yet; trying: it goes back by itself unless POST keep comes over the new address in time; undone: it went back; refused: the system does not take what was wished."`
	Setting     *NetworkSetting `json:"setting" doc:"The one in force, or that was asked for; null where the controller does not set it."`
	SecondsLeft int             `json:"secondsLeft,omitempty" doc:"How long it is tried."`
	CannotKeep  string          `json:"cannotKeep,omitempty" doc:"While one is tried: why POST keep would be refused to who asks this; left out: it would not."`
}

// NetworkPort is one port for a cable, or a VLAN on one.
type NetworkPort struct {
	Name      string   `json:"name"`
	MAC       string   `json:"mac"`
	Up        bool     `json:"up" doc:"Its cable leads somewhere."`
	VLAN      int      `json:"vlan,omitempty" doc:"Left out: a port itself."`
	Addresses []string `json:"addresses" doc:"Each with the length of its network."`
	Gateway   string   `json:"gateway,omitempty"`
	DNS       []string `json:"dns"`
}

// NetworkSetting is how the box is to be in the network. IPv6 is not of it: that finds its addresses by itself.
type NetworkSetting struct {
	Address string   `json:"address,omitempty" doc:"IPv4, with the length of its network, such as 192.168.1.20/24; left out: from the network (DHCP)."`
	Gateway string   `json:"gateway,omitempty" doc:"Only with an address; left out: no other networks are reached."`
	DNS     []string `json:"dns,omitempty" doc:"Only with an address: up to 3 servers."`
	VLAN    int      `json:"vlan,omitempty" doc:"1 to 4094; left out: none."`
	Port    string   `json:"port,omitempty" doc:"Where there are several: the one that this is for; the others take their addresses from the network."`
}

func (a *API) network(c echo.Context) error {
	out, err := a.networkNow(c)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, out)
}

func (a *API) networkNow(c echo.Context) (Network, error) {
	out := Network{CanSet: a.System.Network.Can(), Ports: []NetworkPort{}}
	ports, err := network.Ports()
	if err != nil {
		return out, err
	}
	for _, p := range ports {
		out.Ports = append(out.Ports, NetworkPort{Name: p.Name, MAC: p.MAC, Up: p.Up, VLAN: p.VLAN, Addresses: words(p.Addresses), Gateway: word(p.Gateway), DNS: words(p.DNS)})
	}
	if !out.CanSet {
		return out, nil
	}
	if host, err := os.Hostname(); err == nil {
		out.Name = host + ".local"
	}
	now := a.System.Network.Standing()
	s := now.Setting
	out.State, out.SecondsLeft = string(now.State), int(math.Ceil(now.Left.Seconds()))
	out.Setting = &NetworkSetting{Address: word(s.Address), Gateway: word(s.Gateway), DNS: words(s.DNS), VLAN: s.VLAN, Port: s.Port}
	if now.State == network.Trying {
		out.CannotKeep = s.Reached(arrivedAt(c.Request()))
	}
	return out, nil
}

// setNetwork asks the system to try a setting.
func (a *API) setNetwork(c echo.Context) error {
	var in NetworkSetting
	if err := read(c, &in); err != nil {
		return err
	}
	if !a.System.Network.Can() {
		return refuse(http.StatusConflict, "this controller's network is set by the system that it runs on")
	}
	ports, err := network.Ports()
	if err != nil {
		return err
	}
	s, err := in.setting()
	if err == nil {
		err = s.Check(ports)
	}
	var field unfit
	if errors.As(err, &field) {
		name, why := field.Unfit()
		return meaningless("/"+name, why)
	}
	if err != nil {
		return err
	}
	switch err := a.System.Network.Ask(s); {
	case errors.Is(err, network.ErrBusy):
		return refuse(http.StatusConflict, err.Error())
	case err != nil:
		return err
	}
	a.auditAccount(c, "network.set", "network", in)
	return a.answerNetwork(c)
}

// setting reads the words of in; it fails with an [unfit].
func (in NetworkSetting) setting() (s network.Setting, err error) {
	s = network.Setting{VLAN: in.VLAN, Port: in.Port}
	if in.Address != "" {
		if s.Address, err = netip.ParsePrefix(in.Address); err != nil {
			return s, network.Unfit{Field: "address", Why: "want an address and the length of its network, such as 192.168.1.20/24"}
		}
	}
	if in.Gateway != "" {
		if s.Gateway, err = netip.ParseAddr(in.Gateway); err != nil {
			return s, network.Unfit{Field: "gateway", Why: "want the router's address, such as 192.168.1.1"}
		}
	}
	for _, d := range in.DNS {
		server, err := netip.ParseAddr(d)
		if err != nil {
			return s, network.Unfit{Field: "dns", Why: "want addresses of DNS servers, such as 192.168.1.1, and not their names"}
		}
		s.DNS = append(s.DNS, server)
	}
	return s, nil
}

// keepNetwork keeps the setting that is tried, for somebody who came over it.
func (a *API) keepNetwork(c echo.Context) error {
	if !a.System.Network.Can() {
		return refuse(http.StatusConflict, network.ErrNothing.Error())
	}
	now := a.System.Network.Standing()
	if now.State == network.Trying {
		if why := now.Setting.Reached(arrivedAt(c.Request())); why != "" {
			return refuse(http.StatusConflict, why)
		}
	}
	switch err := a.System.Network.Keep(now.Setting); {
	case errors.Is(err, network.ErrNothing):
		return refuse(http.StatusConflict, err.Error())
	case err != nil:
		return err
	}
	a.auditAccount(c, "network.keep", "network", nil)
	return a.answerNetwork(c)
}

func (a *API) answerNetwork(c echo.Context) error {
	out, err := a.networkNow(c)
	if err != nil {
		return err
	}
	return answer(c, http.StatusAccepted, out)
}

// arrivedAt is the box's own address that a request came to; the zero Addr is none, as of the socket in the data directory.
func arrivedAt(r *http.Request) netip.Addr {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return at.AddrPort().Addr()
}

// networkTried is what needs somebody while a setting is tried: who came over it may keep it.
func (a *API) networkTried() []Concern {
	if !a.System.Network.Can() || a.System.Network.Standing().State != network.Trying {
		return nil
	}
	return []Concern{{Key: "network tried", Kind: "network-tried", What: "another network is being tried, and goes back by itself unless it is kept"}}
}

// word is "" for what is invalid.
func word[T interface {
	IsValid() bool
	String() string
}](v T) string {
	if !v.IsValid() {
		return ""
	}
	return v.String()
}

func words[T interface{ String() string }](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = v.String()
	}
	return out
}
