package panel

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/platform"
)

// thing is a light or a shade of a room, as its controller reported it last. What is not known is absent.
type thing struct {
	Name     string           `json:"name"`
	Online   bool             `json:"online"`             // it answers
	Level    *int             `json:"level,omitempty"`    // of a light, percent
	Kelvin   *int             `json:"kelvin,omitempty"`   // of a light
	Colour   *platform.Colour `json:"rgbw,omitempty"`     // of a light
	Position *int             `json:"position,omitempty"` // of a shade, percent open
	Motion   string           `json:"motion,omitempty"`   // of a shade under way: "opening", "closing", "moving"
}

// things are those of one room, each kind by ID.
type things struct {
	Lights []thing `json:"lights,omitempty"`
	Shades []thing `json:"shades,omitempty"`
}

const (
	// thingsMost lights, and as many shades, are told to a panel one by one. Of a larger room it shows what its widgets say.
	thingsMost = 200
	// housesMost controllers are remembered with what they reported.
	housesMost = 100
	// restLeast goes by between two readings of all devices of a controller, and ten times as long as the last one took.
	restLeast = 100 * time.Millisecond
)

// houses remembers the devices of controllers for the panels in them, so that a hundred panels read them once.
type houses struct {
	devices func(ctx context.Context, controller string) ([]platform.Device, error)

	mu  sync.Mutex
	all map[string]*house
}

// house is what a controller reported, and when that was read.
type house struct {
	mu       sync.Mutex
	revision int64
	rest     time.Time // until when it is not read again; zero: it was never read
	devices  []platform.Device
}

func (h *houses) of(controller string) *house {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.all[controller]
	if one == nil {
		if h.all == nil || len(h.all) >= housesMost {
			h.all = map[string]*house{}
		}
		one = &house{}
		h.all[controller] = one
	}
	return one
}

// room tells the lights and shades in some clusters of a controller. They may be older than its revision by as long as a
// reading takes ten times.
func (h *houses) room(ctx context.Context, c platform.Controller, clusters []int64) (things, error) {
	one := h.of(c.ID)
	one.mu.Lock()
	defer one.mu.Unlock()
	if now := time.Now(); (c.Revision == 0 || one.revision != c.Revision || one.rest.IsZero()) && now.After(one.rest) {
		devices, err := h.devices(ctx, c.ID)
		if err != nil {
			return things{}, err
		}
		one.devices, one.revision = devices, c.Revision
		one.rest = time.Now().Add(max(restLeast, 10*time.Since(now)))
	}
	var out things
	for _, d := range one.devices {
		if !slices.ContainsFunc(d.Zones, func(zone int64) bool { return slices.Contains(clusters, zone) }) {
			continue
		}
		t := thing{Name: d.Name, Online: d.Online}
		switch {
		case d.Kind == platform.KindShade:
			t.Position = whole(d.Position)
			if d.Online && slices.Contains([]string{"opening", "closing", "moving"}, d.Motion) {
				t.Motion = d.Motion
			}
			out.Shades = append(out.Shades, t)
		case d.Kind == platform.KindLight && (slices.Contains(d.Abilities, "switch") || slices.Contains(d.Abilities, "dim")):
			t.Level, t.Kelvin, t.Colour = whole(d.Level), whole(d.Kelvin), d.Colour
			out.Lights = append(out.Lights, t)
		}
	}
	if len(out.Lights) > thingsMost {
		out.Lights = nil
	}
	if len(out.Shades) > thingsMost {
		out.Shades = nil
	}
	return out, nil
}

// whole is a reading as people read it. Light that is on, however little, is not off, and a shade is closed or open only when it is.
func whole(r *platform.Reading) *int {
	if r == nil {
		return nil
	}
	v := int(math.Round(r.Value))
	if v == 0 && r.Value > 0 {
		v = 1
	}
	return &v
}
