package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkRoom measures from the request to the hardware's acknowledgement, over real HTTPS, the broker inside and the wire of
// a simulated building: a tap on a panel and a sentence. Beside it stands the same request where nothing is sent on, so that
// their difference is broker, controller and bus.
func BenchmarkRoom(b *testing.B) {
	e := newEstate(b, nil)
	code := e.room("lobby", "Lobby", "[1]")
	levels := []int{20, 80}
	for _, c := range []struct {
		name string
		ask  func(i int) answer
	}{
		{"tap", func(i int) answer {
			return e.tap("lobby", code, fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":"%d"}`, levels[i%2]))
		}},
		{"tap that does nothing", func(int) answer {
			return e.tap("lobby", code, `{"widgetId":"light_brightness","type":"pressed","value":"1"}`)
		}},
		{"sentence", func(i int) answer {
			return e.ask("POST", "/api/conferencing/panels/lobby/say", fmt.Sprintf(`{"text":"lights to %d percent"}`, levels[i%2]), "Authorization: Bearer "+code)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for i := range 150 { // a panel may ask 600 times a minute, all of this together
				start := time.Now()
				a := c.ask(i)
				took = append(took, time.Since(start))
				if a.StatusCode != http.StatusOK || !strings.Contains(a.text, `"success":true`) {
					b.Fatalf("%d %s", a.StatusCode, a.text)
				}
			}
			slices.Sort(took)
			b.ReportMetric(0, "ns/op") // not of b.N
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
