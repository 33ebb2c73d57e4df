package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.internal/controller/platform"
)

// typed is a small tool for models: arguments are strict, and the answer has a schema. Only the Model Context Protocol has them;
// the plain form has the four tools of its contract.
type typed struct {
	name, title, description string
	input                    json.RawMessage
	output                   *jsonschema.Schema
	writes                   bool
	run                      func(ctx context.Context, from Assistant, who platform.Identity, a typedArguments) (platform.Found, error)
}

// typedArguments are those of all typed tools; each takes those of its schema.
type typedArguments struct {
	Site    string   `json:"site"`
	Place   string   `json:"place"`
	State   string   `json:"state"`
	Kind    string   `json:"kind"`
	Sort    string   `json:"sort"`
	By      string   `json:"by"`
	From    *string  `json:"from"`
	To      *string  `json:"to"`
	Limit   *int     `json:"limit"`
	Cursor  string   `json:"cursor"`
	Things  string   `json:"things"`
	Do      string   `json:"do"`
	Percent *int     `json:"percent"`
	Places  []string `json:"places"`
	Except  []string `json:"except"`
	Order   string   `json:"order"`
	Confirm *bool    `json:"confirm"`
}

// Parts of schemas that several typed tools share.
const (
	siteSchema   = `"site":{"type":"string","description":"ID or name of the site; needed only where several report"}`
	placeSchema  = siteSchema + `,"place":{"type":"string","description":"Name of a zone, floor or device, as the tool places tells it; without it the whole building"}`
	pageSchema   = `"limit":{"type":"integer","minimum":1,"maximum":200,"description":"Rows of a page; 50 without it"},"cursor":{"type":"string","description":"The member next of the page before"}`
	periodSchema = `"from":{"type":"string","format":"date-time","description":"Beginning, ISO 8601"},"to":{"type":"string","format":"date-time","description":"End, ISO 8601"}`
)

func input(members, required string) json.RawMessage {
	return compact(`{"type":"object","additionalProperties":false,"properties":{` + members + `},"required":[` + required + `]}`)
}

// schemaOf is the schema of an answer. Objects that the program fills have no other members.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a type above has no schema
	}
	return s
}

// lookUp is a tool that reads.
func lookUp(what platform.What) func(context.Context, Assistant, platform.Identity, typedArguments) (platform.Found, error) {
	return func(ctx context.Context, from Assistant, who platform.Identity, a typedArguments) (platform.Found, error) {
		in := platform.Lookup{What: what, Site: a.Site, Place: a.Place, State: a.State + a.Kind, Sort: a.Sort, By: a.By, Cursor: a.Cursor, Control: who.Permissions.Control}
		var err error
		if in.Period, err = period(a.From, a.To, "from", "to"); err != nil {
			return platform.Found{}, err
		}
		if a.Limit != nil {
			if in.Limit = *a.Limit; in.Limit < 1 {
				return platform.Found{}, platform.Invalid("limit is from 1 to %d", platform.PageMost)
			}
		}
		return from.Look(ctx, in)
	}
}

func order(ctx context.Context, from Assistant, who platform.Identity, a typedArguments) (platform.Found, error) {
	in := platform.OrderWish{Owner: who.User.ID, Control: who.Permissions.Control, ID: a.Order, Confirm: a.Confirm,
		Site: a.Site, Places: a.Places, Except: a.Except, Things: a.Things, Do: a.Do, Percent: a.Percent}
	switch named := a.Site != "" || a.Things != "" || a.Do != "" || a.Percent != nil || len(a.Places)+len(a.Except) > 0; {
	case a.Order != "" && named:
		return platform.Found{}, platform.Invalid("an order that was previewed is confirmed as it was: send order and confirm alone")
	case a.Order == "" && a.Confirm != nil:
		return platform.Found{}, platform.Invalid("confirm needs the order of a preview: send things, do and places first, without confirm")
	case a.Order == "" && (a.Things == "" || a.Do == ""):
		return platform.Found{}, platform.Invalid("things and do are missing, or order, which a preview answers with")
	case len(a.Places)+len(a.Except) > 50:
		return platform.Found{}, platform.Invalid("at most 50 places can be named")
	}
	return from.Order(ctx, in)
}

// reads is the table of the typed tools.
var reads = []typed{
	{name: "places", title: "Zones and floors", description: "Zones and floors with how many lights and shades they have, how bright they are on average and what they draw. Begin here: it gives the names that other tools take as place. Sorted by brightness it finds the brightest or dimmest room in one call. Whether somebody is in a room is not measured.",
		input:  input(placeSchema+`,"kind":{"type":"string","enum":["zone","floor"],"description":"Only those"},"sort":{"type":"string","enum":["brightest","dimmest"],"description":"By mean level; without it by ID"},`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.PlaceRow]](), run: lookUp(platform.LookPlaces)},
	{name: "lights", title: "Lights", description: "Lights with their present level, when and how it was read, what they can and what is wrong with them. Use places for means of rooms.",
		input:  input(placeSchema+`,"state":{"type":"string","enum":["on","off","unknown"],"description":"Only those; unknown: not read lately"},`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.LightRow]](), run: lookUp(platform.LookLights)},
	{name: "shades", title: "Shades", description: "Shades with their position in percent open, whether they move, and what is wrong with them.",
		input:  input(placeSchema+`,"state":{"type":"string","enum":["open","closed","moving","unknown"],"description":"Only those; open is wholly or partly"},`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.ShadeRow]](), run: lookUp(platform.LookShades)},
	{name: "meters", title: "Meters", description: "Meters that answer for a place together, with what each covers and the power that it measures now. Use energy for a time.",
		input: input(placeSchema+`,`+pageSchema, ""), output: schemaOf[platform.Page[platform.MeterRow]](), run: lookUp(platform.LookMeters)},
	{name: "energy", title: "Energy", description: "Energy in kWh that was measured for a place from one time to another, today without them: one figure, or rows by meter, hour or day. What was not measured is told and is in no figure.",
		input:  input(placeSchema+`,`+periodSchema+`,"by":{"type":"string","enum":["meter","hour","day"],"description":"A row for each"},`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.EnergyRow]](), run: lookUp(platform.LookEnergy)},
	{name: "faults", title: "Faults", description: "What is wrong now, devices that do not answer among it; with from and to also what was wrong and is over.",
		input:  input(placeSchema+`,"state":{"type":"string","enum":["present","past"],"description":"Only those"},`+periodSchema+`,`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.FaultRow]](), run: lookUp(platform.LookFaults)},
	{name: "ledger", title: "Ledger", description: "Who switched, set or moved what, when and through what, as the controller's ledger tells it, newest first; the last seven days without from and to. Use it for who and why.",
		input:  input(placeSchema+`,`+periodSchema+`,`+pageSchema, ""),
		output: schemaOf[platform.Page[platform.LedgerRow]](), run: lookUp(platform.LookLedger)},
	{name: "capabilities", title: "What can be known and done", description: "What lights and shades of a site can do, what is not measured or not kept, and whether this key may order. Ask it before you promise anything.",
		input: input(siteSchema, ""), output: schemaOf[platform.Abilities](), run: lookUp(platform.LookAbilities)},
	{name: "order", title: "Set lights and shades", description: "Sets lights or moves shades of whole zones, in two calls. The first, with things, do and places, does nothing: it answers with a preview and its order. Show the person the preview. The second, with that order and confirm true, does it and tells of each zone whether it is done, on its way or not done; confirm false drops it. With order alone it tells how it stands. A preview waits two minutes. Only for keys that may control.",
		input: input(siteSchema+`,"things":{"type":"string","enum":["lights","shades"],"description":"What is set"},"do":{"type":"string","enum":["on","off","set","brighten","dim","toggle","open","close","stop"],"description":"on, off, brighten, dim and toggle are for lights; open, close and stop for shades; set for both"},`+
			`"percent":{"type":"integer","minimum":0,"maximum":100,"description":"Of set: the level, or how far open; of brighten and dim: points, 20 without it"},"places":{"type":"array","items":{"type":"string"},"description":"Names of zones or floors; needed, unless stop is for all"},`+
			`"except":{"type":"array","items":{"type":"string"},"description":"Names of zones that are left as they are"},"order":{"type":"string","description":"Of a preview"},"confirm":{"type":"boolean","description":"true does it, false drops it"}`, ""),
		output: schemaOf[platform.OrderFound](), run: order, writes: true},
}

// takes are the arguments of each typed tool by name, with the values of those that have a few: as its schema says.
var takes = func() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, t := range reads {
		var schema struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(t.input, &schema); err != nil {
			panic(err) // a schema above is not JSON
		}
		all[t.name] = map[string][]string{}
		for name, p := range schema.Properties {
			all[t.name][name] = p.Enum
		}
	}
	return all
}()

// readTyped reads the arguments of a typed tool: one that it does not have is an error that tells those it has.
func (t typed) readTyped(raw json.RawMessage) (typedArguments, error) {
	var a typedArguments
	if len(raw) == 0 || string(raw) == "null" {
		return a, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return a, platform.Invalid("arguments is not an object")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		values, known := takes[t.name][name]
		if !known {
			return a, platform.Invalid("%s has no argument %.50q; it takes %s", t.name, name, strings.Join(slices.Sorted(maps.Keys(takes[t.name])), ", "))
		}
		var one string
		if len(values) > 0 && json.Unmarshal(given[name], &one) == nil && !slices.Contains(values, one) {
			return a, platform.Invalid("%s %.50q is not one of %s", name, one, strings.Join(values, ", "))
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, typeError(err)
	}
	return a, nil
}

// tool is the tool as the SDK announces it.
func (t typed) tool() *mcp.Tool {
	hints := &mcp.ToolAnnotations{ReadOnlyHint: !t.writes, OpenWorldHint: new(false)}
	if t.writes {
		hints.DestructiveHint = new(true)
	}
	output, err := json.Marshal(t.output) // once: it is written into every list
	if err != nil {
		panic(err) // a type above has no schema
	}
	return &mcp.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: t.input, OutputSchema: json.RawMessage(output), Annotations: hints}
}
