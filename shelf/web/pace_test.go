package web

import (
	"net/netip"
	"testing"
	"time"
)

// TestHandshakesTakeTurns floods the handshakes of one network: it gets its pace and no
// more, and another network does not wait for it.
func TestHandshakesTakeTurns(t *testing.T) {
	t.Parallel()
	h, now := newHandshakes(), time.Unix(1e9, 0)
	flood, other := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	for h.hash(flood) == h.hash(other) { // they may share a bucket by chance
		other = netip.PrefixFrom(other.Addr().Next(), 32)
	}
	atOnce, waiting, refused := 0, 0, 0
	for range 1000 {
		switch wait, ok := h.turn(flood, true, now); {
		case !ok:
			refused++
		case wait == 0:
			atOnce++
		default:
			waiting++
		}
	}
	inTime := int(handshakeWait.Seconds() * handshakesPerNetwork)
	if atOnce != handshakesInARow || waiting != inTime || refused != 1000-atOnce-waiting {
		t.Errorf("%d at once, %d wait, %d refused; want %d and %d, and the rest refused", atOnce, waiting, refused, handshakesInARow, inTime)
	}
	if wait, ok := h.turn(other, true, now); !ok || wait > 0 {
		t.Errorf("another network waits %v (%v)", wait, ok)
	}
	if wait, ok := h.turn(flood, true, now.Add(time.Minute)); !ok || wait > 0 {
		t.Errorf("a minute later it still waits %v (%v)", wait, ok)
	}
}

// TestHandshakesOfManyNetworks share a pace of all.
func TestHandshakesOfManyNetworks(t *testing.T) {
	t.Parallel()
	h, now := newHandshakes(), time.Unix(1e9, 0)
	done := 0
	from := netip.MustParseAddr("192.0.2.1")
	for range 5000 {
		if _, ok := h.turn(netip.PrefixFrom(from, 32), true, now); ok {
			done++
		}
		from = from.Next()
	}
	if most := handshakesAllInARow + int(handshakeWait.Seconds()*handshakesAll); done > most {
		t.Errorf("%d handshakes of many networks within %v, want %d at most", done, handshakeWait, most)
	}
}
