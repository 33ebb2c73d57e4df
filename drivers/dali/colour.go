package dali

import "slices"

// Selectors of QUERY COLOUR VALUE (IEC 62386-209).
const (
	selectTc      = 2
	selectRed     = 9 // then green, blue, white
	selectCoolest = 128
	selectWarmest = 130
)

var enableColour = Special(OpEnableType, deviceTypeColour)

// ColourTemperature is the sequence that brings gear to a colour temperature, in
// mirek. Nothing may come between its frames.
func ColourTemperature(to Address, mirek uint16) []Send {
	return []Send{
		Special(OpDTR0, byte(mirek)), Special(OpDTR1, byte(mirek>>8)),
		enableColour, Command(to, OpColourSetTc),
		enableColour, Command(to, OpColourActivate),
	}
}

// ColourRGBW is the sequence that brings gear to a colour; components run from 0
// to 254, [Mask] leaves one alone. Amber and free colour are left alone.
func ColourRGBW(to Address, c [4]byte) []Send {
	return []Send{
		Special(OpDTR0, c[0]), Special(OpDTR1, c[1]), Special(OpDTR2, c[2]),
		enableColour, Command(to, OpColourSetRGB),
		Special(OpDTR0, c[3]), Special(OpDTR1, Mask), Special(OpDTR2, Mask),
		enableColour, Command(to, OpColourSetWAF),
		enableColour, Command(to, OpColourActivate),
	}
}

// QueryColour16 is the sequence that asks for a 16-bit colour value. The answers to
// the last two frames are its high and its low byte. QUERY ACTUAL LEVEL first makes
// the gear take the values that the others report.
func QueryColour16(short int, selector byte) []Send {
	to := Short(short)
	return []Send{
		Command(to, OpQueryActualLevel), Special(OpDTR0, selector),
		enableColour, Command(to, OpColourValue), Command(to, OpQueryDTR0),
	}
}

// selected puts the selector of a colour query to the test: the gear is asked what
// its DTR0 holds before it is asked for the value. Gear that missed the selector
// would answer with another value, and nothing would show it.
func selected(seq []Send) []Send {
	for i, s := range seq {
		if s.Frame.AddressByte() == OpDTR0 {
			check := Command(Short(int(seq[0].Frame.AddressByte()>>1)), OpQueryDTR0)
			return slices.Insert(slices.Clone(seq), i+1, check)
		}
	}
	return seq
}

// readColour16 is QueryColour16 with its selector checked.
func readColour16(short int, selector byte) []Send { return selected(QueryColour16(short, selector)) }

// readComponent asks for an 8-bit colour value, its selector checked.
func readComponent(short int, selector byte) []Send {
	return selected(QueryColour16(short, selector)[:4])
}

// tookSelector reports whether the gear had the selector of a checked sequence.
func tookSelector(seq []Send, answers []Answer) bool {
	for i, s := range seq {
		if s.Frame.AddressByte() == OpDTR0 {
			return i+1 < len(answers) && answers[i+1] == Answer{AnswerValue, s.Frame.Data()}
		}
	}
	return true
}

// value16 joins the answers to QueryColour16; ok is false if one is missing.
func value16(answers []Answer) (v uint16, ok bool) {
	high, low := answers[len(answers)-2], answers[len(answers)-1]
	if high.Kind != AnswerValue || low.Kind != AnswerValue {
		return 0, false
	}
	return uint16(high.Value)<<8 | uint16(low.Value), true
}
