package scripted_test

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// closesShade reports whether a PDU writes to the coil that closes the shade, to switch it on.
func closesShade(pdu []byte) bool {
	return pdu[0] == 5 && binary.BigEndian.Uint16(pdu[1:]) == 1 && pdu[3] == 0xFF
}

// A shade runs up, and a position turns it round. That its old relay is off proves nothing of
// the new one: a success is told only when that was read to be on.
func TestPositionThatTurnsAShadeRound(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(pdu []byte) ([]byte, bool){
		"refused":                  func(pdu []byte) ([]byte, bool) { return []byte{0x85, 4}, closesShade(pdu) },
		"silent":                   func(pdu []byte) ([]byte, bool) { return nil, closesShade(pdu) },
		"acknowledged and no more": func(pdu []byte) ([]byte, bool) { return pdu, closesShade(pdu) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, u := travelHouse(t, 5*time.Second)
				if e := h.shade(5001, appliance.ShadeOpen, 0); !e.OK() {
					t.Fatal(e.Err)
				}
				h.wait(60*time.Second, "the shade to be at its upper end", func() bool {
					p := h.Snapshot().Shade(5001).Position
					return p.OK() && p.Value == 100
				})
				if e := h.shade(5001, appliance.ShadeClose, 0); !e.OK() {
					t.Fatal(e.Err)
				}
				h.wait(60*time.Second, "the shade to be half-way", func() bool { return h.Snapshot().Shade(5001).Position.Value <= 70 })
				if e := h.shade(5001, appliance.ShadeOpen, 0); !e.OK() {
					t.Fatal(e.Err)
				}
				u.set(func(of map[byte]*unit) { of[1].script = script })
				if e := h.shade(5001, appliance.ShadeMoveTo, 5); e.OK() {
					t.Errorf("go to 5 succeeded: %+v; the closing relay never came on", h.Snapshot().Shade(5001).Motion)
				}
				u.set(func(of map[byte]*unit) {
					if of[1].coils[0] || of[1].coils[1] {
						t.Errorf("a relay is on: %+v", of[1].coils)
					}
					of[1].script = nil
				})
				if e := h.shade(5001, appliance.ShadeMoveTo, 5); !e.OK() {
					t.Errorf("well again: %s", e.Err)
				}
			})
		})
	}
}
