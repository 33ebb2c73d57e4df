package web

import "testing"

func TestABodyNamesEverythingOnce(t *testing.T) {
	for body, want := range map[string]bool{
		`{"role":"viewer","name":"a"}`:                      true,
		`{"role":"viewer","ROLE":"admin"}`:                  false,
		`{"role":"viewer","role":"viewer"}`:                 false,
		`{"role":"viewer","r\u006fle":"admin"}`:             false,
		"{\"keys\":1,\"\u212aeys\":2}":                      false, // the sign of kelvin is a K to encoding/json
		`{"a":{"b":1},"c":[{"b":1},{"b":2,"x":["b","b"]}]}`: true,
		`{"a":{"b":1},"c":[{"b":1},{"b":2,"x":[],"B":1}]}`:  false,
		`[1,"a","a",{"a":"a"}]`:                             true,
		`{"a":[],"A":1}`:                                    false,
		`"a"`:                                               true,
		`{"a":1`:                                            false,
	} {
		var to any
		if err := Decode([]byte(body), &to); (err == nil) != want {
			t.Errorf("%s: %v, want taken %v", body, err, want)
		}
	}
}
