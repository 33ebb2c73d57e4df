package tunnel

import "sync"

// Requests under way, of which each may hold an answer of some megabytes. Strangers have half of the places, so that they
// cannot keep others out.
const (
	perController         = 8
	strangersOfController = 4
	inAll                 = 64
	strangersInAll        = 32
)

// places counts requests under way.
type places struct {
	mu  sync.Mutex
	all taken
	of  map[string]taken // by controller
}

type taken struct{ requests, strangers int }

func newPlaces() *places { return &places{of: map[string]taken{}} }

// enter takes a place until leave is called; ok is false if there is none.
func (p *places) enter(controller string, stranger bool) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of[controller]
	if one.requests >= perController || p.all.requests >= inAll ||
		stranger && (one.strangers >= strangersOfController || p.all.strangers >= strangersInAll) {
		return nil, false
	}
	p.count(controller, stranger, 1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(controller, stranger, -1)
	}, true
}

func (p *places) count(controller string, stranger bool, n int) {
	one := p.of[controller]
	one.requests += n
	p.all.requests += n
	if stranger {
		one.strangers += n
		p.all.strangers += n
	}
	if p.of[controller] = one; one == (taken{}) {
		delete(p.of, controller)
	}
}
