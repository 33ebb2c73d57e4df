package broker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Shares keep every controller to its share.
type Shares interface {
	// Hold reports whether a message may be kept under its topic.
	Hold(controller, topic string, size int) bool
	// Pace tells how long nothing more is to be read after a message.
	Pace(controller string, size int) time.Duration
}

// Parts of the first byte of PUBLISH (MQTT 3.1.1, 3.3.1).
const (
	packetPublish = 0x30
	bitRetain     = 0x01
	bitsQoS       = 0x06
	exactlyOnce   = 0x04 // of bitsQoS
)

// publishMost bounds a PUBLISH packet, as nats-server does.
const publishMost = 2 * wire.MaxMessage

// errOnce says that somebody publishes with QoS 2, which nobody here needs: what is never
// released with PUBREL would be kept outside every share.
var errOnce = errors.New("PUBLISH with QoS 2")

// errPublish says that somebody sends what is no MQTT, or too much at once.
var errPublish = errors.New("malformed or too large a packet")

// carry passes the packets of a guest on. Of what is beyond the guest's share only the
// envelope goes on, to a topic where it harms nobody: it is acknowledged as any other, and
// the guest does not send it again.
func (d *door) carry(to io.Writer, from io.Reader, c platform.Credential) error {
	in := bufio.NewReaderSize(from, 2<<10)
	for {
		first, err := in.ReadByte()
		if err != nil {
			return err
		}
		length, err := readLength(in)
		if err != nil {
			return err
		}
		head := appendLength([]byte{first}, length)
		if first&0xf0 != packetPublish {
			if _, err := to.Write(head); err != nil {
				return err
			}
			if _, err := io.CopyN(to, in, int64(length)); err != nil {
				return err
			}
			continue
		}
		if length > publishMost {
			return errPublish
		}
		if first&bitsQoS == exactlyOnce {
			return errOnce
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		packet, err := d.weigh(c, first, body)
		if err != nil {
			return err
		}
		if packet == nil {
			packet = append(head, body...)
		}
		if _, err := to.Write(packet); err != nil {
			return err
		}
		if wait := d.broker.cfg.Shares.Pace(c.Controller, length); wait > 0 {
			time.Sleep(wait) // whoever floods is read no faster; the connection goes on
		}
	}
}

// weigh looks whether a message that is to be kept has room; if not it returns the packet
// that goes in its place.
func (d *door) weigh(c platform.Credential, first byte, body []byte) (instead []byte, err error) {
	if first&bitRetain == 0 {
		return nil, nil
	}
	f := fields{rest: body}
	topic := string(f.text())
	id := 0 // bytes of a packet identifier
	if first&bitsQoS != 0 {
		id = 2
	}
	if f.short || len(f.rest) < id {
		return nil, errPublish
	}
	_, below, ok := wire.SplitTopic(topic)
	if !ok || d.broker.cfg.Shares.Hold(c.Controller, below, len(f.rest)-id) {
		return nil, nil
	}
	direction, _, _ := strings.Cut(below, "/")
	var b bytes.Buffer
	left := wire.Topic(c.Controller, direction+"/"+wire.Left)
	_ = binary.Write(&b, binary.BigEndian, uint16(len(left)))
	b.WriteString(left)
	b.Write(f.rest[:id])
	return append(appendLength([]byte{first &^ bitRetain}, b.Len()), b.Bytes()...), nil
}

// appendLength packs a remaining length (MQTT 3.1.1, 2.2.3).
func appendLength(b []byte, n int) []byte {
	for {
		digit := byte(n & 0x7f)
		if n >>= 7; n == 0 {
			return append(b, digit)
		}
		b = append(b, digit|0x80)
	}
}
