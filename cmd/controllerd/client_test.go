//go:build peers

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestOneZeroClientScript runs the client of the documentation as it stands, with
// curl, and after each command that was answered with status 1 looks at the
// devices.
func TestOneZeroClientScript(t *testing.T) {
	t.Parallel()
	h := newHouse(t, patient(mixedSite))
	late := drivertest.Watch(t)
	// The client finds coloured lights by their COLOR rows, and a strip that was never
	// on has no colour yet.
	h.insist("setRGBW", `{"targetType":3,"targetId":5,"R":255,"G":9,"B":9,"W":9,"DL":50}`)
	var mu sync.Mutex
	checked := map[string]int{}
	truth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		endpoint := strings.TrimPrefix(r.URL.Path, "/")
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = h.obeyed(endpoint, body, late)
		}
		mu.Lock()
		defer mu.Unlock()
		checked[endpoint]++
		if err != nil {
			t.Errorf("%s %s was confirmed: %v", endpoint, body, err)
			http.Error(w, err.Error(), http.StatusConflict)
		}
	}))
	defer truth.Close()
	check := filepath.Join(t.TempDir(), "check")
	script := "#!/bin/sh\nexec curl --silent --fail --data-binary \"$2\" \"" + truth.URL + "/$1\"\n"
	if err := os.WriteFile(check, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	client := exec.CommandContext(ctx, "sh", "../../docs/client-1.0.sh")
	client.Env = append(os.Environ(), "CONTROLLER_URL="+h.url, "CONTROLLER_CA="+filepath.Join(h.dataDir, certificateFile),
		"CONTROLLER_USER="+string(account.RoleAPIService), "CONTROLLER_PASSWORD="+housePassword, "CHECK="+check)
	out, err := client.CombinedOutput()
	if err != nil {
		t.Fatalf("docs/client-1.0.sh: %v\n%s", err, out)
	}
	if !strings.HasSuffix(string(out), "all done\n") {
		t.Errorf("docs/client-1.0.sh said\n%s", out)
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("confirmed and found so: %v", checked)
	for endpoint, want := range map[string]int{"channelControl": 9, "setColorTemp": 3, "setRGBW": 3, "shadeControl": 15} {
		if checked[endpoint] != want {
			t.Errorf("%d %s calls were confirmed, want %d", checked[endpoint], endpoint, want)
		}
	}
}

// ask is the body of any control call.
type ask struct {
	TargetType appliance.Scope
	TargetID   appliance.ID `json:"targetId"`
	Command    string
	DimLevel   int `json:"dimLevel"`
	ColorTemp  int `json:"colorTemp"`
	PosValue   int `json:"posValue"`
	R, G, B, W int
	DL         int
}

// obeyed compares the simulated devices of the mixed site with what a command
// asked for. It knows the site by itself and asks the daemon nothing.
func (h *house) obeyed(endpoint string, body []byte, late *drivertest.Lateness) error {
	var a ask
	if err := json.Unmarshal(body, &a); err != nil {
		return err
	}
	if endpoint == "shadeControl" {
		return h.shadesObeyed(a, late)
	}
	seen := 0
	for _, d := range h.building.Devices() {
		// Relays that move shades and meters are no lights.
		if !h.addressed(a, d.NodeID, 0) || d.Profile == "wirenboard-wb-mr6c" || strings.HasPrefix(d.Profile, "eastron") {
			continue
		}
		for _, c := range d.Channels {
			if endpoint == "setColorTemp" && c.ColorTemp == 0 || endpoint == "setRGBW" && c.RGBW == "" {
				continue // the lamp cannot
			}
			seen++
			if err := channelObeyed(endpoint, a, c, d.Profile); err != nil {
				return fmt.Errorf("node %d channel %d: %w", d.NodeID, c.Channel, err)
			}
		}
	}
	if seen == 0 {
		return fmt.Errorf("no channel was addressed")
	}
	return nil
}

// addressed reports whether a command is for a node, or for a shade if that is not 0.
func (h *house) addressed(a ask, node, shade appliance.ID) bool {
	switch a.TargetType {
	case appliance.All:
		return true
	case appliance.One:
		return shade != 0 && a.TargetID == shade || shade == 0 && a.TargetID == node
	}
	for _, c := range h.site.Clusters {
		if c.ID == a.TargetID {
			return shade != 0 && slices.Contains(c.Shades, shade) || shade == 0 && slices.Contains(c.Nodes, node)
		}
	}
	return false
}

// channelObeyed allows for the steps of DALI and of percent registers.
func channelObeyed(endpoint string, a ask, c sim.DeviceChannel, profile string) error {
	near := func(what string, got, want, most int) error {
		if got < want-most || got > want+most {
			return fmt.Errorf("%s is %d, want %d", what, got, want)
		}
		return nil
	}
	switch {
	case endpoint == "setColorTemp":
		return near("colour temperature", c.ColorTemp, min(max(a.ColorTemp, 3000), 5000), 50)
	case endpoint == "setRGBW":
		var got [4]int
		if _, err := fmt.Sscanf(c.RGBW, "%d:%d:%d:%d", &got[0], &got[1], &got[2], &got[3]); err != nil {
			return err
		}
		for i, want := range []int{a.R, a.G, a.B, a.W} {
			// The level scales the colour; white has steps of 1 %.
			if err := near("colour "+"RGBW"[i:i+1], got[i], (want*a.DL+50)/100, 3); err != nil {
				return err
			}
		}
		return nil
	case a.Command == "OFF":
		return near("level", c.TargetLevel, 0, 0)
	case a.Command == "ON":
		return near("level", c.TargetLevel, 100, 99)
	case profile == "waveshare-relay-8ch":
		return near("relay", c.TargetLevel, 100, 0)
	}
	return near("level", c.TargetLevel, a.DimLevel, 1)
}

// shadesObeyed waits as long as the actuators take to reverse, and for a position
// until it is reached.
func (h *house) shadesObeyed(a ask, late *drivertest.Lateness) error {
	for _, s := range h.site.Shades {
		if !h.addressed(a, 0, s.ID) {
			continue
		}
		var got sim.DeviceShade
		most := 10 * time.Second // ten times what the actuators take to reverse
		if a.Command == "POS" {
			most = time.Minute
		}
		began, again := time.Now(), true
		for deadline := began.Add(most); ; <-time.After(10 * time.Millisecond) {
			got = h.shade(s.ID)
			if shadeObeyed(a, got, slack(s, late)) {
				break
			}
			if a.Command == "POS" && !got.Moving && time.Since(began) > 20*time.Second && again {
				again = false // a motor is stopped by the clock: one that a busy machine stopped elsewhere is sent on, as its client would
				h.control("shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`, s.ID, a.PosValue))
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("shade %d after %v: %+v", s.ID, most, got)
			}
		}
	}
	return nil
}

// slack is by how many percent a position may be off: the steps of a motor, and how far a shade goes while the machine is late
// with the stop.
func slack(s appliance.Shade, late *drivertest.Lateness) float64 {
	return 6 + 100*late.Steps(1).Seconds()/min(s.TravelUp, s.TravelDown).Seconds()
}

func shadeObeyed(a ask, s sim.DeviceShade, slack float64) bool {
	switch a.Command {
	case "UP":
		return s.Motion == "opening" || s.Position == 100
	case "DOWN":
		return s.Motion == "closing" || s.Position == 0
	case "STOP":
		return !s.Moving
	}
	return !s.Moving && math.Abs(s.ExactPosition-float64(a.PosValue)) < slack
}
