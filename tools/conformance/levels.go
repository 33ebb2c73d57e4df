package conformance

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

var levelFields = []field{
	{"Id", integer}, {"ClusterId", integer}, {"NodeId", integer}, {"value", text},
	{"valueType", oneOf("DIM_LEVEL", "COLOR_LEVEL", "COLOR", "SHADE_LEVEL", "PPOWER")}, {"Synchronize", text}, {"AllVal", text},
}

const allLevels = "getLightLevels?targetType=1"

func levelRows() []row {
	return []row{
		{"getLightLevels", "an array of rows with all fields of the contract", Contract, of(allLevels, func(l []record) error { return check("rows", l, levelFields...) })},
		{"getLightLevels.cluster", "targetType 2: the rows of one cluster", Contract, (*run).levelsOfClusters},
		{"getLightLevels.one", "targetType 3: the rows of one node", Contract, (*run).levelsOfOne},
		{"getLightLevels.ids", "row IDs are unique", Ours, of(allLevels, func(l []record) error { return unique("rows", l, "Id") })},
		{"getLightLevels.stable", "a row has the same Id when it is read again", Ours, (*run).stableRows},
		{"getLightLevels.order", "ascending by Id", Ours, of(allLevels, func(l []record) error { return ascending("rows", l, "Id") })},
		{"getLightLevels.only", "no fields but those of the contract, Synchronize and AllVal empty", Ours, of(allLevels, func(l []record) error {
			if err := only("rows", l, names(levelFields)...); err != nil {
				return err
			}
			return check("rows", l, field{"Synchronize", emptyText}, field{"AllVal", emptyText})
		})},
		{"getLightLevels.value", "value is a number as text, of COLOR R:G:B:W, of levels 0 to 100", Ours, of(allLevels, valuesInWords)},
		{"getLightLevels.absent", "without targetType it is everything", Ours, (*run).levelsOfAll},
	}
}

func valuesInWords(rows []record) error {
	var wrong []string
	for i, l := range rows {
		kind, value := l.text("valueType"), l.text("value")
		n, err := strconv.ParseFloat(value, 64)
		ok := err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
		switch kind {
		case "COLOR":
			_, ok = colour(value)
		case "DIM_LEVEL", "SHADE_LEVEL":
			ok = ok && n >= 0 && n <= 100
		}
		if !ok {
			wrong = append(wrong, fmt.Sprintf("rows[%d] (%s of %d) has the value %q", i, kind, l.integer("NodeId"), value))
		}
	}
	return told(wrong)
}

func (r *run) levelsOfClusters() error {
	clusters, err := r.clusters()
	if err != nil {
		return err
	}
	for _, c := range clusters {
		rows, err := r.list(fmt.Sprintf("getLightLevels?targetType=2&targetId=%d", c.integer("id")))
		if err == nil {
			err = check("rows", rows, append([]field{{"ClusterId", within(c.integer("id"), c.integer("id"))}}, levelFields...)...)
		}
		if err != nil {
			return fmt.Errorf("cluster %d: %w", c.integer("id"), err)
		}
	}
	return nil
}

// levelsOfOne asks for the light of the first row.
func (r *run) levelsOfOne() error {
	all, err := r.list(allLevels)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.text("valueType") == "SHADE_LEVEL" {
			continue
		}
		id := l.integer("NodeId")
		rows, err := r.list(fmt.Sprintf("getLightLevels?targetType=3&targetId=%d", id))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf("node %d has rows among all, but none of its own", id)
		}
		return check("rows", rows, append([]field{{"NodeId", within(id, id)}}, levelFields...)...)
	}
	return skip("no light has a value yet")
}

func (r *run) levelsOfAll() error {
	all, err := r.list(allLevels)
	if err != nil {
		return err
	}
	absent, err := r.list("getLightLevels")
	if err == nil && len(absent) < len(all) {
		err = fmt.Errorf("%d rows without targetType, %d with 1", len(absent), len(all))
	}
	return err
}

func (r *run) stableRows() error {
	first, err := r.list(allLevels)
	if err != nil {
		return err
	}
	again, err := r.freshList(allLevels)
	if err != nil {
		return err
	}
	type what struct {
		cluster, node int64
		kind          string
	}
	ids := map[what]int64{}
	for _, l := range again {
		ids[what{l.integer("ClusterId"), l.integer("NodeId"), l.text("valueType")}] = l.integer("Id")
	}
	for _, l := range first {
		w := what{l.integer("ClusterId"), l.integer("NodeId"), l.text("valueType")}
		if id, ok := ids[w]; ok && id != l.integer("Id") {
			return fmt.Errorf("the %s row of node %d had the Id %d, then %d", w.kind, w.node, l.integer("Id"), id)
		}
	}
	return nil
}

var errMoves = errors.New("it changes")

// means compares the aggregates with their members, and begins again when a value
// changed meanwhile.
func (r *run) means() error {
	for range tries {
		err := r.meansNow()
		if !errors.Is(err, errMoves) {
			return err
		}
	}
	return skip("the building changes all the time")
}

func (r *run) meansNow() error {
	before, err := r.freshList("getClusters")
	if err != nil {
		return err
	}
	found := false
	var wrong error
	for _, c := range before {
		id := c.integer("id")
		online := map[int64]bool{}
		for _, endpoint := range []string{"getNodesForCluster?tagType=ALL&clusterId=", "getShadesForCluster?clusterId="} {
			members, err := r.freshList(endpoint + strconv.FormatInt(id, 10))
			if err != nil {
				return err
			}
			for _, m := range members {
				if m.text("status") == "" {
					return skip("records do not say who is online")
				}
				online[m.integer("id")] = m.text("status") == "ONLINE"
			}
		}
		rows, err := r.freshList(fmt.Sprintf("getLightLevels?targetType=2&targetId=%d", id))
		if err != nil {
			return err
		}
		for kind, name := range map[string]string{"DIM_LEVEL": "dimLevel", "SHADE_LEVEL": "shadeLevel"} {
			want, n := mean(rows, kind, online)
			found = found || n > 0
			if got := c.integer(name); got != want {
				wrong = fmt.Errorf("cluster %d: %s is %d, but the mean of %d members is %d", id, name, got, n, want)
			}
		}
	}
	after, err := r.freshList("getClusters")
	switch {
	case err != nil:
		return err
	case wrong != nil && shown(before) != shown(after):
		return errMoves
	case wrong != nil:
		return wrong
	case !found:
		return skip("no cluster has a member with a value")
	}
	return nil
}

// mean of the rows of one kind, rounded half up; 0 of none.
func mean(rows []record, kind string, online map[int64]bool) (value int64, n int) {
	sum := 0.0
	for _, l := range rows {
		if l.text("valueType") != kind || !online[l.integer("NodeId")] {
			continue
		}
		if v, err := strconv.ParseFloat(l.text("value"), 64); err == nil {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0, 0
	}
	return int64(math.Floor(sum/float64(n) + 0.5)), n
}
