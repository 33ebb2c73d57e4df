package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/site/sitefile"
)

// serverSite is played on serial ports; the controller reaches them through serial
// device servers.
const serverSite = `
site: {name: Serial servers}
buses:
  - {name: tcp, driver: sdn, port: "@DIR@/tcp", options: {responseTimeout: 2s}}
  - {name: rtu+tcp, driver: sdn, port: "@DIR@/rtu+tcp", options: {responseTimeout: 2s}}
  - {name: gateway, driver: dali, port: "@DIR@/gateway", options: {gateway: luba, gatewayTimeout: 3s}}
nodes:
  - {id: 1, name: One, bus: tcp, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 2, name: Two, bus: rtu+tcp, address: 06.00.02, profile: somfy-sdn-30dc}
  - {id: 3, name: Lamp, bus: gateway, address: 3, profile: dali-dt6}
shades:
  - {id: 5001, name: One, node: 1, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: Two, node: 2, output: 1, travelUp: 3s, travelDown: 3s}
`

// serialServer passes bytes between a serial port and one client at a time. It keeps
// what the line said for pack before it sends it on, as such devices do.
func serialServer(t *testing.T, port string, pack time.Duration) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map // what has to be closed at the end
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serial, err := os.OpenFile(port, os.O_RDWR, 0)
			if err != nil {
				t.Errorf("serial server: %v", err)
				conn.Close()
				continue
			}
			open.Store(conn, nil)
			open.Store(serial, nil)
			ended.Go(func() { io.Copy(serial, conn); serial.Close() })
			ended.Go(func() {
				defer conn.Close()
				buf := make([]byte, 256)
				for {
					n, err := serial.Read(buf)
					if err != nil {
						return
					}
					kept := time.NewTimer(pack)
					<-kept.C
					if _, err := conn.Write(buf[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		open.Range(func(c, _ any) bool { c.(io.Closer).Close(); return true })
		ended.Wait()
	})
	return listener.Addr().String()
}

// TestFieldBusesBehindSerialServers commands shades and a lamp through serial device
// servers, with both spellings that the site file knows.
func TestFieldBusesBehindSerialServers(t *testing.T) {
	drivertest.Long(t)
	t.Parallel() // slow buses
	h := &house{t: t, dataDir: filepath.Join(t.TempDir(), "data"), tokens: map[string]string{}}
	var err error
	if h.site, err = sitefile.Parse("test site", []byte(strings.ReplaceAll(serverSite, "@DIR@", t.TempDir()))); err != nil {
		t.Fatal(err)
	}
	h.play()
	for i := range h.site.Buses {
		b := &h.site.Buses[i]
		scheme := "tcp"
		if b.Name == "rtu+tcp" {
			scheme = b.Name
		}
		b.Port = scheme + "://" + serialServer(t, b.Port, 5*time.Millisecond)
	}
	h.fillStore()
	h.serve()
	h.awaitOnline()
	for _, c := range []struct{ path, body string }{
		{"shadeControl", `{"targetType":3,"targetId":5001,"command":"POS","posValue":80}`},
		{"shadeControl", `{"targetType":3,"targetId":5002,"command":"POS","posValue":20}`},
		{"channelControl", `{"targetType":3,"targetId":3,"command":"DIM","dimLevel":60}`},
	} {
		h.insist(c.path, c.body)
	}
	waitFor(t, time.Minute, "both shades where they were sent", func() bool {
		one, two := h.truth(5001), h.truth(5002)
		return !one.Moving && !two.Moving && one.ExactPosition == 80 && two.ExactPosition == 20
	})
	waitFor(t, time.Minute, "readers to see it", func() bool {
		s := h.daemon.core.Snapshot()
		return s.Shade(5001).Position.Value == 80 && s.Shade(5002).Position.Value == 20 && s.Node(3).Level.Value == 60
	})
}

// TestWrongSchemesAreRefusedAtImport: what a driver cannot use is told when the site
// is checked, with what it can.
func TestWrongSchemesAreRefusedAtImport(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	for bus, want := range map[string]string{
		`{name: b, driver: dali, port: "rtu+tcp://10.0.0.7:4001", options: {gateway: luba, gatewayTimeout: 3s}}`: "tcp://host:port of a serial server",
		`{name: b, driver: sdn, port: "udp://10.0.0.7:4001"}`:                                                    "tcp://host:port or rtu+tcp://host:port",
	} {
		s := d.run("site", "check", d.write("site.yaml", "site: {name: S}\nbuses:\n  - "+bus+"\n"))
		if s.code != 1 || !strings.Contains(s.err, "buses[0]") || !strings.Contains(s.err, want) {
			t.Errorf("%s: exit code %d, %q, want %q", bus, s.code, s.err, want)
		}
	}
}
