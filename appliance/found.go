package appliance

import (
	"iter"
	"slices"
)

// Scanner finds devices that are on the bus, configured or not. It is an ability
// that a driver may have besides.
type Scanner interface {
	// Scan yields exchanges, one at a time; after each was done its Judge is told what
	// it showed. The bus runs them behind everything else, in turn with polls.
	Scan(opts ScanOptions) iter.Seq[ScanStep]
}

// ScanOptions narrow or widen a scan; zero values search all addresses at the
// settings of the bus.
type ScanOptions struct {
	First, Last int
	// AllSettings tries other usual bit rates and parities as well. Devices hear
	// frames meanwhile that are none to them.
	AllSettings bool
	// FindOut, if not nil, asks nothing but who is there, once an address, at each of these
	// line settings in turn, and ends with the first that answers: for a port of which nobody
	// knows what it is. Where there are no settings, or only one, they do not matter.
	FindOut []LineSettings
}

// ScanStep is one probe of a scan.
type ScanStep struct {
	Exchange
	Address string // or what else is looked at, for people who watch
	// Judge turns the outcome into what an installer reads; ok false means that there
	// is nothing to tell. What it tells later of the same address and finding stands
	// in place of what it told before.
	Judge func(Result, error) (found Found, ok bool)
}

// Finding is what a scan makes of an address, in the words that scripts know.
type Finding string

// The findings. Trouble is what [Finding.Trouble] says of them.
const (
	FoundDevice    Finding = "device"    // somebody answers, as it should
	FoundNoAddress Finding = "noAddress" // devices that have no address yet
	FoundNote      Finding = "note"      // not of a device: what the scan could not find out, and why

	FoundCollision Finding = "collision" // trouble: several devices answer to one address
	FoundDamaged   Finding = "damaged"   // trouble: answers come that cannot be read
	FoundSettings  Finding = "settings"  // trouble: a device answers at other line settings than the bus has
	FoundBabble    Finding = "babble"    // trouble: somebody talks without being asked
	FoundSilent    Finding = "silent"    // trouble: the site has a device here, and nobody answers
	FoundProfile   Finding = "profile"   // trouble: the site has another device here than answers
	FoundLate      Finding = "late"      // trouble: a device answers after its time is over
	FoundEcho      Finding = "echo"      // trouble: the adapter returns what is sent, and the bus says otherwise
	FoundHindered  Finding = "hindered"  // trouble: the scan, or a part of it, could not be done
)

// Trouble reports whether something has to be put right.
func (f Finding) Trouble() bool {
	return f != "" && f != FoundDevice && f != FoundNoAddress && f != FoundNote
}

// Found is what a scan has to tell of one address.
type Found struct {
	Address string
	Finding Finding // empty means device
	// Kind is the profile that fits best, empty if none does. Others fit as well as
	// far as can be read: then nobody but the type plate decides.
	Kind   string
	Others []string
	// What the device told of itself; empty if it does not.
	Label, Serial, Version string
	Detail                 string       // the evidence, for people
	Advice                 string       // what to do about it; empty: nothing
	Line                   LineSettings // where a device answers, if not at the settings of the bus
	// Gateway: what is behind it are nodes, the address itself is none.
	Gateway bool
	// Lights and Shades are how many outputs of either kind the device has; an output
	// of a shade is made of outputs that could be lights.
	Lights, Shades int
	// Nodes of the site that are at this address. The core fills them in.
	Nodes []ID
	// New: the site had nothing at this address when the scan first told of it; see [Findings.With].
	New bool
	// Options and Groups that a node here should have, in the words of a site file.
	Options map[string]string
	Groups  []string
}

// Findings are what a scan found so far: who has each address, and what is true beside
// that, such as a device at other settings, somebody who babbles, a note.
type Findings []Found

// With adds what a scan tells, in the place of what it told of the same before, and
// returns which one it is now.
func (l Findings) With(f Found) (all Findings, i int) {
	i = slices.IndexFunc(l, func(had Found) bool { return had.Same(f) })
	if i < 0 {
		f.New = len(f.Nodes) == 0
		return append(l, f), len(l)
	}
	f.New = l[i].New // it may have been named since
	if f.Kind == "" {
		f.Kind, f.Others = l[i].Kind, l[i].Others
	}
	l[i] = f
	return l, i
}

// Same reports whether g tells of the same as f. Who was silent and then answers at
// other settings is one device.
func (f Found) Same(g Found) bool {
	if f.Finding == FoundSilent && g.Finding == FoundSettings {
		return f.Address == g.Address
	}
	return f.Address == g.Address && f.beside() == g.beside() && (f.beside() == "" || f.Line == g.Line) &&
		(f.Serial == g.Serial || f.Serial == "" || g.Serial == "")
}

// beside is what does not concern who has the address.
func (f Found) beside() Finding {
	switch f.Finding {
	case FoundSettings, FoundBabble, FoundNote, FoundEcho, FoundHindered:
		return f.Finding
	}
	return ""
}
