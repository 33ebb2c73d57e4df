package sse

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/drivers/drivertest"
)

// Streams with pauses longer than a write may take were cut off, over HTTP/2 only.
func TestAStreamOutlivesItsPauses(t *testing.T) {
	drivertest.Long(t)
	writeTimeout = time.Second // within which a busy machine has to write
	for _, http2 := range []bool{false, true} {
		e := echo.New()
		e.GET("/", func(c echo.Context) error {
			s := Open(c)
			defer s.Close()
			for _, event := range []string{"first", "second"} {
				if err := s.Send(event, 1); err != nil {
					return err
				}
				time.Sleep(writeTimeout + writeTimeout/2)
			}
			return nil
		})
		srv := httptest.NewUnstartedServer(e)
		srv.EnableHTTP2 = http2
		srv.StartTLS()
		res, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		srv.Close()
		if err != nil || !strings.Contains(string(body), "event: second") || (res.ProtoMajor == 2) != http2 {
			t.Errorf("%s: %q %v", res.Proto, body, err)
		}
	}
}
