package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"svc.internal/controller/platform"
)

// tool of the catalogue.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`

	run func(ctx context.Context, asker platform.Asker, who platform.Identity, a arguments, tell func(platform.Progress)) (platform.Reply, error)
}

// Parts of schemas that several tools share.
const (
	contextSchema = `"context":{"type":"object","description":"Who asks, and about which site. It grants no rights.","properties":{` +
		`"userId":{"type":"string","description":"ID of the user on whose behalf is asked"},` +
		`"userRole":{"type":"string","description":"Role of that user"},` +
		`"siteId":{"type":"string","description":"ID or name of the site; without it all sites are meant"}}}`
	rangeSchema = `"timeRange":{"type":"object","description":"Time that is asked about; it wins over times in the words","properties":{` +
		`"start":{"type":"string","format":"date-time","description":"Beginning, ISO 8601"},` +
		`"end":{"type":"string","format":"date-time","description":"End, ISO 8601, after the beginning"}},"required":["start","end"]}`
)

// catalogue is the table of the contract's tools, for both forms.
var catalogue = []tool{
	{"chat", "Talk with the building assistant about energy, comfort, maintenance and site assets. Answers name source and age of every reading.",
		compact(`{"type":"object","properties":{
			"message":{"type":"string","description":"What to ask, 1 to 4000 characters"},
			"sessionId":{"type":"string","description":"Conversation to go on with; the same value keeps context"},
			` + contextSchema + `,
			"useSSE":{"type":"boolean","description":"Answer as a stream of events; plain form only"}},
			"required":["message"]}`), chat},
	{"query", "Ask for data of the site: the answer as text and the facts behind it as JSON.",
		compact(`{"type":"object","properties":{
			"query":{"type":"string","description":"The question in free words, 1 to 4000 characters"},
			"dataType":{"type":"string","description":"Kind of data that is asked for","enum":["energy","occupancy","devices","automation","reports"]},
			` + rangeSchema + `,` + contextSchema + `},
			"required":["query"]}`), query},
	{"optimize", "Get ranked proposals with their arithmetic: kWh, cost, effect on comfort, assumptions. Nothing is changed.",
		compact(`{"type":"object","properties":{
			"target":{"type":"string","description":"What to improve","enum":["energy_usage","comfort","cost","efficiency"]},
			"constraints":{"type":"object","description":"Bounds: pricePerKWh (number), currency (string), minLevel (percent), excludeZones (names)"},
			` + rangeSchema + `,` + contextSchema + `},
			"required":["target"]}`), optimize},
	{"get_status", "Get status and capabilities of the assistant system: agents, controllers, what is measured and what is not.",
		compact(`{"type":"object","properties":{},"required":[]}`), getStatus},
}

// listed is what the plain form's tools/list answers; packing it takes longer than all the rest.
var listed = func() []byte {
	body, err := json.Marshal(struct {
		Tools []tool `json:"tools"`
	}{catalogue})
	if err != nil {
		panic(err) // a schema above is not JSON
	}
	return append(body, '\n')
}()

func compact(schema string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(schema)); err != nil {
		panic(err) // a schema above is not JSON
	}
	return b.Bytes()
}

// find returns the tool of a name.
func find(name string) (tool, bool) {
	i := slices.IndexFunc(catalogue, func(t tool) bool { return t.Name == name })
	if i < 0 {
		return tool{}, false
	}
	return catalogue[i], true
}

// arguments of all tools; each uses those of its schema.
type arguments struct {
	Message   *string `json:"message"`
	Query     *string `json:"query"`
	Target    *string `json:"target"`
	SessionID string  `json:"sessionId"`
	UseSSE    bool    `json:"useSSE"`
	DataType  *string `json:"dataType"`
	TimeRange *struct {
		Start *string `json:"start"`
		End   *string `json:"end"`
	} `json:"timeRange"`
	Constraints map[string]json.RawMessage `json:"constraints"`
	Context     *struct {
		UserID   string `json:"userId"`
		UserRole string `json:"userRole"`
		SiteID   string `json:"siteId"`
	} `json:"context"`
}

// readArguments reads them; nothing is an empty object.
func readArguments(raw json.RawMessage) (arguments, error) {
	var a arguments
	if len(raw) == 0 || string(raw) == "null" {
		return a, nil
	}
	if raw[0] != '{' {
		return a, platform.Invalid("arguments is not an object")
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, typeError(err)
	}
	return a, nil
}

// typeError words what is wrong with arguments.
func typeError(err error) error {
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return platform.Invalid("arguments.%s is not of the type that the schema says", wrong.Field)
	}
	return platform.Invalid("arguments cannot be read")
}

func (a arguments) site() string {
	if a.Context == nil {
		return ""
	}
	return a.Context.SiteID
}

// period reads timeRange.
func (a arguments) period() (*platform.Period, error) {
	if a.TimeRange == nil {
		return nil, nil
	}
	return period(a.TimeRange.Start, a.TimeRange.End, "timeRange.start", "timeRange.end")
}

// period reads two ends of a time, both or none.
func period(start, end *string, startName, endName string) (*platform.Period, error) {
	if start == nil && end == nil && startName == "from" { // a typed tool may be asked without
		return nil, nil
	}
	var p platform.Period
	for _, end := range []struct {
		name string
		text *string
		into *time.Time
	}{{startName, start, &p.Start}, {endName, end, &p.End}} {
		if end.text == nil {
			return nil, platform.Invalid("%s is missing", end.name)
		}
		at, err := time.Parse(time.RFC3339, *end.text)
		if err != nil {
			return nil, platform.Invalid("%s is not an ISO 8601 date-time such as 2026-11-18T08:00:00Z", end.name)
		}
		*end.into = at
	}
	if !p.Start.Before(p.End) {
		return nil, platform.Invalid("timeRange ends before it starts")
	}
	return &p, nil
}

func chat(ctx context.Context, asker platform.Asker, who platform.Identity, a arguments, tell func(platform.Progress)) (platform.Reply, error) {
	if a.Message == nil {
		return platform.Reply{}, platform.Invalid("message is missing")
	}
	r, err := asker.Ask(ctx, platform.Inquiry{Owner: who.User.ID, Session: a.SessionID, Message: *a.Message, Site: a.site(), Control: who.Permissions.Control, Lang: who.Lang}, tell)
	r.Data = nil // a conversation is words
	return r, err
}

func query(ctx context.Context, asker platform.Asker, who platform.Identity, a arguments, tell func(platform.Progress)) (platform.Reply, error) {
	if a.Query == nil {
		return platform.Reply{}, platform.Invalid("query is missing")
	}
	period, err := a.period()
	if err != nil {
		return platform.Reply{}, err
	}
	in := platform.Inquiry{Owner: who.User.ID, Session: a.SessionID, Message: *a.Query, Site: a.site(), Period: period, Lang: who.Lang}
	if a.DataType != nil {
		in.About = platform.DataType(*a.DataType)
		switch in.About {
		case platform.AboutEnergy, platform.AboutOccupancy, platform.AboutDevices, platform.AboutAutomation, platform.AboutReports:
		default:
			return platform.Reply{}, platform.Invalid("dataType is not one of energy, occupancy, devices, automation, reports")
		}
	}
	return asker.Ask(ctx, in, tell)
}

func optimize(ctx context.Context, asker platform.Asker, who platform.Identity, a arguments, tell func(platform.Progress)) (platform.Reply, error) {
	if a.Target == nil {
		return platform.Reply{}, platform.Invalid("target is missing")
	}
	wish := platform.Wish{Owner: who.User.ID, Session: a.SessionID, Site: a.site(), Target: platform.Target(*a.Target), Lang: who.Lang}
	switch wish.Target {
	case platform.TargetEnergy, platform.TargetComfort, platform.TargetCost, platform.TargetEfficiency:
	default:
		return platform.Reply{}, platform.Invalid("target is not one of energy_usage, comfort, cost, efficiency")
	}
	var err error
	if wish.Period, err = a.period(); err != nil {
		return platform.Reply{}, err
	}
	if err := a.constrain(&wish); err != nil {
		return platform.Reply{}, err
	}
	return asker.Propose(ctx, wish, tell)
}

// constrain reads the constraints that mean something.
func (a arguments) constrain(wish *platform.Wish) error {
	into := map[string]any{"pricePerKWh": &wish.PricePerKWh, "currency": &wish.Currency, "minLevel": &wish.MinLevel, "excludeZones": &wish.Zones}
	for name, raw := range a.Constraints {
		where, ok := into[name]
		if !ok {
			wish.Unknown = append(wish.Unknown, name)
			continue
		}
		if json.Unmarshal(raw, where) != nil {
			return platform.Invalid("constraints.%s is not of the type that the schema says", name)
		}
	}
	slices.Sort(wish.Unknown)
	switch {
	case wish.PricePerKWh < 0 || wish.PricePerKWh > 1000:
		return platform.Invalid("constraints.pricePerKWh is not from 0 to 1000")
	case wish.MinLevel < 0 || wish.MinLevel > 100:
		return platform.Invalid("constraints.minLevel is not from 0 to 100")
	case len(wish.Currency) > 10 || len(wish.Zones) > 1000 || len(wish.Unknown) > 20:
		return platform.Invalid("constraints are too long")
	}
	return nil
}

func getStatus(ctx context.Context, asker platform.Asker, who platform.Identity, a arguments, _ func(platform.Progress)) (platform.Reply, error) {
	return asker.Health(ctx, platform.Inquiry{Owner: who.User.ID, Session: a.SessionID, Control: who.Permissions.Control, Lang: who.Lang})
}
