package console

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/drivers"
)

// vectors reads the vector file of a driver.
func vectors(t *testing.T, driver, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "drivers", driver, "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// busDecode puts frames through the command, one line each, and returns its lines.
func busDecode(t *testing.T, protocol string, frames ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := decodeLines(strings.NewReader(strings.Join(frames, "\n")+"\n"), &out, drivers.Decoders[protocol]); err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		lines = append(lines, fields)
	}
	if len(lines) != len(frames) {
		t.Fatalf("%d frames in, %d lines out", len(frames), len(lines))
	}
	return lines
}

// wantFields compares fields by name, deep inside args and rdm.
func wantFields(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	if got["ok"] != true {
		t.Errorf("%s: %v", what, got)
		return
	}
	for key, value := range want {
		if !reflect.DeepEqual(got[key], value) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], value)
		}
	}
}

func TestDecodePrintsTheFieldsOfEverySDNVector(t *testing.T) {
	t.Parallel()
	var v struct {
		Frames, Invalid, Captured, Streams []map[string]any
	}
	vectors(t, "sdn", "vectors.json", &v)
	accepted, rejected := 0, 0
	for _, f := range v.Frames {
		want := maps.Clone(f)
		for _, key := range []string{"name", "frame", "produced_by", "decoded_by_somfy_sdn", "args", "note"} {
			delete(want, key)
		}
		got := busDecode(t, "sdn", f["frame"].(string))[0]
		wantFields(t, f["name"].(string), got, want)
		if args, ok := f["args"].(map[string]any); ok {
			have, _ := got["args"].(map[string]any)
			for key, value := range args {
				if !reflect.DeepEqual(have[key], value) {
					t.Errorf("%v: args.%s is %v, want %v", f["name"], key, have[key], value)
				}
			}
		}
		accepted++
	}
	for _, f := range v.Captured {
		want := maps.Clone(f)
		for _, key := range []string{"name", "frame"} {
			delete(want, key)
		}
		got := busDecode(t, "sdn", f["frame"].(string))[0]
		for _, key := range []string{"src", "dst"} {
			got[key] = strings.ReplaceAll(fmt.Sprint(got[key]), ".", "")
		}
		wantFields(t, f["name"].(string), got, want)
		accepted++
	}
	for _, f := range v.Invalid {
		if got := busDecode(t, "sdn", f["frame"].(string))[0]; got["ok"] != false || got["error"] == "" {
			t.Errorf("%v: %v, want it rejected", f["name"], got)
		}
		rejected++
	}
	t.Logf("%d frames explained, %d rejected", accepted, rejected)
	if accepted < 50 || rejected < 3 {
		t.Error("too few vectors were read")
	}
}

func TestDecodePrintsTheFieldsOfEveryDALIVector(t *testing.T) {
	t.Parallel()
	var v struct {
		Frames, Decode []map[string]any
		Sequences      []struct {
			Name   string
			Frames []map[string]any
		}
	}
	vectors(t, "dali", "vectors.json", &v)
	names := []string{"command", "bits", "frame", "send_twice", "expects_answer", "device_type", "address", "arg"}
	explained := 0
	for _, f := range v.Frames {
		want := map[string]any{}
		for _, name := range names {
			if value, there := f[name]; there && value != nil {
				want[name] = value
			}
		}
		if f["command"] == "Initialise" {
			delete(want, "address") // of the vectors, whom the command is for; it is sent to all
		}
		forms := map[string][2]string{
			"bare frame": {"dali", f["frame"].(string)},
			"HAT":        {"dali-atx", hex.EncodeToString([]byte(f["atx_hat_line"].(string)))},
			"LUBA":       {"dali-luba", f["luba"].(string)},
			"SCI":        {"dali-sci", f["sci"].(string)},
		}
		for form, in := range forms {
			wantFields(t, fmt.Sprint(f["name"], ", ", form), busDecode(t, in[0], in[1])[0], want)
			// Without the gateway's name it is told from the bytes.
			wantFields(t, fmt.Sprint(f["name"], ", ", form, " by itself"), busDecode(t, "dali", in[1])[0], want)
			explained++
		}
	}
	for _, s := range v.Sequences {
		for _, f := range s.Frames {
			got := busDecode(t, "dali", f["frame"].(string))[0]
			wantFields(t, s.Name, got, map[string]any{"command": f["command"], "frame": f["frame"]})
			if twice, told := f["send_twice"]; told && got["send_twice"] != twice {
				t.Errorf("%s: %v: sent twice is %v, want %v", s.Name, f["command"], got["send_twice"], twice)
			}
			explained++
		}
	}
	for _, f := range v.Decode {
		got := busDecode(t, "dali", f["frame"].(string))[0]
		want, _, _ := strings.Cut(f["decoded"].(string), "(")
		if want == "ArcPower" {
			want = "DAPC"
		}
		if got["device_type"] != f["device_type"] {
			continue // a frame alone does not tell which type was enabled before it
		}
		if !strings.HasPrefix(want, "Unknown") && got["command"] != want {
			t.Errorf("%v: %v, want %s", f["name"], got, want)
		}
		explained++
	}
	t.Logf("%d frames explained", explained)
	if explained < 150 {
		t.Error("too few vectors were read")
	}
	for _, bad := range []string{"5932070010020000000028", "a3000000a2", "000000"} {
		if got := busDecode(t, "dali", bad)[0]; got["ok"] != false {
			t.Errorf("%q: %v, want it rejected", bad, got)
		}
	}
}

func TestDecodePrintsTheFieldsOfEveryEnttecVector(t *testing.T) {
	t.Parallel()
	var v struct{ Frames, Replies []map[string]any }
	vectors(t, "dmx", "enttec.json", &v)
	explained := 0
	for _, f := range append(v.Frames, v.Replies...) {
		want := map[string]any{}
		for _, key := range []string{"label", "data_length", "data", "start_code", "slots", "nonzero_slots", "rdm"} {
			if value, there := f[key]; there && value != nil && !reflect.DeepEqual(value, map[string]any{}) {
				want[key] = value
			}
		}
		wantFields(t, f["name"].(string), busDecode(t, "dmx-pro", f["frame"].(string))[0], want)
		explained++
	}
	for _, f := range v.Frames {
		frame := f["frame"].(string)
		for _, bad := range []string{"7f" + frame[2:], frame[:len(frame)-2] + "e6", frame[:len(frame)-2]} {
			if got := busDecode(t, "dmx-pro", bad)[0]; got["ok"] != false {
				t.Errorf("%v, damaged: %v, want it rejected", f["name"], got)
			}
		}
	}
	t.Logf("%d frames explained", explained)
	if explained < 40 {
		t.Error("too few vectors were read")
	}
}

func TestDecodePrintsTheFieldsOfEveryModbusVector(t *testing.T) {
	t.Parallel()
	type vector struct {
		Name          string
		Unit          float64
		TransactionID *float64 `json:"transaction_id"`
		Op            map[string]any
		Request       string
		Response      *string
		Expect        json.RawMessage
	}
	var v struct{ RTU, TCP []vector }
	vectors(t, "modbus", "vectors.json", &v)
	explained := 0
	for protocol, list := range map[string][]vector{"modbus-rtu": v.RTU, "modbus-tcp": v.TCP} {
		for _, f := range list {
			want := map[string]any{"unit": f.Unit, "op": f.Op["op"]}
			if f.TransactionID != nil {
				want["transaction_id"] = *f.TransactionID
			}
			wants := func(what, frame string, fields map[string]any) {
				got := busDecode(t, protocol, frame)[0]
				wantFields(t, f.Name+", "+what, got, want)
				// An echo can be either; both readings are told.
				if inner, ok := got[what].(map[string]any); ok {
					inner["ok"] = true
					got = inner
				}
				// The last byte of bits is filled up, which an answer alone does not tell.
				if said, told := anys(got["values"]), anys(fields["values"]); strings.HasPrefix(fmt.Sprint(want["op"]), "read_") && len(told) > 0 && len(said) > len(told) {
					got["values"] = said[:len(told)]
				}
				wantFields(t, f.Name+", "+what, got, fields)
				explained++
			}
			told := map[string]any{}
			for _, key := range []string{"addr", "count", "waddr", "and", "or"} {
				if value, there := f.Op[key]; there {
					told[key] = value
				}
			}
			wants("request", f.Request, told)
			var outcome struct {
				Exception *float64
				Values    []float64
			}
			if json.Unmarshal(f.Expect, &outcome) != nil || f.Response == nil {
				continue // whoever hears this answer rejects it
			}
			told = map[string]any{}
			if outcome.Exception != nil {
				told["exception"] = *outcome.Exception
			}
			for i := range outcome.Values {
				told["values"] = append(anys(told["values"]), outcome.Values[i])
			}
			wants("response", *f.Response, told)
		}
	}
	t.Logf("%d frames explained", explained)
	if explained < 60 {
		t.Error("too few vectors were read")
	}
}

func anys(v any) []any {
	list, _ := v.([]any)
	return list
}
