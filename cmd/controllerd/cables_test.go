//go:build soak

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/sitefile"
)

// TestCampaignFromCablesToNames walks from an empty data directory to every device of
// the demo building found and named, one port after the other, with the commands of
// docs/installing.md. Of the files that the scans write only names are changed.
func TestCampaignFromCablesToNames(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "demo", "site.yaml.in"))
	if err != nil {
		t.Fatal(err)
	}
	h := bare(t, strings.NewReplacer("@RUN@", "@DIR@", "@PORT_OFFICES@", "0", "@PORT_ANNEX@", "0").Replace(string(text)))
	d := h.fresh()
	d.serve()
	began := time.Now()
	typed := func(args ...string) said {
		s := d.answerOf(d.command(t.Context(), args...), "") // a scan of motors takes two minutes
		t.Logf("%3.0f s: controllerd %s: exit code %d", time.Since(began).Seconds(), strings.Join(args, " "), s.code)
		return s
	}
	if s := typed("bus", "list"); !strings.Contains(s.out+s.err, "bus scan --port") {
		t.Errorf("an empty list does not say where to begin: %s%s", s.out, s.err)
	}
	for _, b := range h.site.Buses {
		port := []string{"bus", "scan", "--port", b.Port}
		scan := append(port, map[string][]string{
			"sdn": {"--driver", "sdn"}, "dali": {"--driver", "dali", "--option", "gateway=atx"}, "dmx": {"--driver", "dmx"},
		}[b.Driver]...)
		switch b.Name {
		case "upper-floor": // nobody knows what its line has
			if s := typed(append(scan, "--last", "3")...); !strings.Contains(s.out, "--all-settings") {
				t.Errorf("nobody answers, and the scan says\n%s", s.out)
			}
			if s := typed(append(scan, "--last", "3", "--all-settings")...); !strings.Contains(s.out, "--baud 19200 --parity even --stop-bits 1") {
				t.Errorf("all have other settings, and the scan says\n%s", s.out)
			}
			scan = append(scan, "--baud", "19200", "--parity", "even", "--stop-bits", "1")
		case "ground-floor", "annex":
			scan = append(scan, "--relays", "shades")
		}
		draft := filepath.Join(t.TempDir(), b.Name+".yaml")
		s := typed(append(scan, "--site", draft)...)
		if _, err := os.Stat(draft); s.code != 0 || err != nil {
			t.Errorf("%s\n%s", s.out, s.err)
			continue
		}
		h.nameDraft(b, draft)
		if s := typed("site", "import", draft); s.code != 0 {
			t.Fatalf("%s%s of\n%s", s.out, s.err, readText(draft))
		}
	}
	took := time.Since(began)
	t.Logf("the whole building in %v", took.Round(time.Second))
	if s := typed("bus", "list", "--devices"); strings.Contains(s.out, "offline") {
		t.Logf("not online yet:\n%s", s.out)
	}
	if took > 10*time.Minute {
		t.Errorf("took %v", took)
	}
	h.compareWith(d)
}

// nameDraft gives what a scan drafted the names of the building, and changes nothing
// else.
func (h *house) nameDraft(b appliance.Bus, draft string) {
	h.t.Helper()
	found, err := sitefile.Parse(draft, []byte(readText(draft)))
	if err != nil {
		h.t.Fatal(err)
	}
	renamed := []string{"name: " + found.Buses[0].Name + "\n", "name: " + b.Name + "\n", "bus: " + found.Buses[0].Name + "\n", "bus: " + b.Name + "\n"}
	text, taken := readText(draft), make(map[string]bool)
	for _, n := range found.Nodes {
		real := h.nodeLike(b, n)
		if real == nil {
			continue
		}
		name := real.Name
		if taken[name] { // one of several outputs, which the building has as one node
			name = fmt.Sprintf("%s %d", name, n.Outputs[0])
		}
		taken[name] = true
		for _, key := range []string{"name: ", "node: "} {
			renamed = append(renamed, key+n.Name+"\n", key+name+"\n")
		}
	}
	if err := os.WriteFile(draft, []byte(strings.NewReplacer(renamed...).Replace(text)), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// nodeLike is the node of the building at the place of a drafted one.
func (h *house) nodeLike(b appliance.Bus, n appliance.Node) *appliance.Node {
	for i := range h.site.Nodes {
		real := &h.site.Nodes[i]
		if real.Bus == b.UUID && real.Address == n.Address && (len(real.Outputs) == 0 || fmt.Sprint(real.Outputs) == fmt.Sprint(n.Outputs)) {
			return real
		}
	}
	return nil
}

// compareWith tells what of the building is not in the site that was walked to.
func (h *house) compareWith(d *desk) {
	h.t.Helper()
	site, err := sitefile.Parse("export", []byte(d.must("site", "export")))
	if err != nil {
		h.t.Fatal(err)
	}
	got := make(map[string]appliance.Node)
	for _, n := range site.Nodes {
		got[n.Name] = n
	}
	shades := make(map[string]int) // of each address
	for _, s := range site.Shades {
		for _, n := range site.Nodes {
			if n.ID == s.Node {
				shades[n.Address]++
			}
		}
	}
	missing, guessed := 0, 0
	for _, n := range h.site.Nodes {
		have, ok := got[n.Name]
		switch {
		case !ok || have.Address != n.Address:
			missing++
			h.t.Errorf("%s at %s was not found or not named: %+v", n.Name, n.Address, have)
		case have.Profile != n.Profile:
			guessed++
			h.t.Logf("%s is drafted as %s, and is a %s", n.Name, have.Profile, n.Profile)
		}
	}
	for _, s := range h.site.Shades {
		for _, n := range h.site.Nodes {
			if n.ID == s.Node && shades[n.Address] < s.Output {
				h.t.Errorf("shade %s was not drafted", s.Name)
			}
		}
	}
	h.t.Logf("%d nodes and %d shades of the building, %d missing, %d with a profile that has to be chosen", len(h.site.Nodes), len(h.site.Shades), missing, guessed)
}
