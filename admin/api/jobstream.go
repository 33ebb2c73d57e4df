package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

// jobEvents is the stream of one job as it goes on. It ends with the job.
func (a *API) jobEvents(c echo.Context) error {
	id := c.Param("id")
	if _, ok := a.Jobs.Jobs().Get(id); !ok {
		return notThere("job", id)
	}
	mine, err := a.beginStream(c)
	if err != nil {
		return err
	}
	defer mine.Leave()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	ctx := c.Request().Context()
	var seen uint64 // version that the reader has
	var items mark
	for first := true; ; first = false {
		fresh := a.Jobs.Jobs().Fresh()
		j, ok := a.Jobs.Jobs().Get(id)
		if !ok {
			return nil // it ended, and is forgotten
		}
		if j.Version != seen {
			record := jobOf(j)
			if !first && items == itemsMark(j) {
				record.Items = nil
			}
			seen, items = j.Version, itemsMark(j)
			data, err := json.Marshal(record)
			if err != nil {
				return err
			}
			if write(c, "event: job\ndata: "+string(data)+"\n\n") != nil {
				return nil // the reader is gone
			}
		}
		if j.State.Over() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.streams.over:
			return nil
		case <-mine.Displaced():
			_ = write(c, web.Displaced)
			return nil
		case <-look.C:
			if !a.still(ctx, c, reader) || write(c, ": alive\n") != nil {
				return nil
			}
		case <-fresh:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(batchEvery):
		}
	}
}

// beginStream begins an answer of server-sent events, to be left at its end.
func (a *API) beginStream(c echo.Context) (*web.Stream, error) {
	who := callerOf(c)
	user := who.name
	if who.local {
		user = "console " + user // an account of the operating system
	}
	mine, err := a.streams.open.Enter(user, web.Peer(c.Request()))
	if err != nil {
		return nil, &refusal{status: http.StatusServiceUnavailable, detail: err.Error(), wait: 5 * time.Second}
	}
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	return mine, nil
}
