package past

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"time"

	"svc.internal/controller/appliance"
)

const (
	slotSize    = 8 << 10
	headerSize  = 64
	payloadMost = slotSize - headerSize
	magic       = "PAST"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errNoBlock: a slot holds none, or a damaged one.
var errNoBlock = errors.New("there is no whole block")

// header is what a block says of itself.
type header struct {
	number, run uint64
	begin       int64 // ms
	set         int64 // ms, see follows
	follows     uint64
	seconds     uint32
	writings    uint32
	length      uint16
	full        bool
}

// put writes the header of a payload before it.
func (h header) put(slot, payload []byte) {
	le := binary.LittleEndian
	clear(slot[:headerSize])
	copy(slot, magic)
	le.PutUint64(slot[8:], h.number)
	le.PutUint64(slot[16:], h.run)
	le.PutUint64(slot[24:], uint64(h.begin))
	le.PutUint64(slot[32:], uint64(h.set))
	le.PutUint32(slot[40:], h.seconds)
	le.PutUint32(slot[44:], h.writings)
	le.PutUint16(slot[48:], uint16(len(payload)))
	if h.full {
		slot[50] = 1
	}
	le.PutUint64(slot[52:], h.follows)
	le.PutUint32(slot[60:], crc32.Checksum(payload, castagnoli))
	le.PutUint32(slot[4:], crc32.Checksum(slot[8:headerSize], castagnoli))
}

// readHeader takes a header apart. Whether the payload is whole, payloadOf tells.
func readHeader(slot []byte) (h header, err error) {
	le := binary.LittleEndian
	if string(slot[:4]) != magic || le.Uint32(slot[4:]) != crc32.Checksum(slot[8:headerSize], castagnoli) {
		return h, errNoBlock
	}
	h = header{
		number: le.Uint64(slot[8:]), run: le.Uint64(slot[16:]), begin: int64(le.Uint64(slot[24:])), set: int64(le.Uint64(slot[32:])),
		seconds: le.Uint32(slot[40:]), writings: le.Uint32(slot[44:]), length: le.Uint16(slot[48:]), full: slot[50] == 1,
		follows: le.Uint64(slot[52:]),
	}
	if h.length > payloadMost {
		return h, errNoBlock
	}
	return h, nil
}

// payloadOf is the payload of a whole block.
func payloadOf(slot []byte) ([]byte, error) {
	h, err := readHeader(slot)
	if err != nil || len(slot) < headerSize+int(h.length) {
		return nil, errNoBlock
	}
	payload := slot[headerSize : headerSize+int(h.length)]
	if binary.LittleEndian.Uint32(slot[60:]) != crc32.Checksum(payload, castagnoli) {
		return nil, errNoBlock
	}
	return payload, nil
}

// kind of a change, as its lowest three bits have it.
type kind uint8

const (
	levelOne    kind = iota // of channel 1
	levelOther              // of another one, which is told
	powerOne                //
	powerOther              //
	nodeOnline              //
	shadeOnline             //
	position                //
	kindsEnd                // no kind
)

// key is a track in few bytes.
type key struct {
	id      int32
	channel uint16
	kind    kind
}

func keyOf(t appliance.Track) key {
	switch {
	case t.Aspect == appliance.PositionAspect:
		return key{int32(t.Shade), 0, position}
	case t.Aspect == appliance.OnlineAspect && t.Shade != 0:
		return key{int32(t.Shade), 0, shadeOnline}
	case t.Aspect == appliance.OnlineAspect:
		return key{int32(t.Node), 0, nodeOnline}
	}
	k := levelOne
	if t.Aspect == appliance.PowerAspect {
		k = powerOne
	}
	if t.Channel > 1 {
		k++
	}
	return key{int32(t.Node), uint16(t.Channel), k}
}

func (k key) track() appliance.Track {
	id := appliance.ID(k.id)
	switch k.kind {
	case position:
		return appliance.Track{Ref: appliance.Ref{Shade: id}, Aspect: appliance.PositionAspect}
	case shadeOnline:
		return appliance.Track{Ref: appliance.Ref{Shade: id}, Aspect: appliance.OnlineAspect}
	case nodeOnline:
		return appliance.Track{Ref: appliance.Ref{Node: id}, Aspect: appliance.OnlineAspect}
	case levelOne, levelOther:
		return appliance.Track{Ref: appliance.Ref{Node: id, Channel: int(k.channel)}, Aspect: appliance.LevelAspect}
	}
	return appliance.Track{Ref: appliance.Ref{Node: id, Channel: int(k.channel)}, Aspect: appliance.PowerAspect}
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind), cmp.Compare(a.channel, b.channel))
}

// code is a value as it is stored: 0 is "not known".
type code uint32

func known(v int) code { return code(v) + 1 }

// wattCode keeps a power to a tenth of a watt.
func wattCode(w float64) code {
	const most = 1 << 29 // 53 MW
	t := int64(math.Round(max(-most, min(most, w*10))))
	return code(uint64(t<<1^t>>63)) + 1
}

func (k key) past(at time.Time, c code) appliance.Past {
	p := appliance.Past{At: at, Track: k.track(), Known: c != 0}
	switch {
	case !p.Known:
	case k.kind == powerOne || k.kind == powerOther:
		z := uint32(c - 1)
		p.Value = float64(int32(z>>1)^-int32(z&1)) / 10
	default:
		p.Value = float64(c - 1)
	}
	return p
}

// change of one track.
type change struct {
	key
	code
}

// appendMoment writes changes of one moment behind a payload.
func appendMoment(payload []byte, seconds uint32, changes []change) []byte {
	payload = binary.AppendUvarint(payload, uint64(seconds))
	payload = binary.AppendUvarint(payload, uint64(len(changes)))
	last := int32(0)
	for _, c := range changes {
		d := int64(c.id) - int64(last)
		last = c.id
		payload = binary.AppendUvarint(payload, uint64(d<<1^d>>63)<<3|uint64(c.kind))
		if c.kind == levelOther || c.kind == powerOther {
			payload = binary.AppendUvarint(payload, uint64(c.channel-1))
		}
		if c.kind == powerOne || c.kind == powerOther {
			payload = binary.AppendUvarint(payload, uint64(c.code))
		} else {
			payload = append(payload, byte(c.code))
		}
	}
	return payload
}

// changeMost is how many bytes a change takes at most.
const changeMost = 5 + 3 + 5

// momentMost is how many the begin of a moment takes at most.
const momentMost = 5 + 3

// eachChange reads a payload: seconds count from the begin of its block. It ends when tell returns false.
func eachChange(payload []byte, tell func(seconds int64, c change) bool) error {
	r := reader{rest: payload}
	var now int64
	for len(r.rest) > 0 {
		now += int64(r.number())
		last := int64(0)
		for n := r.number(); n > 0 && !r.bad; n-- {
			head := r.number()
			z := head >> 3
			last += int64(z>>1) ^ -int64(z&1)
			c := change{key: key{id: int32(last), kind: kind(head & 7)}}
			switch c.kind {
			case levelOne, powerOne:
				c.channel = 1
			case levelOther, powerOther:
				c.channel = uint16(r.number() + 1)
			case kindsEnd:
				r.bad = true
			}
			if c.kind == powerOne || c.kind == powerOther {
				c.code = code(r.number())
			} else {
				c.code = code(r.byte())
			}
			if r.bad {
				break
			}
			if !tell(now, c) {
				return nil
			}
		}
		if r.bad {
			return errNoBlock
		}
	}
	return nil
}

// reader takes numbers off a payload. What is not there is 0, and noted.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}
