package sitetest

import (
	"context"
	"sync"
)

// History remembers conversations as long as the test runs.
type History struct {
	mu     sync.Mutex
	bodies map[[2]string][]byte
}

// NewHistory makes an empty one.
func NewHistory() *History { return &History{bodies: map[[2]string][]byte{}} }

// Conversation returns what was kept.
func (h *History) Conversation(_ context.Context, owner, session string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bodies[[2]string{owner, session}], nil
}

// KeepConversation keeps it.
func (h *History) KeepConversation(_ context.Context, owner, session string, body []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bodies[[2]string{owner, session}] = body
	return nil
}
