package sim

import "time"

// Registers that all modules of Wiren Board have (wirenboard/wb-mqtt-serial, its
// wb_registers.cpp): one character of a text per register.
const (
	wbBaudRate = 110 // in 100 bit/s
	wbParity   = 111 // 0 none, 1 odd, 2 even
	wbStopBits = 112
	wbModel    = 200
	wbVersion  = 250
	wbSerial   = 270 // 32 bits
)

// Serial numbers of simulated devices count from here, with the unit.
const (
	wbFirstSerial      = 4_270_000_000
	eastronFirstSerial = 21_030_000
)

// wirenBoard puts the nameplate of a Wiren Board module. Model is what holding 200
// says; empty: it refuses, where no source tells the text. Choices of this model:
// firmware 1.21.5, and a serial number made of the unit's.
func (u *unit) wirenBoard(model string) {
	if model != "" {
		u.letters(wbModel, model, 20)
	}
	u.letters(wbVersion, "1.21.5", 16)
	u.number32(wbSerial, wbFirstSerial)
	u.at(holding, wbBaudRate, fixed(96))
	u.at(holding, wbParity, fixed(0))
	u.at(holding, wbStopBits, fixed(2))
}

// letters puts a text, one character per register, filled up with 0.
func (u *unit) letters(addr int, text string, length int) {
	for i := range length {
		var c uint16
		if i < len(text) {
			c = uint16(text[i])
		}
		u.at(holding, addr+i, fixed(c))
	}
}

// number32 puts a number that differs from unit to unit, high word first.
func (u *unit) number32(addr int, first uint32) {
	value := func() uint32 { return first + uint32(u.number) }
	u.at(holding, addr, cell{get: func(time.Time) uint16 { return uint16(value() >> 16) }})
	u.at(holding, addr+1, cell{get: func(time.Time) uint16 { return uint16(value()) }})
}
