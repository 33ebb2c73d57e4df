package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Cloud is where a controller is enrolled, and what it proves itself with.
type Cloud struct {
	Platform   string // address that it enrolled at
	Controller string // its ID there
	Broker     string
	Username   string
	Password   string
	CA         string // PEM; empty: what the system trusts
	EnrolledAt time.Time
}

// Cloud returns where this controller is enrolled. It returns [appliance.ErrNotFound] if it is nowhere.
func (s *Store) Cloud(ctx context.Context) (Cloud, error) {
	var c Cloud
	var at int64
	err := s.db.Load().read.QueryRowContext(ctx, "SELECT platform, controller, broker, username, password, ca, enrolled_at FROM cloud").
		Scan(&c.Platform, &c.Controller, &c.Broker, &c.Username, &c.Password, &c.CA, &at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Cloud{}, fmt.Errorf("enrolment at a platform: %w", appliance.ErrNotFound)
	case err != nil:
		return Cloud{}, fmt.Errorf("load the enrolment at a platform: %w", err)
	}
	c.EnrolledAt = moment(at)
	return c, nil
}

// SetCloud enrols this controller, in place of any enrolment before.
func (s *Store) SetCloud(ctx context.Context, c Cloud) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO cloud (only, platform, controller, broker, username, password, ca, enrolled_at)
			VALUES (1, ?, ?, ?, ?, ?, ?, ?)`, c.Platform, c.Controller, c.Broker, c.Username, c.Password, c.CA, nanos(s.now()))
		if err != nil {
			return err
		}
		return bump(ctx, tx, subjectCloud)
	})
	if err != nil {
		return fmt.Errorf("save the enrolment at a platform: %w", err)
	}
	s.committed(ctx)
	return nil
}

// LeaveCloud ends the enrolment. It returns [appliance.ErrNotFound] if there is none.
func (s *Store) LeaveCloud(ctx context.Context) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM cloud")
		if err := oneRow(res, err, appliance.ErrNotFound); err != nil {
			return err
		}
		return bump(ctx, tx, subjectCloud)
	})
	if err != nil {
		return fmt.Errorf("end the enrolment at a platform: %w", err)
	}
	s.committed(ctx)
	return nil
}

// NextCloudSession numbers a session with the platform: higher than all before.
func (s *Store) NextCloudSession(ctx context.Context) (n int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "UPDATE mark SET high = high + 1 WHERE family = 'cloud session' RETURNING high").Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("number a session with the platform: %w", err)
	}
	return n, nil
}
