package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/lookalike"
)

const accountColumns = "a.id, a.name, a.role, a.disabled, a.issuer, a.revision, a.created_at"

// account is what a row with accountColumns is scanned into.
type account struct {
	platform.User
	created int64
}

func (a *account) columns() []any {
	return []any{&a.ID, &a.Name, &a.Role, &a.Disabled, &a.Issuer, &a.Revision, &a.created}
}

func (a *account) user() platform.User {
	a.CreatedAt = Moment(a.created)
	return a.User
}

// newID makes the ID of a new row; those made later sort later.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// AddUser adds somebody with the stored form of a password. It returns
// [platform.ErrExists] if the name is taken.
func (s *Store) AddUser(ctx context.Context, name string, role platform.Role, password string) (platform.User, error) {
	if err := platform.CheckUserName(name); err != nil {
		return platform.User{}, fmt.Errorf("add user: %w", err)
	}
	user, err := s.addUser(ctx, platform.User{Name: name, Role: role}, "", password)
	if err != nil {
		return platform.User{}, fmt.Errorf("add user %q: %w", name, err)
	}
	return user, nil
}

func (s *Store) addUser(ctx context.Context, u platform.User, subject, password string) (platform.User, error) {
	u.ID, u.CreatedAt = newID(), Moment(Micros(s.now()))
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := unlikeOthers(ctx, tx, u.Name); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO account (id, name, role, password, issuer, subject, disabled, revision, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, FALSE, 0, $7) ON CONFLICT DO NOTHING`,
			u.ID, u.Name, u.Role, password, u.Issuer, subject, Micros(u.CreatedAt))
		return oneRow(res, err, platform.ErrExists)
	})
	return u, err
}

// unlikeOthers refuses the name of a new user that people could take for another one's.
// Users from before this was looked at stay.
func unlikeOthers(ctx context.Context, tx *sql.Tx, name string) error {
	rows, err := tx.QueryContext(ctx, "SELECT name FROM account")
	if err != nil {
		return err
	}
	defer rows.Close()
	folded := lookalike.Fold(name)
	for rows.Next() {
		var there string
		if err := rows.Scan(&there); err != nil {
			return err
		}
		if there != name && lookalike.Fold(there) == folded {
			return fmt.Errorf("user %q, whom people would take for this one, %w", there, platform.ErrExists)
		}
	}
	return rows.Err()
}

// Users lists all users by name.
func (s *Store) Users(ctx context.Context) ([]platform.User, error) {
	var users []platform.User
	err := each(ctx, s.views, func(row scanner) error {
		var a account
		if err := row.Scan(a.columns()...); err != nil {
			return err
		}
		users = append(users, a.user())
		return nil
	}, "SELECT "+accountColumns+" FROM account a ORDER BY a.name")
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return users, nil
}

// UserByName finds a user and the stored form of the password, which is empty for
// one whom an identity provider vouches for.
func (s *Store) UserByName(ctx context.Context, name string) (user platform.User, password string, err error) {
	var a account
	row := s.views.QueryRowContext(ctx, "SELECT "+accountColumns+", a.password FROM account a WHERE a.name = $1", name)
	if err := found(row.Scan(append(a.columns(), &password)...)); err != nil {
		return platform.User{}, "", fmt.Errorf("user %q: %w", name, err)
	}
	return a.user(), password, nil
}

// UserOfProvider finds whom the identity provider issuer calls subject.
func (s *Store) UserOfProvider(ctx context.Context, issuer, subject string) (platform.User, error) {
	var a account
	row := s.views.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM account a WHERE a.issuer = $1 AND a.subject = $2", issuer, subject)
	if err := found(row.Scan(a.columns()...)); err != nil {
		return platform.User{}, fmt.Errorf("user %q of %s: %w", subject, issuer, err)
	}
	return a.user(), nil
}

// AddUserOfProvider adds somebody at first sight, and returns who is there already.
func (s *Store) AddUserOfProvider(ctx context.Context, issuer, subject, name string, role platform.Role) (platform.User, error) {
	if err := platform.CheckUserName(name); err != nil {
		return platform.User{}, fmt.Errorf("add user %q of %s: %w", subject, issuer, err)
	}
	user, err := s.addUser(ctx, platform.User{Name: name, Role: role, Issuer: issuer}, subject, "")
	if errors.Is(err, platform.ErrExists) {
		return s.UserOfProvider(ctx, issuer, subject)
	}
	if err != nil {
		return platform.User{}, fmt.Errorf("add user %q of %s: %w", subject, issuer, err)
	}
	return user, nil
}

// SetRole changes what a user may do.
func (s *Store) SetRole(ctx context.Context, name string, role platform.Role) error {
	return s.changeUser(ctx, "set the role of", name, false, "role = $2", role)
}

// SetPassword changes the stored form of a password and ends all sessions of the
// user.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	return s.changeUser(ctx, "set the password of", name, true, "password = $2", password)
}

// SetDisabled switches a user off, who loses all sessions, or on again. Keys of a
// disabled user work again when the user does.
func (s *Store) SetDisabled(ctx context.Context, name string, disabled bool) error {
	if disabled {
		return s.changeUser(ctx, "disable", name, true, "disabled = $2", true)
	}
	return s.changeUser(ctx, "enable", name, false, "disabled = $2", false)
}

// RemoveUser removes a user with all keys and sessions.
func (s *Store) RemoveUser(ctx context.Context, name string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM account WHERE name = $1", name)
		return oneRow(res, err, platform.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("remove user %q: %w", name, err)
	}
	return nil
}

func (s *Store) changeUser(ctx context.Context, what, name string, endSessions bool, set string, value any) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE account SET "+set+", revision = revision + 1 WHERE name = $1", name, value)
		if err := oneRow(res, err, platform.ErrNotFound); err != nil || !endSessions {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM session WHERE account = (SELECT id FROM account WHERE name = $1)", name)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s user %q: %w", what, name, err)
	}
	return nil
}

// found turns "no such row" into [platform.ErrNotFound].
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return platform.ErrNotFound
	}
	return err
}
