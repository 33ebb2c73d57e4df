package buildroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc.internal/controller/drivers/drivertest"
)

// netModel is what the script calls, as far as it sees it: systemd and systemd-networkd, and a clock that goes on by sleeping. Each call
// is a step at which the power may fail, and what changes files another when it is done.
const netModel = `#!/bin/sh
step() {
  read -r n <"$BOX/steps"
  echo $((n + 1)) >"$BOX/steps"
  read -r cut <"$BOX/cut"
  [ $((n + 1)) != "$cut" ] || kill -9 0
}
step
case "${0##*/} $*" in
"sync "*) ;;
"su "*) sh -c "$4" ;;
"sleep "*)
  read -r up <"$BOX/proc/uptime"
  [ "$1" != 1 ] || set 10 # with less patience
  echo $((${up%.*} + $1)).50 >"$BOX/proc/uptime"
  ;;
"systemctl restart systemd-networkd")
  /bin/rm -rf "$BOX/inforce"
  /bin/cp -r "$BOX/run/systemd/network" "$BOX/inforce"
  id=$(sed -n s/^Name=vlan//p "$BOX/inforce/10-lan.netdev" 2>/dev/null)
  [ -z "$id" ] || mkdir -p "$BOX/sys/class/net/vlan$id"
  ;;
"systemctl stop appliance-network-change") "$BOX/bin/network" end ;;
"networkctl delete "*) rmdir "$BOX/sys/class/net/$2" ;;
"mv "* | "rm "* | "mkdir "*) "/bin/${0##*/}" "$@" ;;
*) echo "${0##*/} $*: command not found in the model" >&2; exit 127 ;;
esac
said=$?
case ${0##*/} in mv | rm) step ;; esac
# Who is told something does at once what may then be done.
if [ -e "$BOX/keeps" ] && grep -qs state=trying "$BOX/run/appliance/network"; then
  /bin/mv "$BOX/keeps" "$BOX/var/lib/controllerd/network/keep"
fi
if [ -e "$BOX/next" ] && grep -qsE 'state=(kept|undone|refused)' "$BOX/run/appliance/network"; then
  /bin/mv "$BOX/next" "$BOX/var/lib/controllerd/network/wish"
fi
exit $said
`

// netBox is the script in a folder.
type netBox struct {
	sandbox
}

const inbox = "var/lib/controllerd/network/"

// The wish of most tests, with all that a setting can have but a VLAN, and what systemd-networkd is to read of it.
const (
	netWish    = "address=192.168.1.20/24\ngateway=192.168.1.1\ndns=192.168.1.1 2001:db8::53\nport=eth0\n"
	netWritten = "10-lan.network: [Match]\nName=eth0\n[Network]\nMulticastDNS=yes\nDHCP=ipv6\nLinkLocalAddressing=ipv6\n" +
		"Address=192.168.1.20/24\nGateway=192.168.1.1\nDNS=192.168.1.1 2001:db8::53\n"
	netBefore  = "address=10.1.2.3/16\nvlan=7\n"
	wasWritten = "10-lan.netdev: [NetDev]\nName=vlan7\nKind=vlan\n[VLAN]\nId=7\n" +
		"10-lan.network: [Match]\nType=ether\n[Network]\nVLAN=vlan7\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n" +
		"10-vlan.network: [Match]\nName=vlan7\n[Network]\nMulticastDNS=yes\nDHCP=ipv6\nLinkLocalAddressing=ipv6\nAddress=10.1.2.3/16\n"
)

// newNetBox has a kept setting, none where that is empty, has started with it, and then been left a wish.
func newNetBox(t *testing.T, kept, wish string) *netBox {
	t.Helper()
	b := &netBox{newSandbox(t)}
	b.put("steps", "0\n")
	b.put("cut", "0\n")
	b.put("proc/uptime", "1000.50\n")
	for _, d := range []string{"sys/class/net", "var/lib/appliance", inbox} {
		if err := os.MkdirAll(filepath.Join(b.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.script("usr/lib/appliance/network", "bin/network",
		"/var/lib/", b.dir+"/var/lib/", "=/run/", "="+b.dir+"/run/", "/proc/", b.dir+"/proc/", "/sys/", b.dir+"/sys/")
	for _, name := range []string{"su", "sleep", "sync", "systemctl", "networkctl", "mv", "rm", "mkdir"} {
		b.put("bin/"+name, netModel)
	}
	if kept != "" {
		b.put("var/lib/appliance/network", kept)
	}
	b.power()
	b.put(inbox+"wish", wish)
	return b
}

// run reports whether the power stayed on.
func (b *netBox) run(args ...string) bool {
	b.t.Helper()
	c := b.command("bin/network", args...)
	c.Env = append(c.Env, "BOX="+b.dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return false
	}
	if err != nil || len(out) > 0 {
		b.t.Fatalf("network %v: %v\n%s", args, err, out)
	}
	return true
}

// trial is the unit: what it starts, and what is done when that has ended.
func (b *netBox) trial() bool { return b.run("take", "120") && b.run("end") }

// power takes the power away and gives it back.
func (b *netBox) power() {
	b.t.Helper()
	for _, gone := range []string{"run", "inforce", "sys"} {
		if err := os.RemoveAll(filepath.Join(b.dir, gone)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.put("cut", "0\n")
	b.run("start")
	if err := os.Rename(filepath.Join(b.dir, "run/systemd/network"), filepath.Join(b.dir, "inforce")); err != nil { // systemd-networkd starts
		b.t.Fatal(err)
	}
}

// inForce is what systemd-networkd has read.
func (b *netBox) inForce() (all string) {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, "inforce/*"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range files {
		all += filepath.Base(f) + ": " + b.read("inforce/"+filepath.Base(f))
	}
	return all
}

func (b *netBox) told() string { return b.read("run/appliance/network") }

func (b *netBox) is(t *testing.T, when, told, inForce, kept string) {
	t.Helper()
	if got := b.told(); got != told {
		t.Errorf("%s: told is %q, want %q", when, got, told)
	}
	if got := b.inForce(); got != inForce {
		t.Errorf("%s: in force is\n%s\nwant\n%s", when, got, inForce)
	}
	if got := b.read("var/lib/appliance/network"); got != kept {
		t.Errorf("%s: kept is %q, want %q", when, got, kept)
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, inbox, "*")); err != nil || len(left) > 0 {
		t.Errorf("%s: the daemon's wish stays: %v %v", when, left, err)
	}
}

// A network that nobody keeps is gone after the two minutes that the page tells, one that is kept stays over a start, and a stick takes
// it back.
func TestNetworkIsTriedThenKeptOrUndone(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("board/common/overlay/usr/lib/systemd/system/appliance-network-change.service")
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/usr/lib/appliance/network take 120\nExecStopPost=/usr/lib/appliance/network end\n") {
		t.Fatalf("the unit does not do what is tried here: %v", err)
	}
	if page, err := os.ReadFile("../admin/pages/app/network.js"); err != nil || !strings.Contains(string(page), "\nconst trial = 120;") {
		t.Errorf("the page counts down from another time: %v", err)
	}
	for _, before := range []struct{ kept, told, inForce string }{
		{"", "address=dhcp\n", ""},
		{netBefore, netBefore, wasWritten},
	} {
		b := newNetBox(t, before.kept, netWish)
		b.put("keeps", before.told) // of another trial
		b.trial()
		b.is(t, "nobody kept it", "state=undone\n"+before.told, before.inForce, before.kept)
		if got := b.read("proc/uptime"); got != "1122.50\n" {
			t.Errorf("it went back at %s, want 120 s after it was in force", got)
		}

		b.put(inbox+"wish", netWish)
		b.put("keeps", netWish)
		b.trial()
		b.is(t, "kept", "state=kept\n"+netWish, netWritten, netWish)
		if vlans, err := filepath.Glob(filepath.Join(b.dir, "sys/class/net/vlan*")); err != nil || len(vlans) > 0 {
			t.Errorf("VLANs of before stay: %v %v", vlans, err)
		}
		b.power()
		b.is(t, "after a start", "state=kept\n"+netWish, netWritten, netWish)
		b.run("forget")
		b.is(t, "forgotten", "state=kept\naddress=dhcp\n", "", "")
	}

	// What is wished as soon as the one before is over stays.
	for _, c := range []struct{ wish, keeps string }{{netWish, netWish}, {netWish, ""}, {"nonsense", ""}} {
		b := newNetBox(t, "", c.wish)
		b.put("run/appliance/network", "state=asked\naddress=dhcp\n")
		b.put("next", netBefore)
		if c.keeps != "" {
			b.put("keeps", c.keeps)
		}
		b.trial()
		if got := b.read(inbox + "wish"); got != netBefore {
			t.Errorf("after %q, kept %q, the next wish is %q", c.wish, c.keeps, got)
		}
	}

	// Whatever ends the trial goes back, and a stick in the middle of one does, too.
	b := newNetBox(t, netBefore, netWish)
	b.put("run/appliance/network", "state=trying\nuntil=1200\n"+netWish)
	b.run("end")
	b.is(t, "it was stopped", "state=undone\n"+netBefore, wasWritten, netBefore)
	b = newNetBox(t, netBefore, netWish)
	b.put("run/appliance/network", "state=trying\nuntil=1200\n"+netWish)
	b.run("forget")
	b.is(t, "forgotten meanwhile", "state=kept\naddress=dhcp\n", "", "")
}

// Wherever the power fails, the box starts with the network of before or the new one, whole; with the new one only if that is kept.
func TestPowerFailsAtEveryStepOfANetwork(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	had := map[string]int{}
	for cut := 1; ; cut++ {
		b := newNetBox(t, netBefore, netWish)
		b.put("keeps", netWish)
		b.put("steps", "0\n")
		b.put("cut", fmt.Sprintln(cut))
		stayedOn := b.trial()
		told := b.told()
		b.power()
		when := fmt.Sprintf("the power failed at step %d", cut)
		switch kept := b.read("var/lib/appliance/network"); {
		case kept == netBefore && !strings.HasPrefix(told, "state=kept\naddress=192"):
			had["before"]++
			b.is(t, when, "state=kept\n"+netBefore, wasWritten, netBefore)
		case kept == netWish:
			had["new"]++
			b.is(t, when, "state=kept\n"+netWish, netWritten, netWish)
		default:
			t.Fatalf("%s: told was %q, and kept is %q", when, told, kept)
		}
		if stayedOn {
			break
		}
	}
	if had["before"] < 10 || had["new"] < 3 {
		t.Errorf("the power failed %v times, which is too rarely: mend this test", had)
	}
}

// The script takes nothing of a wish for anything but a setting, whoever wrote it.
func TestNetworkOfAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]string{
		"nothing":                  "",
		"a command":                "address=$(touch pwned)/24\n",
		"a line of another kind":   netWish + "[Link]\nMACAddress=02:00:00:00:00:01\n",
		"an option behind a value": "address=192.168.1.20/24 DHCP=yes\n",
		"no address":               "vlan=7\n",
		"a name":                   "address=example.org\n",
		"a path":                   "address=dhcp\nport=../../etc\n",
		"another interface":        "address=dhcp\nvlan=7\nport=wlan0\n",
		"a carriage return":        "address=192.168.1.20/24\r\n",
		"a backslash":              `address=192.168.1.20/24\nDHCP=yes` + "\n",
		"much":                     netWish + strings.Repeat("dns=1.1.1.1\n", 1_000_000),
		"a long line":              strings.Repeat("1", 1<<20),
	} {
		b := newNetBox(t, netBefore, wish)
		b.trial()
		b.is(t, name, "state=refused\n"+netBefore, wasWritten, netBefore)
		if _, err := os.Stat("pwned"); err == nil {
			t.Errorf("%s was done", name)
		}
	}
	b := newNetBox(t, "", "")
	wish := filepath.Join(b.dir, inbox, "wish")
	for name, put := range map[string]func() error{
		"a folder":          func() error { return os.MkdirAll(filepath.Join(wish, "full"), 0o755) },
		"a link to nothing": func() error { return os.Symlink("nothing", wish) },
	} {
		if err := os.Remove(wish); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		b.trial()
		b.is(t, name, "state=refused\naddress=dhcp\n", "", "")
	}
	damaged := newNetBox(t, "address=10.1.2.3/16\x00\x00Gate", netWish)
	if got := damaged.told(); got != "state=kept\naddress=dhcp\n" || damaged.inForce() != "" {
		t.Errorf("of a damaged file: %q\n%s", got, damaged.inForce())
	}
}
