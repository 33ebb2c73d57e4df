package conformance

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Target is what may be commanded: all, a cluster, a node or a shade.
type Target struct {
	kind string // all, cluster, node, shade
	id   int64
}

// ParseTarget reads "all", "cluster:3", "node:7" or "shade:5001".
func ParseTarget(text string) (Target, error) {
	if text == "all" {
		return Target{kind: "all"}, nil
	}
	kind, number, _ := strings.Cut(text, ":")
	id, err := strconv.ParseInt(number, 10, 32)
	if err != nil || id < 1 || kind != "cluster" && kind != "node" && kind != "shade" {
		return Target{}, errors.New("want all, cluster:ID, node:ID or shade:ID")
	}
	return Target{kind, id}, nil
}

func (t Target) String() string {
	if t.kind == "all" {
		return t.kind
	}
	return fmt.Sprintf("%s:%d", t.kind, t.id)
}

// body of a control call for the target, with more fields.
func (t Target) body(more map[string]any) map[string]any {
	out := map[string]any{"targetType": 1}
	switch t.kind {
	case "cluster":
		out = map[string]any{"targetType": 2, "targetId": t.id}
	case "node", "shade":
		out = map[string]any{"targetType": 3, "targetId": t.id}
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// query of getLightLevels for the target.
func (t Target) query() string {
	switch t.kind {
	case "cluster":
		return fmt.Sprintf("getLightLevels?targetType=2&targetId=%d", t.id)
	case "node":
		return fmt.Sprintf("getLightLevels?targetType=3&targetId=%d", t.id)
	}
	return allLevels
}
