package sim

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"
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
