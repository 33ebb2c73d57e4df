package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

// bodyMost is the largest body but that of a whole site or file.
const bodyMost = 64 << 10

// read takes the body of a request as JSON. Members that are not known are refused:
// a misspelt one would otherwise be lost without a word.
func read(c echo.Context, to any) error {
	data, err := web.ReadBody(c, bodyMost)
	if err != nil {
		return unread(err)
	}
	return decode(data, to)
}

func unread(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err // 413, by web's table
	}
	return &refusal{status: http.StatusBadRequest, detail: "the body did not arrive whole", cause: err}
}

func decode(data []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			return malformed("", "there is something behind the JSON value")
		}
		if err := web.NamesOnce(data); err != nil {
			return malformed("", err.Error())
		}
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return malformed("", "it is empty; want JSON")
	case errors.As(err, &kind):
		return malformed("/"+strings.ReplaceAll(kind.Field, ".", "/"), "is a "+kind.Value+", want "+wordOf(kind.Type.Kind().String()))
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("", "it is not JSON: "+err.Error())
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return malformed("/"+strings.Trim(name, `"`), "there is no such field")
	}
	return malformed("", strings.TrimPrefix(err.Error(), "json: "))
}

// wordOf says what JSON calls a Go type.
func wordOf(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map":
		return "an object"
	}
	return "a " + kind
}

// answer sends v, which nobody may keep unless it was said otherwise.
func answer(c echo.Context, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h["Content-Type"] = web.JSONType
	c.Response().WriteHeader(status)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	_, err = c.Response().Write(append(body, '\n'))
	return err
}
