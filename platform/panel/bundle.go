package panel

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
)

// bundle answers the files that make a RoomOS device the panel of its room. They hold the panel's code: nobody keeps the answer.
func (r *Room) bundle(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	d, err := r.cfg.Store.RoomDevice(c.Request().Context(), id)
	if err != nil {
		return err
	}
	address := c.QueryParam("platform") // as whoever asks reaches it, past what proxies make of the host
	if address == "" {
		address = "https://" + c.Request().Host
	}
	kit, err := NewKit(d, address, r.cfg.Certificate())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := kit.Zip(&b); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "panel-" + fileName(d.ID) + ".zip"}))
	return c.Blob(http.StatusOK, "application/zip", b.Bytes())
}

// versionMost is the largest version of a macro that is believed.
const versionMost = 1_000_000

// heard notes the version that the macro of a device tells with its question; nonsense and what is known already is not noted.
func (r *Room) heard(ctx context.Context, d platform.RoomDevice, version string) {
	n, err := strconv.Atoi(version)
	if err != nil || n < 1 || n > versionMost || n == d.Macro {
		return
	}
	_, err = r.cfg.Store.ChangeRoomDevice(ctx, d.ID, func(now *platform.RoomDevice) error {
		if now.Code == d.Code { // else the panel was withdrawn since
			now.Macro = n
		}
		return nil
	})
	if err != nil {
		r.cfg.Log.Warn("the version of a macro was not noted", "device", d.ID, "why", err)
	}
}

// fileName is what of an ID can stand in the name of a file.
func fileName(id string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, id)
	return name[:min(len(name), 60)]
}
