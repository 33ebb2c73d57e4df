package main

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
)

// TestMessagesThatAreNeverReleased has a controller begin to hand over messages exactly once (QoS 2), and never say PUBREL:
// each would be kept under its packet identifier, outside the share of the controller.
func TestMessagesThatAreNeverReleased(t *testing.T) {
	t.Parallel()
	drivertest.Long(t)
	dir := t.TempDir()
	s := serveIn(t, nil, delivered(t), dir, "--mqtt-listen", "127.0.0.1:0")
	var made struct{ Code string }
	if err := json.Unmarshal([]byte(platformd(t, dir, "", "controller", "add", "mad", "--id", "mad", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	got := s.ask("POST", wire.EnrolPath, `{"code":"`+made.Code+`"}`).want(t, 201, "enrol")
	conn, err := tls.Dial("tcp", s.addressOf("mqtts"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Minute))
	before := sizeOf(t, dir)
	const cleanWithLogin = 0xc2
	if _, err := conn.Write(mqttPacket(0x10, text("MQTT"), []byte{4, cleanWithLogin, 0, 0}, text(wire.ClientID("mad")), text(got.str("username")), text(got.str("password")))); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(conn, answer); err != nil || answer[3] != 0 {
		t.Fatalf("CONNACK % x: %v", answer, err)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, conn); ended <- err }()
	const qos2 = 0x34
	body := make([]byte, 60_000)
	sent := 0
	for ; sent < 600 && err == nil; sent++ {
		id := binary.BigEndian.AppendUint16(nil, uint16(sent+1))
		_, err = conn.Write(mqttPacket(qos2, text(wire.Topic("mad", wire.UpEvent)), id, body))
	}
	if err == nil {
		t.Errorf("all of %d were taken", sent)
	}
	conn.Close()
	<-ended
	if grown := sizeOf(t, dir) - before; grown > 8<<20 {
		t.Errorf("the data grew by %d MB", grown>>20)
	}
	if _, err := net.Dial("tcp", s.addressOf("mqtts")); err != nil {
		t.Errorf("the broker's door: %v", err)
	}
}

// mqttPacket packs a packet of MQTT.
func mqttPacket(first byte, parts ...[]byte) []byte {
	var body []byte
	for _, p := range parts {
		body = append(body, p...)
	}
	out := []byte{first}
	for n := len(body); ; {
		digit := byte(n & 0x7f)
		if n >>= 7; n == 0 {
			out = append(out, digit)
			break
		}
		out = append(out, digit|0x80)
	}
	return append(out, body...)
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }
