package network

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Port is a network port of the box, or a VLAN on one.
type Port struct {
	Name      string
	MAC       string
	Up        bool // its cable leads somewhere
	VLAN      int  // 0: a port itself
	Addresses []netip.Prefix
	Gateway   netip.Addr   // of IPv4; invalid: none
	DNS       []netip.Addr // as far as the system below tells
}

// Ports are those for cables, by name, as they are now.
func Ports() ([]Port, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("look at the network ports: %w", err)
	}
	routes, _ := os.ReadFile("/proc/self/net/route") // without it no gateway is known
	gateways := gatewaysOf(routes)
	var list []Port
	for _, i := range all {
		tag, isVLAN := strings.CutPrefix(i.Name, "vlan")
		if !isVLAN && !strings.HasPrefix(i.Name, "e") || len(i.HardwareAddr) == 0 {
			continue
		}
		p := Port{Name: i.Name, MAC: i.HardwareAddr.String(), Up: i.Flags&net.FlagRunning != 0, Gateway: gateways[i.Name]}
		if isVLAN {
			if p.VLAN, err = strconv.Atoi(tag); err != nil {
				continue
			}
		}
		if has, err := i.Addrs(); err == nil { // else it is gone just now
			for _, a := range has {
				if prefix, err := netip.ParsePrefix(a.String()); err == nil {
					p.Addresses = append(p.Addresses, prefix)
				}
			}
		}
		p.DNS = addresses(values("/run/systemd/netif/links/" + strconv.Itoa(i.Index))["DNS"])
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// gatewaysOf are the default routes by port, of the kernel's table, in which addresses are hexadecimal words of this machine.
func gatewaysOf(table []byte) map[string]netip.Addr {
	out := map[string]netip.Addr{}
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		word, err := hex.DecodeString(f[2])
		if err != nil || len(word) != 4 {
			continue
		}
		var a [4]byte
		binary.NativeEndian.PutUint32(a[:], binary.BigEndian.Uint32(word))
		if gateway := netip.AddrFrom4(a); gateway != netip.IPv4Unspecified() && !out[f[0]].IsValid() {
			out[f[0]] = gateway
		}
	}
	return out
}
