package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// etagOf is the entity tag of what somebody configured; what devices say is no part
// of it.
func etagOf(noun any) string {
	text, err := json.Marshal(noun)
	if err != nil {
		panic(err) // nouns are plain values
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// tagged sends v with its entity tag.
func tagged(c echo.Context, status int, tag string, v any) error {
	c.Response().Header().Set("ETag", tag)
	return answer(c, status, v)
}

// wanted is the condition under which somebody wants to change something: that it is
// what they saw.
type wanted struct{ tags []string }

// ifMatch takes the condition of a request; without one there is no change: 428.
func ifMatch(c echo.Context) (wanted, error) {
	lines := c.Request().Header["If-Match"]
	if len(lines) == 0 {
		return wanted{}, refuse(http.StatusPreconditionRequired, "give the etag of what you saw as If-Match, or * to change it whatever it is")
	}
	var w wanted
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			w.tags = append(w.tags, strings.TrimSpace(one))
		}
	}
	return w, nil
}

// holds refuses with 412 if noun is not what was seen.
func (w wanted) holds(noun any) error {
	now := etagOf(noun)
	for _, tag := range w.tags {
		if tag == "*" || tag == now {
			return nil
		}
	}
	return refuse(http.StatusPreconditionFailed, "somebody changed it meanwhile; look at it again")
}
