package sdnsim

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

type vectors struct {
	Frames []struct {
		Name, Src, Dst, Frame string
		Ack                   bool
		NodeType              byte   `json:"node_type_byte"`
		Logical               string `json:"logical_hex"`
	}
	Invalid []struct{ Name, Frame string }
	Streams []struct {
		Name, Stream string
		Want         []string `json:"expect_frames"`
	}
	Captured []struct {
		Name, Frame string
		MsgID       string `json:"msg_id"`
		Data        string `json:"data_hex"`
	}
}

func loadVectors(t testing.TB) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Frames) == 0 || len(v.Invalid) == 0 || len(v.Streams) == 0 || len(v.Captured) == 0 {
		t.Fatal("testdata/vectors.json is incomplete")
	}
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectorsAreUnpackedAndPackedAgain(t *testing.T) {
	v := loadVectors(t)
	for _, f := range v.Frames {
		raw := unhex(t, f.Frame)
		m, ok := unpack(raw)
		if !ok {
			t.Errorf("%s: not accepted", f.Name)
			continue
		}
		if name(m.Src) != f.Src || name(m.Dst) != f.Dst || m.Ack != f.Ack || m.From<<4|m.To != f.NodeType {
			t.Errorf("%s: %+v", f.Name, m)
		}
		logical := unhex(t, f.Logical)
		if m.ID != logical[0] || !bytes.Equal(m.Data, logical[9:]) {
			t.Errorf("%s: %+v, want %x", f.Name, m, logical)
		}
		if got := m.Pack(); !bytes.Equal(got, raw) {
			t.Errorf("%s: packed %x, want %x", f.Name, got, raw)
		}
	}
	for _, c := range v.Captured {
		raw := unhex(t, c.Frame)
		m, ok := unpack(raw)
		if !ok || hex.EncodeToString([]byte{m.ID}) != c.MsgID || hex.EncodeToString(m.Data) != c.Data || !bytes.Equal(m.Pack(), raw) {
			t.Errorf("%s: %+v", c.Name, m)
		}
	}
}

func TestInvalidFramesAreNoFrames(t *testing.T) {
	for _, v := range loadVectors(t).Invalid {
		raw := unhex(t, v.Frame)
		if m, ok := unpack(raw); ok {
			t.Errorf("%s: accepted as %+v", v.Name, m)
		}
		if frames := takeAll(raw); len(frames) > 0 {
			t.Errorf("%s: found %v", v.Name, frames)
		}
	}
}

func takeAll(b []byte) (frames []string) {
	for len(b) > 0 {
		_, used, junk, ok := take(b)
		if ok {
			frames = append(frames, hex.EncodeToString(b[junk:used]))
		}
		b = b[max(used, 1):]
	}
	return frames
}

func TestStreamsAreTakenApart(t *testing.T) {
	for _, v := range loadVectors(t).Streams {
		if got := takeAll(unhex(t, v.Stream)); strings.Join(got, " ") != strings.Join(v.Want, " ") {
			t.Errorf("%s: got %v, want %v", v.Name, got, v.Want)
		}
	}
}

func FuzzTake(f *testing.F) {
	for _, v := range loadVectors(f).Streams {
		f.Add(unhex(f, v.Stream))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, used, junk, ok := take(b)
		if used < junk || used > len(b) {
			t.Fatalf("used %d of %d bytes, %d of them junk", used, len(b), junk)
		}
		if ok && !bytes.Equal(m.Pack(), b[junk:used]) {
			t.Fatalf("%+v does not pack to %x", m, b[junk:used])
		}
	})
}
