package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/platform"
)

// AddController makes a controller that a one-time code admits until a time; code is the hash of that code. It returns
// [platform.ErrExists] if the ID is taken.
func (s *Store) AddController(ctx context.Context, id, label string, code [32]byte, until time.Time) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO controller (id, label, code_hash, code_until, created_at, epoch)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
			id, label, code[:], Micros(until), Micros(s.now()), newID())
		return oneRow(res, err, platform.ErrExists)
	})
	if err != nil {
		return fmt.Errorf("add controller %s: %w", id, err)
	}
	return nil
}

// RenewCode gives a controller another one-time code, with which its appliance, or a new one in its place, enrols again.
func (s *Store) RenewCode(ctx context.Context, id string, code [32]byte, until time.Time) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE controller SET code_hash = $2, code_until = $3 WHERE id = $1", id, code[:], Micros(until))
		return oneRow(res, err, platform.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("make a new code for controller %s: %w", id, err)
	}
	return nil
}

// Enrol uses up a one-time code: whoever sent it is the controller from now on, with the credential that issue makes for
// it. An unknown, used or expired code is [platform.ErrNotFound].
func (s *Store) Enrol(ctx context.Context, code [32]byte, issue func(id string) platform.Credential) (id string, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, `UPDATE controller SET code_hash = NULL, code_until = 0, enrolled_at = $2, revoked = FALSE
			WHERE code_hash = $1 AND code_until > $2 RETURNING id`, code[:], Micros(s.now()))
		if err := found(row.Scan(&id)); err != nil {
			return err
		}
		return s.putCredential(ctx, tx, issue(id))
	})
	if err != nil {
		return "", fmt.Errorf("enrol a controller: %w", err)
	}
	return id, nil
}

// PutCredential makes a credential, or replaces the one of that user name.
func (s *Store) PutCredential(ctx context.Context, c platform.Credential) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		var one int
		if err := found(tx.QueryRowContext(ctx, "SELECT 1 FROM controller WHERE id = $1", c.Controller).Scan(&one)); err != nil {
			return err
		}
		return s.putCredential(ctx, tx, c)
	})
	if err != nil {
		return fmt.Errorf("make credential %s for controller %s: %w", c.Username, c.Controller, err)
	}
	return nil
}

func (s *Store) putCredential(ctx context.Context, tx *sql.Tx, c platform.Credential) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO broker_credential (username, controller, integration, hash, mosquitto, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (username) DO UPDATE SET
		controller = excluded.controller, integration = excluded.integration, hash = excluded.hash,
		mosquitto = excluded.mosquitto, created_at = excluded.created_at`,
		c.Username, c.Controller, c.Integration, c.Hash[:], c.Mosquitto, Micros(s.now()))
	return err
}

// Credential finds what a user of the broker must prove. It returns [platform.ErrNotFound] for nobody.
func (s *Store) Credential(ctx context.Context, username string) (platform.Credential, error) {
	c := platform.Credential{Username: username}
	var hash []byte
	err := s.views.QueryRowContext(ctx, "SELECT controller, integration, hash, mosquitto FROM broker_credential WHERE username = $1", username).
		Scan(&c.Controller, &c.Integration, &hash, &c.Mosquitto)
	if err := found(err); err != nil {
		return platform.Credential{}, fmt.Errorf("credential %q: %w", username, err)
	}
	copy(c.Hash[:], hash)
	return c, nil
}

// Credentials lists all credentials by user name.
func (s *Store) Credentials(ctx context.Context) ([]platform.Credential, error) {
	var out []platform.Credential
	err := each(ctx, s.views, func(row scanner) error {
		var c platform.Credential
		var hash []byte
		if err := row.Scan(&c.Username, &c.Controller, &c.Integration, &hash, &c.Mosquitto); err != nil {
			return err
		}
		copy(c.Hash[:], hash)
		out = append(out, c)
		return nil
	}, "SELECT username, controller, integration, hash, mosquitto FROM broker_credential ORDER BY username")
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	return out, nil
}

// RevokeController takes all credentials and codes of a controller away. What it reported stays.
func (s *Store) RevokeController(ctx context.Context, id string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE controller SET revoked = TRUE, online = FALSE, code_hash = NULL, code_until = 0 WHERE id = $1", id)
		if err := oneRow(res, err, platform.ErrNotFound); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM broker_credential WHERE controller = $1", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke controller %s: %w", id, err)
	}
	return nil
}

// Enrolments lists all controllers by ID.
func (s *Store) Enrolments(ctx context.Context) ([]platform.Enrolment, error) {
	out := []platform.Enrolment{}
	rows, err := s.hot.controllers.QueryContext(ctx)
	if err == nil {
		err = eachOf(rows, func(row scanner) error {
			e, err := scanEnrolment(row)
			out = append(out, e)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("list controllers: %w", err)
	}
	return out, nil
}

// Enrolment finds one controller.
func (s *Store) Enrolment(ctx context.Context, id string) (platform.Enrolment, error) {
	e, err := scanEnrolment(s.views.QueryRowContext(ctx, "SELECT "+enrolmentColumns+" FROM controller WHERE id = $1", id))
	if err := found(err); err != nil {
		return platform.Enrolment{}, fmt.Errorf("controller %q: %w", id, err)
	}
	return e, nil
}

const enrolmentColumns = "id, CASE WHEN site_name = '' THEN label ELSE site_name END, firmware, online, last_seen, created_at, enrolled_at, code_until, revoked, revision"

func scanEnrolment(row scanner) (e platform.Enrolment, err error) {
	var seen, created, enrolled, until int64
	err = row.Scan(&e.ID, &e.Name, &e.Firmware, &e.Online, &seen, &created, &enrolled, &until, &e.Revoked, &e.Revision)
	e.LastSeen, e.CreatedAt, e.EnrolledAt, e.CodeUntil = Moment(seen), Moment(created), Moment(enrolled), Moment(until)
	return e, err
}

// SetPanels replaces the panels of a controller, JSON text, and returns the number of that change.
func (s *Store) SetPanels(ctx context.Context, id string, panels json.RawMessage) (rev int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, "UPDATE controller SET panels = $2, panels_rev = panels_rev + 1 WHERE id = $1 RETURNING panels_rev", id, string(panels))
		return found(row.Scan(&rev))
	})
	if err != nil {
		return 0, fmt.Errorf("set the panels of controller %q: %w", id, err)
	}
	return rev, nil
}

// Panels of a controller and the number of their last change.
func (s *Store) Panels(ctx context.Context, id string) (rev int64, panels json.RawMessage, err error) {
	var text string
	err = found(s.views.QueryRowContext(ctx, "SELECT panels_rev, panels FROM controller WHERE id = $1", id).Scan(&rev, &text))
	if err != nil {
		return 0, nil, fmt.Errorf("panels of controller %q: %w", id, err)
	}
	return rev, json.RawMessage(text), nil
}

// SetSession notes that a controller came or went, and reports whether that is news: whether it was the other way
// before. A death of an older session than the one that lives is none.
func (s *Store) SetSession(ctx context.Context, v platform.Session) (news bool, err error) {
	err = s.writeAside(ctx, func(tx *sql.Tx) error {
		news = false
		var online bool
		var boot int64
		err := tx.QueryRowContext(ctx, "SELECT online, boot FROM controller WHERE id = $1 AND NOT revoked", v.Controller).Scan(&online, &boot)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil || !v.Online && v.Boot < boot {
			return err
		}
		news = online != v.Online
		_, err = tx.ExecContext(ctx, `UPDATE controller SET online = $2, boot = $3, last_seen = $4,
			site_name = CASE WHEN $5 = '' THEN site_name ELSE $5 END, firmware = CASE WHEN $6 = '' THEN firmware ELSE $6 END WHERE id = $1`,
			v.Controller, v.Online, v.Boot, Micros(v.At), v.Name, v.Firmware)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("note that controller %q came or went: %w", v.Controller, err)
	}
	return news, nil
}
