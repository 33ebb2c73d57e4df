package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

// recorder finds the bus in a path and its flight recorder.
func (a *API) recorder(c echo.Context) (*appliance.Bus, appliance.Recorder, error) {
	b, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return nil, nil, err
	}
	rec, err := a.Core.Recorder(b.Bus.Name)
	if err != nil {
		return nil, nil, refuse(http.StatusConflict, err.Error())
	}
	return b.Bus, rec, nil
}

// frames lists the frames that the flight recorder of a bus has, oldest first.
func (a *API) frames(c echo.Context) error {
	bus, rec, err := a.recorder(c)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, slices.AppendSeq([]Frame{}, a.recent(bus, rec)))
}

// recording sends the same as a file for whoever looks for a fault from afar. What looks like a secret is hidden in
// it, as in diagnostics.
func (a *API) recording(c echo.Context) error {
	bus, rec, err := a.recorder(c)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Now().Add(diagnosticsTime))
	h := c.Response().Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Content-Disposition", `attachment; filename="frames-`+time.Now().UTC().Format("20060102-150405")+`.jsonl"`)
	h.Set("Cache-Control", "no-store")
	veil := &veil{to: c.Response()}
	if err := a.Within.Record(veil, func(yield func(*appliance.Bus, Frame) bool) {
		for f := range a.recent(bus, rec) {
			if !yield(bus, f) {
				return
			}
		}
	}); err != nil {
		return err
	}
	return veil.flush()
}

// monitor is the stream of the frames that pass on a bus from now on. A reader who is
// too slow loses frames, never the bus time.
func (a *API) monitor(c echo.Context) error {
	bus, rec, err := a.recorder(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	live := rec.Follow(ctx)
	mine, err := a.beginStream(c)
	if err != nil {
		return err
	}
	defer mine.Leave()
	if write(c, "retry: 1000\n\n") != nil {
		return nil
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-a.streams.over:
			return nil
		case <-mine.Displaced():
			_ = write(c, web.Displaced)
			return nil
		case <-look.C:
			if !a.still(ctx, c, reader) || write(c, ": alive\n") != nil {
				return nil
			}
		case f, open := <-live:
			if !open {
				return nil
			}
			data, err := json.Marshal(a.frameOf(bus, f))
			if err != nil {
				return err
			}
			if write(c, "event: frame\ndata: "+string(data)+"\n\n") != nil {
				return nil
			}
		}
	}
}

// Service is what the driver of a bus does for an installer; begin it as a job.
type Service struct {
	Name    string         `json:"name"`
	About   string         `json:"about"`
	Inputs  []ServiceInput `json:"inputs"`
	Changes bool           `json:"changes" doc:"Devices keep something else afterwards."`
}

// ServiceInput is what a service has to be told.
type ServiceInput struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Required bool   `json:"required"`
}

func (a *API) services(c echo.Context) error {
	b, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return err
	}
	list, err := a.Core.Services(b.Bus.Name)
	if err != nil {
		return err
	}
	out := []Service{}
	for _, s := range list {
		row := Service{Name: s.Name, About: s.About, Changes: s.Changes, Inputs: []ServiceInput{}}
		for _, in := range s.Inputs {
			row.Inputs = append(row.Inputs, ServiceInput(in))
		}
		out = append(out, row)
	}
	return answer(c, http.StatusOK, out)
}
