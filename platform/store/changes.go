package store

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.internal/controller/platform"
)

// headerWords is the length of the header of SQLite's WAL index, both copies of it, in
// words of 32 bits.
const headerWords = 24

// changes tells whether anything was committed to a SQLite file, by whatever process,
// at the cost of reading 96 bytes of memory. Every commit changes the header of the WAL
// index, which all processes share as memory: "WAL-index format" on
// sqlite.org/walformat.html, §2.1.
//
// The file stays open until SQLite is closed: closing any descriptor of it would
// release the locks that SQLite holds there.
type changes struct {
	file   *os.File
	shared []byte
}

// version of the database; two are equal only if nothing was committed in between.
type version [headerWords]uint32

// watchChanges needs a database that is open and in WAL mode.
func watchChanges(path string) (*changes, error) {
	file, err := os.Open(path + "-shm")
	if err != nil {
		return nil, fmt.Errorf("watch for commits: %w", err)
	}
	shared, err := unix.Mmap(int(file.Fd()), 0, headerWords*4, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("watch for commits in %s: %w", file.Name(), err)
	}
	return &changes{file: file, shared: shared}, nil
}

// now returns the version that is in force; false while a commit is under way.
func (c *changes) now() (v version, ok bool) {
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&c.shared[0])), headerWords)
	for i := range v {
		v[i] = atomic.LoadUint32(&words[i])
	}
	const half = headerWords / 2 // a commit writes one copy after the other
	return v, [half]uint32(v[:half]) == [half]uint32(v[half:])
}

// close comes after SQLite's own connections are closed.
func (c *changes) close() error {
	if c == nil {
		return nil
	}
	if err := unix.Munmap(c.shared); err != nil {
		return err
	}
	return c.file.Close()
}

// keysMost keys are remembered at a time.
const keysMost = 10_000

// keyCache remembers keys that were found, for as long as nothing was committed. With
// PostgreSQL there is none: nobody could tell.
type keyCache struct {
	mu   sync.RWMutex
	seen map[Hash]seenKey
}

type seenKey struct {
	at    version
	key   platform.Key
	owner platform.User
}

func (c *keyCache) find(value Hash, at version) (seenKey, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.seen[value]
	return k, ok && k.at == at
}

func (c *keyCache) keep(value Hash, k seenKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= keysMost {
		c.seen = map[Hash]seenKey{}
	}
	c.seen[value] = k
}
