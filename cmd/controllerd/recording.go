package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"svc.internal/controller/console"
	"svc.internal/controller/drivers"
)

// recordingVersion of the format that this program writes. Fields may be added to
// it; whoever reads it leaves out what it does not know. Anything else makes a new
// version.
const recordingVersion = 1

// recordingHead is the first line of a recording.
type recordingHead struct {
	Recording int       `json:"recording"` // version
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// recorded is a frame: a line of a recording, and of 'bus monitor --json'.
type recorded struct {
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

// explain decodes a frame of a bus.
func explain(bus, protocol string, f console.Frame) recorded {
	r := recorded{At: f.At, Bus: bus, Protocol: protocol, Direction: f.Direction, Hex: f.Hex, Note: f.Note, Lost: f.Lost, OK: true}
	r.decode()
	return r
}

// decode fills in what the bytes mean. Without bytes, or a protocol that is known,
// there is nothing to tell.
func (r *recorded) decode() {
	decode := drivers.Decoders[r.Protocol]
	raw, err := hexBytes(r.Hex)
	if err == nil && (len(raw) == 0 || decode == nil) {
		return
	}
	if err == nil {
		r.Fields, err = decode(raw)
	}
	if r.OK = err == nil; err != nil {
		r.Error, r.Fields = err.Error(), nil
	}
}

// recording is a file that is being written.
type recording struct {
	file *os.File
	out  *bufio.Writer
	left int64 // bytes that may still be written
}

// errFull ends a recording that has reached its bound.
var errFull = errors.New("the recording has reached its largest size (--max-size)")

// newRecording begins a file; it never writes over one.
func newRecording(path string, most int64) (*recording, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record frames: %w", err)
	}
	r := &recording{file, bufio.NewWriter(file), most}
	if err := r.write(recordingHead{recordingVersion, "controllerd " + version, time.Now().Round(0)}); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *recording) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	if r.left -= int64(len(line)) + 1; r.left < 0 {
		return errFull
	}
	if _, err := r.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	return nil
}

func (r *recording) close() error {
	err := errors.Join(r.out.Flush(), r.file.Close())
	if err != nil {
		return fmt.Errorf("record frames: %w", err)
	}
	return nil
}

// readRecording calls each for every frame of a recording. name is for errors.
func readRecording(name string, in io.Reader, each func(recorded) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, decodeLine)
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
		var r recorded
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("%s:%d: no frame of a recording: %w", name, n, err)
		}
		if err := each(r); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func checkHead(text string) error {
	var head recordingHead
	switch err := json.Unmarshal([]byte(text), &head); {
	case err != nil || head.Recording == 0:
		return errors.New("this is no recording: its first line has no \"recording\"; make one with 'controllerd bus monitor BUS --export FILE'")
	case head.Recording != recordingVersion:
		return fmt.Errorf("recording of version %d, written by %s: this program reads version %d", head.Recording, head.By, recordingVersion)
	}
	return nil
}
