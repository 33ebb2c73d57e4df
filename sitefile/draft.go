package sitefile

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/appliance"
)

// Draft is a site file with what somebody found on a bus, for an installer to look
// through, complete and import.
type Draft struct {
	Bus    appliance.Bus
	NewBus bool // the site does not have the bus yet: it gets no UUID

	nodes   []DraftNode
	choices []choice
}

// DraftNode is one device that was found, or one output of it.
type DraftNode struct {
	Node   appliance.Node // name, address, profile, outputs, groups, tag and options count
	Said   string         // what is known of it, as a comment
	Shades []DraftShade   // that hang off it
	// Usable says that the entry is complete. Others are written as comments.
	Usable bool
}

// DraftShade is a shade of a device.
type DraftShade struct {
	Name   string
	Output int
}

// Variant is one of several things that a device may be.
type Variant struct {
	Title string // "six lights"
	Nodes []DraftNode
}

// choice is a device of which only the installer knows what it is.
type choice struct {
	said     string
	variants []Variant
}

// Add appends a device. Names must differ.
func (d *Draft) Add(n DraftNode) { d.nodes = append(d.nodes, n) }

// AddChoice appends a device that is entered as nothing, with everything that it may
// be as comments.
func (d *Draft) AddChoice(said string, variants ...Variant) {
	d.choices = append(d.choices, choice{said, variants})
}

// Len counts the usable entries.
func (d *Draft) Len() int {
	n := 0
	for _, node := range d.nodes {
		if node.Usable {
			n++
		}
	}
	return n
}

const draftHead = `# What a scan found and the site does not have. Change names and profiles where they are
# wrong, then look with 'controllerd site import --preview FILE' and take it over without
# --preview. Nothing that the site has already is changed by it.
`

// Write writes the draft. What it writes [Parse] accepts.
func (d *Draft) Write(w io.Writer) error {
	b := d.Bus
	bus := fileBus{
		UUID: b.UUID.String(), Name: b.Name, Driver: b.Driver, Port: b.Port, Options: b.Options, Disabled: b.Disabled,
		Line: fileLine{BaudRate: b.Line.BaudRate, Parity: b.Line.Parity, DataBits: b.Line.DataBits, StopBits: b.Line.StopBits},
	}
	if d.NewBus {
		bus.UUID = ""
	}
	f := file{Buses: []fileBus{bus}}
	var said, left []string
	for _, n := range d.nodes {
		text := fmt.Sprintf("%s: %s", n.Node.Address, n.Said)
		if !n.Usable {
			left = append(left, text)
			continue
		}
		said = append(said, text)
		f.add(b.Name, n)
	}
	var doc yaml.Node
	if err := doc.Encode(f); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	for i, entry := range entries(&doc, "nodes") {
		entry.HeadComment = comment(said[i])
	}
	buf := bufio.NewWriter(w)
	buf.WriteString(draftHead)
	for _, text := range left {
		buf.WriteString("#\n" + comment("left out, write it yourself: "+text) + "\n")
	}
	for _, c := range d.choices {
		if err := c.write(buf, b.Name); err != nil {
			return fmt.Errorf("write the site file: %w", err)
		}
	}
	buf.WriteString("\n")
	enc := yaml.NewEncoder(buf)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	return nil
}

// add enters a device and its shades.
func (f *file) add(bus string, n DraftNode) {
	var groups []word
	for _, g := range n.Node.Groups {
		groups = append(groups, word(g))
	}
	f.Nodes = append(f.Nodes, fileNode{
		Name: n.Node.Name, Bus: bus, Address: word(n.Node.Address), Profile: n.Node.Profile,
		Outputs: n.Node.Outputs, Groups: groups, Tag: string(n.Node.Tag), Options: n.Node.Options,
	})
	for _, h := range n.Shades {
		f.Shades = append(f.Shades, fileShade{Name: h.Name, Node: reference{name: n.Node.Name}, Output: h.Output})
	}
}

// write writes everything that a device may be as comments.
func (c choice) write(buf *bufio.Writer, bus string) error {
	buf.WriteString("#\n" + comment("for you to decide: "+c.said) + "\n")
	for _, v := range c.variants {
		var f file
		for _, n := range v.Nodes {
			f.add(bus, n)
		}
		text, err := yaml.Marshal(f)
		if err != nil {
			return err
		}
		buf.WriteString(comment("as "+v.Title+":") + "\n")
		for line := range strings.Lines(string(text)) {
			buf.WriteString(comment("  "+strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	return nil
}

// comment makes a comment of one line, whatever a device wrote into its label.
func comment(text string) string {
	return "# " + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}

// entries of a list of the document.
func entries(doc *yaml.Node, key string) []*yaml.Node {
	for i := 0; i+1 < len(doc.Content); i += 2 {
		if doc.Content[i].Value == key {
			return doc.Content[i+1].Content
		}
	}
	return nil
}
