package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrNoList: JSON that is no list, or not whole.
var ErrNoList = errors.New("it is no list")

// entryMost is the largest entry of a list, in bytes: an object with a few names and numbers
// has some hundred.
const entryMost = 16 << 10

// List calls each for every entry of a JSON list, one after the other and with nothing kept
// of those before; i counts from 0. It fails with [*TooMuch] at the entry that is one too
// many or too large, and with [ErrNoList].
func List(ctx context.Context, what string, list []byte, entriesMost int, each func(i int, entry json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	if first, err := dec.Token(); err != nil || first != json.Delim('[') {
		return ErrNoList
	}
	for i := 0; dec.More(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == entriesMost {
			return &TooMuch{what, int64(entriesMost), "entries", "is it the right controller?"}
		}
		var entry json.RawMessage
		if err := dec.Decode(&entry); err != nil {
			return ErrNoList
		}
		if len(entry) > entryMost {
			return &TooMuch{fmt.Sprintf("entry %d of %s", i, what), entryMost, "bytes", "is it the right controller?"}
		}
		if err := each(i, entry); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return ErrNoList
	}
	if _, err := dec.Token(); err != io.EOF {
		return ErrNoList
	}
	return nil
}
