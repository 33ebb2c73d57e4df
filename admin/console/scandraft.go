package console

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/site/sitefile"
)

// draftable refuses a file that is there, before a scan takes minutes for nothing.
func draftable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("write what is found: %w", taken(path))
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write what is found to %s: look for its folder: %w", path, err)
	}
	return nil
}

// taken says that a file to be made is there.
func taken(path string) error {
	return fmt.Errorf("open %s: %w; choose another name or remove it, a file that is there is never replaced", path, fs.ErrExist)
}

// writeDraft writes what is not in the site as a site file. If there is nothing new,
// nothing is written.
func (v *scanView) writeDraft(out io.Writer, path string) error {
	strangers := v.strangers()
	strangers = slices.DeleteFunc(strangers, func(f api.Found) bool { return f.Gateway && hasGear(strangers, f.Address) })
	if len(strangers) == 0 {
		fmt.Fprintln(v.out, "nothing new was found, so that no site file was written")
		return nil
	}
	d := drafter{bus: v.bus, relays: v.relays, taken: make(map[string]bool), draft: sitefile.Draft{Bus: v.bus, NewBus: !v.known}}
	for _, n := range v.site.Nodes {
		d.taken[n.Name] = true
	}
	for _, s := range v.site.Shades {
		d.taken[s.Name] = true
	}
	for _, f := range strangers {
		d.enter(f)
	}
	if path == "-" {
		return d.draft.Write(out)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		err = taken(path)
	}
	if err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	err = d.draft.Write(file)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
	case d.draft.Len() == 0:
		fmt.Fprintf(v.out, "%s written to %s as comments, since what they are is not certain: complete them there\n", count(len(strangers), "address", "addresses"), path)
	default:
		fmt.Fprintf(v.out, "%s written to %s; look through it, then: controllerd site import %s\n", count(d.draft.Len(), "node", "nodes"), path, path)
	}
	if err == nil && d.undecided > 0 {
		fmt.Fprintf(v.out, "of %s only you know whether lights or shades hang off them: choose in the file, or scan with --relays lights or --relays shades\n",
			count(d.undecided, "device with relays", "devices with relays"))
	}
	return err
}

// hasGear reports whether gear behind a gateway was found.
func hasGear(found []api.Found, gateway string) bool {
	return slices.ContainsFunc(found, func(f api.Found) bool { return strings.HasPrefix(f.Address, gateway+"/") })
}

// What relays that lights or shades may hang off are drafted as; nothing if the
// installer did not say.
const (
	relaysLights = "lights"
	relaysShades = "shades"
)

// drafter enters what was found into a draft.
type drafter struct {
	bus       appliance.Bus
	relays    string
	taken     map[string]bool // names
	draft     sitefile.Draft
	undecided int // devices whose relays may be either
}

// enter enters one device: a node, or one for each of its outputs.
func (d *drafter) enter(f api.Found) {
	name := d.name(cmp.Or(printable(f.Label), d.bus.Name+" "+f.Address), f.Address)
	n := sitefile.DraftNode{
		Node: appliance.Node{Name: name, Address: f.Address, Profile: f.Kind, Options: f.Options, Groups: f.Groups},
		Said: remark(f), Usable: f.Kind != "" && !f.Gateway && appliance.Finding(f.Finding) == appliance.FoundDevice,
	}
	switch {
	case d.bus.Driver == "sdn":
		n.Shades = []sitefile.DraftShade{{Name: name, Output: 1}}
		d.draft.Add(n)
	case !n.Usable || f.Shades == 0 && f.Lights < 2:
		d.draft.Add(n)
	case f.Shades == 0 || d.relays == relaysLights:
		d.add(d.lights(n, f.Lights))
	case d.relays == relaysShades:
		d.add(d.shades(n, f.Shades))
	default:
		d.undecided++
		d.draft.AddChoice(fmt.Sprintf("%s: %s", f.Address, remark(f)),
			sitefile.Variant{Title: count(f.Lights, "light", "lights"), Nodes: d.lights(n, f.Lights)},
			sitefile.Variant{Title: count(f.Shades, "shade", "shades"), Nodes: d.shades(n, f.Shades)})
	}
}

func (d *drafter) add(nodes []sitefile.DraftNode) {
	for _, n := range nodes {
		d.draft.Add(n)
	}
}

// lights makes a node of each output of a device.
func (d *drafter) lights(device sitefile.DraftNode, outputs int) []sitefile.DraftNode {
	var nodes []sitefile.DraftNode
	for i := range outputs {
		n := device
		n.Node.Name = d.name(fmt.Sprintf("%s output %d", device.Node.Name, i+1), "")
		n.Node.Outputs = []int{i + 1}
		nodes = append(nodes, n)
	}
	return nodes
}

// shades makes a device one node that shades hang off.
func (d *drafter) shades(device sitefile.DraftNode, outputs int) []sitefile.DraftNode {
	for i := range outputs {
		name := d.name(fmt.Sprintf("%s shade %d", device.Node.Name, i+1), "")
		device.Shades = append(device.Shades, sitefile.DraftShade{Name: name, Output: i + 1})
	}
	return []sitefile.DraftNode{device}
}

// name is one that nobody has yet.
func (d *drafter) name(name, address string) string {
	if d.taken[name] && address != "" {
		name += " " + address
	}
	for base, i := name, 2; d.taken[name]; i++ {
		name = fmt.Sprintf("%s (%d)", base, i)
	}
	d.taken[name] = true
	return name
}

// remark is what is known of a device, for the installer who looks through the draft.
func remark(f api.Found) string {
	text := f.Detail
	if len(f.Others) > 0 {
		text += "; or " + strings.Join(f.Others, ", ") + ": look at the type plate"
	}
	if f.Trouble {
		text += "; put right first: " + f.Advice
	}
	return text
}

// printable is what of a device's label a name may hold.
func printable(label string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, label))
}
