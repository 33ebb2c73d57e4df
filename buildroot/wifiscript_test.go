package buildroot

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWifiOfTheFirstStart runs the script on folders in place of the kernel's ports, with programs that note how they were called.
// Seconds that it sleeps are none here.
func TestWifiOfTheFirstStart(t *testing.T) {
	t.Parallel()
	const unclaimed = "waits to be claimed"
	for _, c := range []struct {
		name, carrier, hostapd string
		says                   []string // the daemon's status, one look after the other; the last one stays
		exit, slept            int
		opens                  bool
	}{
		{name: "a cable is in", carrier: "1\n", says: []string{unclaimed}},
		{name: "claimed while the daemon starts anew", carrier: "0\n", says: []string{unclaimed, "", unclaimed, "in order"}, opens: true, slept: 10 + 3*2 + 60},
		{name: "nobody comes", carrier: "", says: []string{unclaimed}, opens: true, slept: 10 + 30*60},
		{name: "a radio that cannot", carrier: "0\n", hostapd: "until [ -e DIR/dnsmasq.pid ]; do /bin/sleep 0.02; done\nexit 1", says: []string{unclaimed}, exit: 1, opens: true, slept: -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := s.dir
			s.script("usr/lib/appliance/wifi", "wifi", "/sys/class/net", dir+"/net", "/run/appliance-wifi", dir+"/run")
			s.put("net/eth0/type", "1\n")
			s.put("net/lo/type", "772\n")
			s.put("net/lo/carrier", "1\n")
			s.put("net/wlan0/type", "1\n")
			s.put("net/wlan0/carrier", "1\n")
			s.put("net/wlan0/phy80211/name", "phy0\n")
			if c.carrier != "" { // else the kernel refuses to tell, as it does of a port that is not up
				s.put("net/eth0/carrier", c.carrier)
			}
			s.put("run/claim-code", "M984-TX9U-WLL5\n")
			s.put("says", strings.Join(c.says, "\n")+"\n")
			stays := "echo $$ >" + dir + "/NAME.pid\nexec /bin/sleep 1000 >/dev/null 2>&1"
			hostapd := stays
			if c.hostapd != "" {
				hostapd = strings.ReplaceAll(c.hostapd, "DIR", dir)
			}
			program := func(name, text string) {
				s.put("bin/"+name, "#!/bin/sh\necho "+name+" \"$@\" >>"+dir+"/calls\n"+strings.ReplaceAll(text, "NAME", name)+"\n")
			}
			program("hostapd", hostapd)
			program("dnsmasq", stays)
			program("ip", "")
			s.put("bin/hostname", "#!/bin/sh\necho a-name-that-is-longer-than-a-radio-can-tell\n")
			both := "[ -e " + dir + "/hostapd.pid ] && [ -e " + dir + "/dnsmasq.pid ]" // have begun
			if c.hostapd != "" {
				both = "/bin/sleep 0.05"
			}
			s.put("bin/sleep", "#!/bin/sh\necho $1 >>"+dir+"/slept\n[ $1 != 2 ] || until "+both+"; do /bin/sleep 0.02; done\n")
			s.put("bin/systemctl", "#!/bin/sh\n[ \"$*\" = 'show controllerd -p StatusText' ] || exit 1\n"+
				"echo \"StatusText=$(head -1 "+dir+"/says)\"\n[ $(wc -l <"+dir+"/says) = 1 ] || sed -i 1d "+dir+"/says\n")

			cmd := s.command("wifi")
			cmd.Env = append(cmd.Env, "CREDENTIALS_DIRECTORY="+dir+"/run")
			out, err := cmd.CombinedOutput()
			if pid, err := strconv.Atoi(strings.TrimSpace(s.read("dnsmasq.pid"))); err == nil { // as systemd does with the unit
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			exit := 0
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
				exit = failed.ExitCode()
			} else if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if exit != c.exit {
				t.Errorf("exit %d, want %d\n%s", exit, c.exit, out)
			}
			if c.exit != 0 && !strings.Contains(string(out), "ended by itself") {
				t.Errorf("it says %q", out)
			}
			slept := 0
			for line := range strings.Lines(s.read("slept")) {
				d, err := time.ParseDuration(strings.TrimSpace(line) + "s")
				if err != nil {
					t.Fatal(err)
				}
				slept += int(d.Seconds())
			}
			if c.slept >= 0 && slept != c.slept {
				t.Errorf("it slept %d s, want %d", slept, c.slept)
			}
			calls, settings := s.read("calls"), s.read("run/hostapd.conf")
			if !c.opens {
				if calls != "" || settings != "" || !strings.Contains(string(out), "cable") {
					t.Errorf("with a cable in it called %q, and said %q", calls, out)
				}
				return
			}
			for _, want := range []string{"interface=wlan0\n", "ssid=a-name-that-is-longer-than-a-rad\n", "wpa=2\n", "wpa_passphrase=M984-TX9U-WLL5\n"} {
				if !strings.Contains(settings, want) {
					t.Errorf("hostapd is not told %q in\n%s", want, settings)
				}
			}
			if st, err := os.Stat(filepath.Join(dir, "run/hostapd.conf")); err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("the password's file: %v, %v", st.Mode(), err)
			}
			if c.exit == 0 && !strings.Contains(calls, "--interface=wlan0") || strings.Contains(calls, "M984") || strings.Contains(string(out), "M984") {
				t.Errorf("called\n%sand said\n%s", calls, out)
			}
			if !strings.HasSuffix(calls, "ip addr flush dev wlan0\n") {
				t.Errorf("the address stays: %s", calls)
			}
			if pid := strings.TrimSpace(s.read("hostapd.pid")); pid != "" {
				if _, err := os.Stat("/proc/" + pid); err == nil {
					t.Error("hostapd is still there")
				}
			}
		})
	}
}
