package store

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/intake"
)

// maxHistory entries of the ledger are kept.
const maxHistory = 10_000

// entriesAtOnce are inserted by one statement: most of the time that one entry
// takes by itself is the statement's.
const entriesAtOnce = 64

// saveEntries stores entries under their IDs; one that is there is replaced.
// What falls out of the history is dropped by number, without a search.
func saveEntries(ctx context.Context, tx *sql.Tx, entries []appliance.Entry) error {
	for some := range slices.Chunk(entries, entriesAtOnce) {
		args := make([]any, 0, 2*len(some))
		for _, e := range some {
			body, err := packEntry(e)
			if err != nil {
				return err
			}
			args = append(args, e.ID, body)
		}
		rows := strings.TrimSuffix(strings.Repeat("(?, ?), ", len(some)), ", ")
		if _, err := tx.ExecContext(ctx, "INSERT INTO entry (id, body) VALUES "+rows+
			" ON CONFLICT (id) DO UPDATE SET body = excluded.body", args...); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM entry WHERE seq <= (SELECT max(seq) FROM entry) - ?", maxHistory)
	return err
}

// Entries returns up to limit entries of the ledger, newest first: those whose
// ID sorts before the given one, or all if it is empty. Entries that cannot be
// read are left out.
func (s *Store) Entries(ctx context.Context, limit int, before string) ([]appliance.Entry, error) {
	var entries []appliance.Entry
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, body FROM entry WHERE ?1 = '' OR id < ?1 ORDER BY id DESC LIMIT ?2",
			before, min(max(limit, 0), maxHistory))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			var body []byte
			if err := rows.Scan(&id, &body); err != nil {
				return err
			}
			e, err := unpackEntry(ctx, id, body)
			if err != nil {
				s.log.Warn("an entry of the ledger cannot be read", "command", id, "error", err)
				continue
			}
			entries = append(entries, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return entries, nil
}

// storedEntry is the stored form of an entry: JSON with short keys, deflated
// when long. Kinds and stages are words, so that renumbering them in the core
// does not rewrite history. Times of members are microseconds since acceptance,
// plus one; 0 means never.
type storedEntry struct {
	Kind     string             `json:"k"`
	Target   appliance.Target   `json:"t"`
	Channel  int                `json:"c,omitempty"`
	Level    appliance.Level    `json:"l,omitempty"`
	Keep     bool               `json:"kl,omitempty"`
	Kelvin   appliance.Kelvin   `json:"ct,omitempty"`
	RGBW     uint32             `json:"col,omitempty"`
	Position appliance.Position `json:"p,omitempty"`
	Who      string             `json:"who,omitempty"`
	Via      string             `json:"via,omitempty"`
	Why      string             `json:"why,omitempty"`
	Expiry   int64              `json:"x,omitempty"`
	Accepted int64              `json:"a"`
	Done     int64              `json:"d,omitempty"`
	Err      string             `json:"e,omitempty"`
	Members  []storedMember     `json:"m,omitempty"`
}

type storedMember struct {
	Node         appliance.ID `json:"n,omitempty"`
	Channel      int          `json:"c,omitempty"`
	Shade        appliance.ID `json:"h,omitempty"`
	Stage        string       `json:"s"`
	Sent         int64        `json:"st,omitempty"`
	Acknowledged int64        `json:"at,omitempty"`
	Observed     int64        `json:"ot,omitempty"`
	Err          string       `json:"e,omitempty"`
	Offline      bool         `json:"off,omitempty"`
}

// deflated marks a body that is not plain JSON, which begins with a brace.
const deflated = 0x01

func packEntry(e appliance.Entry) ([]byte, error) {
	since := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return max(t.Sub(e.AcceptedAt).Microseconds(), 0) + 1
	}
	c := e.Command
	stored := storedEntry{
		Kind: c.Kind.Word(), Target: c.Target, Channel: c.Channel, Level: c.Level, Keep: c.KeepLevel,
		Kelvin: c.Kelvin, RGBW: packRGBW(c.RGBW), Position: c.Position,
		Who: c.Origin.Who, Via: c.Origin.Via, Why: c.Origin.Why,
		Expiry: nanos(c.Expiry), Accepted: nanos(e.AcceptedAt), Done: nanos(e.DoneAt), Err: e.Err,
	}
	for _, m := range e.Members {
		stored.Members = append(stored.Members, storedMember{
			Node: m.Ref.Node, Channel: m.Ref.Channel, Shade: m.Ref.Shade, Stage: m.Stage.Word(),
			Sent: since(m.SentAt), Acknowledged: since(m.AcknowledgedAt), Observed: since(m.ObservedAt),
			Err: m.Err, Offline: m.Offline,
		})
	}
	text, err := json.Marshal(stored)
	if err != nil || len(text) < 1024 {
		return text, err
	}
	var out bytes.Buffer
	out.WriteByte(deflated)
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil { // flushes
		return nil, err
	}
	return out.Bytes(), nil
}

// entryBounds are those of one entry: a command to every lamp of 5,000 has less than a
// megabyte. What a backup of somebody brings may claim more.
var entryBounds = intake.Limit{What: "an entry of the ledger", Bytes: 8 << 20, Advice: "it is left out"}

func unpackEntry(ctx context.Context, id string, body []byte) (appliance.Entry, error) {
	if len(body) > 0 && body[0] == deflated {
		var err error
		if body, err = intake.All(ctx, flate.NewReader(bytes.NewReader(body[1:])), entryBounds); err != nil {
			return appliance.Entry{}, err
		}
	}
	var stored storedEntry
	if err := json.Unmarshal(body, &stored); err != nil {
		return appliance.Entry{}, err
	}
	kind, ok := appliance.KindOf(stored.Kind)
	if !ok {
		return appliance.Entry{}, fmt.Errorf("command kind %q is unknown", stored.Kind)
	}
	e := appliance.Entry{
		ID: id,
		Command: appliance.Command{
			Kind: kind, Target: stored.Target, Channel: stored.Channel, Level: stored.Level, KeepLevel: stored.Keep,
			Kelvin: stored.Kelvin, RGBW: unpackRGBW(stored.RGBW), Position: stored.Position,
			Origin: appliance.Origin{Who: stored.Who, Via: stored.Via, Why: stored.Why},
			Expiry: moment(stored.Expiry),
		},
		AcceptedAt: moment(stored.Accepted), DoneAt: moment(stored.Done), Err: stored.Err,
	}
	e.Members = slices.Grow(e.Members, len(stored.Members))
	for _, m := range stored.Members {
		at := func(us int64) time.Time {
			if us == 0 {
				return time.Time{}
			}
			return e.AcceptedAt.Add(time.Duration(us-1) * time.Microsecond)
		}
		stage, ok := appliance.StageOf(m.Stage)
		if !ok {
			return appliance.Entry{}, fmt.Errorf("stage %q is unknown", m.Stage)
		}
		e.Members = append(e.Members, appliance.Member{
			Ref:    appliance.Ref{Node: m.Node, Channel: m.Channel, Shade: m.Shade},
			Stage:  stage,
			SentAt: at(m.Sent), AcknowledgedAt: at(m.Acknowledged), ObservedAt: at(m.Observed),
			Err: m.Err, Offline: m.Offline,
		})
	}
	return e, nil
}
