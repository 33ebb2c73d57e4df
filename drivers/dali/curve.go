package dali

import (
	"math"

	"svc.internal/controller/appliance"
)

// curve turns percent into arc power levels and back.
type curve struct {
	arc   [101]byte
	level [MaxArc + 1]appliance.Level
}

// The curves by the name that the node option takes.
//
// Standard (IEC 62386-102): the light of level n is 10^((n−1)/(253/3) − 1) percent.
// Linear: level/254.
var curves = map[string]*curve{
	"standard": newCurve(func(p float64) float64 { return 1 + 253.0/3*(math.Log10(p)+1) },
		func(n float64) float64 { return math.Pow(10, (n-1)/(253.0/3)-1) }),
	"linear": newCurve(func(p float64) float64 { return p * MaxArc / 100 },
		func(n float64) float64 { return 100 * n / MaxArc }),
}

func newCurve(arc, percent func(float64) float64) *curve {
	c := &curve{}
	for p := 1; p <= 100; p++ {
		c.arc[p] = byte(max(1, min(MaxArc, math.Round(arc(float64(p))))))
	}
	for n := 1; n <= MaxArc; n++ {
		c.level[n] = c.nearest(byte(n), percent(float64(n)))
	}
	return c
}

// nearest is the percentage that comes closest to what level n gives; one that is
// sent as n goes before one that is not, so that writing what was read changes
// nothing wherever that can be had. A lamp that is on is never 0 %.
func (c *curve) nearest(n byte, percent float64) appliance.Level {
	best, bestOff := appliance.Level(0), math.Inf(1)
	for p := 1; p <= 100; p++ {
		off := math.Abs(float64(p) - percent)
		if c.arc[p] != n {
			off += 100
		}
		if off < bestOff {
			best, bestOff = appliance.Level(p), off
		}
	}
	return best
}

// arcOf is the level sent for a percentage, held to 0 to 100.
func (c *curve) arcOf(p appliance.Level) byte { return c.arc[max(0, min(100, p))] }

// levelOf is the percentage that an arc power level up to [MaxArc] stands for.
func (c *curve) levelOf(n byte) appliance.Level { return c.level[min(n, MaxArc)] }

// mirek is the colour temperature as DALI counts it, 1 to 65534.
func mirek(k appliance.Kelvin) uint16 {
	if k <= 0 {
		return 0
	}
	return uint16(max(1, min(0xFFFE, math.Round(1e6/float64(k)))))
}

// kelvin is the way back; 0 for values that mean nothing.
func kelvin(mirek uint16) appliance.Kelvin {
	if mirek == 0 || mirek == 0xFFFF {
		return 0
	}
	return appliance.Kelvin(math.Round(1e6 / float64(mirek)))
}

// A colour component runs from 0 to 254; 255 means "leave it".
func component(v uint8) byte { return byte(math.Round(float64(v) * MaxArc / 255)) }

func componentsOf(c appliance.RGBW) [4]byte {
	return [4]byte{component(c.R), component(c.G), component(c.B), component(c.W)}
}

func componentOf(raw byte) uint8 { return uint8(math.Round(float64(min(raw, MaxArc)) * 255 / MaxArc)) }
