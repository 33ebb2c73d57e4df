package onezero

import (
	"net/http"
	"slices"
)

// number of a body, 0 if it is not there.
func number(body map[string]any, name string) int {
	v, _ := body[name].(float64)
	return int(v)
}

// control obeys at once: the devices of this controller are only numbers.
func (s *Server) control(w http.ResponseWriter, endpoint string, body map[string]any) {
	out := map[string]any{"status": 0}
	switch endpoint {
	case "channelControl", "setColorTemp", "setRGBW":
		for _, n := range s.lights(body) {
			obey(n, endpoint, body)
			out["status"] = 1
		}
	case "shadeControl":
		out["shadeState"] = "UNKNOWN"
		for _, sh := range s.motors(body) {
			move(sh, body)
			out["status"], out["shadeState"] = 1, sh.State
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) lights(body map[string]any) (out []*Node) {
	for i := range s.house.Nodes {
		n := &s.house.Nodes[i]
		if !n.Peripheral && !n.Offline && s.addressed(body, n.ID, func(c *Cluster) []int { return c.Nodes }) {
			out = append(out, n)
		}
	}
	return out
}

func (s *Server) motors(body map[string]any) (out []*Shade) {
	for i := range s.house.Shades {
		if sh := &s.house.Shades[i]; s.addressed(body, sh.ID, func(c *Cluster) []int { return c.Shades }) {
			out = append(out, sh)
		}
	}
	return out
}

func (s *Server) addressed(body map[string]any, id int, members func(*Cluster) []int) bool {
	target := number(body, "targetId")
	switch number(body, "targetType") {
	case 1:
		return true
	case 2:
		c := s.cluster(target)
		return c != nil && slices.Contains(members(c), id)
	case 3:
		return id == target
	}
	return false
}

func obey(n *Node, endpoint string, body map[string]any) {
	switch endpoint {
	case "setColorTemp":
		n.Kelvin = min(max(number(body, "colorTemp"), 3000), 5000)
	case "setRGBW":
		n.RGBW = [4]int{number(body, "R"), number(body, "G"), number(body, "B"), number(body, "W")}
		if level := number(body, "DL"); level <= 100 {
			n.Level = level
		}
	case "channelControl":
		switch body["command"] {
		case "ON":
			n.Level = 100
		case "OFF":
			n.Level = 0
		case "DIM":
			n.Level = number(body, "dimLevel")
		}
	}
}

func move(sh *Shade, body map[string]any) {
	switch body["command"] {
	case "UP":
		sh.Position, sh.State = 100, "OPENING"
	case "DOWN":
		sh.Position, sh.State = 0, "CLOSING"
	case "POS":
		sh.Position, sh.State = number(body, "posValue"), "MOVING"
	case "STOP":
		sh.State = "STOPPED"
	}
}
