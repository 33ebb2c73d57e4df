package sitefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/schema"
)

const small = `site: {name: Demo, freshness: {light: 3s}}
buses:
  - {name: ground, driver: modbus, port: /dev/ttyUSB0, line: {baudRate: 9600, parity: even}, options: {guard: 5ms, retries: 3, echo: true}}
nodes:
  - {id: 7, name: Lobby, bus: ground, address: 5, profile: dimmer, outputs: [2, 1], groups: [3, "A"], note: "Left of the lift\nFuse F12"}
  - {name: Relays, bus: ground, address: "6/1", profile: relay, tag: PERIPHERAL}
shades:
  - {name: South, node: Relays, output: 1, travelUp: 24.5s, travelDown: 22s, inverted: true}
clusters:
  - {name: All, nodes: [Relays, 7, "Lobby"], shades: [South]}
`

func TestParse(t *testing.T) {
	got, err := Parse("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	bus := appliance.UUID{15: 1}
	want := appliance.Site{
		Name:     "Demo",
		Settings: appliance.Settings{Freshness: appliance.Freshness{Light: 3 * time.Second}},
		Buses: []appliance.Bus{{UUID: bus, Name: "ground", Driver: "modbus", Port: "/dev/ttyUSB0",
			Line: appliance.LineSettings{BaudRate: 9600, Parity: "even"}, Options: map[string]string{"guard": "5ms", "retries": "3", "echo": "true"}}},
		Nodes: []appliance.Node{
			{ID: 7, Name: "Lobby", Bus: bus, Address: "5", Profile: "dimmer", Outputs: []int{2, 1}, Groups: []string{"3", "A"}, Note: "Left of the lift\nFuse F12"},
			{ID: -2, Name: "Relays", Bus: bus, Address: "6/1", Profile: "relay", Tag: appliance.TagPeripheral},
		},
		Shades: []appliance.Shade{{ID: -1, Name: "South", Node: -2, Output: 1, TravelUp: 24500 * time.Millisecond,
			TravelDown: 22 * time.Second, Inverted: true}},
		Clusters: []appliance.Cluster{{ID: -1, Name: "All", Nodes: []appliance.ID{-2, 7}, Shades: []appliance.ID{-1}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestProblemsNameLineAndKey(t *testing.T) {
	tests := map[string]struct{ old, new, want string }{
		"unknown key":             {"tag: PERIPHERAL", "tagg: PERIPHERAL", "small.yaml:6:65: nodes[1].tagg"},
		"unknown bus":             {"Relays, bus: ground", "Relays, bus: cellar", `small.yaml:6:25: nodes[1].bus: there is no bus called "cellar"`},
		"bad parity":              {"parity: even", "parity: evn", "small.yaml:3:87: buses[0].line.parity"},
		"time without unit":       {"travelUp: 24.5s", "travelUp: 24.5", "small.yaml:8:54: shades[0].travelUp"},
		"negative time":           {"travelUp: 24.5s", "travelUp: -1s", "small.yaml:8:54: shades[0].travelUp"},
		"output 0":                {"output: 1", "output: 0", "small.yaml:8:41: shades[0].output"},
		"unknown node by name":    {"node: Relays", "node: Relais", `small.yaml:8:25: shades[0].node: there is no node called "Relais"`},
		"unknown node by ID":      {"node: Relays", "node: 8", "small.yaml:8:25: shades[0].node: there is no node with the ID 8"},
		"unknown shade":           {"shades: [South]", "shades: [5001]", "clusters[0].shades[0]: there is no shade with the ID 5001"},
		"ID out of range":         {"id: 7", "id: 200000001", "small.yaml:5:10: nodes[0].id"},
		"ID 0":                    {"id: 7", "id: 0", "small.yaml:5:10: nodes[0].id"},
		"missing key":             {"name: Lobby, ", "", "nodes[0]"},
		"same name without IDs":   {"name: Relays", "name: Lobby", "nodes are called"},
		"odd number":              {"address: 5", "address: 0x5", "write 0x5 in quotes"},
		"placeholder UUID":        {"id: 7", "uuid: 00000000-0000-0000-0000-000000000001", "small.yaml:5:12: nodes[0].uuid"},
		"name turned round":       {"name: South", "name: \"a\\u202Eb\"", "shades[0].name: holds characters that turn"},
		"name with control":       {"name: South", `name: "a\tb"`, "shades[0].name: holds control characters"},
		"an option that is a map": {"guard: 5ms", "guard: {a: b}", "buses[0].options.guard"},
		"not YAML":                {"site: {", "site: {{", "small.yaml:"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(small, test.old, test.new, 1)
			if text == small {
				t.Fatal("the test changes nothing")
			}
			_, err := Parse("small.yaml", []byte(text))
			if problems := (schema.Problems)(nil); !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got\n%v\nwant schema.Problems with %q", err, test.want)
			}
		})
	}
}

// A building that was taken over has many nodes that wait for their bus and address.
func TestNodesThatWaitForBinding(t *testing.T) {
	site, err := Parse("taken over", []byte("nodes:\n  - {id: 7, name: Lamp}\n  - {id: 40, name: Other lamp}\n"))
	if err != nil || len(site.Nodes) != 2 {
		t.Errorf("%d nodes, %v", len(site.Nodes), err)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	text := strings.NewReplacer("Relays, bus: ground", "Relays, bus: cellar", "[Relays, 7, \"Lobby\"]", "[8, Nobody]").Replace(small)
	_, err := Parse("small.yaml", []byte(text))
	problems := (schema.Problems)(nil)
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Fatalf("got\n%v\nwant 3 problems", err)
	}
	if !slices.IsSortedFunc(problems, func(a, b schema.Problem) int { return a.Line - b.Line }) {
		t.Errorf("problems are not in the order of lines:\n%v", err)
	}
}

// TestTimeWithoutUnitHidesNothing: whoever forgets the unit of a time is told what else
// is wrong all the same.
func TestTimeWithoutUnitHidesNothing(t *testing.T) {
	for _, time := range []string{"5", "soon", "-1s", "{up: 5s}", "[5s]", "null"} {
		text := strings.NewReplacer("travelUp: 24.5s", "travelUp: "+time, "Relays, bus: ground", "Relays, bus: cellar").Replace(small)
		_, err := Parse("small.yaml", []byte(text))
		problems := (schema.Problems)(nil)
		if !errors.As(err, &problems) || len(problems) != 2 || problems[0].Key != "nodes[1].bus" || problems[1].Key != "shades[0].travelUp" {
			t.Errorf("travelUp: %s: got\n%v\nwant the bus that is not there and the time", time, err)
		}
	}
}

func TestDoubles(t *testing.T) {
	text := `buses:
  - {name: a, driver: modbus, port: x}
  - {name: a, driver: modbus, port: y}
nodes:
  - {id: 1, name: A, bus: a, address: 1, profile: p, outputs: [1, 2]}
  - {id: 1, name: B, bus: a, address: 1, profile: p, outputs: [2]}
  - {id: 3, name: C, bus: a, address: 1, profile: q, outputs: [2]}
  - {id: 4, name: D, bus: a, address: 2, profile: q}
  - {id: 5, name: E, bus: a, address: "2", profile: q}
shades:
  - {name: S, node: 3, output: 1}
  - {name: T, node: C, output: 1}
`
	_, err := Parse("x.yaml", []byte(text))
	problems := (schema.Problems)(nil)
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var keys []string
	for _, p := range problems {
		keys = append(keys, p.Key)
	}
	want := []string{"buses[1].name", "nodes[1].id", "nodes[1].outputs", "nodes[4].address", "shades[1].output"}
	if !slices.Equal(keys, want) {
		t.Errorf("problems at %v, want at %v\n%v", keys, want, err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("# comment\n"), schema.MaxSize/10+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("reading too large a file: %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading no file: %v", err)
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var v map[string]any
	if err := json.Unmarshal(Schema(), &v); err != nil || v["title"] != "Site file" {
		t.Errorf("schema %v: %v", v["title"], err)
	}
}

// TestExampleOfTheManual reads every complete example of docs/site-file.md.
func TestExampleOfTheManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/site-file.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the manual has no example")
	}
	for i, block := range blocks {
		example, _, _ := strings.Cut(block, "```")
		site, err := Parse(fmt.Sprintf("example %d", i+1), []byte(example))
		if err != nil {
			t.Errorf("%v", err)
		}
		if i == 0 && (len(site.Buses) < 3 || len(site.Nodes) < 3 || len(site.Shades) < 1 || len(site.Clusters) < 1) {
			t.Errorf("the first example shows too little: %+v", site)
		}
	}
}

func roundTrip(t testing.TB, site appliance.Site) appliance.Site {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, site); err != nil {
		t.Fatal(err)
	}
	got, err := Parse("export.yaml", out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var again bytes.Buffer
	if err := Write(&again, got); err != nil {
		t.Fatal(err)
	}
	if out.String() != again.String() {
		t.Errorf("second export differs\n%s\n%s", out.String(), again.String())
	}
	return got
}

func TestExportRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		site := randomSite(rand.New(rand.NewPCG(seed, 1)))
		if got := roundTrip(t, site); !reflect.DeepEqual(got, site) {
			t.Fatalf("seed %d\ngot  %+v\nwant %+v", seed, got, site)
		}
	}
}

// oddTexts are what YAML likes to take for something else.
var oddTexts = []string{"5", "05", "0x1F", "1_000", "1e3", "true", "no", "null", "~", "-", "- a", "a: b", "#x", "'", `"`, "*a", "&a",
	"!t", "2024-01-01", "1:30", "Küche 東", "{}", "[1]", "a\u2028b", "%x", "@", "`", "|", "<<", "=", ".inf", "0o7", "+5", "3.0", "00", "2147483648"}

func randomSite(r *rand.Rand) appliance.Site {
	uuid := func() (u appliance.UUID) {
		for i := range u {
			u[i] = byte(r.UintN(256))
		}
		return u
	}
	text := func() string {
		if r.IntN(3) == 0 {
			return oddTexts[r.IntN(len(oddTexts))]
		}
		return fmt.Sprint("Room ", r.IntN(1000))
	}
	options := func() map[string]string {
		if r.IntN(2) == 0 {
			return nil
		}
		return map[string]string{text(): text(), "b": ""}
	}
	span := func() time.Duration { return time.Duration(r.Int64N(3)) * time.Duration(r.Int64N(1e12)) }
	var site appliance.Site
	if r.IntN(4) > 0 {
		site.Name = text()
		site.Settings = appliance.Settings{InvertShades: r.IntN(2) == 0,
			Freshness: appliance.Freshness{Light: span(), MovingShade: span(), IdleShade: span(), Power: span()}}
	}
	for i := range r.IntN(4) {
		site.Buses = append(site.Buses, appliance.Bus{UUID: uuid(), Name: fmt.Sprint(text(), i), Driver: "modbus", Port: fmt.Sprint(text(), i),
			Line:    appliance.LineSettings{BaudRate: 50 * r.IntN(3), Parity: []string{"", "none", "even"}[r.IntN(3)], DataBits: []int{0, 7, 8}[r.IntN(3)], StopBits: r.IntN(3)},
			Options: options(), Disabled: r.IntN(4) == 0})
	}
	id := appliance.ID(0)
	if len(site.Buses) > 0 {
		for range r.IntN(6) {
			id += 1 + appliance.ID(r.IntN(1000))
			n := appliance.Node{ID: id, UUID: uuid(), Name: text(), Bus: site.Buses[r.IntN(len(site.Buses))].UUID, Address: fmt.Sprint(text(), id),
				Profile: text(), Tag: []appliance.Tag{"", appliance.TagNode, appliance.TagPeripheral}[r.IntN(3)], Options: options()}
			if r.IntN(2) == 0 {
				n.Outputs, n.Groups = []int{3, 1}, []string{text() + "x", "7"}
			}
			site.Nodes = append(site.Nodes, n)
		}
	}
	var nodes, shades []appliance.ID
	for i, n := range site.Nodes {
		nodes = append(nodes, n.ID)
		h := appliance.Shade{ID: 5001 + appliance.ID(i), UUID: uuid(), Name: text(), Node: n.ID, Output: 1 + r.IntN(3),
			TravelUp: span(), TravelDown: span(), Inverted: r.IntN(2) == 0}
		site.Shades, shades = append(site.Shades, h), append(shades, h.ID)
	}
	for i := range r.IntN(3) {
		site.Clusters = append(site.Clusters, appliance.Cluster{ID: appliance.ID(i + 1), UUID: uuid(), Name: text(), Nodes: nodes, Shades: shades,
			CreatedBy: text(), CreatedOn: time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()})
	}
	return site
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("{}"))
	f.Add([]byte("buses: [&a {name: x, driver: y, port: z}, *a]"))
	f.Add([]byte("clusters: [{name: a, id: 1.0, createdOn: 2024-01-01T00:00:00Z}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		site, err := Parse("fuzz.yaml", data)
		if problems := (schema.Problems)(nil); err != nil && !errors.As(err, &problems) {
			t.Fatalf("%T: %v", err, err)
		}
		if err != nil {
			return
		}
		number(&site)
		if got := roundTrip(t, site); !reflect.DeepEqual(got, site) {
			t.Fatalf("got  %+v\nwant %+v", got, site)
		}
	})
}

// number gives every entry an ID and a UUID, as taking the site over would.
func number(site *appliance.Site) {
	next := appliance.MaxID
	real := map[appliance.ID]appliance.ID{}
	renumber := func(id *appliance.ID, uuid *appliance.UUID) {
		if *id < 0 {
			real[*id] = next
			*id = next
			next--
		}
		if uuid.IsZero() {
			*uuid = appliance.NewUUID()
		}
	}
	refer := func(ids []appliance.ID) {
		for i, id := range ids {
			if id < 0 {
				ids[i] = real[id]
			}
		}
		slices.Sort(ids)
	}
	buses := map[appliance.UUID]appliance.UUID{}
	for i := range site.Buses {
		u := appliance.NewUUID()
		buses[site.Buses[i].UUID], site.Buses[i].UUID = u, u
	}
	for i := range site.Nodes {
		renumber(&site.Nodes[i].ID, &site.Nodes[i].UUID)
		site.Nodes[i].Bus = buses[site.Nodes[i].Bus]
	}
	for i := range site.Shades {
		one := []appliance.ID{site.Shades[i].Node}
		refer(one)
		site.Shades[i].Node = one[0]
	}
	for i := range site.Clusters {
		refer(site.Clusters[i].Nodes)
	}
	clear(real)
	for i := range site.Shades {
		renumber(&site.Shades[i].ID, &site.Shades[i].UUID)
	}
	for i := range site.Clusters {
		refer(site.Clusters[i].Shades)
	}
	clear(real)
	for i := range site.Clusters {
		renumber(&site.Clusters[i].ID, &site.Clusters[i].UUID)
	}
}
