package assistant

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/platform/assistant/question"
)

// Bounds of what is remembered.
const (
	MaxTurns    = 20  // of a conversation; older ones are forgotten
	MaxSessions = 100 // of an owner; the one that was idle longest makes room
	// SessionLife is how long an idle conversation is kept.
	SessionLife = 30 * 24 * time.Hour
	maxTurnText = 2000 // characters of a message or an answer that are remembered
)

// Turn is one message and its answer.
type Turn struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"`
	Reply   string    `json:"reply"`
	Agent   string    `json:"agent"`
}

// Conversation is what is remembered of a session.
type Conversation struct {
	Turns []Turn             `json:"turns,omitempty"`
	Last  *question.Question `json:"last,omitempty"` // what the next sentence may lean on
	Site  string             `json:"site,omitempty"` // controller that was talked about
	Order *Pending           `json:"order,omitempty"`
}

// remember adds a turn and keeps the bounds.
func (c *Conversation) remember(t Turn) {
	t.Message, t.Reply = clip(t.Message, maxTurnText), clip(t.Reply, maxTurnText)
	c.Turns = append(c.Turns, t)
	if n := len(c.Turns) - MaxTurns; n > 0 {
		c.Turns = slices.Delete(c.Turns, 0, n)
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// History keeps conversations. A session belongs to its owner: the same ID of another owner is another conversation.
type History interface {
	// Conversation returns what was kept, or an empty one.
	Conversation(ctx context.Context, owner, session string) (Conversation, error)
	// Keep stores a conversation, within [MaxSessions] of the owner and [SessionLife].
	Keep(ctx context.Context, owner, session string, c Conversation, now time.Time) error
}

// Memory is a [History] that ends with the process.
type Memory struct {
	mu       sync.Mutex
	sessions map[sessionKey]kept
}

type sessionKey struct{ owner, session string }

type kept struct {
	conversation Conversation
	at           time.Time
}

// NewMemory makes an empty history.
func NewMemory() *Memory { return &Memory{sessions: map[sessionKey]kept{}} }

// Conversation implements [History].
func (m *Memory) Conversation(_ context.Context, owner, session string) (Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.sessions[sessionKey{owner, session}].conversation
	c.Turns = slices.Clone(c.Turns)
	return c, nil
}

// Keep implements [History].
func (m *Memory) Keep(_ context.Context, owner, session string, c Conversation, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[sessionKey{owner, session}] = kept{c, now}
	var own []sessionKey
	for k, s := range m.sessions {
		switch {
		case now.Sub(s.at) > SessionLife:
			delete(m.sessions, k)
		case k.owner == owner:
			own = append(own, k)
		}
	}
	slices.SortFunc(own, func(a, b sessionKey) int {
		return cmp.Or(m.sessions[a].at.Compare(m.sessions[b].at), cmp.Compare(a.session, b.session))
	})
	for len(own) > MaxSessions {
		delete(m.sessions, own[0])
		own = own[1:]
	}
	return nil
}
