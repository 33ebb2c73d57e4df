package publicapi

import "svc.internal/controller/appliance"

// turned gives the number that the public API uses for a position, and back: the
// same, or counted from the other end on sites that ask for it.
func turned(p appliance.Position, invert bool) appliance.Position {
	if invert {
		return 100 - p
	}
	return p
}

// shadeState is the contract's word for what a shade is seen doing.
func shadeState(m appliance.Motion) string {
	switch m {
	case appliance.Stopped:
		return "STOPPED"
	case appliance.Opening:
		return "OPENING"
	case appliance.Closing:
		return "CLOSING"
	case appliance.Moving:
		return "MOVING"
	}
	return "UNKNOWN"
}

// shadeStateOf is the state in a shade's record. A shade that stands at a position
// nobody knows is UNKNOWN, since its shadeLevel says nothing.
func shadeStateOf(sh *appliance.ShadeState) string {
	if sh.Motion == appliance.Stopped && !sh.Position.OK() {
		return shadeState(appliance.MotionUnknown)
	}
	return shadeState(sh.Motion)
}

// motionOf is what the shades of a target are doing: the common motion, Moving
// if they differ. Shades that are offline do not count; without any other the
// motion is unknown.
func motionOf(s *appliance.Snapshot, t appliance.Target) appliance.Motion {
	switch t.Scope {
	case appliance.One:
		if sh := findShade(s, t.ID); sh != nil {
			return sh.Motion
		}
		return appliance.MotionUnknown
	case appliance.InCluster:
		if cl := findCluster(s, t.ID); cl != nil {
			return cl.Motion
		}
		return appliance.MotionUnknown
	}
	common, first := appliance.MotionUnknown, true
	for _, sh := range s.Shades {
		switch {
		case !sh.Online:
		case first:
			common, first = sh.Motion, false
		case common != sh.Motion:
			return appliance.Moving
		}
	}
	return common
}
