package publicapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

// body is the JSON object of a request, its members not looked into yet.
// Members that nobody asks for are ignored: old clients send such. There are few,
// so they are found by looking at each.
type body []member

type member struct {
	name  []byte // without quotes and escapes
	value []byte // valid JSON without space around it
}

const (
	// bodyLimit is the largest body of a request.
	bodyLimit = 64 << 10
	// strangerLimit is that of somebody who has not shown a token yet.
	strangerLimit = 8 << 10
)

// membersMost bounds the search for members given twice.
const membersMost = 256

func (b body) find(name string) (value []byte, ok bool) {
	for i := range b {
		if string(b[i].name) == name {
			return b[i].value, true
		}
	}
	return nil, false
}

// readBody reads and splits the body. Its Content-Type is not looked at: old
// clients send none, text/plain or what curl -d sends, and only the bytes decide
// whether it is JSON.
func readBody(c echo.Context, limit int64) (body, error) {
	data, err := web.ReadBody(c, limit)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &web.Error{Status: http.StatusBadRequest, Message: "body: could not be read", Cause: err}
	}
	return parseBody(data)
}

var utf8BOM = []byte("\xef\xbb\xbf")

// parseBody accepts one JSON object in UTF-8 and nothing after it. A member
// given twice is refused: nobody could say which one was meant.
func parseBody(data []byte) (body, error) {
	data = bytes.TrimPrefix(data, utf8BOM)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, bad("body", "empty; want a JSON object")
	case !utf8.Valid(data):
		return nil, bad("body", "not UTF-8")
	case !json.Valid(data):
		return nil, bad("body", "not valid JSON")
	}
	data = skipSpace(data)
	if data[0] != '{' {
		return nil, bad("body", "want a JSON object")
	}
	return split(data)
}

// split cuts an object that is known to be valid into its members. It looks for
// their ends only, which is a fraction of the work of decoding them.
func split(data []byte) (body, error) {
	members := make(body, 0, 8)
	for data = skipSpace(data[1:]); data[0] != '}'; {
		n := valueLength(data)
		name, err := unquote(data[:n])
		if err != nil {
			return nil, bad("body", "not valid JSON")
		}
		data = skipSpace(skipSpace(data[n:])[1:]) // the colon
		n = valueLength(data)
		if _, twice := members.find(string(name)); twice {
			return nil, bad(clip(string(name)), "given twice")
		}
		if len(members) == membersMost {
			return nil, bad("body", "more than "+strconv.Itoa(membersMost)+" members")
		}
		members = append(members, member{name, data[:n:n]})
		if data = skipSpace(data[n:]); data[0] == ',' {
			data = skipSpace(data[1:])
		}
	}
	return members, nil
}

func skipSpace(data []byte) []byte {
	for len(data) > 0 && (data[0] == ' ' || data[0] == '\t' || data[0] == '\r' || data[0] == '\n') {
		data = data[1:]
	}
	return data
}

// unquote reads a JSON string. One without escapes is not copied.
func unquote(quoted []byte) ([]byte, error) {
	if plain := quoted[1 : len(quoted)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return plain, nil
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return []byte(s), err
}

// valueLength is the length of the value that valid JSON begins with. Inside
// objects and arrays only brackets and strings matter.
func valueLength(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i
		}
	}
	return len(data)
}

// text returns a string member; it must be there.
func (b body) text(name string) (string, error) {
	raw, ok := b.find(name)
	if !ok || string(raw) == "null" {
		return "", bad(name, "missing; want a string")
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", bad(name, "want a string")
	}
	return s, nil
}

// integer returns an integer member. null and "" count as absent.
func (b body) integer(name string) (v int64, present bool, err error) {
	raw, ok := b.find(name)
	if !ok || string(raw) == "null" {
		return 0, false, nil
	}
	if raw[0] == '"' {
		if raw, err = unquote(raw); err != nil {
			return 0, false, bad(name, "want an integer")
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			return 0, false, nil
		}
	}
	v, problem := parseInteger(string(raw))
	if problem != "" {
		return 0, false, bad(name, problem)
	}
	return v, true, nil
}

// within returns an integer member that must be there and within lo to hi.
func (b body) within(name string, lo, hi int64) (int64, error) {
	v, present, err := b.integer(name)
	if err != nil {
		return 0, err
	}
	if !present {
		return 0, bad(name, "missing; want "+span(lo, hi))
	}
	if v < lo || v > hi {
		return 0, bad(name, "want "+span(lo, hi)+", got "+strconv.FormatInt(v, 10))
	}
	return v, nil
}

// oneOf returns a string member that must be one of words.
func (b body) oneOf(name string, words ...string) (string, error) {
	raw, ok := b.find(name)
	if !ok || string(raw) == "null" {
		return "", bad(name, "missing; want one of "+strings.Join(words, ", "))
	}
	if raw[0] != '"' {
		return "", bad(name, "want one of "+strings.Join(words, ", "))
	}
	s, err := unquote(raw)
	if err != nil {
		return "", bad(name, "want one of "+strings.Join(words, ", "))
	}
	for _, w := range words {
		if string(s) == w {
			return w, nil
		}
	}
	return "", bad(name, "want one of "+strings.Join(words, ", ")+", got "+strconv.Quote(clip(string(s))))
}

// exact is the largest integer that JSON numbers carry exactly everywhere.
const exact = 1 << 53

// parseInteger reads a JSON number, or one sent as a string. Numbers with a
// fraction of zero (50.0, 5e1) are integers too; some languages write them so.
func parseInteger(text string) (v int64, problem string) {
	if len(text) > numberMost {
		return 0, "want an integer, got " + strconv.Quote(clip(text))
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= -exact && v <= exact {
		return v, ""
	}
	negative, digits, power, ok := decimal(text)
	switch {
	case !ok, power < 0:
		return 0, "want an integer, got " + strconv.Quote(clip(text))
	case digits == "":
		return 0, ""
	case len(digits)+power > exactDigits:
		return 0, "the number is too large"
	}
	// At most exactDigits digits, so that this fits.
	v, _ = strconv.ParseInt(digits+strings.Repeat("0", power), 10, 64)
	if v > exact {
		return 0, "the number is too large"
	}
	if negative {
		v = -v
	}
	return v, ""
}

const (
	// exactDigits is how many digits exact has.
	exactDigits = 16
	// numberMost characters are a number; no client needs more to write one.
	numberMost = 64
)

// powerMost stands for every exponent beyond it: far above what the digits of a
// number can make up for.
const powerMost = 1 << 20

// decimal takes a number apart: digits times ten to the power. The digits neither
// begin nor end with 0, so that the number is an integer if the power is not below
// 0. Zero has no digits. Nothing is rounded: 40.00000000000000000001 is no integer.
func decimal(text string) (negative bool, digits string, power int, ok bool) {
	const figures = "0123456789"
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent := text[at+1:]
		// One out of range comes back as the largest there is, unread to its end.
		n, err := strconv.Atoi(exponent)
		if err != nil && !errors.Is(err, strconv.ErrRange) || strings.Trim(exponent[1:], figures) != "" {
			return false, "", 0, false
		}
		power = min(max(n, -powerMost), powerMost)
		text = text[:at]
	}
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative, text = text[0] == '-', text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, figures) != "" {
		return false, "", 0, false
	}
	power -= len(fraction)
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return negative, "", 0, true
	}
	short := strings.TrimRight(digits, "0")
	return negative, short, power + len(digits) - len(short), true
}

// span words the bounds of an integer.
func span(lo, hi int64) string {
	return "an integer " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10)
}

// clip shortens what a stranger sent before it is repeated to him.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	cut := 40
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// integers is where a target is read from: a body or a query.
type integers interface {
	integer(name string) (v int64, present bool, err error)
}

// target reads targetType and targetId. targetId is needed with types 2 and 3; with
// type 1 it is not looked at beyond its type, as old clients send 0 then.
func target(in integers) (t appliance.Target, present bool, err error) {
	kind, present, err := in.integer("targetType")
	if err != nil {
		return t, false, err
	}
	id, hasID, err := in.integer("targetId")
	if err != nil {
		return t, false, err
	}
	if !present {
		return t, false, nil
	}
	switch kind {
	case int64(appliance.All):
		return appliance.Target{Scope: appliance.All}, true, nil
	case int64(appliance.InCluster), int64(appliance.One):
		if !hasID {
			return t, false, bad("targetId", "missing; needed with targetType "+strconv.FormatInt(kind, 10))
		}
		if id < 1 || id > int64(appliance.MaxID) {
			return t, false, bad("targetId", "want "+span(1, int64(appliance.MaxID))+", got "+strconv.FormatInt(id, 10))
		}
		return appliance.Target{Scope: appliance.Scope(kind), ID: appliance.ID(id)}, true, nil
	}
	return t, false, bad("targetType", "want 1 (all), 2 (cluster) or 3 (one), got "+strconv.FormatInt(kind, 10))
}
