package past

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	// tailSlots are at the begin of the file, for the present block.
	tailSlots = 2
	// growth is how many slots the file grows by.
	growth = 64
	// spare is what is left of a disk, in bytes: the database needs room as well.
	spare = 32 << 20
	// page is what a flash writes at least; a block is written up to the end of its last one.
	page = 4 << 10
)

// errNoRoom: the disk has none for any block.
var errNoRoom = errors.New("the disk is nearly full")

// disk is what the ring needs of its file.
type disk interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync returns when everything is on the flash.
	Sync() error
	Size() (int64, error)
	Truncate(size int64) error
	// Room is how many bytes are free on the disk.
	Room() (int64, error)
}

// fileDisk is a real file.
type fileDisk struct{ *os.File }

func openFile(path string) (disk, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return fileDisk{f}, nil
}

func (f fileDisk) Sync() error { return unix.Fdatasync(int(f.Fd())) }

func (f fileDisk) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f fileDisk) Room() (int64, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// indexed is a block in the ring.
type indexed struct {
	number, run uint64
	begin       int64 // ms, by the clock as it was known to be last
	seconds     uint32
	slot        uint32
	full        bool
}

func (b indexed) end() int64 { return b.begin + int64(b.seconds)*1000 }

// ring is the file.
type ring struct {
	disk    disk
	most    int               // slots of the ring when the file has its size
	have    int               // slots that it has
	next    int               // slot of the next block
	tail    int               // slot of the next writing of the present block
	number  uint64            // of the next block
	blocks  []indexed         // ascending number
	follows map[uint64]uint64 // of runs that began because the clock was set
	buffer  [slotSize]byte    // of what is being written
}

// openRing finds what there is in a file, which may be empty. What is damaged in it counts as free.
func openRing(d disk, most int) (*ring, error) {
	r := &ring{disk: d, most: most, number: 1, follows: map[uint64]uint64{}}
	size, err := d.Size()
	if err != nil {
		return nil, err
	}
	if size < tailSlots*slotSize {
		if room, err := d.Room(); err != nil || room < spare {
			return nil, cmp.Or(err, errNoRoom)
		}
		if err := r.zeros(0, tailSlots); err != nil {
			return nil, err
		}
		return r, nil
	}
	r.have = min(int(size/slotSize)-tailSlots, most)
	if err := r.scan(); err != nil {
		return nil, err
	}
	if err := r.adopt(); err != nil {
		return nil, err
	}
	return r, nil
}

// scan reads what is in the ring.
func (r *ring) scan() error {
	var first []header // of runs
	head := make([]byte, headerSize)
	for slot := range r.have {
		if _, err := r.disk.ReadAt(head, r.offset(slot)); err != nil {
			return err
		}
		h, err := readHeader(head)
		if err != nil {
			continue
		}
		r.number = max(r.number, h.number+1)
		r.blocks = append(r.blocks, indexed{h.number, h.run, h.begin, h.seconds, uint32(slot), h.full})
		if h.number == h.run && h.follows != 0 {
			first = append(first, h)
		}
	}
	slices.SortFunc(r.blocks, func(a, b indexed) int { return cmp.Compare(a.number, b.number) })
	for n := len(r.blocks); n > 0; n-- { // the newest may have been cut short
		if _, err := r.read(r.blocks[n-1]); err == nil {
			r.next = int(r.blocks[n-1].slot) + 1
			break
		}
		r.blocks = r.blocks[:n-1]
	}
	slices.SortFunc(first, func(a, b header) int { return cmp.Compare(a.number, b.number) })
	for _, h := range first {
		r.settle(h)
	}
	return nil
}

// adopt takes the block that was present when the program ended into the ring.
func (r *ring) adopt() error {
	var newest header
	var payload []byte
	for slot := range tailSlots {
		data := make([]byte, slotSize)
		if _, err := r.disk.ReadAt(data, int64(slot)*slotSize); err != nil {
			return err
		}
		h, err := readHeader(data)
		if err != nil {
			continue
		}
		r.number = max(r.number, h.number+1)
		whole, err := payloadOf(data)
		later := h.number > newest.number || h.number == newest.number && h.writings > newest.writings
		if n := len(r.blocks); err == nil && later && (n == 0 || h.number > r.blocks[n-1].number) {
			newest, payload, r.tail = h, whole, 1-slot
		}
	}
	if payload == nil {
		return nil
	}
	return r.put(newest, payload)
}

func (r *ring) offset(slot int) int64 { return int64(tailSlots+slot) * slotSize }

// zeros appends slots of them to the file; it is not left with a part of one.
func (r *ring) zeros(from, slots int) error {
	_, err := r.disk.WriteAt(make([]byte, slots*slotSize), int64(from)*slotSize)
	if err == nil {
		err = r.disk.Sync()
	}
	if err != nil {
		return errors.Join(err, r.disk.Truncate(int64(from)*slotSize))
	}
	return nil
}

// grow makes the file longer, if it may and the disk has room.
func (r *ring) grow() bool {
	n := min(growth, r.most-r.have)
	if n <= 0 {
		return false
	}
	if room, err := r.disk.Room(); err != nil || room < spare+int64(n)*slotSize {
		return false
	}
	if r.zeros(tailSlots+r.have, n) != nil {
		return false // the ring stays as long as it is
	}
	r.have += n
	return true
}

// put writes a block that is over in the place of the oldest.
func (r *ring) put(h header, payload []byte) error {
	if r.next >= r.have && !r.grow() {
		r.next = 0
	}
	if r.have == 0 {
		return errNoRoom
	}
	r.blocks = slices.DeleteFunc(r.blocks, func(b indexed) bool { return int(b.slot) == r.next })
	if err := r.write(r.offset(r.next), h, payload); err != nil {
		return err
	}
	r.blocks = append(r.blocks, indexed{h.number, h.run, h.begin, h.seconds, uint32(r.next), h.full})
	r.next++
	if h.number == h.run && h.follows != 0 {
		r.settle(h)
	}
	return nil
}

// putTail writes the present block as far as it is.
func (r *ring) putTail(h header, payload []byte) error {
	if err := r.write(int64(r.tail)*slotSize, h, payload); err != nil {
		return err
	}
	r.tail = 1 - r.tail
	return nil
}

func (r *ring) write(at int64, h header, payload []byte) error {
	clear(r.buffer[:])
	copy(r.buffer[headerSize:], payload)
	h.put(r.buffer[:], payload)
	whole := (headerSize + len(payload) + page - 1) / page * page
	if _, err := r.disk.WriteAt(r.buffer[:whole], at); err != nil {
		return fmt.Errorf("write a block: %w", err)
	}
	if err := r.disk.Sync(); err != nil {
		return fmt.Errorf("write a block to the flash: %w", err)
	}
	return nil
}

// settle moves the runs before the one that a block begins to where the clock says now that they were.
func (r *ring) settle(first header) {
	if r.follows[first.run] != 0 {
		return // it is done
	}
	r.follows[first.run] = first.follows
	for run := first.follows; run != 0; run = r.follows[run] {
		for i := range r.blocks {
			if r.blocks[i].run == run {
				r.blocks[i].begin += first.set
			}
		}
	}
}

// read returns the payload of a block, unless it is damaged or another is in its place by now.
func (r *ring) read(b indexed) ([]byte, error) {
	data := make([]byte, slotSize)
	if _, err := r.disk.ReadAt(data, r.offset(int(b.slot))); err != nil {
		return nil, err
	}
	if h, err := readHeader(data); err != nil || h.number != b.number {
		return nil, errNoBlock
	}
	return payloadOf(data)
}
