package publicapi

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
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

func TestIntegersAreDecidedExactly(t *testing.T) {
	const fraction, tooLarge = "want an integer, got ", "the number is too large"
	for _, tc := range []struct {
		text    string
		want    int64
		problem string // how it begins
	}{
		{"0", 0, ""}, {"-0", 0, ""}, {"-0.0e7", 0, ""}, {"0e999999999", 0, ""}, {"0.000e-99999999999999999999", 0, ""},
		{"7", 7, ""}, {"+7", 7, ""}, {"007", 7, ""}, {"-7.000", -7, ""}, {"50.0", 50, ""}, {"5e1", 50, ""}, {"5E+1", 50, ""}, {"0.5e2", 50, ""},
		{"500e-1", 50, ""}, {"5.", 5, ""}, {".5e1", 5, ""}, {"1000000000000000000000e-20", 10, ""}, {"40.00000000000000000000", 40, ""},
		{"9007199254740992", exact, ""}, {"-9007199254740992", -exact, ""}, {"9007199254740992.0", exact, ""}, {"9.007199254740992e15", exact, ""},
		{"9007199254740993", 0, tooLarge}, {"-9007199254740993", 0, tooLarge}, {"9007199254740993.0", 0, tooLarge}, {"9007199254740992.5", 0, fraction},
		{"18446744073709551617", 0, tooLarge}, {"1e16", 0, tooLarge}, {"-1e400", 0, tooLarge}, {"1e999999999", 0, tooLarge},
		{"1e99999999999999999999999999", 0, tooLarge}, {"0.00000000000000000001e999999999", 0, tooLarge},
		{"99.99999999999999999", 0, fraction}, {"40.00000000000000000001", 0, fraction}, {"71.00000000000000000001", 0, fraction},
		{"1e-400", 0, fraction}, {"-1e-1", 0, fraction}, {"1e-999999999", 0, fraction}, {"1e-99999999999999999999999999", 0, fraction}, {"15e-1", 0, fraction},
		{"", 0, fraction}, {"-", 0, fraction}, {".", 0, fraction}, {"e5", 0, fraction}, {"5e", 0, fraction}, {"5e+", 0, fraction}, {"5e+-1", 0, fraction},
		{"--5", 0, fraction}, {"5-", 0, fraction}, {"1.2.3", 0, fraction}, {"1e2e3", 0, fraction}, {"1e2.0", 0, fraction}, {"0e20000000000000000000A", 0, fraction}, {"0e20000000000000000000-5", 0, fraction}, {"0x10", 0, fraction}, {"1_0", 0, fraction},
		{strings.Repeat("0", 63) + "7", 7, ""}, {strings.Repeat("0", 64) + "7", 0, fraction},
	} {
		v, problem := parseInteger(tc.text)
		if v != tc.want || (problem == "") != (tc.problem == "") || !strings.HasPrefix(problem, tc.problem) {
			t.Errorf("%q: got %d and %q, want %d and %q…", tc.text, v, problem, tc.want, tc.problem)
		}
	}
}

// FuzzInteger compares with arithmetic that rounds nothing.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"50.0", "5e1", "99.99999999999999999", "9007199254740993", "-9007199254740992.0", "1e-400", "1e999999999", "+.5E+1", "-", "0e-0", "1.e1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, problem := parseInteger(text)
		if len(text) > numberMost || strings.Trim(text, "0123456789+-.eE") != "" {
			if problem == "" {
				t.Fatalf("%q is %d", text, v)
			}
			return
		}
		if at := strings.IndexAny(text, "eE"); at >= 0 && len(strings.TrimLeft(text[at+1:], "+-0")) > 4 {
			return // big.Rat would work it out to the last digit
		}
		want, ok := new(big.Rat).SetString(text)
		integer := ok && want.IsInt() && want.Num().CmpAbs(big.NewInt(exact)) <= 0
		if (problem == "") != integer || integer && want.Num().Int64() != v {
			t.Fatalf("%q: got %d and %q, want %v", text, v, problem, want)
		}
	})
}
