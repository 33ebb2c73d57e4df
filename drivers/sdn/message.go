package sdn

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// MessageID says what a frame is about.
type MessageID uint8

// The messages. A GET is answered by the POST of the same kind, CTRL and SET by
// ACK or NACK.
const (
	ctrlMove   MessageID = 0x01 // direction, duration in 10 ms, speed
	ctrlStop   MessageID = 0x02 // one byte, ignored
	ctrlMoveTo MessageID = 0x03 // function, value (2), speed
	ctrlMoveOf MessageID = 0x04 // function, value (2), 0
	ctrlWink   MessageID = 0x05
	ctrlLock   MessageID = 0x06 // function, value (2), priority, 0

	getMotorPosition   MessageID = 0x0C
	postMotorPosition  MessageID = 0x0D // pulses (2), percent, tilt percent, intermediate position
	getMotorStatus     MessageID = 0x0E
	postMotorStatus    MessageID = 0x0F // state, direction, source, cause
	getMotorLimits     MessageID = 0x21
	getMotorDirection  MessageID = 0x22
	getMotorSpeed      MessageID = 0x23
	getMotorIP         MessageID = 0x25 // number
	postMotorLimits    MessageID = 0x31 // up limit (2, always 0), down limit in pulses (2)
	postMotorDirection MessageID = 0x32
	postMotorSpeed     MessageID = 0x33 // up, down, slow
	postMotorIP        MessageID = 0x35 // number, pulses (2), percent

	getNodeAddress  MessageID = 0x40
	getGroup        MessageID = 0x41 // index
	getNodeLabel    MessageID = 0x45
	setGroup        MessageID = 0x51 // index, group (3)
	setNodeLabel    MessageID = 0x55 // 16 characters
	postNodeAddress MessageID = 0x60
	postGroup       MessageID = 0x61 // index, group (3)
	postNodeLabel   MessageID = 0x65 // 16 characters
	nack            MessageID = 0x6F // reason
	getAppVersion   MessageID = 0x74
	postAppVersion  MessageID = 0x75 // 6 bytes
	ack             MessageID = 0x7F
)

var messageNames = map[MessageID]string{
	ctrlMove: "CTRL_MOVE", ctrlStop: "CTRL_STOP", ctrlMoveTo: "CTRL_MOVETO", ctrlMoveOf: "CTRL_MOVEOF",
	ctrlWink: "CTRL_WINK", ctrlLock: "CTRL_LOCK",
	getMotorPosition: "GET_MOTOR_POSITION", postMotorPosition: "POST_MOTOR_POSITION",
	getMotorStatus: "GET_MOTOR_STATUS", postMotorStatus: "POST_MOTOR_STATUS",
	getMotorLimits: "GET_MOTOR_LIMITS", postMotorLimits: "POST_MOTOR_LIMITS",
	getMotorDirection: "GET_MOTOR_DIRECTION", postMotorDirection: "POST_MOTOR_DIRECTION",
	getMotorSpeed: "GET_MOTOR_ROLLING_SPEED", postMotorSpeed: "POST_MOTOR_ROLLING_SPEED",
	getMotorIP: "GET_MOTOR_IP", postMotorIP: "POST_MOTOR_IP",
	getNodeAddress: "GET_NODE_ADDR", postNodeAddress: "POST_NODE_ADDR",
	getGroup: "GET_GROUP_ADDR", setGroup: "SET_GROUP_ADDR", postGroup: "POST_GROUP_ADDR",
	getNodeLabel: "GET_NODE_LABEL", setNodeLabel: "SET_NODE_LABEL", postNodeLabel: "POST_NODE_LABEL",
	getAppVersion: "GET_NODE_APP_VERSION", postAppVersion: "POST_NODE_APP_VERSION",
	ack: "ACK", nack: "NACK",
}

// String is the name by which Somfy's documents call the message.
func (id MessageID) String() string {
	if name := messageNames[id]; name != "" {
		return name
	}
	return fmt.Sprintf("message %02X", byte(id))
}

// moves reports whether the message may set a motor in motion or stop it.
func (id MessageID) moves() bool { return id >= ctrlMove && id <= ctrlLock }

// moveTo is the function of a CTRL_MOVETO.
type moveTo byte

const (
	toDownLimit moveTo = 0
	toUpLimit   moveTo = 1
	toIP        moveTo = 2 // value: number of the intermediate position, 1 to 16
	toPulses    moveTo = 3 // value: pulses from the up limit
	toPercent   moveTo = 4 // value: 0 fully open … 100 fully closed
)

// MoveOf is the function of a relative movement.
type MoveOf byte

// The relative movements.
const (
	NextPositionDown MoveOf = 0
	NextPositionUp   MoveOf = 1
	JogDownPulses    MoveOf = 2
	JogUpPulses      MoveOf = 3
	JogDownTime      MoveOf = 4 // in 10 ms
	JogUpTime        MoveOf = 5 // in 10 ms
)

// Lock is the function of a CTRL_LOCK: what the motor does when it is locked. Only
// LockHere is confirmed by a second source; the others are as somfy_sdn has them.
type Lock byte

// The locks.
const (
	LockHere    Lock = 0
	LockUp      Lock = 1
	LockDown    Lock = 2
	LockIP      Lock = 4
	Unlock      Lock = 5
	LockPercent Lock = 7
)

// unused fills a 16-bit value that is ignored.
const unused = 0xFFFF

func moveToData(fn moveTo, value uint16) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{byte(fn)}, value), 0)
}

func moveOfData(fn MoveOf, value uint16) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{byte(fn)}, value), 0)
}

func lockData(fn Lock, value uint16, priority byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{byte(fn)}, value), priority, 0)
}

func groupData(index byte, group Address) []byte {
	r := group.reversed()
	return append([]byte{index}, r[:]...)
}

// labelLen is the length of a node label.
const labelLen = 16

// labelData pads a label with blanks.
func labelData(label string) []byte {
	return []byte(fmt.Sprintf("%-*s", labelLen, label))
}

func labelText(b []byte) string {
	text := make([]byte, 0, labelLen)
	for _, c := range b[:min(len(b), labelLen)] {
		if c < ' ' || c > '~' {
			c = '?'
		}
		text = append(text, c)
	}
	return strings.TrimRight(string(text), " ")
}

// position is what a POST_MOTOR_POSITION says.
type position struct {
	Pulses  uint16 // from the up limit; FFFF: not known
	Percent byte   // 0 open … 100 closed; FF: not known
	Tilt    byte   // FF: none
	IP      byte   // intermediate position where the shade is; FF: none
}

// known reports whether the motor knows where it is: its limits are set.
func (p position) known() bool { return p.Percent <= 100 }

// readPosition accepts longer data: types with tilt send 11 bytes.
func readPosition(data []byte) (position, bool) {
	if len(data) < 5 {
		return position{}, false
	}
	return position{binary.LittleEndian.Uint16(data), data[2], data[3], data[4]}, true
}

// State of a motor.
const (
	stateStopped = 0
	stateRunning = 1
	stateBlocked = 2
	stateLocked  = 3
)

// Direction of the last movement.
const (
	directionDown = 0
	directionUp   = 1
)

const (
	causeReached = 0x00
	sourceNet    = 1
)

// status is what a POST_MOTOR_STATUS says.
type status struct{ State, Direction, Source, Cause byte }

func readStatus(data []byte) (status, bool) {
	if len(data) < 4 {
		return status{}, false
	}
	return status{data[0], data[1], data[2], data[3]}, true
}

func named(names map[byte]string, code byte) string {
	if name := names[code]; name != "" {
		return name
	}
	return fmt.Sprintf("unknown (%02X)", code)
}

var stateNames = map[byte]string{
	stateStopped: "stopped", stateRunning: "running", stateBlocked: "blocked", stateLocked: "locked",
}

var directionNames = map[byte]string{directionDown: "down", directionUp: "up", 0xFF: "direction not known"}

var sourceNames = map[byte]string{0x00: "the motor itself", sourceNet: "the network", 0x02: "a local input"}

var causeNames = map[byte]string{
	causeReached: "target reached", 0x01: "explicit command", 0x02: "wink", 0x10: "limits not set",
	0x11: "intermediate position not set", 0x12: "polarity not checked", 0x13: "in configuration mode",
	0x20: "obstacle", 0x21: "over-current", 0x22: "thermal protection", 0x30: "running time exceeded",
	0x32: "momentary movement timed out", 0xFF: "power cycle",
}

// String tells a status to people.
func (s status) String() string {
	return fmt.Sprintf("%s, last %s, by %s: %s", named(stateNames, s.State), named(directionNames, s.Direction),
		named(sourceNames, s.Source), named(causeNames, s.Cause))
}

// reason of a NACK.
type reason byte

const (
	reasonInMotion reason = 0x26
	reasonWinking  reason = 0x2B
	reasonBusy     reason = 0xFF
)

// reasonNames: 25, 26, 29, 2A and 2B are inferred from a list of names in order.
var reasonNames = map[byte]string{
	0x01: "wrong or out of range data", 0x10: "it does not know this message", 0x11: "wrong message length",
	0x20: "it is locked", 0x21: "wrong position", 0x22: "its end limits are not set",
	0x23: "this intermediate position is not set", 0x24: "position out of range", 0x25: "not supported by this motor",
	byte(reasonInMotion): "it is in motion", 0x27: "it protects itself (too hot, or an obstacle)",
	0x28: "it is at the last intermediate position", 0x29: "a threshold is reached", 0x2A: "priority too low",
	byte(reasonWinking): "it is winking", byte(reasonBusy): "it is busy",
}

// String tells the reason to people, unknown ones as a number.
func (r reason) String() string { return named(reasonNames, byte(r)) }

// passes reports whether the same may work in a moment.
func (r reason) passes() bool {
	return r == reasonBusy || r == reasonInMotion || r == reasonWinking
}
