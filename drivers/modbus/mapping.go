package modbus

import (
	"encoding/binary"
	"math"

	"svc.internal/controller/appliance"
)

// Names of the mappings a profile can use, by what they map.
var (
	levelMaps  = []string{"percent", "linear", "dali"}
	colourMaps = []string{"linear", "percent"}
	kelvinMaps = []string{"kelvin", "mirek", "range", "mirek-range"}
	plainMaps  = []string{"", "plain"}
)

// Arc power of DALI (IEC 62386-102).
const arcTop = 254

// levelRaw is the number that stands for a level.
func (v *valueSpec) levelRaw(p appliance.Level, curve string) float64 {
	kind := v.Map
	if kind == "dali" && curve == "linear" {
		return v.turned(linearRaw(float64(p)/100, 0, arcTop))
	}
	switch kind {
	case "dali":
		return v.turned(arcPower(p))
	case "percent":
		return v.turned(float64(p))
	}
	return v.turned(linearRaw(float64(p)/100, v.Min, v.Max))
}

// levelOf is the level that a number stands for, 1 at least unless it stands for
// off.
func (v *valueSpec) levelOf(raw float64, curve string) appliance.Level {
	raw = v.turned(raw)
	var p float64
	switch {
	case v.Map == "dali" && curve == "linear":
		p = raw * 100 / arcTop
	case v.Map == "dali":
		p = arcPercent(raw)
	case v.Map == "percent":
		p = raw
	default:
		p = (raw - v.Min) * 100 / (v.Max - v.Min)
	}
	if p <= 0 {
		return 0
	}
	return appliance.Level(min(max(math.Round(p), 1), 100))
}

// turned mirrors a number for devices that count the other way.
func (v *valueSpec) turned(raw float64) float64 {
	if !v.Invert {
		return raw
	}
	switch v.Map {
	case "dali":
		return arcTop - raw
	case "percent":
		return 100 - raw
	}
	return v.Min + v.Max - raw
}

func linearRaw(part, low, high float64) float64 {
	return math.Round(low + part*(high-low))
}

// arcPower is n = 1 + (253/3)·(log10(p) + 1), the inverse of the standard
// dimming curve; 0 only for 0.
func arcPower(p appliance.Level) float64 {
	if p <= 0 {
		return 0
	}
	n := math.Round(1 + 253.0/3*(math.Log10(float64(p))+1))
	return min(max(n, 1), arcTop)
}

// arcPercent is 10^((n−1)/(253/3) − 1) percent of light.
func arcPercent(n float64) float64 {
	if n <= 0 {
		return 0
	}
	return math.Pow(10, (n-1)/(253.0/3)-1)
}

// kelvinRaw is the number that stands for a colour temperature of a fixture that
// reaches from low to high. In the two ranges 0 is the low end of the quantity:
// the warmest white in kelvin, the coolest in mirek.
func (v *valueSpec) kelvinRaw(k, low, high appliance.Kelvin) float64 {
	switch v.Map {
	case "mirek":
		return clamp(math.Round(1e6/float64(k)), v.Min, v.Max)
	case "range":
		return v.turned(linearRaw(portion(float64(k), float64(low), float64(high)), v.Min, v.Max))
	case "mirek-range":
		return v.turned(linearRaw(portion(1e6/float64(k), 1e6/float64(high), 1e6/float64(low)), v.Min, v.Max))
	}
	return clamp(float64(k), v.Min, v.Max)
}

// kelvinOf is the colour temperature that a number stands for, 0 if it stands
// for none.
func (v *valueSpec) kelvinOf(raw float64, low, high appliance.Kelvin) appliance.Kelvin {
	switch v.Map {
	case "mirek":
		if raw <= 0 {
			return 0
		}
		raw = 1e6 / raw
	case "range":
		raw = float64(low) + (v.turned(raw)-v.Min)/(v.Max-v.Min)*float64(high-low)
	case "mirek-range":
		cool, warm := 1e6/float64(high), 1e6/float64(low)
		raw = 1e6 / (cool + (v.turned(raw)-v.Min)/(v.Max-v.Min)*(warm-cool))
	}
	if raw <= 0 || raw > 100_000 {
		return 0
	}
	return appliance.Kelvin(math.Round(raw))
}

func portion(x, low, high float64) float64 {
	return min(max((x-low)/(high-low), 0), 1)
}

// clamp keeps x between two bounds; a high bound of 0 means none.
func clamp(x, low, high float64) float64 {
	if high != 0 {
		x = min(x, high)
	}
	return max(x, low)
}

// top of a colour component's register.
func (v *valueSpec) top() float64 {
	if v.Map == "percent" {
		return 100
	}
	return v.Max
}

// bottom of a colour component's register.
func (v *valueSpec) bottom() float64 {
	if v.Map == "percent" {
		return 0
	}
	return v.Min
}

// componentRaw is the number for a colour component (0–255) at a level.
func (v *valueSpec) componentRaw(c uint8, p appliance.Level) float64 {
	return v.turned(linearRaw(float64(c)*float64(p)/100/255, v.bottom(), v.top()))
}

// componentOf is the component, level included, 0 to 255, unrounded.
func (v *valueSpec) componentOf(raw float64) float64 {
	return min(max((v.turned(raw)-v.bottom())*255/(v.top()-v.bottom()), 0), 255)
}

// plainOf scales a measured number.
func (v *valueSpec) plainOf(raw float64) float64 {
	if v.Scale != 0 {
		raw *= v.Scale
	}
	return raw + v.Offset
}

// cellType is how a number lies in registers.
type cellType string

// words counts the registers of a cell, or 1 for a bit.
func (c *cellSpec) words() int {
	switch c.Type {
	case "u32", "s32", "float32":
		return 2
	}
	return 1
}

// number reads the cell's number from its words.
func (c *cellSpec) number(w []uint16) float64 {
	switch c.Type {
	case "s16":
		return float64(int16(w[0]))
	case "u32", "s32", "float32":
		high, low := w[0], w[1]
		if c.WordOrder == "low-first" {
			high, low = low, high
		}
		bits := uint32(high)<<16 | uint32(low)
		switch c.Type {
		case "u32":
			return float64(bits)
		case "s32":
			return float64(int32(bits))
		}
		return float64(math.Float32frombits(bits))
	}
	return float64(w[0])
}

// pack writes a number into words, held to what the type can hold.
func (c *cellSpec) pack(x float64) []uint16 {
	var bits uint32
	switch c.Type {
	case "u32":
		bits = uint32(min(max(x, 0), math.MaxUint32))
	case "s32":
		bits = uint32(int32(min(max(x, math.MinInt32), math.MaxInt32)))
	case "float32":
		bits = math.Float32bits(float32(x))
	case "s16":
		return []uint16{uint16(int16(min(max(x, math.MinInt16), math.MaxInt16)))}
	default:
		return []uint16{uint16(min(max(x, 0), math.MaxUint16))}
	}
	b := binary.BigEndian.AppendUint32(nil, bits)
	w := words(b)
	if c.WordOrder == "low-first" {
		w[0], w[1] = w[1], w[0]
	}
	return w
}
