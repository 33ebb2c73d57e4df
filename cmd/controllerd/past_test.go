package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/store/past"
)

// What happened in a building is told by the API and on the command line, after a restart as well, and costs the disk little.
func TestHistoryOfABuilding(t *testing.T) {
	t.Parallel()
	virtualBuilding(t, mixedSite, func(t *testing.T, h *house) {
		h.tokenLife = 24 * time.Hour
		h.serve()
		h.awaitOnline()
		dim := func(level int) {
			t.Helper()
			if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":1,"command":"DIM","dimLevel":%d}`, level)); status != 1 {
				t.Fatalf("%d %s", status, message)
			}
		}
		began := time.Now()
		dim(40)
		time.Sleep(6 * time.Minute)
		dim(70)
		if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5001,"command":"POS","posValue":60}`); status != 1 {
			t.Fatalf("%d %s", status, message)
		}
		time.Sleep(3 * time.Minute)
		h.restart()
		h.awaitOnline()
		time.Sleep(3 * time.Minute)
		token := h.enter("viewer")

		var got api.Past
		h.api(token, 200, http.MethodGet, "/history?node=1&aspect=level", nil, &got)
		if len(got.Tracks) != 3 {
			t.Fatalf("%d channels", len(got.Tracks))
		}
		for _, track := range got.Tracks {
			var values []string
			for _, v := range track.Value {
				if v == nil {
					values = append(values, "-")
				} else {
					values = append(values, fmt.Sprint(*v))
				}
			}
			if n := len(values); n < 4 || !slices.Equal(values[n-4:], []string{"40", "70", "-", "70"}) {
				t.Errorf("channel %d was %v", track.Channel, values)
			}
			at := time.Unix(track.At[len(track.At)-3], 0)
			if d := at.Sub(began.Add(6 * time.Minute)); d < -2*time.Second || d > 10*time.Second {
				t.Errorf("dimmed %v away from when it was", d)
			}
		}
		h.api(token, 200, http.MethodGet, "/history?shade=5001&aspect=position", nil, &got)
		if v := got.Tracks[0].Value; len(v) < 1 || v[len(v)-1] == nil || *v[len(v)-1] < 50 || *v[len(v)-1] > 70 {
			t.Errorf("the shade ended as %+v", got.Tracks[0])
		}

		said := h.typed("history", "show", "--node", "Dimmer", "--aspect", "level", "--step", "1h", "--together", "--json")
		var shown api.Past
		if err := json.Unmarshal([]byte(said.out), &shown); err != nil || said.code != 0 || len(shown.Tracks) != 1 || shown.Step != 3600 {
			t.Errorf("%d %s %v\n%s", said.code, said.err, err, said.out)
		}
		said = h.typed("history", "show", "--cluster", "1", "--aspect", "level", "--csv")
		if lines := strings.Split(said.out, "\n"); said.code != 0 || lines[0] != "time,node,channel,shade,name,aspect,value" || len(lines) < 10 {
			t.Errorf("%d %s\n%s", said.code, said.err, said.out)
		}
		said = h.typed("history", "show", "--shade", "South")
		if said.code != 0 || !strings.Contains(said.out, "position") || !strings.Contains(said.out, "online") {
			t.Errorf("%d %s\n%s", said.code, said.err, said.out)
		}
		if said = h.typed("history", "power"); said.code != 0 || !strings.Contains(said.out, "names no meters") {
			t.Errorf("%d %s\n%s", said.code, said.err, said.out)
		}
		if said = h.typed("history", "show", "--step", "7m"); said.code == 0 || !strings.Contains(said.err, "divide a day") {
			t.Errorf("%d %s", said.code, said.err)
		}
		info, err := os.Stat(filepath.Join(h.dataDir, past.FileName))
		if err != nil || info.Size() > 2<<20 {
			t.Errorf("%v, %v", info, err)
		}
	})
}
