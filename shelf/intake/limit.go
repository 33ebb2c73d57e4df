package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
)

// Limit is how much of one thing is read.
type Limit struct {
	What   string // that is read, for people: "the backup"
	Bytes  int64  // at most, as they are after unpacking
	Advice string // what to do when there is more
}

// TooMuch is the error of a thing that has more than it may have.
type TooMuch struct {
	What   string
	Most   int64
	Unit   string // bytes, files, entries
	Advice string
}

func (e *TooMuch) Error() string {
	return fmt.Sprintf("%s has more than %d %s, which is the most that is read: %s", e.What, e.Most, e.Unit, e.Advice)
}

// Reader reads from r until ctx ends. It fails with [*TooMuch] where there is more than
// the limit says.
func Reader(ctx context.Context, r io.Reader, l Limit) io.Reader {
	return &limited{ctx, r, l, l.Bytes}
}

type limited struct {
	ctx   context.Context // of the one reading that this is
	from  io.Reader
	limit Limit
	left  int64
}

func (l *limited) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	runtime.Gosched()             // commands go before files
	if int64(len(p)) > l.left+1 { // the one more tells that there is more
		p = p[:l.left+1]
	}
	n, err := l.from.Read(p)
	if int64(n) > l.left {
		n, l.left = int(l.left), 0
		return n, &TooMuch{l.limit.What, l.limit.Bytes, "bytes", l.limit.Advice}
	}
	l.left -= int64(n)
	return n, err
}

// All reads everything, or fails as [Reader] does.
func All(ctx context.Context, r io.Reader, l Limit) ([]byte, error) {
	var out bytes.Buffer
	_, err := out.ReadFrom(Reader(ctx, r, l))
	return out.Bytes(), err
}
