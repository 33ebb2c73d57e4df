package dalisim

import (
	"time"
)

// special carries out a command to all gear.
func (g *gear) special(address, data byte, frame uint16, repeated bool, t moment) (byte, bool) {
	switch address {
	case 0xA5, 0xA7: // INITIALISE, RANDOMISE: must come twice
		if !repeated {
			g.pending, g.pendingAt, g.hasPending = frame, t, true
			return 0, false
		}
		g.begin(address, data, t)
	case 0xA1:
		g.initialised, g.withdrawn = 0, false
	case 0xA3:
		g.dtr[0] = data
	case 0xC3:
		g.dtr[1] = data
	case 0xC5:
		g.dtr[2] = data
	case 0xC1:
		g.enabled = data
	}
	if !g.open(t) {
		return 0, false
	}
	return g.addressing(address, data, t)
}

func (g *gear) begin(address, data byte, t moment) {
	if address == 0xA7 {
		if g.open(t) {
			g.fresh = uint32(g.rng.IntN(1 << 24))
			g.freshAt = t + moment(g.rng.Int64N(int64(100*time.Millisecond)))
		}
		return
	}
	meant := data == 0 || data == mask && g.short == mask || data&0x81 == 1 && g.short == data>>1
	if meant {
		g.initialised, g.withdrawn = t+initialiseFor, false
	}
}

// addressing carries out the commands of gear that is open for addressing.
func (g *gear) addressing(address, data byte, t moment) (byte, bool) {
	selected := g.randomAt(t) == g.search
	switch address {
	case 0xA9:
		return yes(!g.withdrawn && g.randomAt(t) <= g.search)
	case 0xAB:
		g.withdrawn = g.withdrawn || selected
	case 0xB1:
		g.search = g.search&0x00FFFF | uint32(data)<<16
	case 0xB3:
		g.search = g.search&0xFF00FF | uint32(data)<<8
	case 0xB5:
		g.search = g.search&0xFFFF00 | uint32(data)
	case 0xB7:
		switch {
		case !selected:
		case data == mask:
			g.short = mask
		case data&0x81 == 1:
			g.short = data >> 1
		}
	case 0xB9:
		return yes(g.short != mask && data&0x81 == 1 && g.short == data>>1)
	case 0xBB:
		if g.short == mask {
			return mask, selected
		}
		return g.short<<1 | 1, selected
	}
	return 0, false
}

// extended carries out a command of a device type, if that was enabled by the
// frame before.
func (g *gear) extended(data byte, t moment) (byte, bool) {
	if g.enabledNow != 8 || g.cfg.Type != 8 {
		return 0, false
	}
	switch data {
	case 0xE2:
		g.activate()
	case 0xE7:
		g.tempTc = uint16(g.dtr[1])<<8 | uint16(g.dtr[0])
	case 0xE8:
		g.tc = max(g.tc-1, g.cfg.Coolest)
	case 0xE9:
		g.tc = min(g.tc+1, g.cfg.Warmest)
	case 0xEB:
		copy(g.temp[0:3], g.dtr[:])
	case 0xEC:
		copy(g.temp[3:6], g.dtr[:])
	case 0xF8:
		if g.cfg.Colour == "tc" {
			return 0x20, true
		}
		return 0x80, true
	case 0xF9:
		if g.cfg.Colour == "tc" {
			return 0x02, true
		}
		return 4 << 5, true
	case 0xFA:
		return g.colourValue()
	}
	return 0, false
}

// activate makes the temporary colour the colour.
func (g *gear) activate() {
	if g.cfg.Colour == "tc" && g.tempTc != 0xFFFF {
		g.tc = min(max(g.tempTc, g.cfg.Coolest), g.cfg.Warmest)
	}
	for i, v := range g.temp {
		if g.cfg.Colour == "rgbw" && v != mask {
			g.rgbwaf[i] = v
		}
		g.temp[i] = mask
	}
	g.tempTc = 0xFFFF
}

// colourValue answers for the selector in DTR0. The low byte of a 16-bit value is
// left there.
func (g *gear) colourValue() (byte, bool) {
	word := func(v uint16) (byte, bool) {
		g.dtr[0] = byte(v)
		return byte(v >> 8), true
	}
	switch s := g.dtr[0]; {
	case g.cfg.Colour == "tc" && s == 2:
		return word(g.tc)
	case g.cfg.Colour == "tc" && s == 128:
		return word(g.cfg.Coolest)
	case g.cfg.Colour == "tc" && s == 130:
		return word(g.cfg.Warmest)
	case g.cfg.Colour == "rgbw" && s >= 9 && s <= 12:
		return g.rgbwaf[s-9], true
	}
	return 0, false
}
