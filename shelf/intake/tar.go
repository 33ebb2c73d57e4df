package intake

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrIrregular: an archive has an entry that is no plain file.
var ErrIrregular = errors.New("it holds an entry that is no plain file")

// Tar calls each for every file of a tar archive that is in memory, with its content, which is
// a part of the archive and no copy. No entry can have more bytes than the archive: a sparse
// one, which says it is larger, is refused as links, folders and devices are.
func Tar(ctx context.Context, what string, archive []byte, filesMost int, each func(h *tar.Header, content []byte) error) error {
	rest := bytes.NewReader(archive)
	t := tar.NewReader(rest)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == filesMost {
			return &TooMuch{what, int64(filesMost), "files", "was it made by a controller?"}
		}
		if h.Typeflag != tar.TypeReg || sparse(h) || h.Size > int64(len(archive)) {
			return fmt.Errorf("%w (%.200q, type %q, %d bytes)", ErrIrregular, h.Name, h.Typeflag, h.Size)
		}
		if h.Size > int64(rest.Len()) {
			return io.ErrUnexpectedEOF
		}
		content := archive[len(archive)-rest.Len():]
		if err := each(h, content[:h.Size:h.Size]); err != nil {
			return err
		}
	}
}

// sparse reports whether a file is of the newer sparse formats of GNU: their type is that of
// a plain one.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
