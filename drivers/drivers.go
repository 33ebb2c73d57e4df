// Package drivers lists the protocols this controller speaks.
package drivers

import (
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/dali"
	"svc.internal/controller/drivers/dmx"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/modbus"
	"svc.internal/controller/drivers/sdn"
)

// All drivers, by the name that a bus asks for.
var All = On(nil)

// On are all drivers on other ports than those of this machine; nil: on these.
func On(ports *line.Ports) map[string]appliance.OpenFunc {
	on := func(open func(appliance.BusConfig, *line.Ports) (appliance.Opened, error)) appliance.OpenFunc {
		return func(cfg appliance.BusConfig) (appliance.Opened, error) { return open(cfg, ports) }
	}
	return map[string]appliance.OpenFunc{
		"dali":   on(dali.OpenOn),
		"dmx":    on(dmx.OpenOn),
		"modbus": on(modbus.OpenOn),
		"sdn":    on(sdn.OpenOn),
	}
}

// Protocol names what passes on a bus, in the words of [Decoders].
func Protocol(driver, port string, options map[string]string) string {
	switch driver {
	case "modbus":
		if strings.HasPrefix(port, "tcp://") {
			return "modbus-tcp"
		}
		return "modbus-rtu"
	case "dali":
		return "dali-" + options["gateway"]
	case "dmx":
		return "dmx-pro" // what an Open DMX port sent is recorded in the same form
	}
	return driver
}

// Decoders turn one frame into its fields, by protocol. They are total: any bytes
// give fields or an error that says what is wrong with them. "dali" takes bare
// frames of the DALI line, and messages of any gateway as far as these can be told
// apart; the others of that name those of one gateway.
var Decoders = map[string]func(frame []byte) (any, error){
	"dali":       func(b []byte) (any, error) { return dali.Decode(b) },
	"dali-atx":   func(b []byte) (any, error) { return dali.DecodeFrom("atx", b) },
	"dali-luba":  func(b []byte) (any, error) { return dali.DecodeFrom("luba", b) },
	"dali-sci":   func(b []byte) (any, error) { return dali.DecodeFrom("sci", b) },
	"dmx-pro":    dmx.Decode,
	"modbus-rtu": func(b []byte) (any, error) { return modbus.DecodeRTU(b) },
	"modbus-tcp": func(b []byte) (any, error) { return modbus.DecodeTCP(b) },
	"sdn":        sdn.Decode,
}
