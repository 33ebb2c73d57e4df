// Package drivers lists the protocols this controller speaks.
package drivers

import (
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/modbus"
)

// All drivers, by the name that a bus asks for.
var All = map[string]appliance.OpenFunc{
	"modbus": modbus.Open,
}

// Protocol names what passes on a bus, in the words of [Decoders].
func Protocol(driver, port string) string {
	if driver == "modbus" && strings.HasPrefix(port, "tcp://") {
		return "modbus-tcp"
	}
	if driver == "modbus" {
		return "modbus-rtu"
	}
	return driver
}

// Decoders turn one frame into its fields, by protocol. They are total: any bytes
// give fields or an error that says what is wrong with them.
var Decoders = map[string]func(frame []byte) (any, error){
	"modbus-rtu": func(b []byte) (any, error) { return modbus.DecodeRTU(b) },
	"modbus-tcp": func(b []byte) (any, error) { return modbus.DecodeTCP(b) },
}
