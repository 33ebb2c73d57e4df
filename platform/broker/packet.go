package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// connectMost bounds a CONNECT packet: names, a password and a will.
const connectMost = 8 << 10

// Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3).
const (
	codeVersion      = 1
	codeClientID     = 2
	codeUnavailable  = 3
	codeCredentials  = 4
	codeUnauthorised = 5
)

// connect is a CONNECT packet (MQTT 3.1.1, 3.1).
type connect struct {
	flags              byte
	keepAlive          uint16
	clientID           string
	willTopic          string
	will               []byte
	username, password string
}

const (
	flagClean    = 0x02
	flagWill     = 0x04
	flagWillBits = 0x38 // QoS and retain
	flagWillOnce = 0x10 // QoS 2
	flagWillKept = 0x20 // retain
	flagPassword = 0x40
	flagUsername = 0x80
)

// errVersion says that somebody speaks another version of MQTT.
var errVersion = errors.New("not MQTT 3.1.1")

// readConnect reads the first packet of a connection.
func readConnect(r io.Reader) (connect, error) {
	var c connect
	var head [1]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return c, err
	}
	if head[0] != 0x10 {
		return c, fmt.Errorf("first byte 0x%02x: want a CONNECT packet", head[0])
	}
	length, err := readLength(r)
	if err != nil {
		return c, err
	}
	if length > connectMost {
		return c, fmt.Errorf("CONNECT packet of %d bytes, at most %d", length, connectMost)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return c, err
	}
	return c, c.parse(body)
}

// readLength reads a remaining length (MQTT 3.1.1, 2.2.3).
func readLength(r io.Reader) (int, error) {
	var b [1]byte
	n := 0
	for shift := 0; shift < 28; shift += 7 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0, err
		}
		n |= int(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errors.New("malformed length")
}

func (c *connect) parse(b []byte) error {
	p := fields{rest: b}
	name := p.text()
	if p.short || len(p.rest) < 4 {
		return errors.New("CONNECT packet is cut short")
	}
	if string(name) != "MQTT" || p.rest[0] != 4 {
		return errVersion
	}
	c.flags = p.rest[1]
	c.keepAlive = binary.BigEndian.Uint16(p.rest[2:])
	p.rest = p.rest[4:]
	c.clientID = string(p.text())
	if c.flags&flagWill != 0 {
		c.willTopic = string(p.text())
		c.will = p.text()
	}
	if c.flags&flagUsername != 0 {
		c.username = string(p.text())
	}
	if c.flags&flagPassword != 0 {
		c.password = string(p.text())
	}
	if p.short || len(p.rest) != 0 {
		return errors.New("CONNECT packet is cut short or too long")
	}
	return nil
}

// bytes packs the packet.
func (c *connect) bytes() []byte {
	var b []byte
	text := func(s string) {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	text("MQTT")
	b = append(b, 4, c.flags)
	b = binary.BigEndian.AppendUint16(b, c.keepAlive)
	text(c.clientID)
	if c.flags&flagWill != 0 {
		text(c.willTopic)
		text(string(c.will))
	}
	if c.flags&flagUsername != 0 {
		text(c.username)
	}
	if c.flags&flagPassword != 0 {
		text(c.password)
	}
	return append(appendLength([]byte{0x10}, len(b)), b...)
}

// fields takes length-prefixed fields off a packet.
type fields struct {
	rest  []byte
	short bool
}

func (f *fields) text() []byte {
	if len(f.rest) < 2 {
		f.short = true
		return nil
	}
	n := int(binary.BigEndian.Uint16(f.rest))
	if len(f.rest) < 2+n {
		f.short = true
		return nil
	}
	out := f.rest[2 : 2+n]
	f.rest = f.rest[2+n:]
	return out
}

// refusal is the CONNACK packet that turns somebody away.
func refusal(code byte) []byte { return []byte{0x20, 2, 0, code} }
