package option_test

import (
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/option"
)

func TestRead(t *testing.T) {
	var wait time.Duration
	var count int
	var echo bool
	var curve string
	setters := map[string]option.Setter{
		"wait":  option.Span(&wait, time.Millisecond, time.Second),
		"count": option.Whole(&count, 1, 9),
		"echo":  option.Flag(&echo),
		"curve": option.Choice(&curve, "standard", "linear"),
	}
	good := map[string]string{"wait": "20ms", "count": "3", "echo": "true", "curve": "linear"}
	if err := option.Read(good, setters); err != nil || wait != 20*time.Millisecond || count != 3 || !echo || curve != "linear" {
		t.Errorf("%v, %d, %v, %q, %v", wait, count, echo, curve, err)
	}
	for name, tc := range map[string]struct{ key, text, want string }{
		"unknown key":    {"colour", "red", `option "colour" is unknown, allowed: count, curve, echo, wait`},
		"no unit":        {"wait", "20", `option wait: is "20", want a time with its unit from 1ms to 1s`},
		"too long":       {"wait", "2s", "from 1ms to 1s"},
		"too many":       {"count", "10", `option count: is "10", want a whole number from 1 to 9`},
		"no number":      {"count", "three", "want a whole number"},
		"neither":        {"echo", "yes", `option echo: is "yes", want true or false`},
		"another choice": {"curve", "square", `option curve: is "square", allowed: standard, linear`},
	} {
		err := option.Read(map[string]string{tc.key: tc.text}, setters)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, tc.want)
		}
	}
	if err := option.Read(map[string]string{"any": "1"}, nil); err == nil || !strings.Contains(err.Error(), "allowed: none") {
		t.Errorf("an option where none is allowed: %v", err)
	}
}
