//go:build peers

package peertest

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/shelf/freeport"
)

// RedisServer is a Redis of its own for one test.
type RedisServer struct {
	URL string

	port     string
	run      *exec.Cmd
	lifeline io.Closer // standard input of its keeper
	pid      int
}

// Redis starts one that ends with the test, and keeps nothing on disk.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	r := &RedisServer{URL: "redis://127.0.0.1:" + port + "/0", port: port}
	r.Start(t)
	t.Cleanup(func() {
		if r.run != nil {
			r.Stop(t)
		}
	})
	return r
}

// Start starts it, empty.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	r.run = exec.Command("sh", "-c", `redis-server --port "$1" --bind 127.0.0.1 --save "" --appendonly no >/dev/null & pid=$!; echo $pid; exec >&-; read -r _; kill -KILL $pid; wait $pid`, "sh", r.port)
	out, err := r.run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if r.lifeline, err = r.run.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.run.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(out, &r.pid); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+r.port)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("Redis from Debian is needed (scripts/install-peers.sh): %v", err)
		}
	}
}

// Stop kills it.
func (r *RedisServer) Stop(t testing.TB) {
	t.Helper()
	r.lifeline.Close()
	_ = r.run.Wait() // it was killed
	r.run = nil
}

// Signal sends it a signal, such as SIGSTOP.
func (r *RedisServer) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(r.pid, s); err != nil {
		t.Fatal(err)
	}
}
