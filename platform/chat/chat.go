// Package chat is the assistant's door for programs with an API key and for people who logged in.
package chat

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sse"
	"svc.internal/controller/shelf/web"
)

// Paths of the doors.
const (
	PublicPath = "/api/assistant/public/chat"
	PersonPath = "/api/assistant/chat"
)

// bodyLimit is the largest body.
const bodyLimit = 1 << 20

// Room answers chat messages.
type Room struct {
	asker platform.Asker
	log   *slog.Logger
}

// New makes the room.
func New(asker platform.Asker, log *slog.Logger) *Room { return &Room{asker, log} }

// Register adds the routes: key lets only those pass who sent an API key, person those who logged in.
func (r *Room) Register(e *echo.Echo, key, person echo.MiddlewareFunc) {
	e.POST(PublicPath, r.chat, key)
	e.POST(PersonPath, r.chat, person)
}

// input is what is sent. Other members are ignored.
type input struct {
	Message   *string `json:"message"`
	SessionID string  `json:"sessionId"`
	UseSSE    bool    `json:"useSSE"`
	Context   struct {
		SiteID string `json:"siteId"`
	} `json:"context"`
}

// reply is the answer.
type reply struct {
	Success   bool     `json:"success"`
	Reply     string   `json:"reply"`
	SessionID string   `json:"sessionId"`
	Metadata  metadata `json:"metadata"`
}

type metadata struct {
	Agent         string                  `json:"agent"`
	StatusUpdates []platform.StatusUpdate `json:"statusUpdates"`
}

func (r *Room) chat(c echo.Context) error {
	in, err := read(c)
	if err != nil {
		return err
	}
	who := platform.IdentityOf(c.Request().Context())
	inquiry := platform.Inquiry{Owner: who.User.ID, Session: in.SessionID, Message: *in.Message, Site: in.Context.SiteID, Control: who.Permissions.Control, Lang: who.Lang}
	if in.UseSSE {
		return r.stream(c, inquiry)
	}
	got, err := r.asker.Ask(c.Request().Context(), inquiry, nil)
	if err != nil {
		return err
	}
	c.Response().Header()["Cache-Control"] = []string{"no-store"}
	return c.JSON(http.StatusOK, pack(got))
}

func pack(got platform.Reply) reply {
	return reply{true, got.Text, got.Session, metadata{got.Agent, got.Updates}}
}

func read(c echo.Context) (input, error) {
	var in input
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return in, err
		}
		return in, &web.Error{Status: http.StatusBadRequest, Message: "body could not be read", Cause: err}
	}
	var wrong *json.UnmarshalTypeError
	err = web.Decode(data, &in)
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return in, platform.Invalid("%s is not of the right type", wrong.Field)
	case err != nil, !utf8.Valid(data):
		return in, platform.Invalid("body is not a JSON object that names everything once")
	case in.Message == nil:
		return in, platform.Invalid("message is missing")
	}
	return in, nil
}

func (r *Room) stream(c echo.Context, inquiry platform.Inquiry) error {
	return sse.Answer(c, r.log, func(told func(platform.Progress)) (any, error) {
		got, err := r.asker.Ask(c.Request().Context(), inquiry, told)
		return pack(got), err
	}, func(status int, message string) any { // in the shape of the door's other refusals
		return struct {
			Success bool   `json:"success"`
			Error   string `json:"error"`
			Message string `json:"message"`
		}{false, http.StatusText(status), message}
	})
}
