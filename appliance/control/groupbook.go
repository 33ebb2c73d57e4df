package control

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// groupBook is what the controller remembers of groups, bus by bus. The memory is
// always the newest; the disk follows, in a goroutine of its own, since a bus must
// not wait for flash.
type groupBook struct {
	disk appliance.GroupBook // nil: it ends with the process
	log  *slog.Logger
	wake chan struct{}

	mu      sync.Mutex
	buses   map[appliance.UUID]appliance.BusGroups
	waiting map[appliance.UUID][]func(error)
}

// groupSaveTime is how long one write may take.
const groupSaveTime = 10 * time.Second

func newGroupBook(disk appliance.GroupBook, log *slog.Logger) *groupBook {
	return &groupBook{disk: disk, log: log, wake: make(chan struct{}, 1), buses: map[appliance.UUID]appliance.BusGroups{}, waiting: map[appliance.UUID][]func(error){}}
}

// load takes over what the disk has, before anything is saved.
func (g *groupBook) load(ctx context.Context) error {
	if g.disk == nil {
		return nil
	}
	buses, err := g.disk.LoadGroups(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.Copy(g.buses, buses)
	return nil
}

func (g *groupBook) of(bus appliance.UUID) appliance.BusGroups {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buses[bus]
}

// put remembers the groups of a bus. done is called, from another goroutine, when
// they are on the disk, or could not be written.
func (g *groupBook) put(bus appliance.UUID, groups appliance.BusGroups, done func(error)) {
	g.mu.Lock()
	g.buses[bus] = groups
	g.waiting[bus] = append(g.waiting[bus], done)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run writes behind until ctx ends, and what is left then.
func (g *groupBook) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			g.save(context.WithoutCancel(ctx))
			return
		case <-g.wake:
			g.save(ctx)
		}
	}
}

func (g *groupBook) save(ctx context.Context) {
	g.mu.Lock()
	waiting := g.waiting
	g.waiting = map[appliance.UUID][]func(error){}
	g.mu.Unlock()
	for bus, done := range waiting {
		err := g.write(ctx, bus)
		if err != nil {
			g.log.Error("groups could not be saved; no device is written meanwhile", "why", err)
		}
		for _, f := range done {
			f(err)
		}
	}
}

func (g *groupBook) write(ctx context.Context, bus appliance.UUID) error {
	if g.disk == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, groupSaveTime)
	defer cancel()
	return g.disk.SaveGroups(ctx, bus, g.of(bus))
}
