package sse

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
)

// Answer runs what somebody waits for, and answers with the events status and delta while it runs, and at last
// result, or error in the words of the door. An error before the first event is returned instead.
func Answer(c echo.Context, log *slog.Logger, run func(told func(platform.Progress)) (result any, err error), failed func(status int, message string) any) error {
	var s *Stream
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	send := func(event string, data any) {
		if s == nil {
			s = Open(c)
		}
		_ = s.Send(event, data) // a reader that is gone is noticed by the context of the request
	}
	result, err := run(func(p platform.Progress) {
		if p.Status != nil {
			send("status", p.Status)
		} else {
			send("delta", struct {
				Text string `json:"text"`
			}{p.Delta})
		}
	})
	switch {
	case err == nil:
		send("result", result)
	case s == nil:
		return err
	case errors.Is(err, platform.ErrInvalid):
		send("error", failed(http.StatusBadRequest, err.Error()))
	default:
		log.Error("answer with a stream", "path", c.Path(), "error", err)
		send("error", failed(http.StatusInternalServerError, "internal error"))
	}
	return nil
}
