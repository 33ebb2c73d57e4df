// Package recording is the file of frames that passed on buses: made by 'controllerd bus
// monitor --export', explained by 'controllerd bus decode', played by 'simbuilding replay'.
package recording

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// formatVersion of the format that this program writes. Fields may be added to
// it; whoever reads it leaves out what it does not know. Anything else makes a new
// version.
const formatVersion = 1

// head is the first line of a recording.
type head struct {
	Recording int       `json:"recording"` // version
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// LongestLine bounds one line of a recording; the longest frame of any protocol is far
// shorter.
const LongestLine = 64 * 1024

// Frame is a line of a recording, and of 'bus monitor --json'.
type Frame struct {
	At        time.Time `json:"at"`
	Bus       string    `json:"bus"`
	Protocol  string    `json:"protocol"`
	Direction string    `json:"direction"` // "sent", "received", "discarded"
	Hex       string    `json:"hex,omitempty"`
	Note      string    `json:"note,omitempty"`
	// Lost frames of this bus passed between the one before and this one, and nobody
	// knows what they were: whoever recorded was too slow.
	Lost int `json:"lost,omitempty"`
	// What the bytes mean: made when it was recorded, and not looked at by whoever
	// reads it.
	OK     bool   `json:"ok"`
	Error  string `json:"error,omitempty"`
	Fields any    `json:"fields,omitempty"`
}

// Explain says anew what the bytes mean, by the decoder of the frame's protocol. Without
// bytes, or with decode nil, there is nothing to tell.
func (f *Frame) Explain(decode func(frame []byte) (fields any, err error)) {
	f.OK, f.Error, f.Fields = true, "", nil
	raw, err := HexBytes(f.Hex)
	if err == nil && (len(raw) == 0 || decode == nil) {
		return
	}
	if err == nil {
		f.Fields, err = decode(raw)
	}
	if f.OK = err == nil; err != nil {
		f.Error, f.Fields = err.Error(), nil
	}
}

// Named are the fields by the names that scripts know.
func (f Frame) Named() map[string]any { return Named(f.Fields) }

// Named are what a decoder told, by the names that scripts know; nil if it told nothing.
func Named(decoded any) map[string]any {
	var fields map[string]any
	if b, err := json.Marshal(decoded); err == nil {
		_ = json.Unmarshal(b, &fields) // nil fields stay nil
	}
	return fields
}

// Words tell people what a frame means.
func (f Frame) Words() string {
	text := f.Error
	if f.Fields != nil {
		if b, err := json.Marshal(f.Fields); err == nil {
			text = string(b)
		}
	}
	return strings.TrimSpace(text + " " + f.Note)
}

// HexBytes reads hexadecimal digits, two a byte.
func HexBytes(text string) ([]byte, error) {
	frame, err := hex.DecodeString(text)
	if err == nil {
		return frame, nil
	}
	for i, r := range text {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return nil, fmt.Errorf("character %d is %q: want hexadecimal digits 0-9 and a-f, two a byte", i+1, r)
		}
	}
	return nil, fmt.Errorf("%d hexadecimal digits: want two a byte", len(text))
}

// Writer writes one recording.
type Writer struct {
	out  *bufio.Writer
	left int64     // bytes that may still be written
	file io.Closer // nil: the caller's
}

// ErrFull ends a recording that has reached its bound.
var ErrFull = errors.New("the recording has reached its largest size (--max-size)")

// Create begins a file of at most so many bytes, and never writes over one. by is the
// program that writes it.
func Create(path, by string, most int64) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record frames: %w", err)
	}
	w, err := To(file, by, most)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	w.file = file
	return w, nil
}

// To begins a recording of at most so many bytes on something that the caller has opened, and closes.
func To(out io.Writer, by string, most int64) (*Writer, error) {
	w := &Writer{out: bufio.NewWriter(out), left: most}
	return w, w.write(head{formatVersion, by, time.Now().Round(0)})
}

// Write adds a frame; [ErrFull] when it no longer fits.
func (w *Writer) Write(f Frame) error { return w.write(f) }

func (w *Writer) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	if w.left -= int64(len(line)) + 1; w.left < 0 {
		return ErrFull
	}
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	return nil
}

// Close ends the recording, and its file if it was made by [Create].
func (w *Writer) Close() error {
	err := w.out.Flush()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	if err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	return nil
}

// Read calls each for every frame of a recording. name is for errors.
func Read(name string, in io.Reader, each func(Frame) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, LongestLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if n == 1 {
			if err := checkHead(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if text == "" {
			continue
		}
		var f Frame
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			return fmt.Errorf("%s:%d: no frame of a recording: %w", name, n, err)
		}
		if err := each(f); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func checkHead(text string) error {
	var first head
	switch err := json.Unmarshal([]byte(text), &first); {
	case err != nil || first.Recording == 0:
		return errors.New("this is no recording: its first line has no \"recording\"; make one with 'controllerd bus monitor BUS --export FILE'")
	case first.Recording != formatVersion:
		return fmt.Errorf("recording of version %d, written by %s: this program reads version %d", first.Recording, first.By, formatVersion)
	}
	return nil
}
