package voice

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// A scene is recalled by its name, and one of the words that call for a scene: "presentation" alone may be what somebody talks of.
// Any other word beside them may change what is meant, and then nothing is done.
var (
	calling = words("scene scenes mode preset mood ambience ambiance atmosphere activate recall szene modus lichtszene stimmung lichtstimmung aktiviere aktivier aktivieren abrufen rufe ruf")
	around  = words("please can could would will you we i the a an our this switch change set go put turn bring start load run use apply select choose pick make give me us have want need like to into on for light lights lighting room here now hey hi ok okay thanks thank " +
		"bitte kannst könntest können könnten würden würdest sie du wir ich die den das der in auf zu zur ein an um licht raum hier jetzt mal stell stelle stellen einstellen schalt schalte schalten einschalten umschalten mach mache machen wechsle wechsel wechseln nimm nehmen lade laden starte starten wähle wählen möchte will hätte haben gern gerne danke uns mir für")
	// fetching are the words with which "ab" calls for something; with any other it ends it.
	fetching = words("rufe ruf")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// spokenWords are the words of a text, in lower case.
func spokenWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// callsFor reports whether a sentence calls for the scene of a name, and for nothing else.
func callsFor(said []string, name string) bool {
	of := spokenWords(name)
	called := slices.ContainsFunc(of, func(w string) bool { return calling[w] })
	for at := 0; len(of) > 0 && at+len(of) <= len(said); at++ {
		if !slices.Equal(said[at:at+len(of)], of) {
			continue
		}
		rest := slices.Concat(said[:at], said[at+len(of):])
		fetches := slices.ContainsFunc(rest, func(w string) bool { return fetching[w] })
		strange := slices.ContainsFunc(rest, func(w string) bool { return !calling[w] && !around[w] && (w != "ab" || !fetches) })
		return !strange && (called || slices.ContainsFunc(rest, func(w string) bool { return calling[w] }))
	}
	return false
}

// scenes are those of the room.
func (r *Room) scenes(d platform.RoomDevice) []wire.Scene {
	if r.cfg.Scenes == nil {
		return nil
	}
	return r.cfg.Scenes(d.Controller, d.ID)
}

// sceneNames lists the scenes of the room; empty: it has none.
func (r *Room) sceneNames(d platform.RoomDevice) string {
	var names []string
	for _, s := range r.scenes(d) {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// scene is the gesture that recalls the scene of the room that a sentence calls for; why tells what is missing for that. Neither: it
// calls for none.
func (r *Room) scene(d platform.RoomDevice, text string, lang understand.Lang) (g gesture, why string) {
	said := spokenWords(text)
	var found []wire.Scene
	for _, s := range r.scenes(d) {
		switch {
		case callsFor(said, s.Name):
			found = append(found, s)
		case slices.Equal(said, spokenWords(s.Name)):
			why = in(lang, `Say "scene %s".`, s.Name)
		}
	}
	switch len(found) {
	case 0:
		return g, why
	case 1:
		s := found[0]
		return gesture{widget: wire.SceneRecall, action: wire.Clicked, value: strconv.FormatInt(s.ID, 10), scene: &s, done: in(lang, "Scene %s.", s.Name)}, ""
	}
	return g, in(lang, "Several scenes have that name. Tap one.")
}
