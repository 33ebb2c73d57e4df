package dali

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Decoded is one frame in words, for the bus tools.
type Decoded struct {
	// Gateway protocol the frame came in: "atx", "luba", "sci"; empty for bare bytes
	// of the DALI line.
	Gateway string `json:"gateway,omitempty"`
	// Kind: "forward" (16 bits), "backward" (8 bits), "sent" (a gateway confirms
	// it), "heard" (another master's), "none", "garbled", "conflict", "accepted",
	// "refused", "fault", "other".
	Kind string `json:"kind"`
	// Command by its name in IEC 62386, such as QueryActualLevel; DAPC is an arc
	// power level.
	Command       string `json:"command,omitempty"`
	Bits          int    `json:"bits,omitempty"`
	Frame         string `json:"frame,omitempty"` // hexadecimal
	SendTwice     bool   `json:"send_twice"`
	ExpectsAnswer bool   `json:"expects_answer"`
	// DeviceType that must have been enabled by the frame before; 0: none.
	DeviceType int    `json:"device_type"`
	Address    string `json:"address,omitempty"`
	// Arg is a level, a scene, a group, or the data of a special command.
	Arg *int `json:"arg,omitempty"`
	// Value of a backward frame.
	Value *int   `json:"value,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Decode explains one frame: two bytes as a forward frame, one byte as a backward
// frame, anything else as what one of the gateways sends or gets. A single frame
// does not tell which device type was enabled before it; commands from E0 on are
// explained as those of device type 8. Use [DecodeFrom] where the gateway is
// known: two bytes of an ATX answer look like a forward frame.
func Decode(b []byte) (Decoded, error) {
	switch len(b) {
	case 0:
		return Decoded{}, errors.New("empty frame")
	case 1:
		v := int(b[0])
		return Decoded{Kind: "backward", Bits: 8, Frame: hex.EncodeToString(b), Value: &v}, nil
	case 2:
		return DecodeForward(NewFrame(b[0], b[1]), deviceTypeColour), nil
	}
	var reasons []string
	for _, name := range []string{"luba", "atx", "sci"} {
		d, err := DecodeFrom(name, b)
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, err.Error())
	}
	return Decoded{}, fmt.Errorf("%d bytes are no DALI frame: want 1 byte (answer), 2 bytes (forward frame), or a gateway's message: %s", len(b), strings.Join(reasons, "; "))
}

// DecodeForward explains a forward frame that follows ENABLE DEVICE TYPE of the
// given type, 0 if it follows none.
func DecodeForward(f Frame, deviceType int) Decoded {
	d := Decoded{Kind: "forward", Bits: 16, Frame: strings.ToLower(f.String())}
	data := int(f.Data())
	a, isCommand, ok := addressOf(f.AddressByte())
	switch {
	case !ok:
		c, known := specials[f.AddressByte()]
		d.Command, d.SendTwice, d.ExpectsAnswer = c.name, c.twice, c.asks
		if !known {
			d.Command = "UnknownSpecialCommand"
		}
		d.specialArg(f, data)
	case !isCommand:
		d.Command, d.Address, d.Arg = "DAPC", a.String(), &data
	default:
		c, known := commands[f.Data()]
		if known && f.Data() >= extended {
			known = deviceType == deviceTypeColour
			d.DeviceType = deviceType
		}
		d.Address, d.Command = a.String(), "UnknownGearCommand"
		if !known {
			break
		}
		d.Command, d.SendTwice, d.ExpectsAnswer = c.name, c.twice, c.asks
		if c.span > 0 {
			arg := data - int(c.base)
			d.Arg = &arg
		}
	}
	return d
}

// specialArg reads the data byte of a special command; short addresses are coded
// as address·2+1.
func (d *Decoded) specialArg(f Frame, data int) {
	arg := data
	switch f.AddressByte() {
	case OpTerminate, OpRandomise, OpCompare, OpWithdraw, 0xAD, OpQueryShort:
		return
	case OpInitialise:
		switch {
		case data == 0:
			return
		case data == Mask:
			d.Address = Unaddressed.String()
			return
		}
		d.Address = Short(data >> 1).String()
		return
	case OpProgramShort, OpVerifyShort:
		if data != Mask {
			arg = data >> 1
		}
	}
	d.Arg = &arg
}

// DecodeFrom explains one whole message of a gateway ("atx", "luba", "sci"), in
// either direction. Everything must be used up: left-over bytes are an error.
func DecodeFrom(gatewayName string, b []byte) (Decoded, error) {
	gw, ok := gateways[gatewayName]
	if !ok {
		return Decoded{}, fmt.Errorf("gateway %q: want %s", gatewayName, gatewayNames)
	}
	d := Decoded{Gateway: gatewayName}
	if s, ok := sentBy(gw, b); ok {
		d = DecodeForward(s.Frame, deviceTypeColour)
		d.Gateway, d.SendTwice = gatewayName, s.Twice
		return d, nil
	}
	m, n := gw.parse(b)
	switch {
	case n == 0:
		return Decoded{}, fmt.Errorf("%s: incomplete after %d bytes", gatewayName, len(b))
	case n < len(b) && m.said != saidJunk:
		return Decoded{}, fmt.Errorf("%s: %d bytes too many", gatewayName, len(b)-n)
	case m.said == saidJunk:
		return Decoded{}, fmt.Errorf("%s: no message: wrong start, length or checksum", gatewayName)
	}
	d.fill(m)
	return d, nil
}

var saidKinds = map[said]string{
	saidOther: "other", saidAccepted: "accepted", saidRefused: "refused", saidSent: "sent", saidAnswer: "backward",
	saidNone: "none", saidGarbled: "garbled", saidConflict: "conflict", saidFault: "fault", saidHeard: "heard",
	saidInfo: "other", saidSettings: "other",
}

func (d *Decoded) fill(m message) {
	if m.bits == 16 {
		name := d.Gateway
		*d = DecodeForward(m.frame, deviceTypeColour)
		d.Gateway = name
	}
	d.Kind, d.Bits, d.Text = saidKinds[m.said], m.bits, m.text
	if m.said == saidAnswer {
		v := int(m.value)
		d.Value, d.Frame = &v, fmt.Sprintf("%02x", v)
	}
}

// sentBy recognises what the driver itself sends through a gateway.
func sentBy(gw gateway, b []byte) (Send, bool) {
	var s Send
	switch gw.(type) {
	case atx:
		if len(b) != 6 || b[0] != 'h' && b[0] != 't' {
			return s, false
		}
		raw, err := hex.DecodeString(string(b[1:5]))
		if err != nil {
			return s, false
		}
		s = Send{Frame: NewFrame(raw[0], raw[1]), Twice: b[0] == 't'}
	case luba:
		if len(b) != 11 || b[1] != lubaSend {
			return s, false
		}
		s = Send{Frame: NewFrame(b[6], b[7]), Twice: b[5]&0x80 != 0, Level: b[5]&7 == 2}
	case sci:
		// A status has the device's id where a control byte has its flags; only
		// what this driver sends (monitor and echo on, 16 bits) is taken for one.
		if len(b) != sciLength || b[0]&^0x10 != 0xA3 {
			return s, false
		}
		s = Send{Frame: NewFrame(b[1], b[2]), Twice: b[0]&0x10 != 0}
	}
	return s, string(gw.encode(s)) == string(b)
}

// gateways by the name that the bus option takes.
var gateways = map[string]gateway{"atx": atx{}, "luba": luba{}, "sci": sci{}}

const gatewayNames = "atx, luba or sci"
