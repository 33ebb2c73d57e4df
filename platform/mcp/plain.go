package mcp

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sse"
	"svc.internal/controller/shelf/web"
)

// call is a request of the plain form.
type call struct {
	Method    string          `json:"method"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// result of a tool in the plain form.
type result struct {
	Content  []part   `json:"content"`
	Metadata metadata `json:"metadata"`
}

// part is "text" for people, or "json" with JSON in its text.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type metadata struct {
	Agent         string                  `json:"agent"`
	StatusUpdates []platform.StatusUpdate `json:"statusUpdates"`
	SessionID     string                  `json:"sessionId"`
}

// plain answers the form of the platform's own contract.
func (r *Room) plain(c echo.Context, body []byte) error {
	var in call
	if err := json.Unmarshal(body, &in); err != nil {
		return misshapen("body is not a JSON object with method, tool and arguments of their types")
	}
	c.Response().Header()["Cache-Control"] = []string{"no-store"}
	switch in.Method {
	case "tools/list":
		return c.JSONBlob(http.StatusOK, listed)
	case "tools/call":
		return r.call(c, in)
	}
	return misshapen("Invalid method: want tools/list or tools/call")
}

// refusal is a call of the plain form that failed.
type refusal struct {
	Error   string `json:"error"`
	Details string `json:"details"`
}

// misshapen refuses what is no call of the plain form, and shows one.
func misshapen(message string) error {
	body, err := json.Marshal(refusal{message, `Send {"method":"tools/list"} or {"method":"tools/call","tool":"…","arguments":{…}}`})
	if err != nil {
		return err
	}
	return &web.Error{Status: http.StatusBadRequest, Message: message, Body: body}
}

func (r *Room) call(c echo.Context, in call) error {
	t, ok := find(in.Tool)
	if !ok {
		return platform.Invalid("there is no tool of that name; tools/list shows those there are")
	}
	args, err := readArguments(in.Arguments)
	if err != nil {
		return err
	}
	if args.UseSSE && t.Name == "chat" {
		return r.stream(c, t, args)
	}
	ctx := c.Request().Context()
	got, err := t.run(ctx, r.asker, platform.IdentityOf(ctx), args, nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, pack(got))
}

func pack(got platform.Reply) result {
	out := result{Content: []part{{"text", got.Text}}, Metadata: metadata{got.Agent, got.Updates, got.Session}}
	if got.Data != nil {
		out.Content = append(out.Content, part{"json", string(got.Data)})
	}
	return out
}

func (r *Room) stream(c echo.Context, t tool, args arguments) error {
	ctx := c.Request().Context()
	return sse.Answer(c, r.log, func(told func(platform.Progress)) (any, error) {
		got, err := t.run(ctx, r.asker, platform.IdentityOf(ctx), args, told)
		return pack(got), err
	}, func(status int, message string) any {
		return refusal{message, http.StatusText(status)}
	})
}
