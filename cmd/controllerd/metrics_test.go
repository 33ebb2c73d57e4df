package main

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

// Every metric that an alert rule asks for is there, but for those that begin to be
// there when something goes wrong.
func TestAlertRulesAskForMetricsThatThereAre(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, smallSite)
	h.insist("channelControl", `{"targetType":3,"targetId":1,"command":"ON"}`)
	_, shown, _ := h.send(http.MethodGet, "/metrics", h.login(account.RoleViewer), "")
	text, err := os.ReadFile("../../docs/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil || len(rules.Groups) == 0 || len(rules.Groups[0].Rules) < 10 {
		t.Fatalf("%v in %+v", err, rules)
	}
	later := []string{"controller_bus_errors_total", "controller_device_trouble", "controller_board_power_weak", "controller_board_temperature_celsius"}
	for _, r := range rules.Groups[0].Rules {
		for _, name := range regexp.MustCompile(`controller_\w+`).FindAllString(r.Expr, -1) {
			if !strings.Contains(string(shown), "\n"+name) && !slices.Contains(later, name) {
				t.Errorf("%s asks for %s, which nobody has", r.Alert, name)
			}
		}
	}
	if !strings.Contains(string(shown), `controller_build_info{arch=`) {
		t.Error("no controller_build_info")
	}
}

func TestQuietImportSaysNothing(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: t.TempDir()}
	if out := d.must("site", "import", "--quiet", d.write("site.yaml", "site: {name: Empty}\nbuses: []\n")); out != "" {
		t.Errorf("said %q", out)
	}
}

func TestAStopIsToldFromACrash(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: t.TempDir()}
	s := d.serve()
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "msg=stopped") || !strings.Contains(log, "stopping") {
		t.Errorf("the log ends with %q", log)
	}
}
