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

	nodes []DraftNode
}

// DraftNode is one device that was found.
type DraftNode struct {
	Node  appliance.Node // name, address, profile, groups and options count
	Said  string         // what is known of it, as a comment
	Shade bool           // a shade hangs off it
	// Usable says that the entry is complete. Others are written as comments.
	Usable bool
}

// Add appends a device. Names must differ.
func (d *Draft) Add(n DraftNode) { d.nodes = append(d.nodes, n) }

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
		var groups []word
		for _, g := range n.Node.Groups {
			groups = append(groups, word(g))
		}
		f.Nodes = append(f.Nodes, fileNode{
			Name: n.Node.Name, Bus: b.Name, Address: word(n.Node.Address), Profile: n.Node.Profile, Groups: groups, Options: n.Node.Options,
		})
		if n.Shade {
			f.Shades = append(f.Shades, fileShade{Name: n.Node.Name, Node: reference{name: n.Node.Name}, Output: 1})
		}
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
