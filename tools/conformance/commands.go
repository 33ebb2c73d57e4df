package conformance

import (
	"fmt"
	"net/http"
	"time"
)

// again is how often values are read while something moves.
const again = 250 * time.Millisecond

var controls = []string{"channelControl", "setColorTemp", "setRGBW", "shadeControl"}

func commandRows() []row {
	var out []row
	for _, endpoint := range controls {
		out = append(out, row{"unauthorized." + endpoint, "without a token, and with a wrong one: 401, status 0, Authentication required", Contract, commanding(func(r *run) error {
			_, err := r.unauthorized(http.MethodPost, endpoint, map[string]any{})
			return err
		})})
	}
	out = append(out, row{"forbidden", "a command of an account that may only read: 403, empty body", Contract, commanding((*run).forbidden)})
	out = append(out, badCommandRows()...)
	out = append(out,
		row{"channelControl.DIM", "DIM with dimLevel: status 1", Contract, onLights(func(r *run) error { return r.dim(30) })},
		row{"channelControl.DIM.seen", "the levels read afterwards are those commanded", Ours, onLights(func(r *run) error { return r.levelsBecome(30) })},
		row{"channelControl.OFF", "OFF: status 1", Contract, onLights(func(r *run) error { return r.succeeds("channelControl", map[string]any{"command": "OFF"}) })},
		row{"channelControl.OFF.seen", "the levels read afterwards are 0", Ours, onLights(func(r *run) error { return r.levelsBecome(0) })},
		row{"channelControl.ON", "ON: status 1", Contract, onLights(func(r *run) error { return r.succeeds("channelControl", map[string]any{"command": "ON"}) })},
		row{"channelControl.ON.seen", "the levels read afterwards are above 0", Ours, onLights((*run).levelsRise)},
		row{"channelControl.DIM.0", "DIM with 0 is OFF", Ours, onLights(func(r *run) error {
			if err := r.dim(0); err != nil {
				return err
			}
			return r.levelsBecome(0)
		})},
		row{"channelControl.text", "integers sent as strings are taken, as old clients send them", Ours, onLights(func(r *run) error {
			return r.succeeds("channelControl", map[string]any{"command": "DIM", "dimLevel": "40", "channelId": "0"})
		})},
		row{"channelControl.channelId", "a channel that no node has: status 0", Ours, onLights(func(r *run) error {
			return r.fails("channelControl", r.cfg.Commands.body(map[string]any{"command": "ON", "channelId": 9999}))
		})},
		row{"setColorTemp", "status 1, and the value is clamped to 3000 to 5000", Contract, onLights((*run).colourTemperature)},
		row{"setRGBW", "status 1, and DL 101 keeps the dim level", Contract, onLights((*run).rgbw)},
		row{"shadeControl.UP", "UP: status 1 and a shadeState", Contract, onShades(func(r *run) error { return r.move("UP", nil) })},
		row{"shadeControl.STOP", "STOP: status 1 and a shadeState", Contract, onShades(func(r *run) error { return r.move("STOP", nil) })},
		row{"shadeControl.DOWN", "DOWN: status 1 and a shadeState", Contract, onShades(func(r *run) error { return r.move("DOWN", nil) })},
		row{"shadeControl.POS", "POS with posValue: status 1 and a shadeState", Contract, onShades(func(r *run) error { return r.move("POS", 40) })},
		row{"shadeControl.POS.seen", "shades come to within 5 of posValue", Ours, onShades((*run).arrives)},
	)
	return out
}

// commanding skips a row unless something may be commanded.
func commanding(check func(*run) error) func(*run) error {
	return func(r *run) error {
		switch {
		case r.cfg.Commands == nil:
			return skip("nothing may be commanded; --commands names what may be")
		case r.token == "":
			return errNobody
		}
		return check(r)
	}
}

func onLights(check func(*run) error) func(*run) error {
	return commanding(func(r *run) error {
		if r.cfg.Commands.kind == "shade" {
			return skip(r.cfg.Commands.String() + " is no light")
		}
		if err := r.remember(); err != nil {
			return err
		}
		if !r.has("DIM_LEVEL") {
			return skip("nothing of " + r.cfg.Commands.String() + " has a level")
		}
		r.commanded = true
		return check(r)
	})
}

func onShades(check func(*run) error) func(*run) error {
	return commanding(func(r *run) error {
		if r.cfg.Commands.kind == "node" {
			return skip(r.cfg.Commands.String() + " is no shade")
		}
		if err := r.remember(); err != nil {
			return err
		}
		if len(r.shadesOfTarget()) == 0 {
			return skip("there is no shade in " + r.cfg.Commands.String())
		}
		r.commanded = true
		return check(r)
	})
}

// badCommandRows are commands that must do nothing. They have a target that is not there,
// in case the controller obeys them all the same.
func badCommandRows() []row {
	bad := func(id, about, endpoint string, body any) row {
		return row{"bad." + id, about + ": 400, status 0 and a message", Ours, commanding(func(r *run) error {
			return r.refused(http.MethodPost, endpoint, body, http.StatusBadRequest)
		})}
	}
	at := func(fields map[string]any) map[string]any { return Target{"node", nobody}.body(fields) }
	none := func(endpoint string, fields map[string]any) row {
		return row{"unknown." + endpoint, "a target that is not there: status 0", Ours, commanding(func(r *run) error { return r.fails(endpoint, at(fields)) })}
	}
	return []row{
		bad("json", "a body that is no JSON", "channelControl", "{"),
		bad("command", "a command that there is not", "channelControl", at(map[string]any{"command": "BLINK"})),
		bad("dimLevel", "dimLevel 101", "channelControl", at(map[string]any{"command": "DIM", "dimLevel": 101})),
		bad("dimLevel.missing", "DIM without dimLevel", "channelControl", at(map[string]any{"command": "DIM"})),
		bad("dimLevel.type", "dimLevel that is no number", "channelControl", at(map[string]any{"command": "DIM", "dimLevel": true})),
		bad("targetId.missing", "targetType 3 without targetId", "channelControl", map[string]any{"targetType": 3, "command": "ON"}),
		bad("targetType.missing", "no targetType", "channelControl", map[string]any{"targetId": nobody, "command": "ON"}),
		bad("colorTemp.missing", "no colorTemp", "setColorTemp", at(nil)),
		bad("R", "R of 256", "setRGBW", at(map[string]any{"R": 256, "G": 0, "B": 0, "W": 0, "DL": 101})),
		bad("DL", "DL of 102", "setRGBW", at(map[string]any{"R": 0, "G": 0, "B": 0, "W": 0, "DL": 102})),
		bad("posValue", "posValue 101", "shadeControl", at(map[string]any{"command": "POS", "posValue": 101})),
		bad("posValue.missing", "POS without posValue", "shadeControl", at(map[string]any{"command": "POS"})),
		none("channelControl", map[string]any{"command": "ON"}),
		none("setColorTemp", map[string]any{"colorTemp": 4000}),
		none("setRGBW", map[string]any{"R": 1, "G": 1, "B": 1, "W": 1, "DL": 101}),
		none("shadeControl", map[string]any{"command": "UP"}),
	}
}

// control makes a control call and reads what every answer has.
func (r *run) control(endpoint string, body any) (int64, record, error) {
	a, err := r.send(http.MethodPost, endpoint, r.token, body)
	if err != nil {
		return 0, nil, err
	}
	o, err := a.object()
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", endpoint, err)
	}
	status, ok := integerOf(o["status"])
	if !ok || status != 0 && status != 1 || a.status != http.StatusOK {
		return 0, nil, fmt.Errorf("%s: got %s, want 200 with the integer status 1 or 0", endpoint, a)
	}
	if endpoint == "shadeControl" && o.text("shadeState") == "" {
		return 0, nil, fmt.Errorf("%s: got %s, want a shadeState", endpoint, a)
	}
	return status, o, nil
}

func (r *run) succeeds(endpoint string, fields map[string]any) error {
	status, o, err := r.control(endpoint, r.cfg.Commands.body(fields))
	if err == nil && status != 1 {
		err = fmt.Errorf("%s: status 0: %s", endpoint, o.text("message"))
	}
	return err
}

func (r *run) fails(endpoint string, body any) error {
	status, _, err := r.control(endpoint, body)
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: status 1, want 0", endpoint)
	}
	return err
}

func (r *run) dim(level int) error {
	return r.succeeds("channelControl", map[string]any{"channelId": 0, "command": "DIM", "dimLevel": level})
}

// forbidden logs the reader in and has it command.
func (r *run) forbidden() error {
	if r.cfg.Reader == "" {
		return skip("no account that may only read is given")
	}
	a, err := r.send(http.MethodPost, "authenticate", "", map[string]string{"username": r.cfg.Reader, "password": r.cfg.ReaderPassword})
	if err != nil {
		return err
	}
	o, err := a.object()
	if err != nil || o.text("auth_token") == "" {
		return fmt.Errorf("%s cannot log in: %s", r.cfg.Reader, a)
	}
	for _, endpoint := range controls {
		a, err := r.send(http.MethodPost, endpoint, o.text("auth_token"), map[string]any{})
		if err != nil {
			return err
		}
		if a.status != http.StatusForbidden || len(a.body) != 0 {
			return fmt.Errorf("%s: got %s, want 403 with an empty body", endpoint, a)
		}
	}
	return nil
}

func (r *run) move(command string, position any) error {
	fields := map[string]any{"command": command}
	if position != nil {
		fields["posValue"] = position
	}
	return r.succeeds("shadeControl", fields)
}
