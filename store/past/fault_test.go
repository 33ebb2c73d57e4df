package past

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// failing is a memory of which one use fails.
type failing struct {
	*memory
	left   int // uses until then
	closed int
	failed bool
	spared bool // what failed was the reading of a block, which counts as damaged then
}

func (f *failing) use() error {
	if f.left--; f.left == -1 {
		f.failed = true
		return syscall.EIO
	}
	return nil
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if err := f.use(); err != nil {
		f.spared = len(p) == slotSize && at >= tailSlots*slotSize
		return 0, err
	}
	return f.memory.ReadAt(p, at)
}

func (f *failing) WriteAt(p []byte, at int64) (int, error) {
	if err := f.use(); err != nil {
		return 0, err
	}
	return f.memory.WriteAt(p, at)
}

func (f *failing) Sync() error { return f.use() }
func (f *failing) Size() (int64, error) {
	if err := f.use(); err != nil {
		return 0, err
	}
	return f.memory.Size()
}
func (f *failing) Room() (int64, error) {
	if err := f.use(); err != nil {
		return 0, err
	}
	return f.memory.Room()
}
func (f *failing) Close() error { f.closed++; return nil }

// Whatever the disk refuses is told: as a ring that cannot be opened, or a block that is not written.
func TestWhatTheDiskRefusesIsTold(t *testing.T) {
	t.Parallel()
	kept := func(t *testing.T) *memory { // a ring of three blocks, and the present one
		r, d := full(t, 3)
		for range 2 {
			if err := r.putTail(header{number: r.number, run: 1, writings: 1}, []byte{9}); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	for name, row := range map[string]struct {
		disk func(*testing.T) *memory
		do   func(*ring) error // nil: it is opened
		uses int               // at least
	}{
		"opened, empty": {disk: func(*testing.T) *memory { return newMemory() }, uses: 4},
		"opened":        {disk: kept, uses: 3 + 2 + 2},
		"a block":       {disk: kept, do: func(r *ring) error { return r.put(header{number: 9, run: 1}, []byte{1}) }, uses: 2},
		"the present":   {disk: kept, do: func(r *ring) error { return r.putTail(header{number: 9, run: 1}, []byte{1}) }, uses: 2},
	} {
		for n := 0; ; n++ {
			d := &failing{memory: row.disk(t), left: 1 << 30}
			var r *ring
			var err error
			if row.do != nil {
				if r, err = openRing(d, 3); err != nil {
					t.Fatal(err)
				}
			}
			d.left = n
			if row.do == nil {
				r, err = openRing(d, 3)
			} else {
				err = row.do(r)
			}
			if !d.failed {
				if n < row.uses || err != nil {
					t.Errorf("%s: %d uses of the disk, %v", name, n, err)
				}
				break
			}
			if errors.Is(err, syscall.EIO) == d.spared || row.do == nil && (r == nil) == d.spared {
				t.Errorf("%s: use %d refused: %v, a ring %v", name, n+1, err, r != nil)
			}
		}
	}
	if _, err := openFile(filepath.Join(t.TempDir(), "nowhere", FileName)); err == nil {
		t.Error("a file in a folder that is not there was opened")
	}
}

// A file that cannot be opened to its end is closed, and tried again.
func TestAFileThatCannotBeOpenedIsClosed(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	r, d := full(t, 3)
	if err := r.putTail(header{number: r.number, run: 1, writings: 1}, []byte{9}); err != nil {
		t.Fatal(err)
	}
	f := &failing{memory: d, left: 7} // the present block cannot be taken into the ring
	b.keep(f, 3)
	if b.r.ready() || b.r.ring != nil || f.closed != 1 || !f.failed {
		t.Errorf("a ring %v, closed %d times, failed %v", b.r.ring != nil, f.closed, f.failed)
	}
	if !b.r.ready() || b.r.ring == nil || f.closed != 1 {
		t.Errorf("the next time: a ring %v, closed %d times", b.r.ring != nil, f.closed)
	}
}

// Whoever is told may end it at any moment: nothing is told to him after that, and his error comes back.
func TestWhoIsToldEndsIt(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 2, 0)
	b.keep(newMemory(), ringSlots)
	b.dim(0, 10)
	b.dim(1, 20)
	b.pass(100)
	b.dim(0, 30)
	b.pass(100)
	b.wall = b.wall.Add(time.Hour) // the clock is set: what was known ends, and begins again
	b.pass(100)
	b.dim(1, 40)
	b.pass(100)
	begin := epoch.Add(30 * time.Second)
	all := b.replayed(begin, b.wall, everything)
	if n := len(all); n < 8 || !slices.ContainsFunc(all, func(p appliance.Past) bool { return !p.Known }) {
		t.Fatalf("told %d times: this test shows nothing", n)
	}
	enough := errors.New("enough")
	for most := range len(all) {
		told := 0
		err := b.r.Replay(t.Context(), begin, b.wall, everything, func(appliance.Past) error {
			if told++; told > most {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || told != most+1 {
			t.Errorf("ended at %d of %d: %v, told %d times", most+1, len(all), err, told)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.r.Replay(ctx, begin, b.wall, everything, func(appliance.Past) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	none := newBuilding(t, 1, 0)
	none.keep(newMemory(), ringSlots)
	if err := none.r.Replay(t.Context(), begin, b.wall, everything, func(appliance.Past) error { return nil }); !errors.Is(err, appliance.ErrNoPast) {
		t.Errorf("where nothing was kept: %v", err)
	}
}
