package offsite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Place is where copies are kept. Its errors are for whoever set it up.
type Place interface {
	// List names what is there and begins with a prefix; others may be among them.
	List(ctx context.Context, prefix string) ([]string, error)
	// Put writes a file, in place of one that has the name.
	Put(ctx context.Context, name string, content io.Reader, size int64, sum [sha256.Size]byte) error
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Remove is done if nothing has the name.
	Remove(ctx context.Context, name string) error
}

// renamer is a place where files can be given another name.
type renamer interface {
	Rename(ctx context.Context, from, to string) error
}

const (
	// Longest is how long one copy may take in all.
	Longest = 30 * time.Minute
	// Patience is how long nothing may move meanwhile.
	Patience = time.Minute
)

// Series are the copies of one controller; more than one may keep theirs in the same place.
type Series struct {
	ID   string // 8 hexadecimal digits
	Keep int    // of the newest; at least 1

	patience time.Duration // 0: Patience
}

const (
	layout = "20060102T150405Z"
	ending = ".backup.age"
)

func (s Series) prefix() string           { return "controller-" + s.ID + "-" }
func (s Series) part() string             { return "controller-" + s.ID + ".part" }
func (s Series) name(at time.Time) string { return s.prefix() + at.UTC().Format(layout) + ending }

// ours are those of some names that belong to the series, the oldest first.
func (s Series) ours(names []string) (out []string) {
	for _, name := range names {
		if _, err := time.Parse(s.prefix()+layout+ending, name); err == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out) // by time
	return slices.Compact(out)
}

// File is what is copied: it is read from its beginning, more than once. Close forgets it.
type File interface {
	io.ReadSeeker
	io.Closer
}

// Sent is a copy that was made.
type Sent struct {
	Name string
	Size int64
	// Note says what went wrong after the copy was made and read back; empty: nothing.
	Note string
}

// Send makes one copy, of what make makes once the place was seen to answer, and removes all but the newest. It returns when
// the copy was read back whole. Whatever fails before leaves the copies that were there as they were.
func Send(ctx context.Context, to Place, s Series, at time.Time, make func(context.Context) (File, error)) (Sent, error) {
	ctx, end := context.WithTimeoutCause(ctx, Longest, fmt.Errorf("it was not done after %v", Longest))
	defer end()
	p := newPatience(ctx, s.patience)
	defer p.end()
	sent, err := s.send(p, to, at, make)
	if cause := context.Cause(p); err != nil && cause != nil {
		err = cause // what failed because of it says less
	}
	return sent, err
}

func (s Series) send(p *patience, to Place, at time.Time, make func(context.Context) (File, error)) (Sent, error) {
	if _, err := to.List(p, s.prefix()); err != nil {
		return Sent{}, err
	}
	p.moved()
	file, err := make(p)
	if err != nil {
		return Sent{}, fmt.Errorf("the backup could not be made: %w", err)
	}
	defer file.Close()
	size, sum, err := measure(file)
	if err != nil {
		return Sent{}, err
	}
	p.moved()
	sent := Sent{Name: s.name(at), Size: size}
	first := sent.Name
	again, renames := to.(renamer)
	if renames {
		first = s.part()
	}
	if err = to.Put(p, first, p.following(file), size, sum); err == nil {
		p.moved()
		err = same(p, to, first, size, sum)
	}
	if err != nil {
		left, end := context.WithTimeout(context.WithoutCancel(p), 10*time.Second)
		defer end()
		_ = to.Remove(left, first) // if it cannot be, the next takes its place
		return Sent{}, err
	}
	if renames {
		if err := again.Rename(p, first, sent.Name); err != nil {
			return Sent{}, err
		}
	}
	p.moved()
	there, err := to.List(p, s.prefix())
	if err != nil {
		return Sent{}, err
	}
	if !slices.Contains(there, sent.Name) {
		return Sent{}, errors.New("it was written and read back, and is not there under its name: does something there remove files?")
	}
	if err := s.thin(p, to, there, sent.Name); err != nil {
		sent.Note = "older ones could not be removed: " + err.Error()
	}
	return sent, nil
}

// thin removes all but the newest of the series by name, and the one just made, whatever its clock said.
func (s Series) thin(p *patience, to Place, there []string, made string) error {
	old := slices.DeleteFunc(s.ours(there), func(name string) bool { return name == made })
	for _, name := range old[:max(0, len(old)-max(s.Keep, 1)+1)] {
		if err := to.Remove(p, name); err != nil {
			return err
		}
		p.moved()
	}
	return nil
}

func measure(file io.ReadSeeker) (size int64, sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if size, err = io.Copy(h, file); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return size, [sha256.Size]byte(h.Sum(nil)), err
}

// same reads back what was written.
func same(p *patience, to Place, name string, size int64, sum [sha256.Size]byte) error {
	back, err := to.Get(p, name)
	if err != nil {
		return fmt.Errorf("it was written and cannot be read back: %w", err)
	}
	defer back.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(p.following(back), size+1))
	if err != nil {
		return fmt.Errorf("it was written and cannot be read back: %w", err)
	}
	if n != size || [sha256.Size]byte(h.Sum(nil)) != sum {
		return fmt.Errorf("what was read back is not what was written: %d bytes instead of %d", min(n, size), size)
	}
	return nil
}

// patience is a context that ends when nothing has moved for a while.
type patience struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	after  time.Duration
}

func newPatience(ctx context.Context, after time.Duration) *patience {
	if after == 0 {
		after = Patience
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &patience{Context: ctx, cancel: cancel, after: after}
	p.timer = time.AfterFunc(after, func() { cancel(fmt.Errorf("nothing moved for %v, and it was given up", after)) })
	return p
}

func (p *patience) moved() { p.timer.Reset(p.after) }

func (p *patience) end() {
	p.timer.Stop()
	p.cancel(nil)
}

// following is a reader of which each byte that is read counts as something that moved.
func (p *patience) following(r io.Reader) io.Reader { return followed{r, p} }

type followed struct {
	io.Reader
	p *patience
}

func (f followed) Read(b []byte) (int, error) {
	if err := f.p.Err(); err != nil {
		return 0, err
	}
	n, err := f.Reader.Read(b)
	if n > 0 {
		f.p.moved()
	}
	return n, err
}
