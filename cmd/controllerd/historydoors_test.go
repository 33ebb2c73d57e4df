package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// order is something that was asked of things, from before it was said until nothing more can come of it.
type order struct {
	number int
	door   string
	verb   string // ON, OFF, DIM, TINT, COLOUR, UP, DOWN, STOP, POS; press: somebody at the wall
	value  int    // percent; of TINT kelvin
	colour map[string]uint8
	things []*thing
	scope  appliance.Target
	from   time.Time
	to     time.Time // zero: it is under way
	answer answer
}

// answer is what a door said.
type answer struct {
	status  int // 1 done, 0 not, -1 nothing was said
	said    string
	command string // in the ledger
}

func (o *order) String() string {
	return fmt.Sprintf("#%d %s %d of %v by %s", o.number, o.verb, o.value, o.names(), o.door)
}

func (o *order) names() (ids []appliance.ID) {
	for _, x := range o.things {
		ids = append(ids, x.id)
	}
	return ids
}

// command gives the next command, by any door.
func (h *history) command() {
	o := h.order()
	switch n := h.dice.IntN(20); {
	case n == 0 && o.scope.Scope == appliance.InCluster:
		if event := h.widget(o); event != nil {
			h.give(o, time.Minute, event)
		}
	case n < 6:
		o.door = "/api/v1"
		h.give(o, 15*time.Second, h.ask(o))
	case n < 8: // by somebody without patience, who says it again
		o.door = "/svc/api"
		again := *o
		h.give(o, time.Duration(20+h.dice.IntN(1000))*time.Millisecond, h.ask(o), func() {
			if o.answer.status == -1 {
				again.number = o.number
				h.open(&again)
				h.carry(&again, 15*time.Second, h.ask(&again))
			}
		})
	default:
		o.door = "/svc/api"
		h.give(o, 15*time.Second, h.ask(o))
	}
}

// order draws what is wanted, and of whom.
func (h *history) order() *order {
	o := &order{}
	x := h.things[h.dice.IntN(len(h.things))]
	h.last = x
	o.things, o.scope = []*thing{x}, appliance.Target{Scope: appliance.One, ID: x.id}
	if h.dice.IntN(12) == 0 {
		o.scope = appliance.Target{Scope: appliance.InCluster, ID: appliance.ID(1 + h.dice.IntN(2))}
		o.things = nil
		for _, y := range h.clusters[o.scope.ID] {
			if y.shade == x.shade {
				o.things = append(o.things, y)
			}
		}
	}
	o.value = h.dice.IntN(101)
	if x.shade {
		o.verb = []string{"UP", "DOWN", "STOP", "POS", "POS"}[h.dice.IntN(5)]
	} else {
		o.verb = []string{"ON", "OFF", "DIM", "DIM", "DIM"}[h.dice.IntN(5)]
	}
	if o.scope.Scope == appliance.One && h.dice.IntN(3) == 0 {
		switch {
		case x.tunable():
			o.verb, o.value = "TINT", 3000+h.dice.IntN(2001)
		case x.coloured():
			o.verb, o.colour = "COLOUR", map[string]uint8{"R": 255, "G": uint8(h.dice.IntN(256)), "B": uint8(h.dice.IntN(256)), "W": uint8(h.dice.IntN(256))}
		}
	}
	return o
}

// give has a command carried by a goroutine of its own.
func (h *history) give(o *order, patience time.Duration, say func(context.Context) answer, then ...func()) {
	h.number++
	o.number = h.number
	h.cue("%v", o)
	h.open(o)
	h.underway.Go(func() {
		h.carry(o, patience, say)
		for _, do := range then {
			do()
		}
	})
}

func (h *history) carry(o *order, patience time.Duration, say func(context.Context) answer) {
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	o.answer = say(ctx)
	h.judge(o)
}

// ask says a command by HTTP.
func (h *history) ask(o *order) func(context.Context) answer {
	path, token, body := "/svc/api/channelControl", h.tokens["svc"], map[string]any{"targetType": 3, "targetId": o.scope.ID, "command": o.verb, "dimLevel": o.value, "posValue": o.value}
	if o.scope.Scope == appliance.InCluster {
		body["targetType"] = 2
	}
	shade := o.things[0].shade
	switch {
	case shade:
		path = "/svc/api/shadeControl"
	case o.verb == "TINT":
		path, body["colorTemp"] = "/svc/api/setColorTemp", o.value
	case o.verb == "COLOUR":
		path, body["DL"] = "/svc/api/setRGBW", o.value
		for part, v := range o.colour {
			body[part] = v
		}
	}
	if o.door == "/api/v1" {
		scope := "node"
		switch {
		case o.scope.Scope == appliance.InCluster:
			scope = "cluster"
		case shade:
			scope = "shade"
		}
		kind := map[string]string{"ON": "light-on", "OFF": "light-off", "DIM": "light-level", "TINT": "light-kelvin", "COLOUR": "light-rgbw", "UP": "shade-open", "DOWN": "shade-close", "STOP": "shade-stop", "POS": "shade-move-to"}[o.verb]
		body = map[string]any{"kind": kind, "target": map[string]any{"scope": scope, "id": o.scope.ID}}
		switch o.verb {
		case "DIM":
			body["level"] = o.value
		case "TINT":
			body["kelvin"] = o.value
		case "COLOUR":
			body["level"], body["rgbw"] = o.value, o.colour
		case "POS":
			body["position"] = o.value
		}
		path, token = "/api/v1/commands", h.tokens["v1"]
	}
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Error(err)
	}
	return func(ctx context.Context) answer { return h.post(ctx, path, token, text) }
}

func (h *history) post(ctx context.Context, path, token string, body []byte) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+historyDoor+path, bytes.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return answer{status: -1}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := h.client.Do(req)
	if err != nil {
		return answer{status: -1, said: "no answer"}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	var is struct {
		Status  int
		Message string
		ID      string
		OK      bool
		Error   string
	}
	switch {
	case err != nil:
		return answer{status: -1, said: "half an answer"}
	case res.StatusCode == http.StatusUnauthorized:
		return answer{status: -1, said: "asked to log in"}
	case res.StatusCode == http.StatusServiceUnavailable:
		return answer{said: "overloaded"}
	case res.StatusCode != http.StatusOK || json.Unmarshal(data, &is) != nil:
		h.wrong("%s %s: %d %s", path, body, res.StatusCode, data)
		return answer{status: -1}
	case is.ID != "": // an entry of the ledger
		a := answer{said: is.Error, command: is.ID}
		if is.OK {
			a.status = 1
		}
		return a
	}
	return answer{status: is.Status, said: is.Message, command: res.Header.Get("X-Command-Id")}
}

// widget says a command by an event of a panel, or of a program at the platform; nil: there is no such gesture.
func (h *history) widget(o *order) func(context.Context) answer {
	o.door = "event"
	a := wire.WidgetAction{DeviceID: fmt.Sprint("panel ", o.scope.ID), WorkspaceName: "room", PanelID: wire.ControlsPanel, Origin: wire.OriginPanel}
	if h.dice.IntN(2) == 0 {
		a.Origin, a.DeviceID, a.Cluster = wire.OriginAPI, "program", int64(o.scope.ID)
	}
	switch o.verb {
	case "ON", "OFF":
		a.WidgetID, a.Action, a.Value = wire.LightPower, wire.Changed, map[string]string{"ON": "on", "OFF": "off"}[o.verb]
	case "DIM":
		a.WidgetID, a.Action, a.Value = wire.LightBrightness, wire.Released, fmt.Sprint(wire.SliderOf(o.value))
	case "POS":
		a.WidgetID, a.Action, a.Value = wire.ShadePosition, wire.Released, fmt.Sprint(wire.SliderOf(o.value))
	case "STOP":
		a.WidgetID, a.Action = wire.ShadeStop, wire.Clicked
	default:
		return nil
	}
	place := a.DeviceID + a.WidgetID + fmt.Sprint(a.Cluster)
	h.sequence[place]++
	ts := time.Now()
	if h.dice.IntN(10) == 0 { // the platform's clock is not ours
		ts = ts.Add(time.Duration(h.dice.NormFloat64() * float64(2*time.Second)))
	}
	exp := ts.Add(wire.Lifetime)
	id := fmt.Sprintf("00000000-0000-7000-8000-%012d", h.number+1)
	text, err := wire.Envelope{ID: id, Type: wire.TypeWidget, TS: ts, Seq: h.sequence[place], Epoch: "one", Exp: &exp}.Seal(a)
	if err != nil {
		h.t.Error(err)
	}
	return func(ctx context.Context) answer {
		comes := make(chan answer, 1)
		h.mu.Lock()
		h.waiting[id] = comes
		h.mu.Unlock()
		if !h.broker.publish(wire.Topic(houseID, wire.DownWidget), text) {
			return answer{status: -1, said: "no session"}
		}
		select {
		case a := <-comes:
			return a
		case <-ctx.Done():
			return answer{status: -1, said: "no answer"}
		}
	}
}

// openBroker is the platform as far as it can be seen from here.
func (h *history) openBroker() {
	ln, err := h.net.Listen(historyBroker)
	if err != nil {
		h.t.Fatal(err)
	}
	h.broker = &memoryBroker{take: h.acknowledged}
	ended := make(chan struct{})
	go func() { defer close(ended); h.broker.serve(ln) }()
	h.t.Cleanup(func() { ln.Close(); <-ended })
	var panels []wire.Panel
	for id := range int64(2) {
		panels = append(panels, wire.Panel{DeviceID: fmt.Sprint("panel ", id+1), WorkspaceName: "room", PanelID: wire.ControlsPanel, Clusters: []int64{id + 1}})
	}
	text, err := wire.Envelope{ID: "panels", Type: wire.TypeConfig, TS: time.Now()}.Seal(wire.Config{Rev: 1, Panels: panels})
	if err != nil {
		h.t.Fatal(err)
	}
	h.broker.keep(wire.Topic(houseID, wire.DownConfig), text)
	h.house.dialBroker = func(ctx context.Context, address string) (net.Conn, error) { return h.net.Dial(ctx, address) }
}

// acknowledged takes what the controller says of events.
func (h *history) acknowledged(topic string, payload []byte) {
	if topic != wire.Topic(houseID, wire.UpAck) {
		return
	}
	var ack wire.Ack
	env, err := wire.Open(payload)
	if err == nil {
		err = env.Read(&ack)
	}
	if err != nil {
		h.wrong("an acknowledgement: %v", err)
		return
	}
	a := answer{said: string(ack.Status) + " " + ack.Detail, command: ack.Command}
	if ack.Status == wire.Applied {
		a.status = 1
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if comes := h.waiting[env.Corr]; comes != nil {
		delete(h.waiting, env.Corr)
		comes <- a
	}
}
