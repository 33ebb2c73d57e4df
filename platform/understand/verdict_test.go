package understand

import "testing"

// Which of two places is asked to be more is known where a yes or no is asked.
func TestAComparisonHasADirection(t *testing.T) {
	names := house()
	for text, want := range map[string]Manner{
		"is the lobby brighter than the canteen":                       More,
		"is the lobby darker than the canteen?":                        Less,
		"are more blinds up in the lobby than in the canteen":          More,
		"are the canteen blinds lower than the lobby blinds":           Less,
		"are the lobby blinds more closed than the canteen blinds":     Less,
		"ist die Lobby heller als die Kantine":                         More,
		"does the ground floor use more energy than the upper floor":   More,
		"does the lobby draw less than the canteen":                    Less,
		"is it brighter in the lobby or in the canteen":                0,
		"which is brighter, the lobby or the canteen":                  0,
		"how much brighter is the lobby than the canteen":              0,
		"isn't the lobby brighter than the canteen":                    0,
		"did the lobby use more this week than last week":              0,
		"braucht das Erdgeschoss weniger Energie als das Obergeschoss": Less,
	} {
		f := Read(text, names, now)
		if got := f.Manner & (More | Less); got != want {
			t.Errorf("%q: direction %v, want %v (%v)", text, got, want, f)
		}
	}
}
