package voice

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// What takes an order back just after it is done in its place; what only follows it, or comes later, is not.
func TestAnOrderIsCorrectedShortlyAfterIt(t *testing.T) {
	for _, c := range []struct {
		before, text string
		after        time.Duration
		want         string // widget value
	}{
		{"lights to 80", "no, forty", time.Second, "light_brightness 102"},
		{"blinds to 20 percent", "make that thirty", time.Second, "shade_position 77"},
		{"Licht auf 50", "nein, doch lieber 30", time.Second, "light_brightness 77"},
		{"lights on", "no, off", time.Second, "light_power off"},
		{"lights to 80", "no, forty", correctsWithin, ""},
		{"lights to 80", "forty", time.Second, ""},
		{"lights to 80", "no, forty people are coming", time.Second, ""},
		{"lights to 80", "sorry, at three", time.Second, ""},
		{"lights to 80", "I meant the left ones", time.Second, ""},
		{"lights to 80 and blinds down", "no, forty", time.Second, ""},
		{"how bright is it?", "no, forty", time.Second, ""},
	} {
		t.Run(c.before+" … "+c.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &building{lights: []platform.Device{light(40)}, ack: wire.Ack{Status: wire.Applied}}
				r := NewRoom(Config{Devices: b, Send: b, Site: b, Log: slog.New(slog.DiscardHandler)})
				say := func(text string) {
					if _, err := r.Say(context.Background(), "room", text, ""); err != nil {
						t.Fatal(err)
					}
				}
				say(c.before)
				time.Sleep(c.after)
				b.sent = nil
				say(c.text)
				got := ""
				for _, a := range b.sent {
					got += a.WidgetID + " " + a.Value
				}
				if got != c.want {
					t.Errorf("sent %q, want %q", got, c.want)
				}
			})
		})
	}
}
