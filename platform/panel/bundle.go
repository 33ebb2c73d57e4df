package panel

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
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
