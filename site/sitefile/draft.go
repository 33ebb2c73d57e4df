package sitefile

import (
	"bufio"
	"bytes"
	"errors"
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

const choiceHead = `#
# Of some devices only you know whether lights or shades hang off their relays. They stand
# below as comments: what follows "##" says which lines are which. Take "# " away from the
# beginning of those of one of the two and leave all lines where they are; those of shades
# are in two places, under nodes and under shades.
`

// Write writes the draft. What it writes [Parse] accepts, and also if the lines of one
// variant of a choice are comments no more.
func (d *Draft) Write(w io.Writer) error {
	b := d.Bus
	bus := fileBus{
		UUID: b.UUID.String(), Name: b.Name, Driver: b.Driver, Port: b.Port, Options: b.Options, Disabled: b.Disabled,
		Line: fileLine{BaudRate: b.Line.BaudRate, Parity: b.Line.Parity, DataBits: b.Line.DataBits, StopBits: b.Line.StopBits},
	}
	if d.NewBus {
		bus.UUID = ""
	}
	var f file
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
	buf := bufio.NewWriter(w)
	buf.WriteString(draftHead)
	if len(d.choices) > 0 {
		buf.WriteString(choiceHead)
	}
	for _, text := range left {
		buf.WriteString("#\n" + comment("left out, write it yourself: "+text) + "\n")
	}
	buf.WriteString("\n")
	err := errors.Join(
		writeList(buf, "buses", file{Buses: []fileBus{bus}}, nil),
		d.writeList(buf, "nodes", file{Nodes: f.Nodes}, said),
		d.writeList(buf, "shades", file{Shades: f.Shades}, nil),
		buf.Flush(),
	)
	if err != nil {
		return fmt.Errorf("write the site file: %w", err)
	}
	return nil
}

// writeList writes one list of a file, what is said of each entry as a comment; nothing
// if it is empty.
func writeList(buf *bufio.Writer, key string, f file, said []string) error {
	var doc yaml.Node
	if err := doc.Encode(f); err != nil {
		return err
	}
	list := entries(&doc, key)
	if len(list) == 0 {
		return nil
	}
	for i, text := range said {
		list[i].HeadComment = comment(text)
	}
	enc := yaml.NewEncoder(buf)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(&doc), enc.Close())
}

// writeList writes a list, and behind it as comments what all choices may add to it. Its
// key is there even if it has no other entries.
func (d *Draft) writeList(buf *bufio.Writer, key string, f file, said []string) error {
	var maybe strings.Builder
	for _, c := range d.choices {
		if err := c.write(&maybe, key, d.Bus.Name); err != nil {
			return err
		}
	}
	if maybe.Len() > 0 && len(f.Nodes)+len(f.Shades) == 0 {
		buf.WriteString(key + ":\n")
	}
	err := writeList(buf, key, f, said)
	buf.WriteString(maybe.String())
	return err
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

// write writes what a device may add to one list as comments, indented like its entries.
func (c choice) write(out *strings.Builder, key, bus string) error {
	if key == "nodes" {
		out.WriteString("#" + comment(c.said) + "\n")
	}
	for _, v := range c.variants {
		var f file
		for _, n := range v.Nodes {
			f.add(bus, n)
		}
		if key == "nodes" {
			f.Shades = nil
		} else {
			f.Nodes = nil
		}
		var text bytes.Buffer
		buf := bufio.NewWriter(&text)
		if err := errors.Join(writeList(buf, key, f, nil), buf.Flush()); err != nil {
			return err
		}
		first := true
		for line := range strings.Lines(text.String()) {
			if first { // the key
				out.WriteString("#" + comment(fmt.Sprintf("%s as %s:", v.Nodes[0].Node.Address, v.Title)) + "\n")
				first = false
				continue
			}
			out.WriteString(comment(strings.TrimSuffix(line, "\n")) + "\n")
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
