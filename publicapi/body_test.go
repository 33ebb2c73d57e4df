package publicapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
)

// FuzzSplit compares our splitting of a body with that of encoding/json.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, "{\r\n\t\"a\" : -1.5e+3 ,\"b\":\"x\"}", `{"a":"\\","b":"\""}`, `{"a\"}":{"b":"}]\\"},"c":[[],{}," "]}`,
		`{"a":null,"b":true , "c":false}`, `{"":""}`, `{"\u0061":"\ud800"}`, `{"a":[1,2,{"b":[3]}]}`, "{\"\xc3\xa9\":\"\xf0\x9f\x92\xa1\"}", `[{"a":1}]`, `"{"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseBody(data)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(bytes.TrimPrefix(data, utf8BOM), &want)
		if err != nil {
			return // stricter than encoding/json: the other tests say in what
		}
		same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
		if wantErr != nil || !maps.EqualFunc(map[string]json.RawMessage(got), want, same) {
			t.Fatalf("got %s, want %s (%v)", got, want, wantErr)
		}
		for name, raw := range got {
			if raw[0] != '"' {
				continue
			}
			var text string
			if s, err := unquote(raw); json.Unmarshal(raw, &text) != nil || err != nil || s != text {
				t.Fatalf("%q: got %q, want %q (%v)", name, s, text, err)
			}
		}
	})
}
