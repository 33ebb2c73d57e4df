package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

const (
	// batchMost calls may come in one request.
	batchMost = 20
	// batchless is the version of the protocol that dropped batches. Versions are dates, so
	// that later ones are greater; a client that names none speaks an earlier one.
	batchless = "2025-06-18"
	// answerMost bounds what all calls of one request answer, in bytes.
	answerMost = 2 << 20
)

// isBatch reports whether a body is an array.
func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

// admit lets a batch in, if it is one of a few calls, and all of them are paid for.
func (r *Room) admit(c echo.Context, body []byte) error {
	if v := c.Request().Header.Get("Mcp-Protocol-Version"); v >= batchless {
		return unfit(fmt.Sprintf("version %s of the protocol has no batches: send one message a request", v))
	}
	n, ours, err := countOf(body)
	switch {
	case n > batchMost:
		return unfit(fmt.Sprintf("a batch has at most %d messages", batchMost))
	case !ours:
		return misshapen("body is an array: want an object, or a batch of JSON-RPC messages")
	case err != nil:
		return unfit("the batch is no JSON array")
	case n == 1:
		return nil
	}
	return r.more(c, n-1) // the request itself is counted already
}

// countOf counts the members of an array, no further than one more than may be. protocol: one
// of them is JSON-RPC.
func countOf(body []byte) (n int, protocol bool, err error) {
	in := json.NewDecoder(bytes.NewReader(body))
	if _, err := in.Token(); err != nil {
		return 0, false, err
	}
	for in.More() && n <= batchMost {
		var member json.RawMessage
		if err := in.Decode(&member); err != nil {
			return n, protocol, err
		}
		protocol = protocol || isProtocol(member)
		n++
	}
	if n > batchMost {
		return n, protocol, nil
	}
	if _, err := in.Token(); err != nil { // the end of the array
		return n, protocol, err
	}
	if _, err := in.Token(); err != io.EOF {
		return n, protocol, errors.New("something comes after the array")
	}
	return n, protocol, nil
}

// unfit refuses a batch as JSON-RPC does.
func unfit(why string) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32600, "message": why}})
	if err != nil {
		return err
	}
	return &web.Error{Status: http.StatusBadRequest, Message: why, Body: body}
}

type roomLeft struct{}

// withRoom gives the calls of one request the bytes that they may answer together.
func withRoom(ctx context.Context) context.Context {
	left := new(atomic.Int64)
	left.Store(answerMost)
	return context.WithValue(ctx, roomLeft{}, left)
}

// fits takes n bytes of the room that is left for the answers of a request.
func fits(ctx context.Context, n int) bool {
	left, ok := ctx.Value(roomLeft{}).(*atomic.Int64)
	return !ok || left.Add(-int64(n)) >= 0
}
