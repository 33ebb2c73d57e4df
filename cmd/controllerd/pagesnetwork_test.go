//go:build peers

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/shelf/ui/uitest"
)

// TestTheNetworkIsSetFromAPhone has an owner give the box an address, with a stand-in for the system below: a mistake is told at its
// field, what is tried can be kept only over the new address, and what nobody kept is told.
func TestTheNetworkIsSetFromAPhone(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, smallSite)
	h.system = t.TempDir()
	h.serve()
	h.awaitOnline()
	inbox := filepath.Join(h.dataDir, "network")
	tell := func(text string) {
		t.Helper()
		told := filepath.Join(h.system, "network")
		if err := os.WriteFile(told+".part", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(told+".part", told); err != nil {
			t.Fatal(err)
		}
	}
	// taken is what the system is asked for, once it is there; the system takes it away.
	taken := func(name string) (text string) {
		t.Helper()
		h.await(10*time.Second, "the system is told "+name, func() bool {
			b, err := os.ReadFile(filepath.Join(inbox, name))
			text = string(b)
			return err == nil
		})
		if err := os.Remove(filepath.Join(inbox, name)); err != nil {
			t.Fatal(err)
		}
		return text
	}
	const setting = "address=192.168.1.20/24\ngateway=192.168.1.1\ndns=192.168.1.1 9.9.9.9\nvlan=12\n"
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	tab.Ignore("status of 422") // the browser notes what is refused
	logIn(h, tab, "admin")
	tab.Go(h.url + "/more")
	tab.Click(`a[href="/more/network"]`)
	tab.WaitText("It is tried for two minutes.")
	inspect(t, tab, "network-360-light-en")
	chosen(tab, "select[name=how]", "static")
	tab.Wait(`document.querySelector("input[name=address]")`)
	for name, text := range map[string]string{"address": "192.168.1.20", "mask": "255.255.255.0", "gateway": "192.168.2.1", "dns": "192.168.1.1, 9.9.9.9", "vlan": "12"} {
		tab.Type("input[name="+name+"]", text)
	}
	if uitest.Eval[bool](tab, `!!document.querySelector("select[name=port]")`) { // of a machine with several
		chosen(tab, "select[name=port]", uitest.Eval[string](tab, `document.querySelector("select[name=port]").value`))
	}
	tab.Press("Try this network")
	tab.WaitText("the gateway has to be in the network 192.168.1.0/24")
	inspect(t, tab, "network-wrong-360-light-en")
	tab.Type("input[name=gateway]", "192.168.1.1")
	tab.Press("Try this network")
	tab.WaitText("The box tries the address 192.168.1.20/24, VLAN 12.")
	tell("state=asked\n" + setting)
	if wish := taken("wish"); !strings.HasPrefix(wish, setting) {
		t.Errorf("the system gets %q, want %q", wish, setting)
	}
	tell("state=trying\nuntil=99999999\n" + setting)
	tab.Wait(`[...document.querySelectorAll("main a")].some((a) => a.hostname === "192.168.1.20" && a.pathname === "/more/network" && a.port === location.port)`)
	tell(trying(t, 97, setting))
	tab.WaitText("seconds.")
	inspect(t, tab, "network-trying-360-light-en")

	german := browser.Tab(t, uitest.Look{Width: 1280, Height: 900, Dark: true, Language: "de"})
	logIn(h, german, "admin")
	german.Wait(`document.querySelector(".attention")?.innerText.includes("Ein anderes Netz wird versucht")`)
	inspect(t, german, "network-home-1280-dark-de")
	german.Click(`.attention a[href="/more/network"]`)
	german.WaitText("192.168.1.20 öffnen")
	inspect(t, german, "network-trying-1280-dark-de")

	// The same page at what is now the box's address.
	const here = "address=127.0.0.1/8\n"
	tell(trying(t, 80, here))
	german.WaitText("Sie haben die Steuerung darüber erreicht")
	inspect(t, german, "network-keep-1280-dark-de")
	tab.WaitText("You have reached the box over it")
	inspect(t, tab, "network-keep-360-light-en")
	tab.Press("Keep this network")
	if keep := taken("keep"); keep != here {
		t.Errorf("the system is to keep %q, want %q", keep, here)
	}
	tell("state=kept\n" + here)
	tab.WaitText("Kept: the box stays in this network")
	tell("state=undone\naddress=dhcp\n")
	tab.WaitText("the box has gone back to the one before")
	german.WaitText("die Steuerung ist zum vorigen zurückgekehrt")
	inspect(t, german, "network-undone-1280-dark-de")
}

// trying is what the system tells of a trial that has so many seconds left.
func trying(t *testing.T, left int, setting string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var up float64
	if _, err := fmt.Sscan(string(text), &up); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("state=trying\nuntil=%d\n%s", int(up)+left, setting)
}
