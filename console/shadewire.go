package console

import (
	"strconv"
	"time"

	"svc.internal/controller/appliance"
)

// Shade is a shade as the console tells it.
type Shade struct {
	ID     appliance.ID `json:"id"`
	Name   string       `json:"name"`
	Node   appliance.ID `json:"node"`
	Bus    string       `json:"bus"`
	Online bool         `json:"online"`
	Fault  string       `json:"fault,omitempty"`
	// Position in percent, 100 is open; nil: not known. Uncertainty in percent points.
	Position    *int   `json:"position,omitempty"`
	Uncertainty int    `json:"uncertainty"`
	Motion      string `json:"motion"`
	// Measured: its device tells its position; else it is computed from travel times.
	Measured bool `json:"measured"`
	ShadeSettings
}

// ShadeSettings in the words of a site file; empty times are not known.
type ShadeSettings struct {
	TravelUp   string `json:"travelUp,omitempty"`
	TravelDown string `json:"travelDown,omitempty"`
	Inverted   bool   `json:"inverted"`
}

func settingsOf(s appliance.ShadeSettings) ShadeSettings {
	return ShadeSettings{spanText(s.TravelUp), spanText(s.TravelDown), s.Inverted}
}

func spanText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// What a person at the shade is asked.
const (
	AskBegin  = "begin"  // may the leg begin? Any answer is yes
	AskStands = "stands" // answer when the shade stands at its end
	AskWent   = "went"   // which way did it go?
)

// What a person may have seen a shade do.
const (
	WentUp      = "up"
	WentDown    = "down"
	WentNowhere = "none"
)

// ShadeLeg is one part of a run.
type ShadeLeg struct {
	Leg int  `json:"leg"` // from 1
	Run int  `json:"run"` // from 1; 0: the way to the first end, not timed
	Up  bool `json:"up"`
}

// Question waits for an answer, see [Client.Answer].
type Question struct {
	Step int    `json:"step"`
	Ask  string `json:"ask"`
	ShadeLeg
}

// Moving tells that the shade moves.
type Moving struct {
	ShadeLeg
	Seconds  float64 `json:"seconds"` // since it was told to
	Position *int    `json:"position,omitempty"`
}

// Measured is the outcome of one timed leg.
type Measured struct {
	ShadeLeg
	Seconds     float64 `json:"seconds"`
	Uncertainty float64 `json:"uncertainty"` // in s, one way or the other
}

// Travel is what all runs of one direction say together, in s.
type Travel struct {
	Seconds     float64   `json:"seconds"`
	Uncertainty float64   `json:"uncertainty"`
	Spread      float64   `json:"spread"`
	Runs        []float64 `json:"runs"`
}

func travelOf(t appliance.Travel) *Travel {
	out := &Travel{Seconds: seconds(t.Mean), Uncertainty: seconds(t.Uncertainty), Spread: seconds(t.Spread)}
	for _, r := range t.Runs {
		out.Runs = append(out.Runs, seconds(r))
	}
	return out
}

// seconds to the hundredth.
func seconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Millisecond)) / float64(time.Second)
}

// ShadeResult is the end of a run that went well.
type ShadeResult struct {
	ID   appliance.ID `json:"id"`
	Name string       `json:"name"`
	// Up and Down are nil when the direction was looked for.
	Up   *Travel `json:"up,omitempty"`
	Down *Travel `json:"down,omitempty"`
	// Watched: by a person; else by the shade's own position.
	Watched bool          `json:"watched"`
	Old     ShadeSettings `json:"old"`
	New     ShadeSettings `json:"new"`
	Saved   bool          `json:"saved"`
}

// ShadeEvent is one line of the answer to a run: exactly one field is set.
type ShadeEvent struct {
	Ask      *Question    `json:"question,omitempty"`
	Moving   *Moving      `json:"moving,omitempty"`
	Measured *Measured    `json:"measured,omitempty"`
	Result   *ShadeResult `json:"result,omitempty"`
	Error    string       `json:"error,omitempty"`
}

func shadeOf(s *appliance.Snapshot, sh *appliance.ShadeState) Shade {
	out := Shade{
		ID: sh.Shade.ID, Name: sh.Shade.Name, Node: sh.Shade.Node, Online: sh.Online, Fault: sh.Fault, Uncertainty: sh.Uncertainty,
		Motion: sh.Motion.String(), Measured: sh.Channel.PositionMeasured, Position: percentOf(sh.Position), ShadeSettings: settingsOf(sh.Shade.Settings()),
	}
	if n := s.Node(sh.Shade.Node); n != nil {
		for _, b := range s.Buses {
			if b.Bus.UUID == n.Node.Bus {
				out.Bus = b.Bus.Name
			}
		}
	}
	return out
}

func percentOf(p appliance.Known[appliance.Position]) *int {
	if !p.OK() {
		return nil
	}
	at := int(p.Value)
	return &at
}

func idText(id appliance.ID) string { return strconv.Itoa(int(id)) }
