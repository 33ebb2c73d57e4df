package apikey

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// bodyLimit is the largest body.
const bodyLimit = 1 << 20

// members of the JSON object in a body, not looked into yet. Those that nobody asks
// for are ignored.
type members map[string]json.RawMessage

func readMembers(c echo.Context) (members, error) {
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &web.Error{Status: http.StatusBadRequest, Message: "body could not be read", Cause: err}
	}
	var m members
	if !utf8.Valid(data) || web.Decode(data, &m) != nil || m == nil {
		return nil, platform.Invalid("body is not a JSON object that names everything once")
	}
	return m, nil
}

// newKey reads what is sent to make a key.
func (m members) newKey() (platform.Key, error) {
	change, err := m.change()
	if err != nil {
		return platform.Key{}, err
	}
	k := platform.Key{RateLimit: platform.DefaultRateLimit}
	if change.Name == nil {
		return k, platform.Invalid("name is missing")
	}
	k.Name = *change.Name
	if change.RateLimit != nil {
		k.RateLimit = *change.RateLimit
	}
	if change.ExpiresAt != nil {
		k.ExpiresAt = *change.ExpiresAt
	}
	k.Permissions, err = m.permissions()
	return k, err
}

// change reads what is sent to change a key. Null clears expiresAt, and means the
// default as rateLimit.
func (m members) change() (platform.KeyChange, error) {
	var c platform.KeyChange
	if raw, ok := m["name"]; ok {
		if c.Name = new(string); isNull(raw) || json.Unmarshal(raw, c.Name) != nil {
			return c, platform.Invalid("name is not a string")
		}
	}
	if raw, ok := m["rateLimit"]; ok {
		c.RateLimit = new(int)
		if *c.RateLimit = platform.DefaultRateLimit; !isNull(raw) && json.Unmarshal(raw, c.RateLimit) != nil {
			return c, platform.Invalid("rateLimit is not an integer from 1 to %d", platform.MaxRateLimit)
		}
	}
	if raw, ok := m["expiresAt"]; ok {
		at, err := moment(raw)
		if err != nil {
			return c, err
		}
		c.ExpiresAt = &at
	}
	if raw, ok := m["isActive"]; ok {
		if c.Active = new(bool); isNull(raw) || json.Unmarshal(raw, c.Active) != nil {
			return c, platform.Invalid("isActive is not true or false")
		}
	}
	return c, nil
}

// permissions refuses what it does not know: nobody shall believe to have given it.
func (m members) permissions() (platform.Permissions, error) {
	var p platform.Permissions
	raw, ok := m["permissions"]
	if !ok || isNull(raw) {
		return p, nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return p, platform.Invalid("permissions is not an object")
	}
	for name, value := range given {
		if name != "control" {
			return p, platform.Invalid("there is no permission %q; there is \"control\"", clip(name))
		}
		if isNull(value) || json.Unmarshal(value, &p.Control) != nil {
			return p, platform.Invalid("permissions.control is not true or false")
		}
	}
	return p, nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

// layouts are forms of ISO 8601 with date, time and offset; fractions of a second are
// read by all of them.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "20060102T150405Z0700",
}

// moment reads a time; null is none.
func moment(raw json.RawMessage) (time.Time, error) {
	if isNull(raw) {
		return time.Time{}, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil && t.Year() >= 1970 {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, platform.Invalid("expiresAt is not an ISO 8601 date and time with its offset, such as 2030-01-31T18:00:00Z")
}

// idOf returns the ID in the path. Anything that is none cannot be found either.
func idOf(c echo.Context) (string, error) {
	id := c.Param("id")
	if len(id) != 36 {
		return "", errNoKey
	}
	for _, b := range []byte(id) {
		if (b < '0' || b > '9') && (b < 'a' || b > 'f') && b != '-' {
			return "", errNoKey
		}
	}
	return id, nil
}

// flagOf reads a parameter of the query that is true or false; absent is false.
func flagOf(c echo.Context, name string) (bool, error) {
	switch c.QueryParam(name) {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	}
	return false, platform.Invalid("%s is not true or false", name)
}

var errNoKey = web.Refuse(http.StatusNotFound, "You have no such key")

// reworded tells people what they need to know of an error of the store.
func reworded(err error) error {
	switch {
	case errors.Is(err, platform.ErrNotFound):
		return errNoKey
	case errors.Is(err, platform.ErrConflict), errors.Is(err, platform.ErrInvalid):
		return innermost(err)
	}
	return err
}

// innermost is the reason without what was attempted, which whoever asked knows.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 50 {
		return string(r[:50]) + "…"
	}
	return s
}
