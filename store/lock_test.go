package store

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has every open file until it runs its own program: what
// is given back then is free all the same.
func TestLockIsGivenBackWhileAnotherProcessStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(g.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
