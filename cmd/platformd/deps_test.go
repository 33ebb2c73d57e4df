package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestThePlatformHasNothingOfTheAppliance(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	const module = "svc.internal/controller/"
	var web bool
	for _, dep := range deps {
		ours, ok := strings.CutPrefix(dep, module)
		first, rest, _ := strings.Cut(ours, "/")
		if first == "shelf" {
			first, _, _ = strings.Cut(rest, "/")
		}
		switch {
		case !ok:
		case first == "web":
			web = true
		case first == "appliance", first == "drivers", first == "store", first == "account", first == "publicapi", first == "sim":
			t.Errorf("platformd contains %s: a platform has no buses, and what it shares with a controller is wire and web", ours)
		}
	}
	if !web {
		t.Error("platformd has lost the shelf web: this test looks at the wrong thing")
	}
}
