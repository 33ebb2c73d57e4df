package sdn

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Decoded is a frame as the bus monitor shows it. Numbers in Args are those of the
// wire; Text says the same in words.
type Decoded struct {
	Message      string         `json:"msg"`
	MessageID    string         `json:"msg_id"`
	Source       string         `json:"src"`
	Destination  string         `json:"dst"`
	Ack          bool           `json:"ack"`
	NodeTypeByte int            `json:"node_type_byte"`
	FromType     int            `json:"from_type"`
	ToType       int            `json:"to_type"`
	Data         string         `json:"data_hex"`
	Checksum     string         `json:"checksum"`
	Logical      string         `json:"logical_hex"`
	Args         map[string]any `json:"args,omitempty"`
	Text         string         `json:"text,omitempty"`
}

// Decode explains one frame, given as it is on the wire. Any bytes give fields or
// an error that says what is wrong with them.
func Decode(b []byte) (any, error) {
	f, err := ParseFrame(b)
	if err != nil {
		return nil, err
	}
	d := Decoded{
		Message: f.ID.String(), MessageID: fmt.Sprintf("%02x", byte(f.ID)),
		Source: f.Source.String(), Destination: f.Destination.String(), Ack: f.Ack,
		NodeTypeByte: int(f.From)<<4 | int(f.To), FromType: int(f.From), ToType: int(f.To),
		Data: hex.EncodeToString(f.Data), Checksum: hex.EncodeToString(b[len(b)-checksumLen:]),
		Logical: hex.EncodeToString(f.logical()),
	}
	d.Args, d.Text = explain(f.ID, f.Data)
	return d, nil
}

// dataLen is how much data a message needs at least for its fields to be there.
var dataLen = map[MessageID]int{
	ctrlMove: 3, ctrlMoveTo: 4, ctrlMoveOf: 4, ctrlLock: 5, postMotorPosition: 5, postMotorStatus: 4,
	postMotorLimits: 4, getMotorIP: 1, postMotorIP: 4, postMotorSpeed: 3, postMotorDirection: 1,
	getGroup: 1, setGroup: 4, postGroup: 4, setNodeLabel: labelLen, postNodeLabel: labelLen, postAppVersion: 6, nack: 1,
}

// explain names the fields of a message's data.
func explain(id MessageID, data []byte) (args map[string]any, text string) {
	need, has := dataLen[id]
	switch {
	case !has:
		return nil, ""
	case len(data) < need:
		return nil, fmt.Sprintf("%d bytes of data, %v has %d", len(data), id, need)
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint16(data[i:])) }
	switch id {
	case ctrlMove:
		direction := named(map[byte]string{0: "down", 1: "up", 2: "cancel"}, data[0])
		return map[string]any{"direction": direction, "duration_10ms": int(data[1]), "speed": int(data[2])}, ""
	case ctrlMoveTo:
		fn := named(map[byte]string{0: "down_limit", 1: "up_limit", 2: "ip", 3: "position_pulses", 4: "position_percent"}, data[0])
		return map[string]any{"function": fn, "position": orNil(word(1)), "speed": int(data[3])}, ""
	case ctrlMoveOf:
		return explainMoveOf(MoveOf(data[0]), word(1))
	case ctrlLock:
		fn := named(map[byte]string{0: "current", 1: "up_limit", 2: "down_limit", 4: "ip", 5: "unlock", 7: "position_percent"}, data[0])
		return map[string]any{"function": fn, "value": word(1), "priority": int(data[3])}, ""
	case postMotorPosition:
		return explainPosition(data)
	case postMotorStatus:
		s, _ := readStatus(data)
		return map[string]any{"state": int(s.State), "direction": int(s.Direction), "source": int(s.Source), "cause": int(s.Cause)}, s.String()
	case postMotorLimits:
		return map[string]any{"up_limit": word(0), "down_limit": word(2)}, ""
	case getMotorIP:
		return map[string]any{"ip": int(data[0])}, ""
	case postMotorIP:
		return map[string]any{"ip": int(data[0]), "pulses": orNil(word(1)), "percent": int(data[3])}, ""
	case postMotorSpeed:
		return map[string]any{"up": int(data[0]), "down": int(data[1]), "slow": int(data[2])}, ""
	case postMotorDirection:
		return map[string]any{"direction": int(data[0])}, ""
	case getGroup:
		return map[string]any{"index": int(data[0])}, ""
	case setGroup, postGroup:
		return map[string]any{"index": int(data[0]), "group": address(data[1:]).String()}, ""
	case setNodeLabel, postNodeLabel:
		return map[string]any{"label": labelText(data)}, ""
	case postAppVersion:
		return map[string]any{"version": hex.EncodeToString(data[:6])}, ""
	default: // nack
		return map[string]any{"code": int(data[0])}, reason(data[0]).String()
	}
}

func explainMoveOf(fn MoveOf, value int) (map[string]any, string) {
	name := named(map[byte]string{0: "next_ip", 1: "previous_ip", 2: "jog_down_pulses", 3: "jog_up_pulses", 4: "jog_down_ms", 5: "jog_up_ms"}, byte(fn))
	switch fn {
	case NextPositionDown, NextPositionUp:
		return map[string]any{"function": name, "value": orNil(value)}, ""
	case JogDownTime, JogUpTime:
		value *= 10
	}
	return map[string]any{"function": name, "value": value}, ""
}

func explainPosition(data []byte) (map[string]any, string) {
	p, _ := readPosition(data)
	args := map[string]any{"pulses": int(p.Pulses), "percent": int(p.Percent), "tilt": int(p.Tilt), "ip": int(p.IP)}
	if !p.known() {
		return args, "position not known: the limits are not set"
	}
	return args, fmt.Sprintf("%d %% closed", p.Percent)
}

// orNil is a 16-bit value, or nothing if it is the one that stands for none.
func orNil(v int) any {
	if v == unused {
		return nil
	}
	return v
}
