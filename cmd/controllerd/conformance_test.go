package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/tools/conformance"
)

// patient is a site on a machine that may be busy: its devices, which run on it, have ten times as long to answer.
func patient(site string) string {
	return regexp.MustCompile(`(port: "[^"]+")`).ReplaceAllString(site, `$1, options: {responseTimeout: 2s}`)
}

// patientSite is so too, and its shades take as long as shades do.
func patientSite(site string) string {
	site = patient(site)
	return strings.NewReplacer("travelUp: 3s", "travelUp: 9s", "travelDown: 3s", "travelDown: 9s").Replace(site)
}

func TestOurControllerConforms(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, patientSite(mixedSite))
	// A strip that was never on has no colour yet.
	h.insist("setRGBW", `{"targetType":3,"targetId":5,"R":255,"G":9,"B":9,"W":9,"DL":50}`)
	d := &desk{t: t, dataDir: t.TempDir()}
	junit := filepath.Join(t.TempDir(), "report.xml")
	common := []string{"conformance", "--url", h.url, "--username", string(account.RoleAPIService), "--password-file", "-", "--ca-file", filepath.Join(h.dataDir, certificateFile), "--strict"}

	before := h.writes()
	got := d.typed(housePassword+"\n", common...)
	if got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if n := h.writes() - before; n != 0 {
		t.Errorf("devices were written %d times by a run that only reads", n)
	}

	password := d.write("password", housePassword+"\n")
	got = d.typed(housePassword, append(common, "--commands", "cluster:1", "--reader", string(account.RoleViewer), "--reader-password-file", password, "--json", "--junit", junit)...)
	if got.code != 0 {
		t.Fatalf("with commands: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	var report conformance.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rows {
		if row.Verdict != conformance.Passed {
			t.Errorf("%s: %s: %s", row.ID, row.Verdict, row.Detail)
		}
	}
	if len(report.Notes) != 0 {
		t.Errorf("notes: %q", report.Notes)
	}
	data, err := os.ReadFile(junit)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests int `xml:"tests,attr"`
	}
	if err := xml.Unmarshal(data, &suite); err != nil || suite.Tests != len(report.Rows) {
		t.Errorf("the report for build servers has %d rows of %d: %v", suite.Tests, len(report.Rows), err)
	}
}

func TestConformanceSendsNothingToStrangers(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, mixedSite)
	d := &desk{t: t, dataDir: t.TempDir()}
	got := d.typed(housePassword, "conformance", "--url", h.url, "--username", "admin", "--password-file", "-")
	fingerprint := strings.ToLower(strings.ReplaceAll(h.daemon.cert.Fingerprint(), ":", ""))
	if got.code != 1 || !strings.Contains(got.err, fingerprint) || !strings.Contains(got.err, "nothing was sent") {
		t.Errorf("exit code %d, said %s", got.code, got.err)
	}
	got = d.typed(housePassword, "conformance", "--url", h.url, "--username", "admin", "--password-file", "-", "--fingerprint", h.daemon.cert.Fingerprint())
	if got.code != 0 {
		t.Errorf("with the fingerprint: exit code %d, said %s", got.code, got.err)
	}
}
