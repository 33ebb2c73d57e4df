package onezero

import (
	"fmt"
	"slices"
	"strconv"
)

func (s *Server) clusters() (out []map[string]any) {
	for _, c := range s.house.Clusters {
		level, kelvin, position, lights := 0, 0, 0, 0
		for _, n := range s.house.Nodes {
			if slices.Contains(c.Nodes, n.ID) && !n.Peripheral {
				level, kelvin, lights = level+n.Level, kelvin+n.Kelvin, lights+1
			}
		}
		for _, sh := range s.house.Shades {
			if slices.Contains(c.Shades, sh.ID) {
				position += sh.Position
			}
		}
		out = append(out, map[string]any{
			"id": c.ID, "name": c.Name, "createdByName": c.CreatedByName, "createdOn": c.CreatedOn, "nodeCount": lights,
			"dimLevel": level / max(1, lights), "colorLevel": kelvin / max(1, lights), "shadeLevel": position / max(1, len(c.Shades)), "rgbw": "0:0:0:0",
		})
	}
	return out
}

// node is a record as short as the contract lets it be.
func (s *Server) node(n Node) map[string]any {
	return map[string]any{s.habits.IDKey: s.number(n.ID), s.habits.NameKey: n.Name, "level": s.number(n.Level)}
}

func (s *Server) shade(sh Shade) map[string]any {
	return map[string]any{s.habits.IDKey: s.number(sh.ID), s.habits.NameKey: sh.Name, "shadeLevel": sh.Position}
}

func (s *Server) nodesOf(cluster int, tag string) (out []map[string]any) {
	c := s.cluster(cluster)
	if c == nil {
		return nil
	}
	for _, n := range s.house.Nodes {
		if slices.Contains(c.Nodes, n.ID) && !n.Offline && (tag == "ALL" || tag == "" || (tag == "PERIPHERAL") == n.Peripheral) {
			out = append(out, s.node(n))
		}
	}
	return out
}

func (s *Server) levels(targetType string, target int) (out []map[string]any) {
	first := func(in func(*Cluster) []int, id int) int {
		for i := range s.house.Clusters {
			if c := &s.house.Clusters[i]; slices.Contains(in(c), id) && (targetType != "2" || c.ID == target) {
				return c.ID
			}
		}
		return 0
	}
	add := func(cluster, id, kind int, value, valueType string) {
		if targetType == "2" && cluster != target || targetType == "3" && id != target {
			return
		}
		out = append(out, map[string]any{
			"Id": 100_000 + 10*id + kind, "ClusterId": cluster, "NodeId": id, "value": value, "valueType": valueType, "Synchronize": "N", "AllVal": "",
		})
	}
	for _, n := range s.house.Nodes {
		if n.Peripheral {
			continue
		}
		cluster := first(func(c *Cluster) []int { return c.Nodes }, n.ID)
		add(cluster, n.ID, 0, strconv.Itoa(n.Level), "DIM_LEVEL")
		add(cluster, n.ID, 1, strconv.Itoa(n.Kelvin), "COLOR_LEVEL")
		add(cluster, n.ID, 2, fmt.Sprintf("%d:%d:%d:%d", n.RGBW[0], n.RGBW[1], n.RGBW[2], n.RGBW[3]), "COLOR")
	}
	for _, sh := range s.house.Shades {
		add(first(func(c *Cluster) []int { return c.Shades }, sh.ID), sh.ID, 3, strconv.Itoa(sh.Position), "SHADE_LEVEL")
	}
	return out
}
