// Package quota keeps every controller to its share of the platform: one that has gone mad
// must not cost the others anything.
package quota

import (
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What one controller may have. A building of 5,000 lights has some 11,000 states of 300 to
// 500 bytes each, and reports all of them when it connects.
const (
	// TopicsMost topics hold a retained message or a state, TopicBytesMost bytes together.
	TopicsMost     = 32_000
	TopicBytesMost = 24 << 20
	// StoredMost bytes of events and telemetry a day are kept for years.
	StoredMost = 64 << 20
	// Messages and bytes a second on average, and at once. What is beyond is not dropped: it
	// is read later, so that no state is false.
	messageRate, messageBurst = 2000, 40_000
	byteRate, byteBurst       = 2 << 20, 24 << 20
)

// Why something was left out.
type Why string

// The reasons.
const (
	TooManyTopics Why = "topics" // of retained messages and states
	TooMuchKept   Why = "bytes"  // of these
	TooMuchStored Why = "storage"
)

// Excess is what was left out of what one controller sent.
type Excess struct {
	Why     Why       `json:"why"`
	Dropped uint64    `json:"dropped"` // messages, since the program started
	Last    time.Time `json:"last"`
}

// Book keeps the shares of all controllers.
type Book struct {
	log  *slog.Logger
	now  func() time.Time
	seed maphash.Seed

	mu    sync.Mutex
	share map[string]*share
}

// share is what one controller has.
type share struct {
	topics      map[uint64]int32 // bytes, by the hash of the topic
	bytes       int
	stored      *rate.Limiter
	messages    *rate.Limiter
	payload     *rate.Limiter
	excess      map[Why]*Excess
	logged      time.Time
	unannounced uint64 // left out since then
}

// NewBook returns a book in which nobody has anything yet.
func NewBook(log *slog.Logger) *Book {
	return &Book{log: log, now: time.Now, seed: maphash.MakeSeed(), share: map[string]*share{}}
}

func (b *Book) of(controller string) *share {
	s := b.share[controller]
	if s == nil {
		s = &share{
			topics: map[uint64]int32{}, excess: map[Why]*Excess{},
			stored:   rate.NewLimiter(rate.Limit(float64(StoredMost)/(24*time.Hour).Seconds()), StoredMost),
			messages: rate.NewLimiter(messageRate, messageBurst), payload: rate.NewLimiter(byteRate, byteBurst),
		}
		b.share[controller] = s
	}
	return s
}

// Hold reports whether a message may be kept under its topic, in place of the one that is
// there; one of no bytes takes it away.
func (b *Book) Hold(controller, topic string, size int) bool {
	if size > 0 {
		size += len(topic) // which is kept with it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, key := b.of(controller), maphash.String(b.seed, topic)
	old, there := s.topics[key]
	switch {
	case size == 0:
		delete(s.topics, key)
		s.bytes -= int(old)
		return true
	case !there && len(s.topics) >= TopicsMost:
		b.drop(controller, s, TooManyTopics)
		return false
	case s.bytes-int(old)+size > TopicBytesMost:
		b.drop(controller, s, TooMuchKept)
		return false
	}
	s.topics[key] = int32(size)
	s.bytes += size - int(old)
	return true
}

// Store reports whether a message of this size may be kept for years.
func (b *Book) Store(controller string, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of(controller)
	if s.stored.AllowN(b.now(), size) {
		return true
	}
	b.drop(controller, s, TooMuchStored)
	return false
}

// Pace counts a message that came in, and tells how long nothing more is to be read from
// this controller.
func (b *Book) Pace(controller string, size int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, now := b.of(controller), b.now()
	return max(s.messages.ReserveN(now, 1).DelayFrom(now), s.payload.ReserveN(now, min(size, byteBurst)).DelayFrom(now))
}

// logEvery is how often what is left out of one controller is logged.
const logEvery = time.Hour

func (b *Book) drop(controller string, s *share, why Why) {
	e := s.excess[why]
	if e == nil {
		e = &Excess{Why: why}
		s.excess[why] = e
	}
	e.Dropped++
	e.Last = b.now()
	s.unannounced++
	if e.Last.Sub(s.logged) < logEvery {
		return
	}
	b.log.Warn("a controller sends more than its share: the rest is left out, and its page tells of it",
		"controller", controller, "why", string(why), "left_out", s.unannounced)
	s.logged, s.unannounced = e.Last, 0
}

// Excess is what was left out of what a controller sent; nothing as a rule.
func (b *Book) Excess(controller string) []Excess {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.share[controller]
	if s == nil {
		return nil
	}
	var all []Excess
	for _, why := range []Why{TooManyTopics, TooMuchKept, TooMuchStored} {
		if e := s.excess[why]; e != nil {
			all = append(all, *e)
		}
	}
	return all
}

// Each calls f with what every controller has: how many topics with how many bytes, and
// what was left out.
func (b *Book) Each(f func(controller string, topics, bytes int, left []Excess)) {
	b.mu.Lock()
	names := make([]string, 0, len(b.share))
	for name := range b.share {
		names = append(names, name)
	}
	b.mu.Unlock()
	for _, name := range names {
		left := b.Excess(name)
		b.mu.Lock()
		topics, bytes := len(b.share[name].topics), b.share[name].bytes
		b.mu.Unlock()
		f(name, topics, bytes, left)
	}
}
