package api

import (
	"time"

	"svc.internal/controller/shelf/board"
)

// Board is how the computer below the controller does, as far as its kernel tells.
type Board struct {
	Temperatures []Temperature `json:"temperatures"`
	TooHot       bool          `json:"tooHot" doc:"It has 80 °C or more, and slows down; until it has less than 75."`
	Power        string        `json:"power,omitempty" enum:"good,weak" doc:"weak: the voltage was too low within the last hour. Left out: the kernel does not tell."`
	PowerWeakAt  *time.Time    `json:"powerWeakAt" doc:"When the voltage was last too low; null: not since the start, or nobody knows."`
}

// Temperature of one place of the board.
type Temperature struct {
	Zone    string  `json:"zone" doc:"As the kernel names it."`
	Celsius float64 `json:"celsius"`
}

// boardOf is nil where nothing is known.
func boardOf(s board.State) *Board {
	if len(s.Zones) == 0 && s.Power == "" {
		return nil
	}
	out := Board{Temperatures: []Temperature{}, TooHot: s.Hot, Power: string(s.Power), PowerWeakAt: stampOf(s.WeakAt)}
	for _, z := range s.Zones {
		out.Temperatures = append(out.Temperatures, Temperature{z.Name, z.Celsius})
	}
	return &out
}

// besides are what needs somebody and is not of the building.
func (a *API) besides() (list []Concern) {
	if a.Within.Board != nil {
		s := a.Within.Board()
		if s.Power == board.Weak {
			list = append(list, Concern{Key: "board power", Kind: "power-weak", What: "the power supply is too weak: the voltage fell too low"})
		}
		if s.Hot {
			list = append(list, Concern{Key: "board hot", Kind: "too-hot", What: "the controller is too hot"})
		}
	}
	if a.Within.Unenrolled != nil {
		if why := a.Within.Unenrolled(); why != "" {
			list = append(list, Concern{Key: "enrolment", Kind: "not-enrolled", What: why})
		}
	}
	return list
}
