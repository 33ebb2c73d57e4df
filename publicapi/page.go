package publicapi

import (
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

// view names one answer: which list, of whom.
type view struct {
	list   list
	target appliance.Target
	tag    appliance.Tag
}

// list is what an answer lists.
type list uint8

const (
	clusterList list = iota
	activeNodeList
	clusterNodeList
	lightLevelList
	shadeList
	clusterShadeList
)

// page is one answer, ready to be sent to anybody who asks for its view.
type page struct {
	snapshot *appliance.Snapshot
	body     []byte
	length   []string // Content-Length
	etag     []string
	// oldest is when the oldest value in the body was read; zero: it has none.
	oldest time.Time
}

const (
	// Bounds of the pages kept; beyond them an answer is rendered and forgotten.
	pagesMost     = 1024
	pageBytesMost = 8 << 20
)

// pages keeps what was rendered of the newest state. Readers share it without a
// lock; a lock of one page is held only by the reader who renders it.
type pages struct {
	now atomic.Pointer[edition]
}

// edition is all pages of one state of the values.
type edition struct {
	values uint64
	site   *appliance.Site
	slots  sync.Map // view → *slot
	count  atomic.Int64
	bytes  atomic.Int64
}

type slot struct {
	page atomic.Pointer[page]
	mu   sync.Mutex // rendering
}

// get returns the page of view v in s; nil if v addresses what is not there.
func (p *pages) get(s *appliance.Snapshot, v view) *page {
	ed := p.edition(s)
	if ed == nil {
		return render(s, v, nil)
	}
	found, ok := ed.slots.Load(v)
	if !ok {
		if !exists(s, v.target) {
			return nil
		}
		if ed.count.Load() >= pagesMost || ed.bytes.Load() >= pageBytesMost {
			return render(s, v, nil)
		}
		found, ok = ed.slots.LoadOrStore(v, &slot{})
		if !ok {
			ed.count.Add(1)
		}
	}
	sl := found.(*slot)
	if pg := sl.page.Load(); pg != nil && pg.snapshot == s {
		return pg
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	before := sl.page.Load()
	if before != nil && before.snapshot == s {
		return before
	}
	pg := render(s, v, before)
	if before == nil {
		ed.bytes.Add(int64(len(pg.body)))
	}
	sl.page.Store(pg)
	return pg
}

// exists reports whether a target of a read is there. A read of one target means
// a node or a shade.
func exists(s *appliance.Snapshot, t appliance.Target) bool {
	switch t.Scope {
	case appliance.InCluster:
		return findCluster(s, t.ID) != nil
	case appliance.One:
		return findNode(s, t.ID) != nil || findShade(s, t.ID) != nil
	}
	return true
}

// edition returns the pages of the values in s; nil if s is older than what
// others have seen already.
func (p *pages) edition(s *appliance.Snapshot) *edition {
	for {
		ed := p.now.Load()
		switch {
		case ed != nil && ed.values == s.Values && ed.site == s.Site:
			return ed
		case ed != nil && ed.values > s.Values:
			return nil
		}
		next := &edition{values: s.Values, site: s.Site}
		if p.now.CompareAndSwap(ed, next) {
			return next
		}
	}
}

// seed of the entity tags. Another one after a restart costs each client one
// full answer.
var seed = maphash.MakeSeed()

// render makes the page of view v. If before is the page of a snapshot with the
// same values and has no times in its body, only the ages are looked at again.
func render(s *appliance.Snapshot, v view, before *page) *page {
	r := renderer{snapshot: s, invert: s.Site.Settings.InvertShades}
	again := before != nil && !v.list.timed()
	if again {
		r.agesOnly = true
	} else {
		r.b = make([]byte, 0, roomFor(s, v, before))
		if v.list.timed() {
			r.times = make([]part, 0, cap(r.b)/recordLeast)
		}
	}
	if !r.list(v) {
		return nil
	}
	pg := &page{snapshot: s, oldest: r.oldest}
	if again {
		pg.body, pg.length, pg.etag = before.body, before.length, before.etag
		return pg
	}
	pg.body = r.b
	pg.length = []string{strconv.Itoa(len(r.b))}
	pg.etag = []string{r.etag(v.list.timed())}
	return pg
}

// recordLeast is about the length of the shortest record that tells a time.
const recordLeast = 180

// timed reports whether the list's records say when a device was last seen, which
// changes all the time without anything having changed.
func (l list) timed() bool {
	return l == activeNodeList || l == clusterNodeList || l == shadeList || l == clusterShadeList
}

// roomFor guesses the length of a body.
func roomFor(s *appliance.Snapshot, v view, before *page) int {
	switch {
	case before != nil:
		return len(before.body) + len(before.body)/16
	case v.target.Scope == appliance.One:
		return 512
	case v.list == clusterList:
		return 256*len(s.Clusters) + 16
	case v.list == lightLevelList:
		return 352*len(s.Nodes) + 128*len(s.Shades) + 16
	case v.list == activeNodeList:
		return 256*len(s.Nodes) + 16
	}
	return 8 << 10
}

// etag is the entity tag of what was rendered. Of lists with times it is weak and
// does not cover them: a client that has everything but newer times has nothing
// to fetch.
func (r *renderer) etag(timed bool) string {
	var h maphash.Hash
	h.SetSeed(seed)
	from := 0
	for _, t := range r.times {
		h.Write(r.b[from:t.from])
		from = t.to
	}
	h.Write(r.b[from:])
	tag := make([]byte, 0, 24)
	if timed {
		tag = append(tag, 'W', '/')
	}
	tag = append(tag, '"')
	tag = strconv.AppendUint(tag, h.Sum64(), 36)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, int64(len(r.b)), 36)
	return string(append(tag, '"'))
}
