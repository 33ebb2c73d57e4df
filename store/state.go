package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

var _ appliance.Journal = (*Store)(nil)

// SaveBatch stores last known state and ledger entries, all of it or none. It
// returns when the batch is committed; it is on the flash at most 2 s later.
func (s *Store) SaveBatch(ctx context.Context, b appliance.Batch) error {
	if len(b.States)+len(b.Entries) == 0 {
		return nil
	}
	err := s.writeBy(ctx, s.db.Load().behind, func(tx *sql.Tx) error {
		if err := saveStates(ctx, tx, b.States); err != nil {
			return err
		}
		return saveEntries(ctx, tx, b.Entries)
	})
	if err != nil {
		return fmt.Errorf("save %d states and %d ledger entries: %w", len(b.States), len(b.Entries), err)
	}
	s.keeper.written()
	return nil
}

// saveStates writes each row only if it differs, so that an unchanged one costs
// nothing. The time alone does not tell: a shade that is turned round keeps that of
// its last reading.
func saveStates(ctx context.Context, tx *sql.Tx, states []appliance.Saved) error {
	if len(states) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO state
		(node, channel, shade, has, level, kelvin, rgbw, power, motion, position, uncertainty, last_level, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (shade, node, channel) DO UPDATE SET has = excluded.has, level = excluded.level,
		kelvin = excluded.kelvin, rgbw = excluded.rgbw, power = excluded.power,
		motion = excluded.motion, position = excluded.position, uncertainty = excluded.uncertainty,
		last_level = excluded.last_level, at = excluded.at
		WHERE (has, level, kelvin, rgbw, power, motion, position, uncertainty, last_level, at) <> (excluded.has, excluded.level,
		excluded.kelvin, excluded.rgbw, excluded.power, excluded.motion, excluded.position, excluded.uncertainty, excluded.last_level, excluded.at)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, v := range states {
		if _, err := insert.ExecContext(ctx, v.Node, v.Channel, v.Shade, v.Has, v.Level, v.Kelvin,
			packRGBW(v.RGBW), v.Power, v.Motion, v.Position, v.Uncertainty, v.LastLevel, nanos(v.At)); err != nil {
			return err
		}
	}
	return nil
}

// LoadStates returns the last state saved of every thing. What cannot be read is
// logged and left out: it is read from its device again.
func (s *Store) LoadStates(ctx context.Context) ([]appliance.Saved, error) {
	var states []appliance.Saved
	err := s.view(ctx, func(tx *sql.Tx) error {
		broken := func(key any, err error) {
			s.log.Error("a last known state cannot be read and is forgotten", "node", key, "why", err)
		}
		return each(ctx, tx, broken, func(row scanner) error {
			var v appliance.Saved
			var rgbw uint32
			var at int64
			if err := row.Scan(&v.Node, &v.Channel, &v.Shade, &v.Has, &v.Level, &v.Kelvin, &rgbw,
				&v.Power, &v.Motion, &v.Position, &v.Uncertainty, &v.LastLevel, &at); err != nil {
				return err
			}
			v.RGBW, v.At = unpackRGBW(rgbw), moment(at)
			states = append(states, v)
			return nil
		}, `SELECT node, channel, shade, has, level, kelvin, rgbw, power,
			motion, position, uncertainty, last_level, at FROM state ORDER BY shade, node, channel`)
	})
	if err != nil {
		return nil, fmt.Errorf("load last known state: %w", err)
	}
	return states, nil
}

// forgetState drops the state of what is retired.
func forgetState(ctx context.Context, tx *sql.Tx, f Family, id appliance.ID) error {
	var err error
	switch f {
	case Nodes:
		_, err = tx.ExecContext(ctx, "DELETE FROM state WHERE shade = 0 AND node = ?", id)
	case Shades:
		_, err = tx.ExecContext(ctx, "DELETE FROM state WHERE shade = ?", id)
	}
	return err
}

func packRGBW(c appliance.RGBW) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.W)
}

func unpackRGBW(v uint32) appliance.RGBW {
	return appliance.RGBW{R: uint8(v >> 24), G: uint8(v >> 16), B: uint8(v >> 8), W: uint8(v)}
}
