package link

import (
	"io"
	"net"
	"strings"
	"testing"

	"svc.internal/controller/cloud/wire"
)

// What the broker says of a wrong password is what the log tells, not that it knows no older
// protocol.
func TestARefusalIsToldAsItWasSaid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			head := make([]byte, 16) // fixed header, protocol name, level
			_, err = io.ReadFull(conn, head)
			code := byte(1) // unacceptable protocol version
			if err == nil && strings.Contains(string(head), "MQTT\x04") {
				code = 4 // bad user name or password
			}
			_, _ = conn.Write([]byte{0x20, 2, 0, code})
			conn.Close()
		}
	}()
	s := &session{Link: &Link{cfg: Config{Credentials: wire.Credentials{Controller: "house", Broker: "tcp://" + l.Addr().String(), Username: "house", Password: "wrong"}}}, lost: make(chan error, 1)}
	if err := s.connect(); err == nil || !strings.Contains(err.Error(), "bad user name or password") {
		t.Errorf("told: %v", err)
	}
}
