package freeport

import (
	"net"
	"strconv"
	"testing"
)

// A port is given once, can be listened on, and is none that the kernel would give to another.
func TestFind(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		port, err := Find()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 10_000 || n >= 30_000 || seen[port] {
			t.Errorf("port %q after %v", port, seen)
		}
		seen[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
