package web

import (
	"net"
	"net/netip"
	"testing"
)

func TestLimitPerHostLeavesPlacesForOthers(t *testing.T) {
	l := &limited{hosts: map[netip.Addr]int{}}
	greedy, other, local := addr("192.0.2.1"), addr("192.0.2.2"), addr("127.0.0.1")
	for i := range connectionsPerHost {
		if !l.take(greedy) {
			t.Fatalf("connection %d was refused", i+1)
		}
	}
	if l.take(greedy) {
		t.Error("one host has more connections than one may have")
	}
	if !l.take(other) {
		t.Error("another host was refused")
	}
	for l.total < connections {
		if !l.take(local) {
			t.Fatal("a tunnel's connections count as one host's")
		}
	}
	if l.take(other) {
		t.Error("all together have more than fit")
	}
	l.give(greedy)
	if !l.take(greedy) {
		t.Error("a closed connection's place is not free")
	}
}

func TestLimitGivesThePlaceBackOnce(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := limit(inner).(*limited)
	defer ln.Close()
	for range 3 {
		client, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if ln.total != 1 {
			t.Errorf("%d connections are counted, want 1", ln.total)
		}
		c.Close()
		c.Close()
		client.Close()
		if ln.total != 0 || len(ln.hosts) != 0 {
			t.Errorf("after closing: %d connections of %d hosts", ln.total, len(ln.hosts))
		}
	}
}
