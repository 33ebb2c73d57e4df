package appliance

import "slices"

// What the doors, site files and the ledger call things. The words are in files and programs of others: they stay.
var (
	kindWords = []string{LightOn: "light-on", LightOff: "light-off", LightLevel: "light-level", LightKelvin: "light-kelvin",
		LightRGBW: "light-rgbw", ShadeOpen: "shade-open", ShadeClose: "shade-close", ShadeStop: "shade-stop", ShadeMoveTo: "shade-move-to"}
	stageWords = []string{StageAccepted: "accepted", StageSent: "sent", StageAcknowledged: "acknowledged",
		StageObserved: "observed", StageUnverifiable: "unverifiable", StageFailed: "failed"}
	sourceWords  = []string{Restored: "restored", Acknowledged: "acknowledged", Measured: "measured", Estimated: "estimated", Sent: "sent"}
	abilityWords = []string{"switch", "dim", "tune", "colour", "measure", "move", "position"} // CanSwitch first
)

// Word of a kind; empty if there is no such kind.
func (k Kind) Word() string { return wordOf(kindWords, k) }

// Word of a stage.
func (s Stage) Word() string { return wordOf(stageWords, s) }

// Word of a source; empty if nothing is known.
func (s Source) Word() string { return wordOf(sourceWords, s) }

// Words of a set of abilities.
func (a Ability) Words() []string {
	words := []string{}
	for i, word := range abilityWords {
		if a.Has(1 << i) {
			words = append(words, word)
		}
	}
	return words
}

// KindOf is the kind of a word.
func KindOf(word string) (Kind, bool) { return meant[Kind](kindWords, word) }

// StageOf is the stage of a word.
func StageOf(word string) (Stage, bool) { return meant[Stage](stageWords, word) }

func wordOf[T ~uint8](words []string, v T) string {
	if int(v) < len(words) {
		return words[v]
	}
	return ""
}

func meant[T ~uint8](words []string, word string) (T, bool) {
	i := slices.Index(words, word)
	return T(max(i, 0)), i >= 0 && word != ""
}

// String names a motion for logs and messages.
func (m Motion) String() string {
	names := [...]string{"unknown", "open", "close", "stop", "go to a position", "stopped", "opening", "closing", "moving"}
	if int(m) < len(names) {
		return names[m]
	}
	return "unknown"
}
