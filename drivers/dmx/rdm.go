package dmx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// UID is the identity of an RDM device: 16 bits of the maker, 32 of the device.
type UID uint64

const (
	// BroadcastUID addresses every RDM device.
	BroadcastUID UID = 0xFFFFFFFFFFFF
	maxUID       UID = 0xFFFFFFFFFFFF
)

// String writes a UID as technicians do: 7a70:00012345.
func (u UID) String() string { return fmt.Sprintf("%04x:%08x", uint64(u)>>32, uint32(u)) }

// ParseUID reads 7a70:00012345.
func ParseUID(s string) (UID, error) {
	maker, device, ok := strings.Cut(s, ":")
	m, err1 := strconv.ParseUint(maker, 16, 16)
	d, err2 := strconv.ParseUint(device, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("UID %q: want maker and device in hexadecimal, such as 7a70:00012345", s)
	}
	return UID(m<<32 | d), nil
}

func (u UID) append(b []byte) []byte {
	return append(b, byte(u>>40), byte(u>>32), byte(u>>24), byte(u>>16), byte(u>>8), byte(u))
}

func readUID(b []byte) UID {
	return UID(binary.BigEndian.Uint16(b))<<32 | UID(binary.BigEndian.Uint32(b[2:]))
}

// class of an RDM packet (E1.20, 6.2.10). An answer's is one higher.
type class byte

const (
	classDiscovery class = 0x10
	classGet       class = 0x20
	classSet       class = 0x30
)

// String names a class as E1.20 does.
func (c class) String() string {
	names := map[class]string{
		classDiscovery: "DISCOVERY", classDiscovery + 1: "DISCOVERY_RESPONSE",
		classGet: "GET", classGet + 1: "GET_RESPONSE", classSet: "SET", classSet + 1: "SET_RESPONSE",
	}
	if name := names[c]; name != "" {
		return name
	}
	return fmt.Sprintf("%02X", byte(c))
}

// parameter is what an RDM packet is about (E1.20, table A-3).
type parameter uint16

const (
	pidUniqueBranch parameter = 0x0001
	pidMute         parameter = 0x0002
	pidUnMute       parameter = 0x0003
	pidSupported    parameter = 0x0050
	pidDeviceInfo   parameter = 0x0060
	pidModelName    parameter = 0x0080
	pidLabel        parameter = 0x0082
	pidSoftware     parameter = 0x00C0
	pidStartAddress parameter = 0x00F0
	pidIdentify     parameter = 0x1000
)

// String names a parameter as E1.20 does.
func (p parameter) String() string {
	names := map[parameter]string{
		pidUniqueBranch: "DISC_UNIQUE_BRANCH", pidMute: "DISC_MUTE", pidUnMute: "DISC_UN_MUTE",
		pidSupported: "SUPPORTED_PARAMETERS", pidDeviceInfo: "DEVICE_INFO",
		pidModelName: "DEVICE_MODEL_DESCRIPTION", pidLabel: "DEVICE_LABEL",
		pidSoftware: "SOFTWARE_VERSION_LABEL", pidStartAddress: "DMX_START_ADDRESS", pidIdentify: "IDENTIFY_DEVICE",
	}
	if name := names[p]; name != "" {
		return name
	}
	return fmt.Sprintf("%04X", uint16(p))
}

// Answer types of RDM (E1.20, table A-2).
const (
	rdmAck         = 0
	rdmAckTimer    = 1
	rdmNack        = 2
	rdmAckOverflow = 3
)

const (
	rdmStartCode = 0xCC
	rdmSubStart  = 0x01
	rdmHead      = 24  // bytes before the parameter's data
	maxRDMData   = 231 // E1.20, 6.2.3
)

// rdmPacket is one RDM packet.
type rdmPacket struct {
	to, from  UID
	number    byte // transaction: the answer repeats it
	port      byte // of a request: port ID; of an answer: its type
	messages  byte // waiting at the device
	subDevice uint16
	class     class
	parameter parameter
	data      []byte
}

// encode gives the packet's bytes from CC to the checksum.
func (p rdmPacket) encode() []byte {
	b := make([]byte, 0, rdmHead+len(p.data)+2)
	b = append(b, rdmStartCode, rdmSubStart, byte(rdmHead+len(p.data)))
	b = p.from.append(p.to.append(b))
	b = append(b, p.number, p.port, p.messages, byte(p.subDevice>>8), byte(p.subDevice),
		byte(p.class), byte(p.parameter>>8), byte(p.parameter), byte(len(p.data)))
	b = append(b, p.data...)
	return binary.BigEndian.AppendUint16(b, sum(b))
}

func sum(b []byte) (s uint16) {
	for _, c := range b {
		s += uint16(c)
	}
	return s
}

// parseRDM takes b as exactly one RDM packet.
func parseRDM(b []byte) (rdmPacket, error) {
	var p rdmPacket
	if len(b) < rdmHead+2 {
		return p, fmt.Errorf("%d bytes are too few for an RDM packet, which has 26 at least", len(b))
	}
	if b[0] != rdmStartCode || b[1] != rdmSubStart {
		return p, fmt.Errorf("begins with %02X %02X, an RDM packet with CC 01", b[0], b[1])
	}
	size, pdl := int(b[2]), int(b[23])
	switch {
	case size != rdmHead+pdl:
		return p, fmt.Errorf("RDM message length %d does not fit %d bytes of data", size, pdl)
	case len(b) != size+2:
		return p, fmt.Errorf("RDM message length %d needs %d bytes, there are %d", size, size+2, len(b))
	}
	if got, want := binary.BigEndian.Uint16(b[size:]), sum(b[:size]); got != want {
		return p, fmt.Errorf("RDM checksum %04x, want %04x", got, want)
	}
	return rdmPacket{
		to: readUID(b[3:]), from: readUID(b[9:]), number: b[15], port: b[16], messages: b[17],
		subDevice: binary.BigEndian.Uint16(b[18:]), class: class(b[20]),
		parameter: parameter(binary.BigEndian.Uint16(b[21:])), data: b[rdmHead:size],
	}, nil
}

// errCollision: several devices answered a discovery at once, or noise did.
var errCollision = errors.New("discovery answers collided")

// branchAnswer is the shape of a discovery answer (E1.20, 7.5.3).
const (
	branchPreamble  = 0xFE
	branchSeparator = 0xAA
	branchBytes     = 16 // UID and checksum, two for each of their 8 bytes
)

// parseBranch reads the answer to a discovery. Its error wraps errCollision.
func parseBranch(b []byte) (UID, error) {
	n := 0
	for n < len(b) && n < 7 && b[n] == branchPreamble {
		n++
	}
	if n == len(b) || b[n] != branchSeparator {
		return 0, fmt.Errorf("%w: no separator AA after %d of FE", errCollision, n)
	}
	coded := b[n+1:]
	if len(coded) < branchBytes {
		return 0, fmt.Errorf("%w: %d coded bytes, want %d", errCollision, len(coded), branchBytes)
	}
	var plain [8]byte
	for i := range plain {
		first, second := coded[2*i], coded[2*i+1]
		if first|0x55 != 0xFF || second|0xAA != 0xFF {
			return 0, fmt.Errorf("%w: byte %d is coded as %02X %02X", errCollision, i, first, second)
		}
		plain[i] = first & second
	}
	if got, want := binary.BigEndian.Uint16(plain[6:]), sum(coded[:12]); got != want {
		return 0, fmt.Errorf("%w: checksum %04x, want %04x", errCollision, got, want)
	}
	return readUID(plain[:]), nil
}
