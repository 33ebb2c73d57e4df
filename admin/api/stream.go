package api

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

const (
	// streamsMost event streams are open at a time, all callers together; so many of one
	// user, whose tablets may share an account, and from one address, which may be a proxy.
	streamsMost, streamsUser, streamsAddress = 64, 16, 32
	// picturesKept are the last snapshots that somebody was shown: who comes back soon
	// after a cut is told the differences only.
	picturesKept = 64
	// batchEvery gathers changes: a page has nothing of more.
	batchEvery = 100 * time.Millisecond
	// agesEvery gathers values that were read again and are the same.
	agesEvery = 5 * time.Second
	// tickEvery proves that the stream is alive; lookEvery is how soon a stream ends
	// whose owner is not let in any more.
	tickEvery, lookEvery = 15 * time.Second, 5 * time.Second
	// sendTime is how long a reader may take for one event.
	sendTime = 20 * time.Second
)

// streams are the event streams that are open, and what they showed last.
type streams struct {
	epoch string        // of this process
	over  chan struct{} // closed when the door closes
	open  *web.Streams

	mu    sync.Mutex
	shown []*appliance.Snapshot // ascending number
}

func newStreams() streams {
	random := make([]byte, 5)
	rand.Read(random) // never fails, see crypto/rand
	return streams{epoch: fmt.Sprintf("%x", random), over: make(chan struct{}), open: web.NewStreams(streamsUser, streamsAddress, streamsMost)}
}

func (s *streams) close() { close(s.over) }

// remember keeps what somebody is shown.
func (s *streams) remember(snap *appliance.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.shown); n > 0 && s.shown[n-1].Number >= snap.Number {
		return
	}
	if len(s.shown) == picturesKept {
		s.shown = append(s.shown[:0], s.shown[1:]...)
	}
	s.shown = append(s.shown, snap)
}

// find returns the snapshot of that number, nil if it is not kept.
func (s *streams) find(number uint64) *appliance.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, snap := range s.shown {
		if snap.Number == number {
			return snap
		}
	}
	return nil
}

// cursors is what an event ID holds: how far a reader has come in each feed.
type cursors struct{ state, entries, jobs uint64 }

func (s *streams) id(at cursors) string {
	return fmt.Sprintf("%s-%d-%d-%d", s.epoch, at.state, at.entries, at.jobs)
}

func (s *streams) parse(id string) (at cursors, ok bool) {
	var rest string
	if len(id) <= len(s.epoch) || id[:len(s.epoch)] != s.epoch {
		return at, false
	}
	rest = id[len(s.epoch):]
	n, err := fmt.Sscanf(rest, "-%d-%d-%d", &at.state, &at.entries, &at.jobs)
	return at, err == nil && n == 3
}

// follower is one open stream.
type follower struct {
	api  *API
	c    echo.Context
	mine *web.Stream
	at   cursors
	seen *appliance.Snapshot // shown in full
	aged *appliance.Snapshot // with its ages
	agAt time.Time
	// items of the jobs under way that the reader has
	items map[string]mark

	seenPorts seenPorts
	seenDesk  *deskView // nil: not told yet
}

// events is the stream of everything that happens: the whole picture first, then
// differences.
func (a *API) events(c echo.Context) error {
	mine, err := a.beginStream(c)
	if err != nil {
		return err
	}
	defer mine.Leave()
	f := &follower{api: a, c: c, mine: mine, agAt: time.Now(), items: map[string]mark{}}
	if err := f.begin(c.Request().Header.Get("Last-Event-ID")); err != nil {
		return nil // the reader is gone
	}
	f.follow()
	return nil
}

// begin shows the whole picture, unless the reader had one a moment ago.
func (f *follower) begin(last string) error {
	if err := f.write("retry: 1000\n\n"); err != nil {
		return err
	}
	if at, ok := f.api.streams.parse(last); ok {
		if seen := f.api.streams.find(at.state); seen != nil {
			f.at, f.seen, f.aged = at, seen, seen
			if err := f.ports(true); err != nil {
				return err
			}
			return f.catchUp()
		}
	}
	f.at.entries = f.api.Core.Entries().End()
	var jobs []appliance.Job
	jobs, f.at.jobs = f.api.Jobs.Jobs().Since(0)
	f.told(jobs)
	s := f.api.Core.Snapshot()
	f.show(s)
	f.aged = s
	here, fresh := f.api.Within.Ports.Here()
	f.seenPorts, f.seenDesk = seenPorts{f.api.portsOf(s, here), fresh}, f.api.desk.now.Load()
	return f.send("picture", Picture{
		Time: stamp(time.Now()), Version: f.api.Version, Site: siteOf(s), Clusters: recordsOf(s, s.Clusters, clusterOf),
		Nodes: recordsOf(s, s.Nodes, nodeOf), Shades: recordsOf(s, s.Shades, shadeOf), Buses: recordsOf(s, s.Buses, busOf), Ports: f.seenPorts.told, Jobs: jobsOf(jobs), Attention: f.seenDesk.attention,
	})
}

// show notes that the reader is told of everything up to that snapshot.
func (f *follower) show(s *appliance.Snapshot) { f.seen, f.at.state = s, s.Number }

// follow sends what happens until the reader leaves or is not let in any more.
func (f *follower) follow() {
	ctx := f.c.Request().Context()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	ticked := time.Now()
	for {
		entries, jobs := f.api.Core.Entries().Fresh(), f.api.Jobs.Jobs().Fresh()
		if f.catchUp() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-f.api.streams.over:
			return
		case <-f.mine.Displaced():
			_ = f.write(web.Displaced)
			return
		case <-look.C:
			if !f.api.still(ctx, f.c, reader) {
				return
			}
			if time.Since(ticked) >= tickEvery-time.Second {
				ticked = time.Now()
				if f.write(": alive\n") != nil || f.send("tick", Tick{stamp(ticked)}) != nil {
					return
				}
			}
			continue
		case <-f.seen.Superseded():
		case <-f.seenPorts.fresh:
		case <-f.seenDesk.old:
		case <-entries:
		case <-jobs:
		}
		pause := time.NewTimer(batchEvery)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-f.api.streams.over:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// catchUp sends what the reader has not been told.
func (f *follower) catchUp() error {
	if err := f.changes(); err != nil {
		return err
	}
	entries, next, lost := f.api.Core.Entries().Since(f.at.entries)
	f.at.entries = next
	if lost > 0 {
		if err := f.send("lost", Lost{"entries", lost}); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := f.send("entry", entryOf(e)); err != nil {
			return err
		}
	}
	return f.jobs()
}

// jobs sends those that changed; their items only if those did.
func (f *follower) jobs() error {
	jobs, next := f.api.Jobs.Jobs().Since(f.at.jobs)
	f.at.jobs = next
	for _, j := range jobs {
		record := jobOf(j)
		if last, known := f.items[j.ID]; known && last == itemsMark(j) {
			record.Items = nil
		}
		if err := f.send("job", record); err != nil {
			return err
		}
	}
	f.told(jobs)
	return nil
}

// told notes which items the reader has.
func (f *follower) told(jobs []appliance.Job) {
	for _, j := range jobs {
		if j.State.Over() {
			delete(f.items, j.ID)
			continue
		}
		f.items[j.ID] = itemsMark(j)
	}
}

// itemsMark is another one when the items of a job have changed: the registry never
// writes to a list that it has handed out.
func itemsMark(j appliance.Job) mark {
	if len(j.Items) == 0 {
		return mark{}
	}
	return mark{&j.Items[0], len(j.Items)}
}

type mark struct {
	first *any
	n     int
}

// changes sends how the state differs from what the reader was shown.
func (f *follower) changes() error {
	s := f.api.Core.Snapshot()
	d := s.Since(f.seen)
	c := Change{Time: stamp(time.Now())}
	if d.Site {
		c.Site = new(siteOf(s))
		c.Removed = removedSince(s, f.seen)
	} else if d.Faults {
		c.Site = new(siteOf(s))
	}
	for _, n := range d.Nodes {
		if old := f.seen.Node(n.Node.ID); old == nil || !sameNode(old, n) {
			c.Nodes = append(c.Nodes, nodeOf(s, n))
		}
	}
	for _, sh := range d.Shades {
		if old := f.seen.Shade(sh.Shade.ID); old == nil || !sameShade(old, sh) {
			c.Shades = append(c.Shades, shadeOf(s, sh))
		}
	}
	// Its members' ages are part of a cluster's record, and told by the members.
	for _, cl := range d.Clusters {
		now := clusterOf(s, cl)
		if old := f.seen.Cluster(cl.Cluster.ID); old == nil || !sameCluster(clusterOf(f.seen, old), now) {
			c.Clusters = append(c.Clusters, now)
		}
	}
	for _, b := range d.Buses {
		c.Buses = append(c.Buses, busOf(s, b))
	}
	if time.Since(f.agAt) >= agesEvery {
		c.Ages = agesSince(s, f.aged)
		f.aged, f.agAt = s, time.Now()
	}
	if now := f.api.desk.now.Load(); now != f.seenDesk {
		f.seenDesk, c.Attention = now, &now.attention
	}
	f.show(s)
	if !c.empty() {
		if err := f.send("change", c); err != nil {
			return err
		}
	}
	return f.ports(d.Site)
}

// send writes one event.
func (f *follower) send(event string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.api.streams.remember(f.seen)
	return f.write("event: " + event + "\nid: " + f.api.streams.id(f.at) + "\ndata: " + string(data) + "\n\n")
}

func (f *follower) write(text string) error { return write(f.c, text) }

// write sends a piece of a stream at once.
func write(c echo.Context, text string) error {
	w := c.Response()
	control := http.NewResponseController(w.Writer)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime)) // where it cannot be set, the server's own holds
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}
