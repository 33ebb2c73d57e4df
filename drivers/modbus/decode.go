package modbus

import (
	"encoding/binary"
	"fmt"
)

// Kinds of a decoded frame.
const (
	KindRequest   = "request"
	KindResponse  = "response"
	KindException = "exception"
	// KindAmbiguous: the bytes alone do not tell; a write of one value and its
	// answer are the same. Request and Response of the Decoded hold both readings.
	KindAmbiguous = "ambiguous"
)

// ops are the functions in one word.
var ops = map[function]string{
	1: "read_coils", 2: "read_discrete", 3: "read_holding", 4: "read_input", 5: "write_coil", 6: "write_register",
	15: "write_coils", 16: "write_registers", 22: "mask_write", 23: "read_write",
}

// Decoded is a frame in words.
type Decoded struct {
	Unit     int `json:"unit"`
	Function int `json:"function"` // without the exception bit
	// Op is the function in one word for scripts, such as read_holding; empty for
	// functions that no driver here uses.
	Op           string `json:"op,omitempty"`
	FunctionName string `json:"function_name"`
	Kind         string `json:"kind"`
	Broadcast    bool   `json:"broadcast,omitempty"`

	// Of RTU: whether the checksum fits.
	CRCOK *bool `json:"crc_ok,omitempty"`
	// Of TCP.
	Transaction *int `json:"transaction_id,omitempty"`

	*Reading // nil of an exception and of an ambiguous frame

	Exception     *int   `json:"exception,omitempty"`
	ExceptionName string `json:"exception_name,omitempty"`

	Request  *Reading `json:"request,omitempty"`
	Response *Reading `json:"response,omitempty"`
}

// Reading is the contents of a request or of a response.
type Reading struct {
	Address  *int  `json:"addr,omitempty"`
	Quantity *int  `json:"count,omitempty"`
	Values   []int `json:"values,omitempty"` // registers, or bits as 0 and 1
	AndMask  *int  `json:"and,omitempty"`
	OrMask   *int  `json:"or,omitempty"`
	// The written part of a read-and-write request.
	WriteAddress *int     `json:"waddr,omitempty"`
	Objects      []string `json:"objects,omitempty"` // of a device identification
	Data         string   `json:"data,omitempty"`    // hexadecimal, where nothing more is known
}

// DecodeRTU explains one RTU frame, checksum included. With a wrong checksum it is
// explained all the same, with CRCOK false, and an error says so.
func DecodeRTU(frame []byte) (Decoded, error) {
	if len(frame) < 4 || len(frame) > 256 {
		return Decoded{}, fmt.Errorf("an RTU frame has 4 to 256 bytes, not %d", len(frame))
	}
	ok := crcOK(frame)
	d, err := decodePDU(frame[0], frame[1:len(frame)-2])
	d.CRCOK = &ok
	if !ok {
		n := len(frame) - 2
		want := binary.LittleEndian.AppendUint16(nil, crc16(frame[:n]))
		return d, fmt.Errorf("checksum % X is wrong, these bytes have % X", frame[n:], want)
	}
	return d, err
}

// DecodeTCP explains one Modbus TCP frame, header included.
func DecodeTCP(frame []byte) (Decoded, error) {
	if len(frame) < 8 || len(frame) > 260 {
		return Decoded{}, fmt.Errorf("a Modbus TCP frame has 8 to 260 bytes, not %d", len(frame))
	}
	be := binary.BigEndian
	if p := be.Uint16(frame[2:]); p != 0 {
		return Decoded{}, fmt.Errorf("protocol identifier %04X instead of 0000", p)
	}
	if n := int(be.Uint16(frame[4:])); n != len(frame)-6 {
		return Decoded{}, fmt.Errorf("length field %d, but %d bytes follow it", n, len(frame)-6)
	}
	d, err := decodePDU(frame[6], frame[7:])
	d.Transaction = number(be.Uint16(frame))
	return d, err
}

func decodePDU(unit byte, pdu []byte) (Decoded, error) {
	fn := function(pdu[0])
	d := Decoded{Unit: int(unit), Function: int(fn &^ exceptionBit), Op: ops[fn&^exceptionBit], FunctionName: (fn &^ exceptionBit).String(), Broadcast: unit == 0}
	data := pdu[1:]
	if fn&exceptionBit != 0 {
		if len(data) != 1 {
			return d, fmt.Errorf("an exception has one code byte, not %d", len(data))
		}
		code := int(data[0])
		d.Kind, d.Exception, d.ExceptionName = KindException, &code, exceptionName(data[0])
		return d, nil
	}
	if _, known := functionNames[fn]; !known {
		d.Kind, d.Reading = KindAmbiguous, &Reading{Data: fmt.Sprintf("%x", data)}
		return d, nil
	}
	request, response := decodeRequest(fn, data), decodeResponse(fn, data)
	switch {
	case request != nil && response != nil && unit != 0:
		d.Kind, d.Request, d.Response = KindAmbiguous, request, response
	case request != nil:
		d.Kind, d.Reading = KindRequest, request
	case response != nil:
		d.Kind, d.Reading = KindResponse, response
	default:
		return d, fmt.Errorf("%d bytes after function %02X (%v) are neither a request nor a response", len(data), byte(fn), fn)
	}
	return d, nil
}

func number[T uint16 | byte](x T) *int {
	n := int(x)
	return &n
}

func registers(b []byte) []int {
	list := []int{}
	for _, w := range words(b) {
		list = append(list, int(w))
	}
	return list
}

func bitValues(packed []byte, n int) []int {
	list := []int{}
	for _, on := range unpackBits(packed, n) {
		if on {
			list = append(list, 1)
		} else {
			list = append(list, 0)
		}
	}
	return list
}

// decodeRequest reads data as that of a request; nil if it cannot be one.
func decodeRequest(fn function, data []byte) *Reading {
	if fn == readDeviceID {
		if len(data) == 3 && data[0] == meiDeviceID {
			return &Reading{Data: fmt.Sprintf("%x", data)}
		}
		return nil
	}
	if len(data) < 4 {
		return nil
	}
	be := binary.BigEndian
	first, second, rest := be.Uint16(data), be.Uint16(data[2:]), data[4:]
	r := &Reading{Address: number(first)}
	fits := func(n, most int) bool { return n >= 1 && n <= most && int(first)+n <= 1<<16 }
	n := int(second)
	switch fn {
	case readCoils, readDiscretes:
		r.Quantity = number(second)
		return r.when(len(rest) == 0 && fits(n, maxReadBits))
	case readHolding, readInput:
		r.Quantity = number(second)
		return r.when(len(rest) == 0 && fits(n, maxReadRegisters))
	case writeCoil:
		r.Values = []int{int(second >> 15)}
		return r.when(len(rest) == 0 && (second == 0 || second == 0xFF00))
	case writeRegister:
		r.Values = []int{n}
		return r.when(len(rest) == 0)
	case writeCoils:
		r.Quantity = number(second)
		if len(rest) < 1 || !fits(n, maxWriteBits) || int(rest[0]) != (n+7)/8 || len(rest)-1 != (n+7)/8 {
			return nil
		}
		r.Values = bitValues(rest[1:], n)
		return r
	case writeRegisters:
		r.Quantity = number(second)
		if len(rest) < 1 || !fits(n, maxWriteRegisters) || int(rest[0]) != 2*n || len(rest)-1 != 2*n {
			return nil
		}
		r.Values = registers(rest[1:])
		return r
	case maskWrite:
		if len(rest) != 2 {
			return nil
		}
		r.AndMask, r.OrMask = number(second), number(be.Uint16(rest))
		return r
	case readWrite:
		r.Quantity = number(second)
		if len(rest) < 5 || !fits(n, maxReadRegisters) {
			return nil
		}
		written := int(be.Uint16(rest[2:]))
		if written < 1 || written > maxReadWriteWrites || int(rest[4]) != 2*written || len(rest)-5 != 2*written {
			return nil
		}
		r.WriteAddress, r.Values = number(be.Uint16(rest)), registers(rest[5:])
		return r
	}
	return nil
}

// when returns r if ok.
func (r *Reading) when(ok bool) *Reading {
	if !ok {
		return nil
	}
	return r
}

// decodeResponse reads data as that of a response; nil if it cannot be one.
func decodeResponse(fn function, data []byte) *Reading {
	be := binary.BigEndian
	switch fn {
	case readCoils, readDiscretes:
		if len(data) >= 2 && int(data[0]) == len(data)-1 {
			return &Reading{Values: bitValues(data[1:], 8*(len(data)-1))}
		}
	case readHolding, readInput, readWrite:
		if len(data) >= 3 && int(data[0]) == len(data)-1 && data[0]%2 == 0 {
			return &Reading{Values: registers(data[1:])}
		}
	case writeCoil, writeRegister, maskWrite:
		return decodeRequest(fn, data)
	case writeCoils, writeRegisters:
		if len(data) == 4 && be.Uint16(data[2:]) > 0 {
			return &Reading{Address: number(be.Uint16(data)), Quantity: number(be.Uint16(data[2:]))}
		}
	case readDeviceID:
		if n, ok := identificationLen(append([]byte{byte(fn)}, data...)); ok && n == len(data)+1 && data[0] == meiDeviceID {
			return &Reading{Objects: identification(data)}
		}
	}
	return nil
}
