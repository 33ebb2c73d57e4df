package sdn

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

var (
	_ appliance.OpenFunc   = Open
	_ appliance.Driver     = (*Driver)(nil)
	_ appliance.Recorder   = (*Driver)(nil)
	_ appliance.Linker     = (*Driver)(nil)
	_ appliance.Scanner    = (*Driver)(nil)
	_ appliance.Identifier = (*Driver)(nil)
	_ appliance.Grouper    = (*Driver)(nil)
)

// Driver speaks SDN on one bus.
type Driver struct {
	name    string
	options busOptions
	log     *slog.Logger
	report  func([]appliance.Reading)
	line    *line.Line
	char    time.Duration // one character on the copper
	socket  bool          // the copper is behind a serial server

	groups []group  // that commands may use
	unsure []*motor // may be in any group
	babble babble

	mu        sync.Mutex // guards what the motors are known to do, and:
	site      site
	strangers strangers
}

// site is the motors that the site has on this bus.
type site struct {
	motors map[Address]*motor
	all    []*motor // ascending node
	shades map[appliance.ID]*motor
	broken bool             // motors were set aside, which "all" must not move
	spoilt map[Address]bool // groups that they are in
}

// strangers is what was heard of others.
type strangers struct {
	found    map[Address]*sighting // nodes that told their address lately, asked or not
	noise    int                   // bytes that made no frame
	intruder bool                  // another master with our address was seen, and told of
	groups   map[Address]strangeGroup
}

// babble is the last time that the line never fell silent; no error: it always did.
type babble struct {
	error
	at time.Time
}

// group is a set of motors that one frame moves: those that were read to hold it.
type group struct {
	address Address
	members []*motor
}

// Run keeps the port open until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	d.mu.Lock()
	for _, m := range d.site.all {
		m.missed = time.Now() // whoever had the port before may have left with a question open
	}
	d.mu.Unlock()
	return d.line.Run(ctx)
}

// Link returns nil when the bus is usable, else why not.
func (d *Driver) Link() error { return d.line.Link() }

// Recent returns the last frames, oldest first.
func (d *Driver) Recent() []appliance.Frame { return d.line.Recent() }

// Follow sends every frame from now on until ctx ends.
func (d *Driver) Follow(ctx context.Context) <-chan appliance.Frame { return d.line.Follow(ctx) }

// airtime is how long n characters last on the copper.
func (d *Driver) airtime(n int) time.Duration { return time.Duration(n) * d.char }
