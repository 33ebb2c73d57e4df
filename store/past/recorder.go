package past

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

const (
	// FileName is the file in the data directory.
	FileName = "history.past"
	// Size is the most that the file takes, in bytes.
	Size = 48 << 20
	// Kept is what is told of at most: five whole weeks, to compare. At least 30 days are there, unless the
	// controller was off or its clock unset.
	Kept = 35 * 24 * time.Hour

	ringSlots = Size/slotSize - tailSlots

	// lookEvery is how often the snapshot is looked at: what changes and changes back in between is not noted.
	lookEvery = time.Second
	// powerEvery is how often the power of one thing is looked at, in looks: a minute.
	powerEvery = 60
	// writeEvery is how much a power cut costs, as long as something changes; restEvery is how often it is
	// written that nothing does.
	writeEvery, restEvery = 5 * time.Minute, time.Hour
	// fullEvery is how often all that is known is written again, which is how far before the time that somebody
	// asks for reading has to begin.
	fullEvery = 24 * time.Hour
	// tryEvery is how often a disk that took nothing is tried again.
	tryEvery = time.Minute
	// jump is how far the wall clock may leave the monotonic one.
	jump = 2 * time.Second

	// A day may cost what 30 of them fill the ring with; half of that may be used at once. The rest has to wait, power
	// first: it is noted late.
	dayMost     = (ringSlots - growth) * payloadMost / 30
	creditMost  = dayMost / 2
	powerCredit = creditMost / 2
)

// Clock is the wall's, which may jump, and one that does not and begins with the program.
type Clock struct {
	Wall func() time.Time
	Mono func() time.Duration
	// Right reports whether the wall clock is known to be right.
	Right func() bool
}

// Recorder keeps the history of one building. It never fails: what the disk does not take is not kept.
type Recorder struct {
	path  string
	clock Clock
	log   *slog.Logger
	open  func(path string) (disk, error)
	slots int // of the ring

	mu      sync.Mutex
	ring    *ring // nil: not open
	now     present
	values  map[key]code // as they were noted last in this run
	seen    *appliance.Snapshot
	looks   int
	late    bool // something was not noted for want of credit
	credit  float64
	looked  time.Duration // Mono
	resting time.Duration // Mono until which a disk is left alone that took nothing
	trouble bool          // was told
}

// present is the block that is being filled. Its number is 0 while there is none.
type present struct {
	header
	payload    []byte
	runBegan   time.Duration // Mono
	runAt      int64         // ms, wall
	begins     int64         // of the block, seconds of the run
	last       int64         // moment with a change, seconds of the run
	fullAt     int64         // seconds of the run
	fullNumber uint64        // of the block that began with all that is known
	writtenAt  int64         // seconds of the run
	unwritten  bool
	right      bool // the clock was known to be right
}

// New makes a recorder of the file in a data directory. It touches nothing before Run.
func New(dataDir string, clock Clock, log *slog.Logger) *Recorder {
	return &Recorder{path: filepath.Join(dataDir, FileName), clock: clock, log: log, open: openFile, slots: ringSlots, credit: creditMost}
}

// SystemRight asks the kernel whether the clock is known to be right.
func SystemRight() bool {
	const timeError = 5 // TIME_ERROR of adjtimex(2): not synchronised
	state, err := unix.Adjtimex(&unix.Timex{})
	return err == nil && state != timeError
}

// Run notes what changes until ctx ends, and writes what is not written yet.
func (r *Recorder) Run(ctx context.Context, snapshot func() *appliance.Snapshot) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		r.look(snapshot()) // at once, too: who asks right after the start finds what was kept before
		select {
		case <-ctx.Done():
			r.close()
			return nil
		case <-look.C:
		}
	}
}

func (r *Recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return
	}
	err := r.write()
	r.lost(errors.Join(err, r.ring.disk.Close()))
	r.ring, r.now = nil, present{}
}

// lost tells once that nothing is kept, and once that it is again.
func (r *Recorder) lost(err error) {
	switch {
	case err != nil && !r.trouble:
		r.log.Warn("no history is kept; lights and shades go on", "why", err)
	case err == nil && r.trouble:
		r.log.Info("history is kept again")
	}
	r.trouble = err != nil
}

// fail ends the run: what was not written is lost.
func (r *Recorder) fail(err error) {
	r.lost(err)
	r.now, r.resting = present{}, r.clock.Mono()+tryEvery
}

// look notes what changed since the last look.
func (r *Recorder) look(s *appliance.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mono := r.clock.Mono()
	r.credit = min(creditMost, r.credit+(mono-r.looked).Seconds()*dayMost/(24*3600))
	r.looked = mono
	r.looks++
	if mono < r.resting {
		return
	}
	if r.ring == nil && !r.ready() {
		return
	}
	if r.now.number != 0 && !r.sameClock() {
		return
	}
	if r.now.number == 0 {
		r.beginRun(0, 0)
	}
	if !r.note(r.changes(s)) {
		return
	}
	if r.dueFull() && !r.beginFull() {
		return
	}
	since := time.Duration(r.seconds()-r.now.writtenAt) * time.Second
	if since >= restEvery || since >= writeEvery && r.now.unwritten {
		if err := r.write(); err != nil {
			r.fail(err)
			return
		}
		r.lost(nil)
	}
}

// ready opens the file.
func (r *Recorder) ready() bool {
	d, err := r.open(r.path)
	if err == nil {
		if r.ring, err = openRing(d, r.slots); err != nil {
			err = errors.Join(err, d.Close())
		}
	}
	if err != nil {
		r.fail(err)
	}
	return err == nil
}

// seconds of the present run.
func (r *Recorder) seconds() int64 { return int64((r.looked - r.now.runBegan) / time.Second) }

// sameClock ends the present run if the clock was set, and begins the next.
func (r *Recorder) sameClock() bool {
	expected := r.now.runAt + (r.looked - r.now.runBegan).Milliseconds()
	set := r.clock.Wall().UnixMilli() - expected
	if abs := max(set, -set); abs <= jump.Milliseconds() {
		r.now.right = r.now.right || r.clock.Right()
		return true
	}
	was, right := r.now.run, r.now.right
	if !r.endBlock() {
		return false
	}
	r.credit -= page
	if right { // nobody knows why it was set; what was noted stays where it is
		was, set = 0, 0
	}
	r.beginRun(was, set)
	return true
}

func (r *Recorder) beginRun(follows uint64, set int64) {
	n := r.ring.number
	r.now = present{
		header: header{number: n, run: n, follows: follows, set: set}, payload: r.now.payload[:0],
		fullNumber: n, runBegan: r.looked, runAt: r.clock.Wall().UnixMilli(), right: r.clock.Right(),
	}
	if follows != 0 {
		r.ring.settle(r.now.header)
	}
	r.now.begin = r.now.runAt
	r.ring.number++
	r.values = map[key]code{}
	r.now.full, r.seen = true, nil
}

// dueFull reports whether all that is known is to be written again: each day, and so often that there is such a block in a ring
// that could not become as long as it should.
func (r *Recorder) dueFull() bool {
	return r.seconds()-r.now.fullAt >= int64(fullEvery/time.Second) || r.now.number-r.now.fullNumber >= uint64(max(2, r.ring.have/4))
}

// beginFull begins a block with all that is known.
func (r *Recorder) beginFull() bool {
	if !r.endBlock() {
		return false
	}
	r.beginBlock()
	r.now.full, r.now.fullAt, r.now.fullNumber = true, r.seconds(), r.now.number
	all := make([]change, 0, len(r.values))
	for k, c := range r.values {
		all = append(all, change{k, c})
	}
	slices.SortFunc(all, func(a, b change) int { return compareKeys(a.key, b.key) })
	return r.note(all)
}

func (r *Recorder) beginBlock() {
	r.now.header = header{number: r.ring.number, run: r.now.run, begin: r.now.runAt + r.seconds()*1000}
	r.ring.number++
	r.now.payload = r.now.payload[:0]
	r.now.begins, r.now.last = r.seconds(), r.seconds()
}

// endBlock writes the present block for good.
func (r *Recorder) endBlock() bool {
	r.now.header.seconds = uint32(r.seconds() - r.now.begins)
	if err := r.ring.put(r.now.header, r.now.payload); err != nil {
		r.fail(err)
		return false
	}
	r.now.unwritten, r.now.writtenAt = false, r.seconds()
	return true
}

// write writes the present block as far as it is.
func (r *Recorder) write() error {
	if r.now.number == 0 {
		return nil
	}
	r.now.header.seconds = uint32(r.seconds() - r.now.begins)
	r.now.writings++
	if err := r.ring.putTail(r.now.header, r.now.payload); err != nil {
		return err
	}
	r.now.unwritten, r.now.writtenAt = false, r.seconds()
	return nil
}

// note puts changes into the present block, and begins others as that is full.
func (r *Recorder) note(changes []change) bool {
	for len(changes) > 0 {
		room := (payloadMost - len(r.now.payload) - momentMost) / changeMost
		if room <= 0 {
			if !r.endBlock() {
				return false
			}
			r.beginBlock()
			continue
		}
		n := min(room, len(changes))
		before := len(r.now.payload)
		r.now.payload = appendMoment(r.now.payload, uint32(r.seconds()-r.now.last), changes[:n])
		r.credit -= float64(len(r.now.payload) - before)
		r.now.last, r.now.unwritten = r.seconds(), true
		changes = changes[n:]
	}
	return true
}

// changes are those since the last look.
func (r *Recorder) changes(s *appliance.Snapshot) []change {
	l := look{r: r}
	same := r.seen != nil && r.seen.Site == s.Site
	if !same {
		l.removed(s)
	}
	all, first := r.late || !same, 0
	if r.late && len(s.Nodes) > 0 {
		first = r.looks % len(s.Nodes) // what is left goes to each in turn
	}
	old := r.seen
	r.seen, r.late = s, false
	for i := range s.Nodes {
		i = (i + first) % len(s.Nodes)
		n := s.Nodes[i]
		power := all || (r.looks+int(n.Node.ID))%powerEvery == 0
		if power || old.Nodes[i] != n {
			l.node(n, power)
		}
	}
	for i, sh := range s.Shades {
		if all || old.Shades[i] != sh {
			l.shade(sh)
		}
	}
	return l.changes
}

// look is what one look finds.
type look struct {
	r       *Recorder
	changes []change
	spent   float64
}

// removed notes that nothing is known any more of what the site does not have.
func (l *look) removed(s *appliance.Snapshot) {
	for k := range l.r.values {
		gone := false
		if k.kind == shadeOnline || k.kind == position {
			gone = s.Shade(appliance.ID(k.id)) == nil
		} else {
			n := s.Node(appliance.ID(k.id))
			gone = n == nil || int(k.channel) > len(n.Channels)
		}
		if gone {
			delete(l.r.values, k)
			l.changes = append(l.changes, change{k, 0})
		}
	}
}

func (l *look) node(n *appliance.NodeState, power bool) {
	id := int32(n.Node.ID)
	l.track(key{id, 0, nodeOnline}, onlineCode(n.Online))
	for i := range n.Channels {
		c, channel := &n.Channels[i], uint16(i+1)
		level, watts := levelOne, powerOne
		if i > 0 {
			level, watts = levelOther, powerOther
		}
		l.track(key{id, channel, level}, codeOf(n.Online, c.Level))
		if power && c.Abilities.Has(appliance.CanMeasure) {
			l.power(key{id, channel, watts}, n.Online, c.Power)
		}
	}
}

// shade notes where a shade stands; where it is on its way, nobody asks for a day later. Of one on relays nothing else is known
// after a restart than where it stood before: that holds until it moves.
func (l *look) shade(sh *appliance.ShadeState) {
	id := int32(sh.Shade.ID)
	l.track(key{id, 0, shadeOnline}, onlineCode(sh.Online))
	if moves := sh.Motion == appliance.Opening || sh.Motion == appliance.Closing || sh.Motion == appliance.Moving; !moves || !sh.Online {
		p := sh.Position
		if p.Source == appliance.Restored {
			p.Source = appliance.Estimated
		}
		l.track(key{id, 0, position}, codeOf(sh.Online, p))
	}
}

func onlineCode(online bool) code {
	if online {
		return known(1)
	}
	return known(0)
}

// codeOf is a value that a thing has: not what it had before a restart, nor before it fell silent.
func codeOf[T ~int](online bool, k appliance.Known[T]) code {
	if !online || !k.OK() || k.Source == appliance.Restored {
		return 0
	}
	return known(int(min(max(k.Value, 0), 100)))
}

// power notes a power that is another by half a watt and by 2 %: meters are never quite still.
func (l *look) power(k key, online bool, watts appliance.Known[float64]) {
	var c code
	if online && watts.OK() && watts.Source != appliance.Restored {
		c = wattCode(watts.Value)
	}
	was := l.r.values[k]
	if c != 0 && was != 0 {
		a, b := k.past(time.Time{}, was).Value, k.past(time.Time{}, c).Value
		if d := max(a-b, b-a); d < 0.5 || d < 0.02*max(a, -a) {
			return
		}
	}
	if c != was && l.r.credit-l.spent < powerCredit {
		l.r.late = true
		return
	}
	l.track(k, c)
}

func (l *look) track(k key, c code) {
	if l.r.values[k] == c {
		return
	}
	if l.spent >= l.r.credit {
		l.r.late = true
		return
	}
	l.spent += changeMost / 2
	if c == 0 {
		delete(l.r.values, k)
	} else {
		l.r.values[k] = c
	}
	l.changes = append(l.changes, change{k, c})
}
