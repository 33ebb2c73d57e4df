package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/platform/understand"
)

// Bounds of what is remembered of one conversation.
const (
	MaxTurns    = 20   // older ones are forgotten
	maxTurnText = 2000 // characters of a message or an answer
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
	Turns []Turn            `json:"turns,omitempty"`
	Last  *understand.Frame `json:"last,omitempty"` // what the next sentence may lean on
	Site  string            `json:"site,omitempty"` // controller that was talked about
	Order *Pending          `json:"order,omitempty"`
	Sent  *Ordered          `json:"sent,omitempty"` // an order that was on its way when it was last spoken of
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

// History keeps conversations as JSON. A session belongs to its owner: the same ID of another owner is another
// conversation.
type History interface {
	// Conversation returns what was kept, nil for a new session.
	Conversation(ctx context.Context, owner, session string) ([]byte, error)
	// KeepConversation stores it, within the bounds that the store puts on sessions.
	KeepConversation(ctx context.Context, owner, session string, body []byte) error
}

// recall reads a conversation. What cannot be read is begun anew: it is of another version, and nothing depends on it.
func (e *Assistant) recall(ctx context.Context, owner, session string) (Conversation, error) {
	var c Conversation
	body, err := e.History.Conversation(ctx, owner, session)
	if err != nil {
		return c, fmt.Errorf("read conversation: %w", err)
	}
	if len(body) > 0 && json.Unmarshal(body, &c) != nil {
		return Conversation{}, nil
	}
	return c, nil
}

func (e *Assistant) keep(ctx context.Context, owner, session string, c Conversation) error {
	body, err := json.Marshal(c)
	if err == nil {
		err = e.History.KeepConversation(ctx, owner, session, body)
	}
	if err != nil {
		return fmt.Errorf("keep conversation: %w", err)
	}
	return nil
}
