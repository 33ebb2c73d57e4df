package operations

import (
	"context"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/line"
)

// Ports are those of this machine, for the door /api/v1.
type Ports struct {
	Core    *control.Controller // whose buses are on them
	DataDir string              // of installers' own profiles
	Root    string              // where devices are looked for; empty: /dev
	On      *line.Ports         // that buses are on instead of this machine's; then none is listed

	mu    sync.Mutex
	here  []api.Port
	fresh chan struct{} // closed with the next change; nil: nobody waits
}

// lookEvery is how soon an adapter that is plugged in is seen. A look reads two folders.
const lookEvery = time.Second

// Run looks which adapters come and go until ctx ends.
func (p *Ports) Run(ctx context.Context) error {
	if p.On != nil {
		<-ctx.Done()
		return nil
	}
	for ticker := time.NewTicker(lookEvery); ; {
		p.look()
		select {
		case <-ctx.Done():
			ticker.Stop()
			return nil
		case <-ticker.C:
		}
	}
}

func (p *Ports) look() {
	now := []api.Port{}
	for _, a := range line.Adapters(p.Root) {
		now = append(now, api.Port{Port: a.Port, Device: a.Device, Name: a.Name})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Equal(now, p.here) {
		return
	}
	p.here = now
	if p.fresh != nil {
		close(p.fresh)
		p.fresh = nil
	}
}

// Here lists the ports that are there, and is closed when that has changed.
func (p *Ports) Here() ([]api.Port, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh == nil {
		p.fresh = make(chan struct{})
	}
	return p.here, p.fresh
}

// Device is what a port leads to now.
func (p *Ports) Device(port string) string { return line.DeviceOf(port) }
