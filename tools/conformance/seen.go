package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// lightRow is one value of one thing.
type lightRow struct {
	node        int64
	kind, value string
}

func (l lightRow) number() int {
	n, err := strconv.ParseFloat(l.value, 64)
	if err != nil {
		return -1
	}
	return int(n)
}

// levels of what is commanded, as they are read now.
func (r *run) levels() ([]lightRow, error) {
	rows, err := r.freshList(r.cfg.Commands.query())
	if err != nil {
		return nil, err
	}
	online, err := r.online()
	if err != nil {
		return nil, err
	}
	var out []lightRow
	for _, l := range rows {
		row := lightRow{l.integer("NodeId"), l.text("valueType"), l.text("value")}
		if row.kind == "SHADE_LEVEL" {
			continue // the lists of shades tell it
		}
		if online[row.node] {
			out = append(out, row)
		}
	}
	shades, err := r.freshList("getShades")
	if err != nil {
		return nil, err
	}
	wanted := map[int64]bool{}
	if r.cfg.Commands.kind == "cluster" {
		members, err := r.freshList(fmt.Sprintf("getShadesForCluster?clusterId=%d", r.cfg.Commands.id))
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			wanted[idOf(m)] = true
		}
	}
	for _, s := range shades {
		t, id := r.cfg.Commands, idOf(s)
		if (t.kind == "all" || t.kind == "shade" && t.id == id || wanted[id]) && s.text("status") != "OFFLINE" {
			out = append(out, lightRow{id, "SHADE_LEVEL", strconv.FormatInt(s.integer("shadeLevel"), 10)})
		}
	}
	return out, nil
}

// online are the nodes that getActiveNodes lists.
func (r *run) online() (map[int64]bool, error) {
	nodes, err := r.freshList("getActiveNodes")
	if err != nil {
		return nil, err
	}
	out := map[int64]bool{}
	for _, n := range nodes {
		out[idOf(n)] = true
	}
	return out, nil
}

// idOf is the ID of a node or shade under any of the names that controllers give it,
// as a number or as text; 0 if there is none.
func idOf(rec record) int64 {
	for _, name := range []string{"id", "nodeId", "shadeId", "Id"} {
		if i, ok := integerOf(rec[name]); ok {
			return i
		}
		if i, err := strconv.ParseInt(rec.text(name), 10, 64); err == nil {
			return i
		}
	}
	return 0
}

// remember keeps how everything was before the first command.
func (r *run) remember() (err error) {
	if r.before == nil {
		r.before, err = r.levels()
	}
	return err
}

func (r *run) has(kind string) bool {
	for _, l := range r.before {
		if l.kind == kind {
			return true
		}
	}
	return false
}

func (r *run) shadesOfTarget() (out []int64) {
	for _, l := range r.before {
		if l.kind == "SHADE_LEVEL" {
			out = append(out, l.node)
		}
	}
	return out
}

// until reads until a check of the rows of one kind holds, or the time is over.
func (r *run) until(kind string, most time.Duration, holds func(lightRow) bool, want string) error {
	deadline := time.Now().Add(most)
	for {
		rows, err := r.levels()
		if err != nil {
			return err
		}
		var wrong []string
		for _, l := range rows {
			if l.kind == kind && !holds(l) {
				wrong = append(wrong, fmt.Sprintf("%s of %d is %s, want %s", kind, l.node, l.value, want))
			}
		}
		if len(wrong) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return told(wrong)
		}
		select {
		case <-time.After(again):
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
}

func near(got, want, most int) bool { return got >= want-most && got <= want+most }

// levelsBecome allows for devices that have steps, and for relays, which are fully on.
func (r *run) levelsBecome(level int) error {
	return r.until("DIM_LEVEL", r.cfg.Settle, func(l lightRow) bool {
		return near(l.number(), level, 2) || level > 0 && l.number() == 100
	}, strconv.Itoa(level))
}

func (r *run) levelsRise() error {
	return r.until("DIM_LEVEL", r.cfg.Settle, func(l lightRow) bool { return l.number() > 0 }, "more than 0")
}

func (r *run) colourTemperature() error {
	if !r.has("COLOR_LEVEL") {
		return skip("nothing of " + r.cfg.Commands.String() + " has a colour temperature")
	}
	for _, c := range []struct {
		asked int
		holds func(int) bool
		want  string
	}{
		{1000, func(k int) bool { return k >= 2950 }, "3000 or more"},
		{90000, func(k int) bool { return k <= 5050 }, "5000 or less"},
		{3600, func(k int) bool { return near(k, 3600, 100) }, "3600"},
	} {
		if err := r.succeeds("setColorTemp", map[string]any{"colorTemp": c.asked}); err != nil {
			return fmt.Errorf("colorTemp %d: %w", c.asked, err)
		}
		if err := r.until("COLOR_LEVEL", r.cfg.Settle, func(l lightRow) bool { return c.holds(l.number()) }, c.want); err != nil {
			return fmt.Errorf("colorTemp %d: %w", c.asked, err)
		}
	}
	return nil
}

func (r *run) rgbw() error {
	status, o, err := r.control("setRGBW", r.cfg.Commands.body(map[string]any{"R": 200, "G": 100, "B": 50, "W": 0, "DL": 60}))
	switch {
	case err != nil:
		return err
	case status == 0 && !r.has("COLOR"):
		return skip("nothing of " + r.cfg.Commands.String() + " takes a colour: " + o.text("message"))
	case status == 0:
		return fmt.Errorf("setRGBW: status 0: %s", o.text("message"))
	}
	coloured := map[int64]bool{}
	if err := r.until("COLOR", r.cfg.Settle, func(l lightRow) bool {
		c, ok := colour(l.value)
		coloured[l.node] = true
		return ok && near(c[0], 200, 6) && near(c[1], 100, 6) && near(c[2], 50, 6)
	}, "200:100:50:0"); err != nil {
		return err
	}
	if err := r.succeeds("setRGBW", map[string]any{"R": 0, "G": 200, "B": 0, "W": 0, "DL": 101}); err != nil {
		return err
	}
	return r.until("DIM_LEVEL", r.cfg.Settle, func(l lightRow) bool { return !coloured[l.node] || near(l.number(), 60, 2) }, "60, as before")
}

func (r *run) arrives() error {
	return r.until("SHADE_LEVEL", 12*r.cfg.Settle, func(l lightRow) bool { return near(l.number(), 40, 5) }, "40")
}

// putBack commands everything to how it was before.
func (r *run) putBack() {
	if !r.commanded {
		return
	}
	level := map[int64]int{}
	for _, l := range r.before {
		if l.kind == "DIM_LEVEL" {
			level[l.node] = l.number()
		}
	}
	for _, kind := range []string{"COLOR", "COLOR_LEVEL", "DIM_LEVEL", "SHADE_LEVEL"} { // a colour may switch a light on
		for _, l := range r.before {
			if l.kind == kind {
				r.putBackOne(l, level[l.node])
			}
		}
	}
}

func (r *run) putBackOne(l lightRow, level int) {
	at := Target{"node", l.node}
	endpoint, fields := "channelControl", map[string]any{"channelId": 0, "command": "DIM", "dimLevel": level}
	switch l.kind {
	case "COLOR":
		c, _ := colour(l.value)
		endpoint, fields = "setRGBW", map[string]any{"R": c[0], "G": c[1], "B": c[2], "W": c[3], "DL": 101}
	case "COLOR_LEVEL":
		endpoint, fields = "setColorTemp", map[string]any{"colorTemp": l.number()}
	case "SHADE_LEVEL":
		endpoint, fields = "shadeControl", map[string]any{"command": "POS", "posValue": l.number()}
	}
	a, err := r.send(http.MethodPost, endpoint, r.token, at.body(fields))
	if err != nil {
		r.notes = append(r.notes, fmt.Sprintf("%s of %d was not put back to %s: %v", l.kind, l.node, l.value, err))
		return
	}
	if o, err := a.object(); err != nil || o.integer("status") != 1 {
		r.notes = append(r.notes, fmt.Sprintf("%s of %d was not put back to %s: %s", l.kind, l.node, l.value, a))
	}
}
