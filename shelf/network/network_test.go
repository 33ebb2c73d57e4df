package network

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func setting(address, gateway, dns string, vlan int, port string) (s Setting) {
	if address != "" {
		s.Address = netip.MustParsePrefix(address)
	}
	if gateway != "" {
		s.Gateway = netip.MustParseAddr(gateway)
	}
	s.DNS = addresses(dns)
	s.VLAN, s.Port = vlan, port
	return s
}

// What cannot work is refused before it is tried, at its field, with what to do.
func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	one := []Port{{Name: "eth0"}, {Name: "vlan7", VLAN: 7}}
	two := []Port{{Name: "eth0"}, {Name: "enp1s0"}}
	for _, c := range []struct {
		s          Setting
		ports      []Port
		field, why string
	}{
		{setting("", "", "", 0, ""), one, "", ""},
		{setting("", "", "", 1, ""), one, "", ""},
		{setting("", "", "", 4094, "eth0"), one, "", ""},
		{setting("", "", "", 0, ""), two, "", ""},
		{setting("192.168.1.20/24", "", "", 0, ""), one, "", ""},
		{setting("192.168.1.20/24", "192.168.1.1", "192.168.1.1 9.9.9.9 2001:db8::53", 12, ""), one, "", ""},
		{setting("10.255.255.254/8", "10.0.0.1", "", 0, "enp1s0"), two, "", ""},
		{setting("192.168.0.255/23", "", "", 0, ""), one, "", ""}, // not the last one there
		{setting("192.168.1.2/30", "192.168.1.1", "", 0, ""), one, "", ""},

		{setting("", "", "", 4095, ""), one, "vlan", "1 to 4094"},
		{setting("", "", "", -1, ""), one, "vlan", "1 to 4094"},
		{setting("", "192.168.1.1", "", 0, ""), one, "gateway", "DHCP"},
		{setting("", "", "9.9.9.9", 0, ""), one, "dns", "DHCP"},
		{setting("", "", "", 7, ""), two, "port", "eth0, enp1s0"},
		{setting("192.168.1.20/24", "", "", 0, ""), two, "port", "eth0, enp1s0"},
		{setting("192.168.1.20/24", "", "", 0, "eth1"), one, "port", "no port eth1"},
		{setting("192.168.1.20/24", "", "", 0, "vlan7"), one, "port", "no port vlan7"},
		{setting("192.168.1.0/24", "", "", 0, ""), one, "address", "broadcast"},
		{setting("192.168.1.255/24", "", "", 0, ""), one, "address", "192.168.1.0/24"},
		{setting("192.168.1.20/31", "", "", 0, ""), one, "address", "8 to 30"},
		{setting("192.168.1.20/32", "", "", 0, ""), one, "address", "8 to 30"},
		{setting("10.0.0.1/7", "", "", 0, ""), one, "address", "8 to 30"},
		{setting("2001:db8::1/64", "", "", 0, ""), one, "address", "IPv4"},
		{setting("127.0.0.5/8", "", "", 0, ""), one, "address", "no box can have"},
		{setting("169.254.3.4/16", "", "", 0, ""), one, "address", "no box can have"},
		{setting("224.0.0.5/8", "", "", 0, ""), one, "address", "no box can have"},
		{setting("0.1.2.3/8", "", "", 0, ""), one, "address", "no box can have"},
		{setting("250.1.2.3/8", "", "", 0, ""), one, "address", "no box can have"},
		{setting("192.168.1.20/24", "192.168.2.1", "", 0, ""), one, "gateway", "in the network 192.168.1.0/24"},
		{setting("192.168.1.20/24", "fe80::1", "", 0, ""), one, "gateway", "in the network"},
		{setting("192.168.1.20/24", "192.168.1.20", "", 0, ""), one, "gateway", "the router's"},
		{setting("192.168.1.20/24", "192.168.1.255", "", 0, ""), one, "gateway", "broadcast"},
		{setting("192.168.1.20/24", "192.168.1.0", "", 0, ""), one, "gateway", "broadcast"},
		{setting("192.168.1.20/24", "", "1.1.1.1 1.0.0.1 8.8.8.8 9.9.9.9", 0, ""), one, "dns", "3 DNS servers"},
		{setting("192.168.1.20/24", "", "127.0.0.1", 0, ""), one, "dns", "no address of a DNS server"},
		{setting("192.168.1.20/24", "", "0.0.0.0", 0, ""), one, "dns", "no address of a DNS server"},
		{setting("192.168.1.20/24", "", "ff02::fb", 0, ""), one, "dns", "no address of a DNS server"},
		{setting("192.168.1.20/24", "", "fe80::1%eth0", 0, ""), one, "dns", "no address of a DNS server"},
	} {
		err := c.s.Check(c.ports)
		var unfit Unfit
		if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &unfit) || unfit.Field != c.field || !strings.Contains(unfit.Why, c.why)) {
			t.Errorf("%+v: %v, want %q of %s", c.s, err, c.why, c.field)
		}
	}
}

// Only who came over the new network shows that it works.
func TestWhereSomebodyCameTo(t *testing.T) {
	t.Parallel()
	static, dhcp := setting("192.168.1.20/24", "", "", 0, ""), Setting{}
	for _, c := range []struct {
		s    Setting
		at   string
		want bool
	}{
		{static, "192.168.1.20", true}, {static, "::ffff:192.168.1.20", true},
		{static, "192.168.1.21", false}, {static, "fe80::1%eth0", false}, {static, "2001:db8::1", false}, {static, "127.0.0.1", false}, {static, "", false},
		{dhcp, "192.168.1.77", true}, {dhcp, "2001:db8::1", true},
		{dhcp, "169.254.1.2", false}, {dhcp, "fe80::1%eth0", false}, {dhcp, "127.0.0.1", false}, {dhcp, "::1", false}, {dhcp, "", false},
	} {
		at, _ := netip.ParseAddr(c.at)
		if why := c.s.Reached(at); (why == "") != c.want {
			t.Errorf("%v over %q: %q", c.s.Address, c.at, why)
		}
	}
}

// A setting reaches the system whole, and comes back as it was; one is tried at a time, and kept only while it is.
func TestSystemIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := Box{Inbox: filepath.Join(dir, "network"), Told: filepath.Join(dir, "told")}
	tell := func(text string) {
		t.Helper()
		if err := os.WriteFile(b.Told, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want State, of Setting) {
		t.Helper()
		if now := b.Standing(); now.State != want || now.Setting.text() != of.text() {
			t.Errorf("it stands %+v, want %s of\n%s", now, want, of.text())
		}
	}
	is(Kept, Setting{}) // a system that has told nothing yet
	s := setting("192.168.1.20/24", "192.168.1.1", "192.168.1.1 2001:db8::53", 12, "eth0")
	if err := b.Keep(s); !errors.Is(err, ErrNothing) {
		t.Errorf("kept what nobody tries: %v", err)
	}
	if err := b.Ask(s); err != nil {
		t.Fatal(err)
	}
	const want = "address=192.168.1.20/24\ngateway=192.168.1.1\ndns=192.168.1.1 2001:db8::53\nvlan=12\nport=eth0\n"
	wish, err := os.ReadFile(filepath.Join(b.Inbox, "wish"))
	if err != nil || string(wish) != want {
		t.Errorf("the system gets %q: %v", wish, err)
	}
	if err := b.Ask(Setting{}); !errors.Is(err, ErrBusy) {
		t.Errorf("asked while the first is not begun: %v", err)
	}
	is(Asked, s)
	tell("state=asked\n" + want)
	if err := os.Remove(filepath.Join(b.Inbox, "wish")); err != nil {
		t.Fatal(err)
	}
	is(Asked, s)
	until := int((sinceStart() + 100*time.Second).Seconds())
	tell("state=trying\nuntil=" + strconv.Itoa(until) + "\n" + want)
	is(Trying, s)
	if left := b.Standing().Left; left < 50*time.Second || left > 100*time.Second {
		t.Errorf("it is tried for %v more, want nearly 100 s", left)
	}
	if err := b.Ask(Setting{}); !errors.Is(err, ErrBusy) {
		t.Errorf("asked while another is tried: %v", err)
	}
	if err := b.Keep(s); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(b.Inbox, "keep"))
	if err != nil || string(kept) != want {
		t.Errorf("the system is to keep %q: %v", kept, err)
	}
	tell("state=trying\nuntil=1\n" + want)
	if left := b.Standing().Left; left != 0 {
		t.Errorf("%v are left of what is over", left)
	}
	for _, state := range []State{Kept, Undone, Refused} {
		tell("state=" + string(state) + "\n" + want)
		is(state, s)
	}
	tell("state=nonsense\naddress=dhcp\n")
	is(Kept, Setting{})
}

func TestGatewaysOfTheKernelsTable(t *testing.T) {
	t.Parallel()
	const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0101A8C0	0003	0	0	1024	00000000	0	0	0
eth0	00000000	FE01A8C0	0003	0	0	2048	00000000	0	0	0
eth0	0001A8C0	00000000	0001	0	0	1024	00FFFFFF	0	0	0
eth1	0000000A	0202A8C0	0003	0	0	1024	000000FF	0	0	0
tun0	00000000	00000000	0001	0	0	1024	00000000	0	0	0
broken	00000000	xyz
`
	got := gatewaysOf([]byte(table))
	if len(got) != 1 || got["eth0"] != netip.AddrFrom4([4]byte{192, 168, 1, 1}) {
		t.Errorf("got %v, want 192.168.1.1 of eth0 only", got)
	}
}
