package sitefile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The file as it stands. Fields that a reader may leave out are left out by
// [Write] when they say nothing.

type file struct {
	Site     *fileSite     `yaml:"site,omitempty"`
	Buses    []fileBus     `yaml:"buses,omitempty"`
	Nodes    []fileNode    `yaml:"nodes,omitempty"`
	Shades   []fileShade   `yaml:"shades,omitempty"`
	Clusters []fileCluster `yaml:"clusters,omitempty"`
	Scenes   []fileScene   `yaml:"scenes,omitempty"`
	Rules    []fileRule    `yaml:"rules,omitempty"`
	Retired  *fileRetired  `yaml:"retired,omitempty"`
}

// fileRetired are IDs that are never to be used again.
type fileRetired struct {
	Highest  fileHighest `yaml:"highest,omitempty"`
	Nodes    []fileGrave `yaml:"nodes,omitempty"`
	Shades   []fileGrave `yaml:"shades,omitempty"`
	Clusters []fileGrave `yaml:"clusters,omitempty"`
	Scenes   []fileGrave `yaml:"scenes,omitempty"`
	Rules    []fileGrave `yaml:"rules,omitempty"`
}

type fileHighest struct {
	Node    int32 `yaml:"node,omitempty"`
	Shade   int32 `yaml:"shade,omitempty"`
	Cluster int32 `yaml:"cluster,omitempty"`
	Scene   int32 `yaml:"scene,omitempty"`
	Rule    int32 `yaml:"rule,omitempty"`
}

type fileGrave struct {
	ID   int32  `yaml:"id"`
	UUID string `yaml:"uuid"`
	Name string `yaml:"name,omitempty"`
}

type fileSite struct {
	Name         string        `yaml:"name"`
	InvertShades bool          `yaml:"invertShades,omitempty"`
	Freshness    fileFreshness `yaml:"freshness,omitempty"`
	Building     string        `yaml:"building,omitempty"`
	TimeZone     string        `yaml:"timeZone,omitempty"`
	Latitude     *float64      `yaml:"latitude,omitempty"`
	Longitude    *float64      `yaml:"longitude,omitempty"`
	Floors       []fileFloor   `yaml:"floors,omitempty"`
	Meters       []fileMeter   `yaml:"meters,omitempty"`
	Holidays     []fileHoliday `yaml:"holidays,omitempty"`
}

// fileHoliday is written on one line.
type fileHoliday struct {
	Name  string `yaml:"name,omitempty"`
	Dates string `yaml:"dates"`
}

type fileFloor struct {
	Name     string      `yaml:"name"`
	AreaM2   float64     `yaml:"areaM2,omitempty"`
	Clusters []reference `yaml:"clusters,omitempty"`
	Plan     *filePlan   `yaml:"plan,omitempty"`
}

type filePlan struct {
	Picture string     `yaml:"picture"`
	Spots   []fileSpot `yaml:"spots,omitempty"`
}

type fileSpot struct {
	Node    reference `yaml:"node,omitempty"`
	Shade   reference `yaml:"shade,omitempty"`
	Cluster reference `yaml:"cluster,omitempty"`
	X       float64   `yaml:"x"`
	Y       float64   `yaml:"y"`
}

type fileMeter struct {
	Node     reference   `yaml:"node"`
	Covers   string      `yaml:"covers"`
	Clusters []reference `yaml:"clusters,omitempty"`
}

type fileFreshness struct {
	Light       timespan `yaml:"light,omitempty"`
	MovingShade timespan `yaml:"movingShade,omitempty"`
	IdleShade   timespan `yaml:"idleShade,omitempty"`
	Power       timespan `yaml:"power,omitempty"`
}

type fileBus struct {
	UUID     string   `yaml:"uuid,omitempty"`
	Name     string   `yaml:"name"`
	Driver   string   `yaml:"driver"`
	Port     string   `yaml:"port"`
	Line     fileLine `yaml:"line,omitempty"`
	Options  options  `yaml:"options,omitempty"`
	Disabled bool     `yaml:"disabled,omitempty"`
}

type fileLine struct {
	BaudRate int    `yaml:"baudRate,omitempty"`
	Parity   string `yaml:"parity,omitempty"`
	DataBits int    `yaml:"dataBits,omitempty"`
	StopBits int    `yaml:"stopBits,omitempty"`
}

type fileNode struct {
	ID      int32   `yaml:"id,omitempty"`
	UUID    string  `yaml:"uuid,omitempty"`
	Name    string  `yaml:"name"`
	Bus     string  `yaml:"bus,omitempty"`
	Address word    `yaml:"address,omitempty"`
	Profile string  `yaml:"profile,omitempty"`
	Outputs []int   `yaml:"outputs,omitempty,flow"`
	Groups  []word  `yaml:"groups,omitempty,flow"`
	Tag     string  `yaml:"tag,omitempty"`
	Options options `yaml:"options,omitempty"`
	Note    string  `yaml:"note,omitempty"`
}

type fileShade struct {
	ID         int32     `yaml:"id,omitempty"`
	UUID       string    `yaml:"uuid,omitempty"`
	Name       string    `yaml:"name"`
	Node       reference `yaml:"node,omitempty"`
	Output     int       `yaml:"output"`
	TravelUp   timespan  `yaml:"travelUp,omitempty"`
	TravelDown timespan  `yaml:"travelDown,omitempty"`
	Inverted   bool      `yaml:"inverted,omitempty"`
}

type fileCluster struct {
	ID        int32       `yaml:"id,omitempty"`
	UUID      string      `yaml:"uuid,omitempty"`
	Name      string      `yaml:"name"`
	Nodes     []reference `yaml:"nodes,omitempty"`
	Shades    []reference `yaml:"shades,omitempty"`
	CreatedBy string      `yaml:"createdBy,omitempty"`
	CreatedOn string      `yaml:"createdOn,omitempty"`
}

// word is text that may be written as a number: 5 and "5" are the same address.
type word string

func (w *word) UnmarshalYAML(n *yaml.Node) error {
	text, err := scalarText(n)
	*w = word(text)
	return err
}

// MarshalYAML writes numbers as numbers where nothing is lost by it.
func (w word) MarshalYAML() (any, error) {
	if n, err := strconv.ParseUint(string(w), 10, 31); err == nil && strconv.FormatUint(n, 10) == string(w) {
		return n, nil
	}
	return string(w), nil
}

// options are settings in the words of a driver.
type options map[string]string

func (o *options) UnmarshalYAML(n *yaml.Node) error {
	var m map[string]word
	if err := n.Decode(&m); err != nil {
		return err
	}
	*o = make(options, len(m))
	for k, v := range m {
		(*o)[k] = string(v)
	}
	return nil
}

// timespan is a time with its unit; 0 is left out.
type timespan time.Duration

// UnmarshalYAML takes what is no time for 0: the schema says what is wrong with it, and
// the rest of the file is looked at all the same.
func (d *timespan) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		v = 0
	}
	*d = timespan(v)
	return nil
}

func (d timespan) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// reference names a thing by its ID or by its name.
type reference struct {
	id   int32
	name string // empty: by ID
	// called is the name of what the ID means, for whoever reads an export.
	called string
}

func (r *reference) UnmarshalYAML(n *yaml.Node) error {
	if n.ShortTag() != "!!int" {
		r.name = n.Value
		return nil
	}
	return n.Decode(&r.id)
}

// IsZero reports whether nothing is named.
func (r reference) IsZero() bool { return r.id == 0 && r.name == "" }

func (r reference) MarshalYAML() (any, error) {
	if r.name != "" {
		return r.name, nil
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(int(r.id))}
	if r.called != "" {
		n.LineComment = "# " + r.called
	}
	return n, nil
}

// scalarText is the text of a scalar. Numbers are taken in the one form that
// everybody means: 5, not 5.0, 0x5 or 5_0.
func scalarText(n *yaml.Node) (string, error) {
	switch n.ShortTag() {
	case "!!int":
		if _, err := strconv.ParseInt(n.Value, 10, 64); err != nil || strings.HasPrefix(n.Value, "+") || len(n.Value) > 1 && n.Value[0] == '0' {
			return "", fmt.Errorf("line %d: write %s in quotes, or as a plain decimal number", n.Line, n.Value)
		}
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return "", err
		}
		return strconv.FormatBool(b), nil
	}
	return n.Value, nil
}
