package roomos

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos/roomostest"
	"svc.internal/controller/shelf/trust"
)

func TestAFleetAsksItsNetworksOnly(t *testing.T) {
	s := roomostest.New(t)
	_, port, _ := strings.Cut(s.Address(), ":")
	networks := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	for name, c := range map[string]struct {
		address string
		within  []netip.Prefix
		good    bool
	}{
		"no network":                           {s.Address(), nil, false},
		"another network":                      {s.Address(), networks("10.0.0.0/8", "::/0"), false},
		"a name for an address outside":        {"localhost:" + port, networks("10.0.0.0/8"), false},
		"an address that IPv6 wraps":           {"[::ffff:127.0.0.1]:" + port, networks("10.0.0.0/8", "::/0"), false},
		"the address itself":                   {s.Address(), networks("127.0.0.1/32"), true},
		"its network":                          {s.Address(), networks("10.0.0.0/8", "127.0.0.0/8"), true},
		"a name for an address in the network": {"localhost:" + port, networks("127.0.0.0/8"), true},
		"an address in the network, wrapped":   {"[::ffff:127.0.0.1]:" + port, networks("127.0.0.0/8"), true},
		"what is no address":                   {"https://" + s.Address(), networks("127.0.0.0/8"), false},
		"an address with something in front":   {"user@" + s.Address(), networks("127.0.0.0/8"), false},
		"an address with something behind it":  {s.Address() + "/x", networks("127.0.0.0/8"), false},
		"what a cloud tells its machines":      {"169.254.169.254", networks("127.0.0.0/8"), false},
	} {
		f := Fleet{Within: c.within, CA: s.Certificate()}
		before, _ := s.Seen(panel.MacroName)
		err := f.Install(t.Context(), panel.Visit{Address: c.address, Username: roomostest.User, Password: roomostest.Password}, lobby(t, nil), false)
		after, _ := s.Seen(panel.MacroName)
		if (err == nil) != c.good || (after > before) != c.good {
			t.Errorf("%s: %d requests and %v", name, after-before, err)
		}
		var outside *Outside
		if !c.good && errors.As(err, &outside) == errors.Is(err, platform.ErrInvalid) {
			t.Errorf("%s: got %v, want the networks named or the address refused", name, err)
		}
	}
}

func TestAFleetKnowsDevicesByTheirFingerprintsAndAuthority(t *testing.T) {
	s := roomostest.New(t)
	v := panel.Visit{Address: s.Address(), Username: roomostest.User, Password: roomostest.Password}
	f := Fleet{Within: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	var untrusted *trust.Untrusted
	if err := f.Install(t.Context(), v, lobby(t, nil), false); !errors.As(err, &untrusted) || s.Asked > 0 {
		t.Fatalf("of a stranger: %v after %d requests", err, s.Asked)
	}
	v.Fingerprint = untrusted.Fingerprint
	if err := f.Install(t.Context(), v, lobby(t, nil), false); err != nil || s.Macros[panel.MacroName] == "" {
		t.Errorf("known by its fingerprint: %v", err)
	}
	if err := f.Remove(t.Context(), v); err != nil || len(s.Macros)+len(s.Panels) > 0 {
		t.Errorf("removal: %v, and it has %v %v", err, s.Macros, s.Panels)
	}
}
