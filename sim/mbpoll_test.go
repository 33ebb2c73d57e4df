//go:build peers

package sim

import (
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// mbpoll is an independent master (libmodbus). It returns the values read, and
// what it printed.
func mbpoll(t *testing.T, bd *Building, bus string, args ...string) ([]string, string, error) {
	t.Helper()
	if _, err := exec.LookPath("mbpoll"); err != nil {
		t.Fatal("mbpoll is missing: apt-get install -y mbpoll")
	}
	where := bd.Port(bus)
	var all []string
	if rest, ok := strings.CutPrefix(where, "tcp://"); ok {
		host, port, err := net.SplitHostPort(rest)
		if err != nil {
			t.Fatal(err)
		}
		all = append([]string{"-m", "tcp", "-p", port}, args...)
		where = host
	} else {
		all = append([]string{"-m", "rtu", "-b", "19200", "-P", "even"}, args...)
	}
	// Options come before the device, values to write after it.
	values := len(all)
	for i, a := range all {
		if a == "--" {
			values = i
		}
	}
	line := append(append([]string{}, all[:values]...), "-0", "-1", "-o", "2", where)
	if values < len(all) {
		line = append(line, all[values+1:]...)
	}
	out, err := exec.Command("mbpoll", line...).CombinedOutput()
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\[\d+\]:\s+(\S+)`).FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	return got, string(out), err
}

func TestMbpollDimsAMainsDimmer(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("gateway").node("5", "wirenboard-wb-mdm3").serial("line", 19200, "even").node("5", "wirenboard-wb-mdm3")
	bd := s.run(Options{})
	for i, bus := range []string{"gateway", "line"} {
		t.Run(bus, func(t *testing.T) {
			if _, out, err := mbpoll(t, bd, bus, "-a", "5", "-t", "4", "-r", "4", "--", "60", "70", "0"); err != nil {
				t.Fatalf("mbpoll: %v\n%s", err, out)
			}
			id := s.Nodes[i].ID
			eventually(t, "lamps at 60 and 70 percent", func() bool {
				d := device(t, bd, id)
				return d.Channels[0].Level == 60 && d.Channels[1].Level == 70 && d.Channels[2].Level == 0
			})
			got, out, err := mbpoll(t, bd, bus, "-a", "5", "-t", "4", "-r", "0", "-c", "3")
			if err != nil || fmt.Sprint(got) != "[60 70 0]" {
				t.Fatalf("read back %v, %v\n%s", got, err, out)
			}
			if got, out, err := mbpoll(t, bd, bus, "-a", "5", "-t", "0", "-r", "0", "-c", "3"); err != nil || fmt.Sprint(got) != "[1 1 0]" {
				t.Fatalf("coils %v, %v\n%s", got, err, out)
			}
			if _, out, err := mbpoll(t, bd, bus, "-a", "5", "-t", "4", "-r", "3"); err == nil || !strings.Contains(out, "Illegal data address") {
				t.Errorf("register 3, which it does not have: %v\n%s", err, out)
			}
			if _, out, err := mbpoll(t, bd, bus, "-a", "5", "-t", "4", "-r", "0", "--", "101"); err == nil || !strings.Contains(out, "Illegal data value") {
				t.Errorf("level 101: %v\n%s", err, out)
			}
		})
	}
}

// TestMbpollSpeaksToEveryFamily has an independent master read and write a point
// of each family, over TCP and over a line.
func TestMbpollSpeaksToEveryFamily(t *testing.T) {
	t.Parallel()
	points := []struct {
		profile, address string
		write, read      []string // nil write: read only
		want             string
	}{
		{"waveshare-relay-8ch", "1", []string{"-t", "0", "-r", "3", "--", "1"}, []string{"-t", "0", "-r", "0", "-c", "8"}, "[0 0 0 1 0 0 0 0]"},
		{"wirenboard-wb-mr6c", "2", []string{"-t", "4", "-r", "1281", "--", "1"}, []string{"-t", "4", "-r", "1280", "-c", "3"}, "[0 1 0]"},
		{"wirenboard-wb-mdm3", "3", []string{"-t", "4", "-r", "5", "--", "44"}, []string{"-t", "4", "-r", "0", "-c", "3"}, "[0 44 0]"},
		{"wirenboard-wb-mao4", "4", []string{"-t", "4", "-r", "20", "--", "50"}, []string{"-t", "4", "-r", "0", "-c", "2"}, "[5000 0]"},
		{"wirenboard-wb-led-rgbw", "5", []string{"-t", "4", "-r", "2011", "--", "255", "128", "0"}, []string{"-t", "4", "-r", "2014", "-c", "3"}, "[30 100 100]"},
		{"wirenboard-wb-led-cct", "6", []string{"-t", "4", "-r", "2007", "--", "50", "80"}, []string{"-t", "4", "-r", "2007", "-c", "2"}, "[50 80]"},
		{"wirenboard-wb-led-white", "7", []string{"-t", "4", "-r", "2003", "--", "9"}, []string{"-t", "4", "-r", "4000"}, "[0]"},
		{"wirenboard-wb-mrgbw-d-legacy", "8", []string{"-t", "4", "-r", "0", "--", "1", "2", "3", "4"}, []string{"-t", "4", "-r", "0", "-c", "4"}, "[1 2 3 4]"},
		{"ecodim-dali-gw2", "9/12", []string{"-t", "4", "-r", "3060", "--", "254"}, []string{"-t", "4", "-r", "3062", "-c", "3"}, "[1 4 254]"},
		{"arlight-dali-logic-lite", "10/12", []string{"-t", "4", "-r", "268", "--", "170"}, []string{"-t", "4", "-r", "2572"}, "[170]"},
		{"dalion", "11/2.12", []string{"-t", "4", "-r", "208", "--", "255"}, []string{"-t", "4", "-r", "140"}, "[255]"},
		{"intesis-ibmbsdal", "12/12", []string{"-t", "4", "-r", "1215", "--", "70"}, []string{"-t", "4", "-r", "1206"}, "[70]"},
		{"eastron-sdm630", "13", nil, []string{"-t", "3:float", "-B", "-r", "74"}, "[0]"},
		{"eastron-sdm120", "14", nil, []string{"-t", "3:float", "-B", "-r", "342"}, "[1234.5]"},
	}
	s := newSite(t).tcp("gateway")
	for _, p := range points {
		s.node(p.address, p.profile)
	}
	s.serial("line", 19200, "even")
	for _, p := range points {
		s.node(p.address, p.profile)
	}
	bd := s.run(Options{})
	for _, bus := range []string{"gateway", "line"} {
		for _, p := range points {
			t.Run(bus+" "+p.profile, func(t *testing.T) {
				unit, _, _ := strings.Cut(p.address, "/")
				if p.write != nil {
					if _, out, err := mbpoll(t, bd, bus, append([]string{"-a", unit}, p.write...)...); err != nil {
						t.Fatalf("write: %v\n%s", err, out)
					}
				}
				got, out, err := mbpoll(t, bd, bus, append([]string{"-a", unit}, p.read...)...)
				if err != nil || fmt.Sprint(got) != p.want {
					t.Errorf("read %v, want %s (%v)\n%s", got, p.want, err, out)
				}
			})
		}
	}
}

func TestWallSwitchesShowInRegistersAndInTheRecord(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("ground floor").node("7/12", "ecodim-dali-gw2").node("6", "wirenboard-wb-mr6c").
		shade(1, 2*time.Second, 2*time.Second).node("20", "wirenboard-wb-led-rgbw").node("5", "wirenboard-wb-mdm3")
	bd := s.run(Options{})
	srv := control(t, bd)
	at := "/devices/" + url.PathEscape("ground floor") + "/"
	for _, c := range []struct{ path, body string }{
		{at + "7%2F12/channels/1", `{"level":50,"colorTemp":3000}`},
		{at + "6/shades/1", `{"action":"open"}`},
		{at + "20/channels/1", `{"rgbw":"10:20:30:255"}`},
		{at + "5/channels/2", `{"on":true}`},
	} {
		if code, out := call(t, srv, "POST", c.path, c.body); code != 200 {
			t.Errorf("%s: %d %v", c.path, code, out)
		}
	}
	for _, c := range []struct {
		unit, table, register, want string
	}{
		{"7", "4", "3064", "229"},
		{"7", "4", "3384", "3000"},
		{"6", "0", "16", "1"},
		{"20", "4", "2012", "20"},
		{"20", "4", "2003", "100"},
		{"5", "0", "1", "1"},
		{"5", "4", "1", "100"},
	} {
		got, out, err := mbpoll(t, bd, "ground floor", "-a", c.unit, "-t", c.table, "-r", c.register)
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("unit %s, table %s, %s: %v, want %s\n%s", c.unit, c.table, c.register, got, c.want, out)
		}
	}
	w := logged(t, bd, "ground floor")
	if len(w) != 4 || w[0].Source != "wall" || asJSON(t, w[1].Changes) != `[{"nodeId":2,"shadeId":5001,"motion":"opening"}]` {
		t.Errorf("record: %s", asJSON(t, w))
	}
}
