package pty

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func open(t *testing.T) *Pty {
	t.Helper()
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func openSlave(t *testing.T, path string) *os.File {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestAllBytesPassBothWays(t *testing.T) {
	p := open(t)
	s := openSlave(t, p.SlavePath())
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	pass := func(from, to *os.File) {
		t.Helper()
		if _, err := from.Write(all); err != nil {
			t.Fatal(err)
		}
		to.SetReadDeadline(time.Now().Add(3 * time.Minute))
		var got []byte
		buf := make([]byte, 512)
		for len(got) < len(all) {
			n, err := to.Read(buf)
			if err != nil {
				t.Fatalf("after %d bytes: %v", len(got), err)
			}
			got = append(got, buf[:n]...)
		}
		if !bytes.Equal(got, all) {
			t.Errorf("got % X", got)
		}
	}
	pass(p.Master(), s)
	pass(s, p.Master())
}

func TestMasterHasReadDeadlines(t *testing.T) {
	p := open(t)
	p.Master().SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := p.Master().Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
}

func TestMasterOutlivesProgramsThatCloseTheSlave(t *testing.T) {
	p := open(t)
	openSlave(t, p.SlavePath()).Close()
	s := openSlave(t, p.SlavePath())
	s.Write([]byte("x"))
	p.Master().SetReadDeadline(time.Now().Add(3 * time.Minute))
	if n, err := p.Master().Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestCloseHangsTheSlaveUp(t *testing.T) {
	p := open(t)
	s := openSlave(t, p.SlavePath())
	p.Close()
	s.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if n, err := s.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %d, %v, want a hang-up", n, err)
	}
}

func TestLinkIsReplacedButNothingElse(t *testing.T) {
	link := filepath.Join(t.TempDir(), "bus")
	for range 2 {
		p := open(t)
		if err := p.Link(link); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(link); err != nil || got != p.SlavePath() {
			t.Errorf("link leads to %q, %v; want %s", got, err, p.SlavePath())
		}
	}
	first, second := open(t), open(t)
	first.Link(link)
	second.Link(link)
	first.Close()
	if got, _ := os.Readlink(link); got != second.SlavePath() {
		t.Errorf("closing a pair removed another's link; it leads to %q", got)
	}
	second.Close()
	if got, err := os.Readlink(link); err == nil {
		t.Errorf("the link outlived its pair; it leads to %q", got)
	}
	file := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t).Link(file); err == nil {
		t.Error("a file was replaced by a link")
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
