package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/shelf/memory/confine"
)

// TestAControllerGoneMadHarmsNobody has one of two controllers retain 40 to 60 KB under ever
// new topics, which filled memory and disk before.
func TestAControllerGoneMadHarmsNobody(t *testing.T) {
	t.Parallel()
	drivertest.Long(t)
	const (
		flood    = 800 // messages, some 40 MB
		diskMost = 3 * quota.TopicBytesMost
	)
	group := confine.New(t, 512<<20)
	dir := t.TempDir()
	platformd(t, dir, password+"\n", "user", "add", "ada", "--role", "admin", "--password-stdin")
	s := serveIn(t, group, delivered(t), dir, "--mqtt-listen", "127.0.0.1:0")
	mad, sound := s.controller(t, dir, "mad"), s.controller(t, dir, "sound")
	before := sizeOf(t, dir)
	for i := range flood {
		body := fmt.Sprintf(`{"v":1,"id":"m-%d","ts":"2026-11-24T12:00:00Z","type":"state","data":{"kind":"light","id":%d,"name":"%s"}}`, i, i, strings.Repeat("x", 40_000+rand.IntN(20_000)))
		if token := mad.Publish(wire.StateTopic("mad", "light", int64(i)), 1, true, body); i%50 == 49 && !token.WaitTimeout(2*time.Minute) {
			t.Fatalf("message %d is not acknowledged", i)
		}
	}
	// The other one is heard all the same.
	token := sound.Publish(wire.StateTopic("sound", "light", 7), 1, true, `{"v":1,"id":"s-1","ts":"2026-11-24T12:00:00Z","type":"state","data":{"kind":"light","id":7,"name":"Lamp"}}`)
	if !token.WaitTimeout(time.Minute) || token.Error() != nil {
		t.Fatalf("the sound controller is not heard: %v", token.Error())
	}
	ada := s.login("ada")
	eventually(t, "the page of the mad one tells what was left out", func() bool {
		left, ok := ada.api("GET", "/api/sites/mad", "").want(t, 200, "the mad site").member("data.leftOut").([]any)
		return ok && len(left) == 1 && left[0].(map[string]any)["why"] == string(quota.TooMuchKept)
	})
	if left := ada.api("GET", "/api/sites/sound", "").want(t, 200, "the sound site").member("data.leftOut"); left != nil {
		t.Errorf("of the sound one was left out: %v", left)
	}
	metrics := ada.api("GET", "/metrics", "").want(t, 200, "metrics").text
	if !strings.Contains(metrics, `platform_controller_left_out_total{controller="mad",why="bytes"}`) || strings.Contains(metrics, `platform_controller_left_out_total{controller="sound"`) {
		t.Error("the metrics do not tell who was kept to its share")
	}
	if n := strings.Count(s.printed(), "more than its share"); n != 1 {
		t.Errorf("the log tells it %d times", n)
	}
	if grown := sizeOf(t, dir) - before; grown > diskMost {
		t.Errorf("the data grew by %d MB, want at most %d", grown>>20, diskMost>>20)
	}
	if n := group.Kills(t); n != 0 {
		t.Errorf("the kernel ended the program %d times", n)
	}
}

// controller enrols one and connects it.
func (s *served) controller(t *testing.T, dir, id string) mqtt.Client {
	t.Helper()
	var made struct{ Code string }
	if err := json.Unmarshal([]byte(platformd(t, dir, "", "controller", "add", id, "--id", id, "--json")), &made); err != nil {
		t.Fatal(err)
	}
	got := s.ask("POST", wire.EnrolPath, `{"code":"`+made.Code+`"}`).want(t, 201, "enrol "+id)
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("ssl://" + s.addressOf("mqtts")).SetClientID(wire.ClientID(id)).
		SetUsername(got.str("username")).SetPassword(got.str("password")).SetTLSConfig(&tls.Config{InsecureSkipVerify: true}))
	if token := c.Connect(); !token.WaitTimeout(time.Minute) || token.Error() != nil {
		t.Fatalf("connect %s: %v", id, token.Error())
	}
	t.Cleanup(func() { c.Disconnect(0) })
	return c
}

// sizeOf is how many bytes are below a directory.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
