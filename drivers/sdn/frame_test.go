package sdn

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

type vectors struct {
	Frames []struct {
		Name     string
		Msg      string
		Src, Dst string
		Ack      bool
		NodeType int `json:"node_type_byte"`
		Args     map[string]any
		Frame    string
		Logical  string `json:"logical_hex"`
		Checksum string
	}
	Invalid []struct{ Name, Frame string }
	Streams []struct {
		Name, Stream string
		Want         []string `json:"expect_frames"`
	}
	Captured []struct {
		Name     string
		MsgID    string `json:"msg_id"`
		Src, Dst string
		FromType int `json:"from_type"`
		ToType   int `json:"to_type"`
		Ack      bool
		Data     string `json:"data_hex"`
		Frame    string
	}
}

func loadVectors(t testing.TB) vectors {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
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

// messageData builds the data of a vector from its arguments alone.
func messageData(t *testing.T, msg string, args map[string]any) []byte {
	t.Helper()
	num := func(key string) int {
		f, ok := args[key].(float64)
		if !ok {
			return unused
		}
		return int(f)
	}
	index := func(key string, names ...string) byte {
		for i, n := range names {
			if args[key] == n {
				return byte(i)
			}
		}
		t.Fatalf("%s: %v unknown", key, args[key])
		return 0
	}
	group := func() Address {
		a, err := ParseAddress(args["group"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	switch msg {
	case "CTRL_MOVE":
		return []byte{index("direction", "down", "up", "cancel"), byte(num("duration_10ms")), 0}
	case "CTRL_MOVETO":
		return moveToData(moveTo(index("function", "down_limit", "up_limit", "ip", "position_pulses", "position_percent")), uint16(num("position")))
	case "CTRL_STOP":
		return []byte{0}
	case "CTRL_MOVEOF":
		fn := MoveOf(index("function", "next_ip", "previous_ip", "jog_down_pulses", "jog_up_pulses", "jog_down_ms", "jog_up_ms"))
		value := num("value")
		if fn == JogDownTime || fn == JogUpTime {
			value /= 10
		}
		return moveOfData(fn, uint16(value))
	case "CTRL_LOCK":
		return lockData(Lock(index("function", "current")), uint16(num("value")), byte(num("priority")))
	case "GET_GROUP_ADDR":
		return []byte{byte(num("index"))}
	case "SET_GROUP_ADDR", "POST_GROUP_ADDR":
		return groupData(byte(num("index")), group())
	case "POST_MOTOR_POSITION":
		p := num("pulses")
		return []byte{byte(p), byte(p >> 8), byte(num("percent")), 0xFF, byte(num("ip"))}
	case "POST_MOTOR_STATUS":
		return []byte{byte(num("state")), byte(num("direction")), byte(num("source")), byte(num("cause"))}
	case "POST_MOTOR_LIMITS":
		d := num("down_limit")
		return []byte{0, 0, byte(d), byte(d >> 8)}
	case "POST_NODE_LABEL":
		return labelData("Room 4.12 south")
	case "NACK":
		return []byte{byte(num("code"))}
	}
	return nil
}

func TestVectorsEncodeByteExact(t *testing.T) {
	ids := map[string]MessageID{}
	for id, name := range messageNames {
		ids[name] = id
	}
	for _, v := range loadVectors(t).Frames {
		t.Run(v.Name, func(t *testing.T) {
			id, ok := ids[v.Msg]
			if !ok {
				t.Fatalf("no message called %s", v.Msg)
			}
			src, err1 := ParseAddress(v.Src)
			dst, err2 := ParseAddress(v.Dst)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			f := Frame{ID: id, Ack: v.Ack, From: NodeType(v.NodeType >> 4), To: NodeType(v.NodeType & 15), Source: src, Destination: dst, Data: messageData(t, v.Msg, v.Args)}
			got, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if hex.EncodeToString(got) != v.Frame {
				t.Errorf("got  %x\nwant %s", got, v.Frame)
			}
		})
	}
}

func TestVectorsDecodeToTheirFields(t *testing.T) {
	for _, v := range loadVectors(t).Frames {
		t.Run(v.Name, func(t *testing.T) {
			d, err := Decode(unhex(t, v.Frame))
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"msg": v.Msg, "src": v.Src, "dst": v.Dst, "ack": v.Ack, "node_type_byte": float64(v.NodeType),
				"logical_hex": v.Logical, "checksum": v.Checksum,
			}
			for key, value := range want {
				if got[key] != value {
					t.Errorf("%s: got %v, want %v", key, got[key], value)
				}
			}
			args, _ := got["args"].(map[string]any)
			for key, value := range v.Args {
				if have, there := args[key]; !there || have != value {
					t.Errorf("args.%s: got %v, want %v", key, have, value)
				}
			}
		})
	}
}

func TestCapturedTrafficIsReadAndWrittenAgain(t *testing.T) {
	for _, v := range loadVectors(t).Captured {
		t.Run(v.Name, func(t *testing.T) {
			raw := unhex(t, v.Frame)
			f, err := ParseFrame(raw)
			if err != nil {
				t.Fatal(err)
			}
			plain := func(a Address) string { return strings.ReplaceAll(a.String(), ".", "") }
			if hex.EncodeToString([]byte{byte(f.ID)}) != v.MsgID || plain(f.Source) != v.Src || plain(f.Destination) != v.Dst ||
				int(f.From) != v.FromType || int(f.To) != v.ToType || f.Ack != v.Ack || hex.EncodeToString(f.Data) != v.Data {
				t.Errorf("got %+v, want %+v", f, v)
			}
			again, err := f.Bytes()
			if err != nil || !bytes.Equal(again, raw) {
				t.Errorf("encoded again: %x, %v; want %x", again, err, raw)
			}
		})
	}
}

func TestInvalidFramesAreRejected(t *testing.T) {
	for _, v := range loadVectors(t).Invalid {
		t.Run(v.Name, func(t *testing.T) {
			raw := unhex(t, v.Frame)
			if f, err := ParseFrame(raw); err == nil {
				t.Errorf("accepted as %+v", f)
			}
			if _, err := Decode(raw); err == nil {
				t.Error("decoded")
			}
			if frames := receive(raw); len(frames) > 0 {
				t.Errorf("the receiver found %x in it", frames)
			}
		})
	}
}

// receive takes a whole stream apart.
func receive(b []byte) (frames [][]byte) {
	for len(b) > 0 {
		_, n, ok := peel(b)
		if n == 0 { // a beginning without an end
			n = 1
		}
		if ok {
			frames = append(frames, b[:n])
		}
		b = b[n:]
	}
	return frames
}

func TestStreamsAreResynchronised(t *testing.T) {
	for _, v := range loadVectors(t).Streams {
		t.Run(v.Name, func(t *testing.T) {
			raw := unhex(t, v.Stream)
			check := func(frames [][]byte, how string) {
				t.Helper()
				var got []string
				for _, f := range frames {
					got = append(got, hex.EncodeToString(f))
				}
				if strings.Join(got, " ") != strings.Join(v.Want, " ") {
					t.Errorf("%s: got %v, want %v", how, got, v.Want)
				}
			}
			check(receive(raw), "at once")
			var frames [][]byte
			var buf []byte
			for _, c := range raw {
				buf = append(buf, c)
				for len(buf) > 0 {
					_, n, ok := peel(buf)
					if n == 0 {
						break
					}
					if ok {
						frames = append(frames, bytes.Clone(buf[:n]))
					}
					buf = buf[n:]
				}
			}
			check(frames, "byte by byte")
		})
	}
}

func TestNoiseInFrontDoesNotHideAFrame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	frame := unhex(t, "f1f4fdff0000d4e5f90693")
	want, err := ParseFrame(frame)
	if err != nil {
		t.Fatal(err)
	}
	for range 20000 {
		noise := make([]byte, 1+rng.IntN(20))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		b := append(noise, frame...)
		for {
			f, n, ok := peel(b)
			if ok && f.Source == want.Source && f.ID == want.ID {
				break
			}
			if n == 0 {
				n = lookAhead(b, func(f Frame) bool { return f.Source == want.Source })
			}
			if n == 0 {
				t.Fatalf("frame not found behind % X", noise)
			}
			b = b[n:]
		}
	}
}

func TestAddressesAreReadAsPrinted(t *testing.T) {
	a, err := ParseAddress("06.1a.2B")
	if err != nil || a.String() != "06.1A.2B" {
		t.Errorf("got %v, %v", a, err)
	}
	for _, bad := range []string{"", "06.1A", "061A2B", "6.1A.2B", "06.1A.2G", "06.1A.2B.00", "06-1A-2B", "06-1A.2B", "06.1A-2B", "006.1.2B", "...06.1A"} {
		if a, err := ParseAddress(bad); err == nil {
			t.Errorf("%q accepted as %v", bad, a)
		}
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	if _, err := (Frame{Data: make([]byte, 22)}).Bytes(); err == nil {
		t.Error("22 bytes of data accepted")
	}
	if _, err := (Frame{To: 16}).Bytes(); err == nil {
		t.Error("node type 16 accepted")
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, v := range loadVectors(f).Frames {
		f.Add(unhex(f, v.Frame))
	}
	for _, v := range loadVectors(f).Invalid {
		f.Add(unhex(f, v.Frame))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := Decode(b)
		frame, perr := ParseFrame(b)
		if (err == nil) != (perr == nil) {
			t.Fatalf("Decode says %v, ParseFrame %v", err, perr)
		}
		if err != nil {
			return
		}
		var s int
		for _, c := range b[:len(b)-2] {
			s += int(c)
		}
		if s&0xFFFF != int(b[len(b)-2])<<8|int(b[len(b)-1]) {
			t.Fatal("a bad checksum was accepted")
		}
		again, err := frame.Bytes()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("encoded again: %x, %v; want %x", again, err, b)
		}
		if _, err := json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, v := range loadVectors(f).Streams {
		f.Add(unhex(f, v.Stream))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		for _, frame := range receive(b) {
			total += len(frame)
			if _, err := ParseFrame(frame); err != nil {
				t.Fatal(err)
			}
		}
		if total > len(b) {
			t.Fatal("more frames than bytes")
		}
	})
}
