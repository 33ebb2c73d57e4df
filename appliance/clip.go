package appliance

// clips know the limits of their own to which devices move what they are told
// ([Channel.Clips]), as far as they have shown them. A device that stands where it
// stood although something else was wanted is at its limit, or does not obey: only
// one that has been seen moving there tells which. Before anything was read it is not
// believed.
type clips map[Ref]*clip

// clip is what has been read of one channel.
type clip struct {
	last          Values // zero Has: nothing yet
	level, kelvin limits
}

// limits of a value; 0: not shown yet.
type limits struct{ low, high int }

// saw takes what was read of channels that have limits of their own.
func (c clips) saw(readings []Reading) {
	for _, r := range readings {
		if known := c[r.Ref]; known != nil {
			known.last = merge(Reading{Values: known.last}, r).Values
			if speaksOfLevel(r.Values) {
				known.level.exceeded(int(r.Level))
			}
			if r.Has.Has(CanTune) {
				known.kelvin.exceeded(int(r.Kelvin))
			}
		}
	}
}

// before returns what was last read of things; nil if none of them has limits.
func (c clips) before(wants []Want) []Values {
	var list []Values
	for i, w := range wants {
		if known := c[w.Ref]; known != nil {
			if list == nil {
				list = make([]Values, len(wants))
			}
			list[i] = known.last
		}
	}
	return list
}

// explain reports whether got, which is not what was wanted, is as near as the device
// goes. before is what it had.
func (c clips) explain(want Want, before Values, got Reading) bool {
	known := c[want.Ref]
	if known == nil {
		return false
	}
	if speaksOfLevel(want.Values) && speaksOfLevel(got.Values) && want.Level != got.Level {
		stood := -1
		if speaksOfLevel(before) {
			stood = int(before.Level)
		}
		if want.Level == 0 || got.Level == 0 || !known.level.explain(stood, int(want.Level), int(got.Level)) {
			return false
		}
	}
	if want.Has.Has(CanTune) && got.Has.Has(CanTune) && want.Kelvin != got.Kelvin {
		stood := -1
		if before.Has.Has(CanTune) {
			stood = int(before.Kelvin)
		}
		if !known.kelvin.explain(stood, int(want.Kelvin), int(got.Kelvin)) {
			return false
		}
	}
	// What is left must agree.
	rest := want.Values
	rest.Level, rest.Kelvin = got.Level, got.Kelvin
	return agrees(rest, got)
}

// explain reports whether a device that was told want and has got went to its limit.
// stood is what it had before; negative: nobody knows.
func (l *limits) explain(stood, want, got int) bool {
	limit := &l.high
	if want < got {
		limit = &l.low
	}
	if stood >= 0 && stood != got {
		*limit = got
	}
	return stood >= 0 && *limit == got
}

// exceeded forgets a limit that the device has passed.
func (l *limits) exceeded(value int) {
	if value > l.high {
		l.high = 0
	}
	if value > 0 && value < l.low {
		l.low = 0
	}
}

// speaksOfLevel reports whether v tells a level.
func speaksOfLevel(v Values) bool { return v.Has&(CanDim|CanSwitch) != 0 }
