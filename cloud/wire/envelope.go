package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Version of the envelope.
const Version = 1

// MaxMessage is the largest message in bytes; larger ones are refused unread.
const MaxMessage = 64 << 10

// Type of a message; it says which data the envelope holds.
type Type string

// The types.
const (
	TypeWidget   Type = "widget.action"
	TypeOrder    Type = "order"
	TypeConfig   Type = "config"
	TypeStatus   Type = "status"
	TypeAck      Type = "ack"
	TypeState    Type = "state"
	TypeTele     Type = "telemetry"
	TypeEvent    Type = "event"
	TypePanel    Type = "panel.values"
	TypeLedger   Type = "ledger"
	TypeTunnel   Type = "tunnel.request"
	TypeTunneled Type = "tunnel.part"
)

// Envelope is around every message. Unknown members are ignored.
type Envelope struct {
	V    int       `json:"v"`
	ID   string    `json:"id"` // UUIDv7; a repeated message keeps it
	Type Type      `json:"type"`
	TS   time.Time `json:"ts"` // when it was made, UTC
	// Seq counts up within an epoch; 0 where order does not matter. A receiver compares it only with messages of the
	// same epoch.
	Seq   int64  `json:"seq,omitempty"`
	Epoch string `json:"epoch,omitempty"`
	// Exp is when the message is worth nothing any more; nil where it stays true.
	Exp  *time.Time      `json:"exp,omitempty"`
	Corr string          `json:"corr,omitempty"` // ID of the message that this one answers
	Data json.RawMessage `json:"data"`
}

// ErrVersion says that a message speaks another version.
var ErrVersion = errors.New("message of another version")

// Seal puts data into an envelope and returns its bytes.
func (e Envelope) Seal(data any) ([]byte, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", e.Type, err)
	}
	e.V, e.TS, e.Data = Version, e.TS.UTC(), raw
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", e.Type, err)
	}
	if len(b) > MaxMessage {
		return nil, fmt.Errorf("pack %s: %d bytes, at most %d", e.Type, len(b), MaxMessage)
	}
	return b, nil
}

// Open reads an envelope and refuses what is too large, of another version, or without ID, type or time.
func Open(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxMessage {
		return e, fmt.Errorf("message of %d bytes, at most %d", len(b), MaxMessage)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("read message: %w", err)
	}
	switch {
	case e.V != Version:
		return e, fmt.Errorf("%w: v is %d, want %d", ErrVersion, e.V, Version)
	case e.ID == "" || len(e.ID) > 64:
		return e, errors.New("message without a usable id (1 to 64 characters)")
	case e.Type == "" || e.TS.IsZero():
		return e, errors.New("message without type or ts")
	}
	return e, nil
}

// Read takes the data out.
func (e Envelope) Read(into any) error {
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("read %s %s: %w", e.Type, e.ID, err)
	}
	return nil
}
