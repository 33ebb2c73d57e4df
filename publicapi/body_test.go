package publicapi

import (
	"bytes"
	"encoding/json"
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
		if wantErr != nil || len(got) != len(want) {
			t.Fatalf("got %s, want %s (%v)", got, want, wantErr)
		}
		for _, m := range got {
			if value, ok := want[string(m.name)]; !ok || !bytes.Equal(m.value, value) {
				t.Fatalf("%q: got %s, want %s", m.name, m.value, value)
			}
			if m.value[0] != '"' {
				continue
			}
			var text string
			if s, err := unquote(m.value); json.Unmarshal(m.value, &text) != nil || err != nil || string(s) != text {
				t.Fatalf("%q: got %q, want %q (%v)", m.name, s, text, err)
			}
		}
	})
}
