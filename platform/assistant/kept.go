package assistant

import (
	"context"
	"maps"
	"math"
	"sync"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// keptDevices bounds what is kept of buildings, in devices of all together: some 20 MB.
const keptDevices = 20_000

// building is a site with the names by which people call what is in it.
type building struct {
	*facts.Site
	names understand.Names
	named map[string][]understand.Place // by their whole names
}

// kept are buildings as they were last reported. Many questions come between two reports, and reading a building from the
// database takes longer than answering.
type kept struct {
	mu      sync.Mutex
	of      map[string]*keptOne
	devices map[string]int
}

// keptOne is one building; nobody waits for another one's.
type keptOne struct {
	mu       sync.Mutex
	revision int64
	name     string
	building building
}

// look is what is known of a controller's building at a moment. What is kept is used if the controller has not reported since.
func (e *Assistant) look(ctx context.Context, c platform.Controller, now time.Time) (building, error) {
	if c.Revision == 0 {
		return e.read(ctx, c, now)
	}
	e.kept.mu.Lock()
	one := e.kept.of[c.ID]
	if one == nil {
		one = &keptOne{}
		e.kept.of[c.ID] = one
	}
	e.kept.mu.Unlock()
	one.mu.Lock() // who asks meanwhile would read the same
	defer one.mu.Unlock()
	if one.revision < c.Revision || one.name != c.Name {
		b, err := e.read(ctx, c, now)
		if err != nil {
			return b, err
		}
		e.kept.count(c.ID, len(b.Devices))
		one.revision, one.name, one.building = c.Revision, c.Name, b
	}
	return building{one.building.At(c, now), one.building.names, one.building.named}, nil
}

// count makes room for a building by forgetting all others, where there is none: that is rare, and the next question reads one again.
func (k *kept) count(controller string, devices int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.devices[controller] = devices
	all := 0
	for _, n := range k.devices {
		all += n
	}
	if all > keptDevices {
		maps.DeleteFunc(k.of, func(id string, _ *keptOne) bool { return id != controller })
		maps.DeleteFunc(k.devices, func(id string, _ int) bool { return id != controller })
	}
}

func (e *Assistant) read(ctx context.Context, c platform.Controller, now time.Time) (building, error) {
	site, err := facts.Look(ctx, e.Sites, c, now)
	if err != nil {
		return building{}, err
	}
	_, named := placesByName(site, math.MaxInt)
	return building{site, names(site), named}, nil
}
