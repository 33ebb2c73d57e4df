package dmx

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Decoded is what a widget frame says, for people.
type Decoded struct {
	Label      int    `json:"label"`
	Name       string `json:"label_name"`
	DataLength int    `json:"data_length"`
	Data       string `json:"data"` // hexadecimal

	// Of a universe, sent or received.
	StartCode    *int           `json:"start_code,omitempty"`
	Slots        *int           `json:"slots,omitempty"` // how many
	NonzeroSlots map[string]int `json:"nonzero_slots,omitempty"`

	Status *int `json:"status,omitempty"` // of what was received: 0 is good

	RDM       *DecodedRDM `json:"rdm,omitempty"`
	Discovery *string     `json:"discovery_uid,omitempty"` // who answered a discovery
	Collision string      `json:"collision,omitempty"`     // why nobody can be told

	Parameters *Widget `json:"parameters,omitempty"`
	Serial     string  `json:"serial,omitempty"`

	Next *Decoded `json:"next,omitempty"` // frame behind this one, in the same write
}

// DecodedRDM is an RDM packet, for people. UIDs, data and checksum in hexadecimal.
type DecodedRDM struct {
	StartCode     int    `json:"start_code"`
	SubStart      int    `json:"sub_start"`
	MessageLength int    `json:"message_length"`
	Dest          string `json:"dest"`
	Src           string `json:"src"`
	Transaction   int    `json:"transaction"`
	PortID        int    `json:"port_id"` // of an answer: its type
	MessageCount  int    `json:"message_count"`
	SubDevice     int    `json:"sub_device"`
	CommandClass  string `json:"command_class"`
	PID           string `json:"pid"`
	PDL           int    `json:"pdl"`
	Param         string `json:"param"`
	Checksum      string `json:"checksum"`
}

// Decode explains a widget frame, with the RDM packet inside if there is one, or
// the two that go out in one write. It is total: any bytes give fields or an error
// that says what is wrong with them.
func Decode(frame []byte) (any, error) {
	first, second := frame, []byte(nil)
	if _, n, ok := cut(frame); ok {
		first, second = frame[:n], frame[n:]
	}
	d, err := decodeOne(first)
	if err == nil && len(second) > 0 {
		d.Next, err = decodeOne(second)
		if err != nil {
			err = fmt.Errorf("behind the first %d bytes: %w", len(first), err)
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func decodeOne(frame []byte) (*Decoded, error) {
	f, err := parseFrame(frame)
	if err != nil {
		return nil, err
	}
	d := &Decoded{Label: int(f.label), Name: f.label.String(), DataLength: len(f.data), Data: hex.EncodeToString(f.data)}
	switch f.label {
	case labelOutput:
		d.universe(f.data)
	case labelSendRDM, labelDiscovery:
		err = d.rdm(f.data)
	case labelReceived:
		err = d.received(f.data)
	case labelParameters:
		if len(f.data) != 2 { // two bytes are the question
			var w Widget
			w, err = parseWidget(f.data)
			d.Parameters = &w
		}
	case labelSerial:
		if len(f.data) != 0 {
			d.Serial, err = parseSerial(f.data)
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Decoded) universe(data []byte) {
	if len(data) == 0 {
		return
	}
	start, slots := int(data[0]), len(data)-1
	d.StartCode, d.Slots = &start, &slots
	d.NonzeroSlots = make(map[string]int)
	for i, v := range data[1:] {
		if v != 0 {
			d.NonzeroSlots[strconv.Itoa(i+1)] = int(v)
		}
	}
}

func (d *Decoded) received(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	status, data := int(data[0]), data[1:]
	d.Status = &status
	switch {
	case len(data) == 0:
	case data[0] == rdmStartCode:
		return d.rdm(data)
	case data[0] == branchPreamble || data[0] == branchSeparator:
		uid, err := parseBranch(data)
		if err != nil {
			d.Collision = err.Error()
			return nil
		}
		text := hex.EncodeToString(uid.append(nil))
		d.Discovery = &text
	default:
		d.universe(data)
	}
	return nil
}

func (d *Decoded) rdm(data []byte) error {
	p, err := parseRDM(data)
	if err != nil {
		return err
	}
	d.RDM = &DecodedRDM{
		StartCode: rdmStartCode, SubStart: rdmSubStart, MessageLength: int(data[2]),
		Dest: hex.EncodeToString(p.to.append(nil)), Src: hex.EncodeToString(p.from.append(nil)),
		Transaction: int(p.number), PortID: int(p.port), MessageCount: int(p.messages), SubDevice: int(p.subDevice),
		CommandClass: p.class.String(), PID: p.parameter.String(), PDL: len(p.data), Param: hex.EncodeToString(p.data),
		Checksum: hex.EncodeToString(binary.BigEndian.AppendUint16(nil, sum(data[:len(data)-2]))),
	}
	return nil
}
