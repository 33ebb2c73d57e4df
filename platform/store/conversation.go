package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Bounds of what is remembered of conversations.
const (
	// MaxConversations of one owner; the one that was idle longest makes room.
	MaxConversations = 100
	// ConversationLife is how long an idle one is kept.
	ConversationLife = 30 * 24 * time.Hour
	maxConversation  = 256 << 10 // bytes
)

// Conversation returns what was kept of an owner's session, nil for a new one.
func (s *Store) Conversation(ctx context.Context, owner, session string) ([]byte, error) {
	var body string
	err := s.views.QueryRowContext(ctx, "SELECT body FROM conversation WHERE owner = $1 AND session = $2 AND used_at > $3",
		owner, session, Micros(s.now().Add(-ConversationLife))).Scan(&body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	return []byte(body), nil
}

// KeepConversation keeps an owner's session instead of what was kept of it before, and
// forgets what is beyond the bounds.
func (s *Store) KeepConversation(ctx context.Context, owner, session string, body []byte) error {
	if len(body) > maxConversation {
		return fmt.Errorf("keep conversation: %d bytes, at most %d", len(body), maxConversation)
	}
	now := s.now()
	return s.writeAside(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE conversation SET body = $3, used_at = $4 WHERE owner = $1 AND session = $2", owner, session, string(body), Micros(now))
		if err != nil {
			return fmt.Errorf("keep conversation: %w", err)
		}
		if n, err := res.RowsAffected(); n > 0 || err != nil { // it was there: none has to make room for it
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversation (owner, session, body, used_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (owner, session) DO UPDATE SET body = excluded.body, used_at = excluded.used_at`, owner, session, string(body), Micros(now)); err != nil {
			return fmt.Errorf("keep conversation: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM conversation WHERE owner = $1 AND session NOT IN
			(SELECT session FROM conversation WHERE owner = $1 ORDER BY used_at DESC, session LIMIT $2)`, owner, MaxConversations); err != nil {
			return fmt.Errorf("forget idle conversations: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM conversation WHERE used_at <= $1", Micros(now.Add(-ConversationLife))); err != nil {
			return fmt.Errorf("forget old conversations: %w", err)
		}
		return nil
	})
}
