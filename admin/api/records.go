package api

import (
	"time"

	"svc.internal/controller/appliance"
)

// Value is something that was read, with its age and where it comes from.
type Value[T any] struct {
	Value  T         `json:"value"`
	At     time.Time `json:"at" doc:"When it was read."`
	Source string    `json:"source" enum:"restored,acknowledged,measured,estimated,sent" doc:"restored: known before the restart and not read since; acknowledged: asked for and acknowledged; measured: read from the device; estimated: modelled; sent: the hardware cannot confirm."`
}

// valueOf gives nil where nothing is known: an error never becomes a number.
func valueOf[T, U any](k appliance.Known[T], to func(T) U) *Value[U] {
	if !k.OK() {
		return nil
	}
	return &Value[U]{to(k.Value), stamp(k.At), k.Source.Word()}
}

// stamp cuts a time to what is worth sending.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func stampOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = stamp(t)
	return &t
}

// Colour in four components, 0 to 255 each.
type Colour struct {
	R uint8 `json:"r"`
	G uint8 `json:"g"`
	B uint8 `json:"b"`
	W uint8 `json:"w"`
}

func colourOf(c appliance.RGBW) Colour { return Colour(c) }

func intOf[T ~int](v T) int { return int(v) }

func sameOf[T any](v T) T { return v }

// Node is a light node or a peripheral, as configured and as it is now.
type Node struct {
	ID        appliance.ID   `json:"id"`
	UUID      string         `json:"uuid"`
	ETag      string         `json:"etag" doc:"For If-Match; changes with the configuration only."`
	Name      string         `json:"name"`
	Tag       string         `json:"tag" enum:"NODE,PERIPHERAL"`
	Bus       string         `json:"bus" doc:"Name of its bus; empty while it waits for binding."`
	Address   string         `json:"address" doc:"In the words of the bus's driver."`
	Profile   string         `json:"profile"`
	Outputs   []int          `json:"outputs,omitempty"`
	Clusters  []appliance.ID `json:"clusters"`
	Abilities []string       `json:"abilities"`
	Presence

	Groups  []string          `json:"groups,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Note    string            `json:"note,omitempty" doc:"What the next installer should know of the device."`

	Readings
	Channels []Channel `json:"channels"`
}

// Presence says whether a node or a shade can be reached.
type Presence struct {
	Online   bool       `json:"online"`
	LastSeen *time.Time `json:"lastSeen" doc:"null: never."`
	Fault    string     `json:"fault,omitempty" doc:"Why it is set aside."`
	Waits    bool       `json:"waits,omitempty" doc:"It waits for binding to a device."`
}

// Readings are what is known of a light; null is what is not.
type Readings struct {
	Level  *Value[int]     `json:"level" doc:"Percent; of a node the mean over its channels."`
	Kelvin *Value[int]     `json:"kelvin"`
	RGBW   *Value[Colour]  `json:"rgbw"`
	Power  *Value[float64] `json:"power" doc:"Watts; of a node the sum over its channels."`
}

// Channel is one output of a node.
type Channel struct {
	Channel      int      `json:"channel" doc:"From 1."`
	Abilities    []string `json:"abilities"`
	KelvinMin    int      `json:"kelvinMin,omitempty"`
	KelvinMax    int      `json:"kelvinMax,omitempty"`
	MinLevel     int      `json:"minLevel,omitempty" doc:"Lowest level above off."`
	Unverifiable bool     `json:"unverifiable,omitempty" doc:"The hardware can neither acknowledge nor be read."`
	Readings
}

func nodeOf(s *appliance.Snapshot, n *appliance.NodeState) Node {
	out := Node{
		ID: n.Node.ID, UUID: n.Node.UUID.String(), ETag: etagOf(n.Node), Groups: n.Node.Groups, Options: n.Node.Options, Note: n.Node.Note, Name: n.Node.Name, Tag: string(n.Tag),
		Bus: busName(s, n.Node.Bus), Address: n.Node.Address, Profile: n.Node.Profile, Outputs: n.Node.Outputs,
		Clusters: listOf(n.Clusters), Abilities: n.Abilities.Words(),
		Presence: Presence{n.Online, stampOf(n.LastSeen), n.Fault, n.Waits},
		Readings: readingsOf(n.Level, n.Kelvin, n.RGBW, n.Power),
		Channels: make([]Channel, len(n.Channels)),
	}
	for i, ch := range n.Channels {
		out.Channels[i] = Channel{
			Channel: i + 1, Abilities: ch.Abilities.Words(), KelvinMin: int(ch.KelvinMin), KelvinMax: int(ch.KelvinMax),
			MinLevel: int(ch.MinLevel), Unverifiable: ch.Unverifiable, Readings: readingsOf(ch.Level, ch.Kelvin, ch.RGBW, ch.Power),
		}
	}
	return out
}

func readingsOf(level appliance.Known[appliance.Level], kelvin appliance.Known[appliance.Kelvin], rgbw appliance.Known[appliance.RGBW], power appliance.Known[float64]) Readings {
	return Readings{valueOf(level, intOf), valueOf(kelvin, intOf), valueOf(rgbw, colourOf), valueOf(power, sameOf)}
}

func busName(s *appliance.Snapshot, id appliance.UUID) string {
	for _, b := range s.Buses {
		if b.Bus.UUID == id {
			return b.Bus.Name
		}
	}
	return ""
}

// listOf is a list that is [] in JSON when it is empty.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Shade is a motorised covering, as configured and as it is now.
type Shade struct {
	ID       appliance.ID   `json:"id"`
	UUID     string         `json:"uuid"`
	ETag     string         `json:"etag"`
	Name     string         `json:"name"`
	Node     appliance.ID   `json:"node" doc:"The node it hangs off; 0 while it waits for binding."`
	Bus      string         `json:"bus" doc:"Name of that node's bus."`
	Output   int            `json:"output"`
	Clusters []appliance.ID `json:"clusters"`
	Presence
	Position    *Value[int] `json:"position" doc:"Percent open: 100 is up, 0 is down."`
	Uncertainty int         `json:"uncertainty" doc:"Of an estimated position, in percent points."`
	Motion      string      `json:"motion" enum:"unknown,stopped,opening,closing,moving"`
	Measured    bool        `json:"measured" doc:"The motor tells its position itself."`
	TravelUp    float64     `json:"travelUp" doc:"Seconds from end to end; 0: not known."`
	TravelDown  float64     `json:"travelDown"`
	Inverted    bool        `json:"inverted" doc:"The motor runs the other way than its profile says."`
}

func shadeOf(s *appliance.Snapshot, sh *appliance.ShadeState) Shade {
	bus := ""
	if n := s.Node(sh.Shade.Node); n != nil {
		bus = busName(s, n.Node.Bus)
	}
	return Shade{
		ID: sh.Shade.ID, UUID: sh.Shade.UUID.String(), ETag: etagOf(sh.Shade), Name: sh.Shade.Name, Node: sh.Shade.Node, Bus: bus, Output: sh.Shade.Output,
		Clusters: listOf(sh.Clusters), Presence: Presence{sh.Online, stampOf(sh.LastSeen), sh.Fault, sh.Waits},
		Position: valueOf(sh.Position, intOf), Uncertainty: sh.Uncertainty, Motion: sh.Motion.String(),
		Measured: sh.Channel.PositionMeasured,
		TravelUp: sh.Shade.TravelUp.Seconds(), TravelDown: sh.Shade.TravelDown.Seconds(), Inverted: sh.Shade.Inverted,
	}
}

// Cluster is a named set of nodes and shades, with the means over its members.
type Cluster struct {
	ID        appliance.ID   `json:"id"`
	UUID      string         `json:"uuid"`
	ETag      string         `json:"etag"`
	Name      string         `json:"name"`
	CreatedBy string         `json:"createdBy"`
	CreatedOn *time.Time     `json:"createdOn"`
	Nodes     []appliance.ID `json:"nodes"`
	Shades    []appliance.ID `json:"shades"`
	Lights    int            `json:"lights" doc:"Light nodes among its members."`
	Online    int            `json:"online" doc:"Members that answer."`
	Level     *int           `json:"level" doc:"Mean over the members that answer and have a known one; null: there is none."`
	LevelMin  *int           `json:"levelMin" doc:"The lowest of them."`
	LevelMax  *int           `json:"levelMax" doc:"The highest of them."`
	Kelvin    *int           `json:"kelvin"`
	RGBW      *Colour        `json:"rgbw"`
	Position  *int           `json:"position"`
	PosMin    *int           `json:"positionMin"`
	PosMax    *int           `json:"positionMax"`
	Motion    string         `json:"motion" enum:"unknown,stopped,opening,closing,moving"`
	At        *time.Time     `json:"at" doc:"When the oldest of these values was read."`
}

func clusterOf(s *appliance.Snapshot, c *appliance.ClusterState) Cluster {
	out := Cluster{
		ID: c.Cluster.ID, UUID: c.Cluster.UUID.String(), ETag: etagOf(c.Cluster), Name: c.Cluster.Name,
		CreatedBy: c.Cluster.CreatedBy, CreatedOn: stampOf(c.Cluster.CreatedOn),
		Nodes: listOf(c.Cluster.Nodes), Shades: listOf(c.Cluster.Shades), Lights: c.Lights, Motion: c.Motion.String(),
	}
	var oldest time.Time
	saw := func(at time.Time) {
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	for _, id := range c.Cluster.Nodes {
		n := s.Node(id)
		if n == nil || !n.Online {
			continue
		}
		out.Online++
		if n.Level.OK() {
			spread(&out.LevelMin, &out.LevelMax, int(n.Level.Value))
			out.Level = new(int(c.Level))
			saw(n.Level.At)
		}
		if n.Kelvin.OK() {
			out.Kelvin = new(int(c.Kelvin))
			saw(n.Kelvin.At)
		}
		if n.RGBW.OK() {
			out.RGBW = new(colourOf(c.RGBW))
			saw(n.RGBW.At)
		}
	}
	for _, id := range c.Cluster.Shades {
		sh := s.Shade(id)
		if sh == nil || !sh.Online {
			continue
		}
		out.Online++
		if sh.Position.OK() {
			spread(&out.PosMin, &out.PosMax, int(sh.Position.Value))
			out.Position = new(int(c.Position))
			saw(sh.Position.At)
		}
	}
	out.At = stampOf(oldest)
	return out
}

// spread widens a range to hold v.
func spread(low, high **int, v int) {
	if *low == nil {
		*low, *high = new(v), new(v)
		return
	}
	**low, **high = min(**low, v), max(**high, v)
}
