package web

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
)

// Streams bounds the answers that go on and on, such as server-sent events. Everybody has
// a share; whoever opens one more loses the oldest of their own, and nobody else is hurt.
// Where all places are taken, whoever has most loses one.
type Streams struct {
	perUser, perAddress, most int

	mu      sync.Mutex
	open    []*Stream      // oldest first
	leaving map[string]int // displaced, and not ended yet, by user
}

// Stream is one that is open.
type Stream struct {
	streams   *Streams
	user      string
	network   netip.Prefix
	displaced chan struct{}
}

// ErrStreams is for whoever has too many streams that were displaced and do not end, since
// nobody reads them.
var ErrStreams = errors.New("too many event streams are open")

// Displaced is the last event of a stream that had to make room. Browsers that reconnect
// by themselves wait for a minute, lest two of them push each other out for ever.
const Displaced = "retry: 60000\nevent: displaced\ndata: {}\n\n"

// NewStreams has so many of a user, from an address (of IPv6 a /64), and in all.
func NewStreams(perUser, perAddress, most int) *Streams {
	return &Streams{perUser: perUser, perAddress: perAddress, most: most, leaving: map[string]int{}}
}

// Enter opens a stream of a user. [Stream.Leave] ends it.
func (s *Streams) Enter(user string, peer netip.Addr) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[user] >= s.perUser {
		return nil, ErrStreams
	}
	me := &Stream{s, user, networkOf(peer), make(chan struct{})}
	s.open = append(s.open, me)
	ofUser := func(o *Stream) bool { return o.user == user }
	here := func(o *Stream) bool { return o.network == me.network }
	switch {
	case s.count(ofUser) > s.perUser:
		s.displace(ofUser)
	case s.count(here) > s.perAddress:
		s.displace(here)
	case len(s.open) > s.most:
		s.displace(func(*Stream) bool { return true })
	}
	return me, nil
}

// Displaced is closed when the stream has to make room: write [Displaced] and leave.
func (m *Stream) Displaced() <-chan struct{} { return m.displaced }

// Leave ends the stream.
func (m *Stream) Leave() {
	s := m.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.open, m); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
		return
	}
	if s.leaving[m.user]--; s.leaving[m.user] == 0 {
		delete(s.leaving, m.user)
	}
}

func (s *Streams) count(which func(*Stream) bool) (n int) {
	for _, o := range s.open {
		if which(o) {
			n++
		}
	}
	return n
}

// displace ends one of which: the oldest of the user who has most of them.
func (s *Streams) displace(which func(*Stream) bool) {
	has := map[string]int{}
	for _, o := range s.open {
		if which(o) {
			has[o.user]++
		}
	}
	oldest := -1
	for i, o := range s.open {
		if which(o) && (oldest < 0 || has[o.user] > has[s.open[oldest].user]) {
			oldest = i
		}
	}
	gone := s.open[oldest]
	s.open = slices.Delete(s.open, oldest, oldest+1)
	s.leaving[gone.user]++
	close(gone.displaced)
}
