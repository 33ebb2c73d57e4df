package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

const (
	// concernsMost bounds what is told of at a time; the rest is counted.
	concernsMost = 200
	// lookAfter is how often the building is looked at, and lastsFor how long something has to be so before somebody is bothered:
	// a device that misses a question or two is none.
	lookAfter, lastsFor = time.Second, 10 * time.Second
	// overFor is how long something has to be in order before it counts as over: what flickers is one thing, put aside once.
	overFor = 2 * time.Minute
)

// Attention is what needs somebody.
type Attention struct {
	Concerns []Concern `json:"concerns" doc:"Whole buses first."`
	More     int       `json:"more" doc:"So many more are not in the list."`
}

// Concern is one thing that needs somebody. It stays until it is over; who puts it aside has seen it.
type Concern struct {
	Key     string         `json:"key" doc:"Names it, for as long as it is not over."`
	Kind    string         `json:"kind" enum:"bus-silent,bus-fault,device-silent,device-trouble,entry,backup-overdue,power-weak,too-hot,not-enrolled,network-tried" doc:"bus-silent: nothing on it answers; bus-fault: it does, and something is wrong; device-silent, device-trouble: one device; entry: one of the site, or a thing of the controller itself, that was set aside while the rest runs; backup-overdue: no backup has left the box for three days; power-weak, too-hot: the computer itself; not-enrolled: at the platform, as was prepared; network-tried: an admin has to keep it, or it goes back."`
	Bus     string         `json:"bus,omitempty"`
	Network bool           `json:"network,omitempty" doc:"The bus is reached by the network."`
	Device  string         `json:"device,omitempty" doc:"In the words of the driver."`
	Nodes   []appliance.ID `json:"nodes,omitempty" doc:"Of the device, or of the bus."`
	What    string         `json:"what,omitempty" doc:"What is wrong, in the words of the program."`
	Trouble string         `json:"trouble,omitempty" doc:"Of a silent device: what it last said is wrong with it, or what is said of it."`
	Since   *time.Time     `json:"since" doc:"When it was last in order, as far as that is known."`
	Aside   *PutAside      `json:"aside" doc:"null: nobody has put it aside."`
}

// PutAside is who has seen something, and when.
type PutAside struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Asides keep what was put aside, over restarts.
type Asides interface {
	Asides(ctx context.Context) ([]appliance.Aside, error)
	PutAside(ctx context.Context, a appliance.Aside) error
	EndAside(ctx context.Context, key string) error
}

// concernsOf are what is wrong, with what is besides the buses, and inOrder tells of a key that what it is about is there and in order, or is gone: of what
// nobody has asked yet neither is known.
func concernsOf(s *appliance.Snapshot, besides ...Concern) (list []Concern, inOrder func(key string) bool) {
	unknown := map[string]bool{}
	var devices []Concern
	for _, b := range s.Buses {
		if b.Bus.Disabled {
			continue
		}
		key := b.Bus.UUID.String()
		of := Concern{Bus: b.Bus.Name, Network: strings.Contains(b.Bus.Port, "://")}
		var seen time.Time
		online, asked := 0, 0
		for _, d := range b.Devices {
			if d.LastSeen.After(seen) {
				seen = d.LastSeen
			}
			switch {
			case d.Online:
				online++
			case d.Why != "":
				asked++
			}
		}
		if n := len(b.Devices); online == 0 && (!b.Up || n > 0 && asked == n) {
			of.Key, of.Kind, of.What, of.Since = "silent "+key, "bus-silent", b.Fault, stampOf(seen)
			for _, d := range b.Devices {
				of.Nodes = append(of.Nodes, d.Nodes...)
			}
			if of.What == "" && n > 0 {
				of.What = b.Devices[0].Why
			}
			list = append(list, of)
			for _, d := range b.Devices { // nobody can tell
				unknown["silent "+key+" "+d.Device] = true
			}
			unknown["trouble "+key] = true
			continue
		}
		if online == 0 {
			unknown["silent "+key] = true
		}
		if b.Fault != "" {
			f := of
			f.Key, f.Kind, f.What = "fault "+key, "bus-fault", b.Fault
			list = append(list, f)
		}
		for _, d := range b.Devices {
			one := of
			one.Device, one.Nodes, one.Since = d.Device, d.Nodes, stampOf(d.LastSeen)
			switch {
			case d.Online && d.Trouble != "":
				one.Key, one.Kind, one.What = "trouble "+key+" "+d.Device+" "+uncounted(d.Trouble), "device-trouble", d.Trouble
				one.Since = nil
				devices = append(devices, one)
			case !d.Online && d.Why != "":
				one.Key, one.Kind, one.What = "silent "+key+" "+d.Device, "device-silent", d.Why
				one.Trouble = d.Trouble
				devices = append(devices, one)
			case !d.Online:
				unknown["silent "+key+" "+d.Device] = true
			}
		}
	}
	for _, f := range s.Faults {
		if name, ok := strings.CutPrefix(f.Where, "bus "); ok && slices.ContainsFunc(list, func(c Concern) bool { return c.Bus == name }) {
			continue
		}
		list = append(list, Concern{Key: "entry " + f.Where, Kind: "entry", What: f.Where + ": " + f.What})
	}
	slices.SortStableFunc(devices, func(a, b Concern) int { return cmp.Or(cmp.Compare(a.Bus, b.Bus), cmp.Compare(b.Kind, a.Kind)) })
	list = append(append(list, besides...), devices...)
	there := map[string]bool{}
	for _, c := range list {
		there[c.Key] = true
	}
	return list, func(key string) bool {
		if there[key] || unknown[key] {
			return false
		}
		if rest, ok := strings.CutPrefix(key, "trouble "); ok {
			bus, _, _ := strings.Cut(rest, " ")
			return !unknown["trouble "+bus]
		}
		return true
	}
}

// uncounted is what a device says without its numbers: what happened for the fourth time is what had happened thrice.
func uncounted(what string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, what)
}

// desk follows what needs somebody. Its clock is whoever looks.
type desk struct {
	now atomic.Pointer[deskView] // never nil

	mu     sync.Mutex
	asides map[string]appliance.Aside
	since  map[string]time.Time // first seen wrong
	fine   map[string]time.Time // put aside, and first seen in order again
}

// deskView is what is told, and when it is not true any more.
type deskView struct {
	attention Attention
	tag       string
	old       chan struct{}
}

func newDesk() *desk {
	d := &desk{asides: map[string]appliance.Aside{}, since: map[string]time.Time{}, fine: map[string]time.Time{}}
	d.now.Store(&deskView{Attention{Concerns: []Concern{}}, etagOf(Attention{}), make(chan struct{})})
	return d
}

// look takes over how the building is, and tells which of what was put aside is over.
func (d *desk) look(s *appliance.Snapshot, now time.Time, besides ...Concern) (over []string) {
	list, inOrder := concernsOf(s, besides...)
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := make(map[string]time.Time, len(list))
	shown := Attention{Concerns: []Concern{}}
	for _, c := range list {
		first, known := d.since[c.Key]
		if !known {
			first = now
		}
		seen[c.Key] = first
		if now.Sub(first) < lastsFor {
			continue
		}
		if len(shown.Concerns) == concernsMost {
			shown.More++
			continue
		}
		if c.Since == nil && c.Kind != "bus-silent" && c.Kind != "device-silent" {
			c.Since = stampOf(first)
		}
		if a, ok := d.asides[c.Key]; ok {
			c.Aside = &PutAside{a.By, stamp(a.At)}
		}
		shown.Concerns = append(shown.Concerns, c)
	}
	d.since = seen
	for key := range d.asides {
		if !inOrder(key) {
			delete(d.fine, key)
			continue
		}
		if _, known := d.fine[key]; !known {
			d.fine[key] = now
		}
		if now.Sub(d.fine[key]) >= overFor {
			over = append(over, key)
		}
	}
	for _, key := range over {
		delete(d.fine, key)
		delete(d.asides, key)
	}
	d.show(shown)
	return over
}

// show tells it to those who wait, if it is another than before.
func (d *desk) show(a Attention) {
	was, tag := d.now.Load(), etagOf(a)
	if was.tag != tag {
		d.now.Store(&deskView{a, tag, make(chan struct{})})
		close(was.old)
	}
}

// put notes that somebody put something aside, or with nobody that it is not; it reports whether that is there.
func (d *desk) put(key string, a *appliance.Aside) (Concern, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now.Load().attention
	i := slices.IndexFunc(now.Concerns, func(c Concern) bool { return c.Key == key })
	if i < 0 {
		return Concern{}, false
	}
	now.Concerns = slices.Clone(now.Concerns)
	c := &now.Concerns[i]
	delete(d.fine, key)
	if a == nil {
		c.Aside = nil
		delete(d.asides, key)
	} else {
		c.Aside = &PutAside{a.By, stamp(a.At)}
		d.asides[key] = *a
	}
	d.show(now)
	return *c, true
}

// attend follows the building until ctx ends.
func (a *API) attend(ctx context.Context) {
	asides, err := a.Auditor.Asides(ctx)
	if err != nil && ctx.Err() == nil {
		a.Log.Error("what was put aside is shown again", "why", err)
	}
	a.desk.mu.Lock()
	for _, v := range asides {
		a.desk.asides[v.Key] = v
	}
	a.desk.mu.Unlock()
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	for {
		now := time.Now()
		for _, key := range a.desk.look(a.Core.Snapshot(), now, slices.Concat(a.networkTried(), a.besides(), overdueCopies(a.Backups.Overdue(now)))...) {
			if err := a.Auditor.EndAside(ctx, key); err != nil {
				a.Log.Error("it is over, and that is not kept", "what", key, "why", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SilentBuses are the names of the buses of which nothing answers, but for those that somebody has put aside.
func (a *API) SilentBuses() (names []string) {
	for _, c := range a.desk.now.Load().attention.Concerns {
		if c.Kind == "bus-silent" && c.Aside == nil {
			names = append(names, c.Bus)
		}
	}
	return names
}

func (a *API) attention(c echo.Context) error {
	return answer(c, http.StatusOK, a.desk.now.Load().attention)
}

// AsideEdit is what somebody has seen.
type AsideEdit struct {
	Key   string `json:"key"`
	Aside *bool  `json:"aside,omitempty" doc:"false: it is shown again; true if left out."`
}

// putAside notes who has seen what needs somebody. It comes back when it happens anew.
func (a *API) putAside(c echo.Context) error {
	var in AsideEdit
	if err := read(c, &in); err != nil {
		return err
	}
	view := a.desk.now.Load().attention
	if !slices.ContainsFunc(view.Concerns, func(v Concern) bool { return v.Key == in.Key }) {
		return refuse(http.StatusNotFound, "that is over")
	}
	var err error
	var by *appliance.Aside
	if in.Aside == nil || *in.Aside {
		by = &appliance.Aside{Key: in.Key, By: callerOf(c).name, At: time.Now()}
		err = a.Auditor.PutAside(c.Request().Context(), *by)
	} else {
		err = a.Auditor.EndAside(c.Request().Context(), in.Key)
	}
	if err != nil {
		return err
	}
	now, there := a.desk.put(in.Key, by)
	if !there {
		return refuse(http.StatusNotFound, "that is over")
	}
	return answer(c, http.StatusOK, now)
}
