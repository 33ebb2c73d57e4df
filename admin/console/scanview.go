package console

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

// scanView shows a scan: progress for people on a terminal, what was found on
// standard output.
type scanView struct {
	out      io.Writer
	progress io.Writer // nil: nobody is watching
	asJSON   bool
	bus      appliance.Bus
	site     appliance.Site
	known    bool   // the bus is in the site, so that found and configured can be compared
	drafts   bool   // what is new is written as a site file
	relays   string // what a draft makes of relays, see [drafter]
	found    []api.Found
}

// follow shows how far a scan is, and takes what it found so far.
func (v *scanView) follow(j job[api.Found]) error {
	v.take(j)
	v.probing(j.Progress.Text)
	return nil
}

func (v *scanView) take(j job[api.Found]) { v.found = slices.Clone(j.Items) }

func (v *scanView) probing(address string) {
	if address != "" && v.progress != nil {
		fmt.Fprintf(v.progress, "\rprobing %-28.28s %d found ", address, len(v.found))
	}
}

func (v *scanView) endProgress() {
	if v.progress != nil {
		fmt.Fprintf(v.progress, "\r%60s\r", "")
	}
}

// end prints the result.
func (v *scanView) end() error {
	v.endProgress()
	v.adoptLine()
	slices.SortStableFunc(v.found, func(a, b api.Found) int {
		return cmp.Or(compareAddresses(a.Address, b.Address), cmp.Compare(a.Finding, b.Finding))
	})
	if v.asJSON {
		if v.found == nil {
			v.found = []api.Found{}
		}
		return cli.PrintJSON(v.out, v.found)
	}
	var rows [][]string
	for _, f := range v.found {
		if f.Finding != string(appliance.FoundNote) {
			rows = append(rows, v.row(f))
		}
	}
	if len(rows) > 0 {
		if err := cli.Table(v.out, []string{"ADDRESS", "LOOKS LIKE", "IN THE SITE", "DETAIL"}, rows); err != nil {
			return err
		}
		fmt.Fprintln(v.out)
	}
	v.summary()
	return nil
}

// adoptLine takes the line for what all its devices say it is: if nobody answered at
// the settings that a port was scanned with, and all who answered at others answered at
// the same, these are the line's and nothing has to be changed at the devices.
func (v *scanView) adoptLine() {
	var at *api.Line
	for _, f := range v.found {
		if f.Finding != string(appliance.FoundSettings) {
			continue
		}
		if at != nil && *f.Line != *at {
			return
		}
		at = f.Line
	}
	if at == nil || len(v.present()) > 0 || len(v.with(inSite)) > 0 {
		return
	}
	advice := fmt.Sprintf("set the bus's line to baudRate: %d, parity: %s, stopBits: %d in the site file", at.BaudRate, at.Parity, at.StopBits)
	if !v.known {
		advice = fmt.Sprintf("scan again with --baud %d --parity %s --stop-bits %d, or go on with what --site writes", at.BaudRate, at.Parity, at.StopBits)
		v.bus.Line = appliance.LineSettings{BaudRate: at.BaudRate, Parity: at.Parity, StopBits: at.StopBits, DataBits: 8}
	}
	devices := 0
	for i := range v.found {
		f := &v.found[i]
		if f.Finding != string(appliance.FoundSettings) {
			continue
		}
		devices++
		f.Finding, f.Trouble, f.Advice = string(appliance.FoundDevice), false, ""
	}
	v.found = append(v.found, api.Found{
		Finding: string(appliance.FoundNote), Advice: advice,
		Detail: fmt.Sprintf("THE LINE HAS %d baud, parity %s: all %s answered so, and nobody at what was asked for", at.BaudRate, at.Parity, count(devices, "device", "devices")),
	})
}

// inSite reports whether the site has something at an address.
func inSite(f api.Found) bool { return len(f.Nodes) > 0 }

// compareAddresses puts numbers, alone or within an address, in their order.
func compareAddresses(a, b string) int {
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n == 0 || m == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, _ := strconv.Atoi(a[:n])
		y, _ := strconv.Atoi(b[:m])
		if x != y {
			return cmp.Compare(x, y)
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many of them a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func (v *scanView) row(f api.Found) []string {
	kind := strings.Join(append([]string{f.Kind}, f.Others...), " or ")
	var told []string
	if f.Label != "" {
		told = append(told, strconv.Quote(f.Label))
	}
	if f.Serial != "" {
		told = append(told, "serial "+f.Serial)
	}
	if f.Version != "" {
		told = append(told, "version "+f.Version)
	}
	detail := strings.Join(append(told, f.Detail), ", ")
	if f.Trouble {
		detail = "! " + detail
	}
	return []string{cmp.Or(f.Address, "-"), cmp.Or(kind, "-"), cmp.Or(v.names(f), "-"), strings.TrimSuffix(detail, ", ")}
}

// names of the nodes at an address, as people know them.
func (v *scanView) names(f api.Found) string {
	var names []string
	for _, n := range v.site.Nodes {
		if slices.Contains(f.Nodes, n.ID) {
			names = append(names, fmt.Sprintf("%d %s", n.ID, n.Name))
		}
	}
	return strings.Join(few(names), ", ")
}

// with are those of some findings.
func (v *scanView) with(keep func(api.Found) bool) (out []api.Found) {
	for _, f := range v.found {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

func (v *scanView) troubles() []api.Found {
	return v.with(func(f api.Found) bool { return f.Trouble })
}

// present are the devices that answered in whatever way.
func (v *scanView) present() []api.Found {
	return v.with(func(f api.Found) bool {
		switch appliance.Finding(f.Finding) {
		case appliance.FoundDevice, appliance.FoundProfile, appliance.FoundCollision, appliance.FoundLate:
			return true
		case appliance.FoundDamaged:
			return f.Address != ""
		}
		return false
	})
}

// strangers are those of them that the site does not know.
func (v *scanView) strangers() []api.Found {
	return slices.DeleteFunc(v.present(), func(f api.Found) bool { return len(f.Nodes) > 0 })
}

// summary tells people what to make of the rows.
func (v *scanView) summary() {
	is := func(what appliance.Finding) func(api.Found) bool {
		return func(f api.Found) bool { return f.Finding == string(what) }
	}
	present, troubles := v.present(), v.troubles()
	line := fmt.Sprintf("%s answered", count(len(present), "address", "addresses"))
	if astray := v.with(is(appliance.FoundSettings)); len(astray) > 0 {
		line += fmt.Sprintf(", %d at other settings", len(astray))
	}
	if silent := v.with(is(appliance.FoundSilent)); v.known {
		line += fmt.Sprintf(", %d of the site silent, %d not in the site", len(silent), len(v.strangers()))
	}
	if len(troubles) > 0 {
		line += ", " + count(len(troubles), "trouble", "troubles")
	}
	fmt.Fprintln(v.out, line)
	for _, f := range slices.Concat(troubles, v.with(is(appliance.FoundNoAddress)), v.with(is(appliance.FoundNote))) {
		where := ""
		if f.Address != "" {
			where = f.Address + ": "
		}
		if names := v.names(f); names != "" {
			where = fmt.Sprintf("%s (%s): ", f.Address, names)
		}
		fmt.Fprintf(v.out, "  %s%s\n", where, f.Detail)
		if f.Advice != "" {
			fmt.Fprintf(v.out, "    → %s\n", f.Advice)
		}
	}
	if strangers := v.strangers(); v.known && len(strangers) > 0 {
		var list []string
		for _, f := range strangers {
			list = append(list, f.Address)
		}
		hint := ""
		if !v.drafts {
			hint = " (--site FILE writes them down)"
		}
		fmt.Fprintf(v.out, "not in the site: %s%s\n", strings.Join(list, ", "), hint)
	}
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// troubleError ends a scan that found something wrong.
type troubleError struct{ text string }

func (e troubleError) Error() string { return e.text }

// ExitCode of the process.
func (troubleError) ExitCode() int { return 3 }

// verdict is an error if something has to be put right.
func (v *scanView) verdict() error {
	troubles := v.troubles()
	if len(troubles) == 0 {
		return nil
	}
	var list []string
	for _, f := range troubles {
		list = append(list, strings.TrimSpace(f.Address+" "+f.Finding))
	}
	return troubleError{fmt.Sprintf("bus %s needs attention: %s", v.bus.Name, strings.Join(list, ", "))}
}
