package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/lookalike"
	"svc.internal/controller/shelf/password"
)

// maxUserName bounds the names of users and keys, in characters.
const maxUserName = 64

func loadUsers(ctx context.Context, tx *sql.Tx, broken func(key any, err error)) (users []userEntry, err error) {
	err = each(ctx, tx, broken, func(row scanner) error {
		var a userEntry
		var at int64
		if err := row.Scan(&a.Name, &a.ID, uuidColumn{&a.UUID}, &a.Role, &a.password, &at, &a.Revision); err != nil {
			return err
		}
		a.CreatedAt = moment(at)
		users = append(users, a)
		return nil
	}, "SELECT name, number, uuid, role, password, created_at, revision FROM user")
	return users, err
}

// Users lists all users by name.
func (s *Store) Users() []account.User {
	var users []account.User
	for a := range maps.Values(s.accounts.Load().users) {
		users = append(users, a.User)
	}
	slices.SortFunc(users, func(a, b account.User) int { return cmp.Compare(a.Name, b.Name) })
	return users
}

// AddUser adds somebody. It returns [account.ErrExists] if the name is taken, or
// is one that people would take for another's ([lookalike.Fold]), and [appliance.ErrOutOfRange] for an unknown role, an unusable name or a
// password that is not UTF-8 or has less than 10 characters. The name of a removed user may be used
// again: it is another user then, for whom no old token is good.
func (s *Store) AddUser(ctx context.Context, name, password string, role account.Role) (account.User, error) {
	user := account.User{UUID: appliance.NewUUID(), Name: name, Role: role, CreatedAt: moment(s.now().UnixNano())}
	fail := func(err error) (account.User, error) {
		return account.User{}, fmt.Errorf("add user %q: %w", name, err)
	}
	if err := checkAccountName(name); err != nil {
		return fail(err)
	}
	if err := checkRole(role); err != nil {
		return fail(err)
	}
	stored, err := s.newPassword(ctx, password)
	if err != nil {
		return fail(err)
	}
	err = s.changeAccounts(ctx, func(tx *sql.Tx) error {
		if err := unlikeOthers(ctx, tx, name); err != nil {
			return err
		}
		if user.Revision, err = nextUserRevision(ctx, tx); err != nil {
			return err
		}
		number, err := nextNumber(ctx, tx, "user", "user", user.UUID)
		if err != nil {
			return err
		}
		user.ID = int64(number)
		res, err := tx.ExecContext(ctx, `INSERT INTO user (uuid, number, name, role, password, created_at, revision)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
			user.UUID[:], user.ID, name, role, stored, nanos(user.CreatedAt), user.Revision)
		return oneRow(res, err, account.ErrExists)
	})
	if err != nil {
		return fail(err)
	}
	return user, nil
}

// SetPassword changes a password and ends all tokens of the user.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	stored, err := s.newPassword(ctx, password)
	if err != nil {
		return fmt.Errorf("set the password of user %q: %w", name, err)
	}
	err = s.changeAccounts(ctx, func(tx *sql.Tx) error {
		revision, err := nextUserRevision(ctx, tx)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "UPDATE user SET password = ?, revision = ? WHERE name = ?", stored, revision, name)
		if err := oneRow(res, err, appliance.ErrNotFound); err != nil {
			return err
		}
		return dropTokens(ctx, tx, name)
	})
	if err != nil {
		return fmt.Errorf("set the password of user %q: %w", name, err)
	}
	return nil
}

// SetRole changes what a user may do. Access tokens end, so that none carries
// the old role; refresh tokens live on and give tokens of the new one.
func (s *Store) SetRole(ctx context.Context, name string, role account.Role) error {
	err := checkRole(role)
	if err == nil {
		err = s.changeAccounts(ctx, func(tx *sql.Tx) error {
			revision, err := nextUserRevision(ctx, tx)
			if err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, "UPDATE user SET role = ?, revision = ? WHERE name = ?", role, revision, name)
			return oneRow(res, err, appliance.ErrNotFound)
		})
	}
	if err != nil {
		return fmt.Errorf("set the role of user %q: %w", name, err)
	}
	return nil
}

// RemoveUser removes a user and ends all tokens.
func (s *Store) RemoveUser(ctx context.Context, name string) error {
	err := s.changeAccounts(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM user WHERE name = ?", name)
		return oneRow(res, err, appliance.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("remove user %q: %w", name, err)
	}
	return nil
}

// changeAccounts runs fn in one durable transaction. When it returns, the
// directory knows.
func (s *Store) changeAccounts(ctx context.Context, fn func(*sql.Tx) error) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return bump(ctx, tx, subjectAccounts)
	})
	if err == nil {
		s.committed(ctx)
	}
	return err
}

func (s *Store) newPassword(ctx context.Context, wanted string) (string, error) {
	if err := password.Check(wanted); err != nil {
		return "", unusable(err.Error())
	}
	var stored string
	err := s.hash(ctx, func() { stored = password.Hash(wanted) })
	return stored, err
}

// replaceHash stores another hash of the same password, unless the password was
// changed meanwhile.
func (s *Store) replaceHash(ctx context.Context, a userEntry, stored string) error {
	return s.changeAccounts(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE user SET password = ? WHERE uuid = ? AND password = ?", stored, a.UUID[:], a.password)
		return err
	})
}

// nextUserRevision counts across all users ever, so that a token of a removed
// user is void for another one of the same name.
func nextUserRevision(ctx context.Context, tx *sql.Tx) (int64, error) {
	var n int64
	err := tx.QueryRowContext(ctx, "UPDATE mark SET high = high + 1 WHERE family = 'user revision' RETURNING high").Scan(&n)
	return n, err
}

// oneRow turns a statement that hit no row into none.
func oneRow(res sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return none
	}
	return err
}

// unlikeOthers refuses the name of a new user that people could take for another one's.
// Users from before this was looked at stay.
func unlikeOthers(ctx context.Context, tx *sql.Tx, name string) error {
	folded := lookalike.Fold(name)
	like := ""
	err := each(ctx, tx, func(any, error) {}, func(row scanner) error {
		var there string
		if err := row.Scan(&there); err != nil {
			return err
		}
		if lookalike.Fold(there) == folded {
			like = there
		}
		return nil
	}, "SELECT name FROM user")
	switch {
	case err != nil, like == "":
		return err
	case like == name:
		return account.ErrExists
	}
	return fmt.Errorf("user %q, whom people would take for this one, %w", like, account.ErrExists)
}

func checkAccountName(name string) error {
	if bad := badName(name); bad != "" {
		return unusable("name " + bad)
	}
	if strings.ContainsFunc(name, lookalike.Invisible) {
		return unusable("name holds characters that nobody sees; leave them out")
	}
	if n := utf8.RuneCountInString(name); n > maxUserName {
		return unusable(fmt.Sprintf("name has %d characters, at most %d are possible", n, maxUserName))
	}
	return nil
}

func checkRole(role account.Role) error {
	if !slices.Contains(account.Roles(), role) {
		var known []string
		for _, r := range account.Roles() {
			known = append(known, string(r))
		}
		return unusable(fmt.Sprintf("there is no role %q; want one of %s", role, strings.Join(known, ", ")))
	}
	return nil
}

// unusable says why a name, a password or a role cannot be taken. It is
// [appliance.ErrOutOfRange], whose text would add nothing.
type unusable string

func (u unusable) Error() string { return string(u) }

// Is reports whether target is what callers branch on.
func (u unusable) Is(target error) bool { return target == appliance.ErrOutOfRange }
