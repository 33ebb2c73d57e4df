package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform/link"
)

// dialBroker connects to the broker that controllers use.
func (e *estate) dialBroker(address, id, user, password string) mqtt.Client {
	e.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(e.daemon.cert.PEM())
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker(address).SetClientID(id).SetUsername(user).SetPassword(password).
		SetTLSConfig(&tls.Config{RootCAs: pool}).SetAutoReconnect(false))
	if token := c.Connect(); !token.WaitTimeout(patience) || token.Error() != nil {
		e.t.Fatalf("connect %s: %v", id, token.Error())
	}
	e.t.Cleanup(func() { c.Disconnect(0) })
	return c
}

// written waits for the next write to the canteen's dimmer, and tells when it was carried out and what it said.
func (e *estate) written(since uint64) (at time.Time, pdu string) {
	e.t.Helper()
	eventually(e.t, "the dimmer is written to", func() bool {
		all, err := e.building.Writes("tcp", since, 0)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, w := range all {
			if w.Unit == 2 {
				at, pdu = w.At, w.PDU
				return true
			}
		}
		return false
	})
	return at, pdu
}

func (e *estate) lastWrite() uint64 {
	e.t.Helper()
	all, err := e.building.Writes("tcp", 0, 1)
	if err != nil {
		e.t.Fatal(err)
	}
	if len(all) == 0 {
		return 0
	}
	return all[0].Seq
}

// From an MQTT event to the write on the bus, beside the least that can do it: a subscription that writes what the controller
// wrote, as it comes, to the same device. With SOAK=1 the controller's median may be 1.5 times the other's.
func TestCampaignFromAnEventToTheWrite(t *testing.T) {
	times, soak := 10, os.Getenv("SOAK") != ""
	if soak {
		times = 300
	} else {
		t.Parallel()
	}
	e := newEstate(t, nil)
	e.room("canteen", "Canteen", "[2]")
	ctx := t.Context()
	code := link.NewCode()
	if err := e.db.AddController(ctx, "floor", "floor", link.HashCode(code), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	got := e.credentials(code)
	senders := map[string]mqtt.Client{}
	for _, cid := range []string{"rooms", "floor"} {
		c, password := link.NewCredential("peer-"+cid, cid, true)
		if err := e.db.PutCredential(ctx, c); err != nil {
			t.Fatal(err)
		}
		senders[cid] = e.dialBroker(got.Broker, "peer-"+cid, c.Username, password)
	}
	// event sends one to a controller and tells how long it takes to the write.
	number := 0
	event := func(cid string, level int) (took time.Duration, pdu string) {
		number++
		exp := time.Now().Add(wire.Lifetime)
		b, err := wire.Envelope{ID: fmt.Sprint("event-", number), Type: wire.TypeWidget, TS: time.Now(), Exp: &exp}.Seal(wire.WidgetAction{
			DeviceID: "canteen", PanelID: wire.ControlsPanel, WidgetID: wire.LightBrightness, Action: wire.Released, Value: fmt.Sprint(level), Origin: wire.OriginPanel,
		})
		if err != nil {
			t.Fatal(err)
		}
		since, sent := e.lastWrite(), time.Now()
		senders[cid].Publish(wire.Topic(cid, wire.DownWidget), 1, false, b)
		at, pdu := e.written(since)
		return at.Sub(sent), pdu
	}
	var pdus [2][]byte // what the controller writes for two levels
	levels := [2]int{51, 204}
	for i, level := range levels {
		_, text := event("rooms", level)
		pdu, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		pdus[i] = pdu
		time.Sleep(settles)
	}
	_, port, _ := strings.Cut(e.building.Port("tcp"), "://")
	conn, err := net.Dial("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	turn := 0
	minimal := e.dialBroker(got.Broker, wire.ClientID("floor"), got.Username, got.Password)
	token := minimal.Subscribe(wire.Topic("floor", wire.DownWidget), 1, func(mqtt.Client, mqtt.Message) {
		pdu := pdus[turn%2]
		turn++
		frame := binary.BigEndian.AppendUint16(nil, uint16(turn))
		frame = binary.BigEndian.AppendUint16(append(frame, 0, 0), uint16(len(pdu)+1))
		frame = append(append(frame, 2), pdu...)
		_, _ = conn.Write(frame)
		_, _ = conn.Read(make([]byte, 256))
	})
	if !token.WaitTimeout(patience) || token.Error() != nil {
		t.Fatal(token.Error())
	}
	took := map[string][]time.Duration{}
	for i := range times {
		for _, cid := range []string{"floor", "rooms"} {
			d, _ := event(cid, levels[i%2])
			took[cid] = append(took[cid], d)
			time.Sleep(settles)
		}
	}
	ours, least := quantile(took["rooms"], 0.5), quantile(took["floor"], 0.5)
	ratio := float64(ours) / float64(least)
	t.Logf("event to write, %d times: controller p50 %v, p95 %v; minimal p50 %v, p95 %v; ratio of p50 %.2f", times,
		ours.Round(10*time.Microsecond), quantile(took["rooms"], 0.95).Round(10*time.Microsecond), least.Round(10*time.Microsecond), quantile(took["floor"], 0.95).Round(10*time.Microsecond), ratio)
	if soak && ratio > 1.5 {
		t.Errorf("the controller takes %.2f times as long as the minimal program, want at most 1.5", ratio)
	}
}

// settles is what a command gets to read back before the next one is timed.
const settles = 100 * time.Millisecond
