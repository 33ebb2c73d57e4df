package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// Keeper changes users and keys.
type Keeper interface {
	SetPassword(ctx context.Context, name, password string) error
	SetRole(ctx context.Context, name string, role account.Role) error
	RemoveUser(ctx context.Context, name string) error
	AddKey(ctx context.Context, name string, write bool) (string, account.Key, error)
	Keys() []account.Key
	RemoveKey(ctx context.Context, name string) error
}

// User is somebody who may log in, here or at /svc/api.
type User struct {
	ID        int64      `json:"id"`
	UUID      string     `json:"uuid"`
	Username  string     `json:"username"`
	Role      string     `json:"role" enum:"admin,operator,api_service,viewer,none"`
	CreatedAt *time.Time `json:"createdAt"`
}

func userOf(u account.User) User {
	return User{u.ID, u.UUID.String(), u.Name, string(u.Role), stampOf(u.CreatedAt)}
}

func (a *API) users(c echo.Context) error {
	out := []User{}
	for _, u := range a.Accounts.Users() {
		out = append(out, userOf(u))
	}
	return answer(c, http.StatusOK, out)
}

// NewUser is a user to be made.
type NewUser struct {
	Username string `json:"username"`
	Password string `json:"password" doc:"At least 10 characters."`
	Role     string `json:"role" enum:"admin,operator,api_service,viewer,none"`
}

func (a *API) createUser(c echo.Context) error {
	var in NewUser
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := a.Accounts.AddUser(c.Request().Context(), in.Username, in.Password, account.Role(in.Role))
	if err != nil {
		return unusableAccount(err)
	}
	a.auditAccount(c, "user.create", "user "+u.Name, map[string]string{"role": in.Role})
	c.Response().Header().Set("Location", prefix+"/auth/users/"+u.UUID.String())
	return answer(c, http.StatusCreated, userOf(u))
}

func unusableAccount(err error) error {
	if errors.Is(err, appliance.ErrOutOfRange) {
		return meaningless("", err.Error())
	}
	return err
}

// UserEdit is what may be changed of a user.
type UserEdit struct {
	Password *string `json:"password,omitempty" doc:"Ends all their sessions."`
	Role     *string `json:"role,omitempty" enum:"admin,operator,api_service,viewer,none"`
}

// user finds the user in a path, by name, UUID or number.
func (a *API) user(c echo.Context) (account.User, error) {
	said := c.Param("user")
	for _, u := range a.Accounts.Users() {
		if u.Name == said || u.UUID.String() == said || itoa64(u.ID) == said {
			return u, nil
		}
	}
	return account.User{}, notThere("user", said)
}

func (a *API) showUser(c echo.Context) error {
	u, err := a.user(c)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, userOf(u))
}

func (a *API) editUser(c echo.Context) error {
	var in UserEdit
	if err := read(c, &in); err != nil {
		return err
	}
	a.accountsMu.Lock()
	defer a.accountsMu.Unlock()
	u, err := a.user(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if in.Role != nil {
		if account.Role(*in.Role) != account.RoleAdmin {
			if err := a.notTheLast(u); err != nil {
				return err
			}
		}
		if err := a.Keeper.SetRole(ctx, u.Name, account.Role(*in.Role)); err != nil {
			return unusableAccount(err)
		}
		a.auditAccount(c, "user.role", "user "+u.Name, map[string]string{"role": *in.Role})
	}
	if in.Password != nil {
		if err := a.Keeper.SetPassword(ctx, u.Name, *in.Password); err != nil {
			return unusableAccount(err)
		}
		a.auditAccount(c, "user.password", "user "+u.Name, nil)
	}
	if u, err = a.user(c); err != nil {
		return err
	}
	return answer(c, http.StatusOK, userOf(u))
}

// notTheLast keeps the last admin one: nobody could ever change anything again.
func (a *API) notTheLast(u account.User) error {
	if u.Role != account.RoleAdmin {
		return nil
	}
	for _, other := range a.Accounts.Users() {
		if other.Role == account.RoleAdmin && other.UUID != u.UUID {
			return nil
		}
	}
	return refuse(http.StatusConflict, u.Name+" is the last admin; make another one first")
}

func (a *API) removeUser(c echo.Context) error {
	a.accountsMu.Lock()
	defer a.accountsMu.Unlock()
	u, err := a.user(c)
	if err != nil {
		return err
	}
	if err := a.notTheLast(u); err != nil {
		return err
	}
	if err := a.Keeper.RemoveUser(c.Request().Context(), u.Name); err != nil {
		return err
	}
	a.auditAccount(c, "user.remove", "user "+u.Name, nil)
	return c.NoContent(http.StatusNoContent)
}

// PasswordChange is one's own.
type PasswordChange struct {
	Old string `json:"old"`
	New string `json:"new" doc:"At least 10 characters; ends all sessions."`
}

// changePassword changes one's own password; all sessions end, this one too.
func (a *API) changePassword(c echo.Context) error {
	var in PasswordChange
	if err := read(c, &in); err != nil {
		return err
	}
	who := callerOf(c)
	if who.local {
		return refuse(http.StatusConflict, "the console has no password")
	}
	_, err := a.checkPassword(c, Login{Username: who.name, Password: in.Old})
	if errors.Is(err, account.ErrAuthFailed) {
		return meaningless("/old", "is not the password")
	}
	if err != nil {
		return err
	}
	if err := a.Keeper.SetPassword(c.Request().Context(), who.name, in.New); err != nil {
		return unusableAccount(err)
	}
	a.auditAccount(c, "user.password", "user "+who.name, nil)
	setCookie(c, "")
	return c.NoContent(http.StatusNoContent)
}

// Key is a controller API key for /svc/api.
type Key struct {
	ID        int64      `json:"id"`
	UUID      string     `json:"uuid"`
	Name      string     `json:"name"`
	Prefix    string     `json:"prefix" doc:"First 8 digits, to recognise it by."`
	Write     bool       `json:"write" doc:"It may command; otherwise read only."`
	CreatedAt *time.Time `json:"createdAt"`
	LastUsed  *time.Time `json:"lastUsed"`
	Key       string     `json:"key,omitempty" doc:"At creation only; it is not stored."`
}

func keyOf(k account.Key) Key {
	return Key{ID: k.ID, UUID: k.UUID.String(), Name: k.Name, Prefix: k.Prefix, Write: k.Write, CreatedAt: stampOf(k.CreatedAt), LastUsed: stampOf(k.LastUsed)}
}

func (a *API) keys(c echo.Context) error {
	out := []Key{}
	for _, k := range a.Keeper.Keys() {
		out = append(out, keyOf(k))
	}
	return answer(c, http.StatusOK, out)
}

// NewKey is a key to be made.
type NewKey struct {
	Name  string `json:"name"`
	Write bool   `json:"write"`
}

func (a *API) createKey(c echo.Context) error {
	var in NewKey
	if err := read(c, &in); err != nil {
		return err
	}
	secret, k, err := a.Keeper.AddKey(c.Request().Context(), in.Name, in.Write)
	if err != nil {
		return unusableAccount(err)
	}
	a.auditAccount(c, "key.create", "key "+k.Name, in)
	out := keyOf(k)
	out.Key = secret
	c.Response().Header().Set("Location", prefix+"/auth/keys/"+out.UUID)
	return answer(c, http.StatusCreated, out)
}

func (a *API) removeKey(c echo.Context) error {
	said := c.Param("key")
	for _, k := range a.Keeper.Keys() {
		if k.Name != said && k.UUID.String() != said && itoa64(k.ID) != said {
			continue
		}
		if err := a.Keeper.RemoveKey(c.Request().Context(), k.Name); err != nil {
			return err
		}
		a.auditAccount(c, "key.remove", "key "+k.Name, nil)
		return c.NoContent(http.StatusNoContent)
	}
	return notThere("key", said)
}

// takeOverAccounts is for commands that wrote to the database beside the daemon: when it
// answers, a key that was made is good and one that was removed is not.
func (a *API) takeOverAccounts(c echo.Context) error {
	if err := a.Accounts.TakeOver(c.Request().Context()); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
