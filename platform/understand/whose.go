package understand

import (
	"slices"
	"strings"
)

// wasDone reports whether it is asked what somebody did, without saying who: "was switched off", not "was off".
func (s *sentence) wasDone() bool {
	if s.f.Lang == German {
		return s.has0("ging", "gingen") || s.has0("wurde", "wurden") && s.word("ausgeschaltet", "eingeschaltet", "angeschaltet", "abgeschaltet", "ausgemacht", "angemacht", "geöffnet", "geschlossen", "gelöscht", "aufgemacht", "zugemacht") != ""
	}
	if (s.wordAt(0) == "what" || s.has("list")) && s.word("came", "went") != "" && (s.f.State == On || s.f.State == Off) {
		return true
	}
	return s.has0("went") && s.has("list") || s.has0("was", "were", "been", "got") && s.word("switched", "turned", "opened", "closed", "raised", "lowered") != "" && !s.has0("how", "long") && s.has("list", "everything", "any", "count") || s.has0("what") && s.has0("was", "were") && s.word("switched", "turned", "opened", "closed") != ""
}

// timely reports whether a word stands only in times: "last night".
func (s *sentence) timely(word string) bool {
	found := false
	for i, t := range s.t {
		if t.stem == word {
			if found = s.isTime(i); !found {
				return false
			}
		}
	}
	return found
}

// commanded reports whether it is asked what was commanded, of whatever there is: "what changed since 11", "the last command in the lobby".
func (s *sentence) commanded() bool {
	period := s.f.When != nil && !s.f.When.Now
	if s.f.State != "" || s.f.Against != nil || s.has("energy", "power", "use", "cost", "meter", "fault", "offline", "controller", "firmware") {
		return false
	}
	switch {
	case s.has("command"), s.has("switch", "change") && (s.has("who") || s.somebody() || s.has0("last", "zuletzt") && !s.timely("last")) && len(s.f.Places) > 0:
		return true
	}
	if s.has("who") && s.has0("did") && s.has0("what") && (period || len(s.f.Places) > 0) { // "who did what in the lobby"
		return true
	}
	if s.somebodyDid() && (period || len(s.f.Places) > 0) {
		return true
	}
	if period && (s.wordAt(0) == "what" || s.wordAt(0) == "was") && s.has0("done", "gemacht", "getan") && !s.has("report") {
		return true
	}
	return (period || len(s.f.Places) > 0 && s.has("change") && !s.has("than", "compare", "trend")) && (s.has("switch") || s.has("change") && s.wordAt(0) == "what" || s.has("change") && s.wordAt(0) == "was")
}

// agent reports whether it is asked what did something, in the words of who did.
func (s *sentence) agent() bool {
	if s.wordAt(0) == "was" && s.wordAt(1) == "hat" {
		return s.has("switch", "on", "off", "open", "closed") && s.word("gebrannt", "geleuchtet") == ""
	}
	return s.wordAt(0) == "what" && s.first("switch") == 1
}

// somebodyDid reports whether it is asked if anybody did anything: "did anybody do something".
func (s *sentence) somebodyDid() bool {
	return s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && s.has0("do", "done", "gemacht", "getan") && s.word("anything", "something", "etwas", "was") != "" && !s.has("energy", "power", "use")
}

// somebody reports whether it is asked if anybody did something: "did anybody switch it off". Who leaves a light on does nothing.
func (s *sentence) somebody() bool {
	return (s.has("nobody") && (s.has("switch") || s.word("switched", "turned", "opened", "closed", "raised", "lowered", "eingeschaltet", "angeschaltet", "ausgeschaltet", "geschaltet", "geöffnet", "geschlossen") != "") || s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && s.word("did", "has", "have", "hat", "whether", "ob") != "") &&
		s.word("leave", "left", "leaving", "forget", "forgot", "forgotten", "gelassen", "lassen", "angelassen", "offengelassen", "vergessen") == "" && (s.has("switch") || s.f.State != "")
}

// Through begins the aspect of a question for commands that were given through one door; the door follows, as ledgers name it, or "hand".
const Through = "via "

// through notes by which door commands are asked for: "via the chat", "by hand". What is done by hand is no command.
func (s *sentence) through() {
	for _, c := range s.chunks {
		for _, tag := range c.tags {
			door, ok := strings.CutPrefix(tag, Through)
			switch {
			case !ok || s.t[c.at].used:
			case door == "hand":
				s.f.Aspect, s.f.Unclear = "hand", &Unclear{Absent, []string{said(s.t, c.at, c.n)}}
			case s.f.Aspect == "":
				s.f.Aspect = tag
				s.claim(tag)
			}
		}
	}
}

// thwarted reports whether somebody asks why something cannot be done, or does not happen when it is: "why can't I dim it", "warum lassen
// sich die Storen nicht bewegen".
func (s *sentence) thwarted() bool {
	for i, t := range s.t {
		if t.stem != "not" && t.stem != "nicht" && t.stem != "unable" {
			continue
		}
		before := s.wordAt(i - 1)
		acts := (before == "do" || before == "doe") && s.has0("come", "go", "move", "turn", "open", "close", "react", "respond", "obey")
		if acts || slices.Contains([]string{"can", "could", "will", "would"}, before) || t.stem == "unable" {
			return true
		}
		if s.f.Lang == German && s.has0("kann", "koennen", "konnte", "lassen", "laesst", "liess", "wollen", "will", "reagiert", "reagieren") {
			if last := len(s.t) - 1; s.means(last, "set", "on", "off", "open", "close", "dim", "brighten", "raise", "lower") {
				s.t[last].used = true
			}
			return true
		}
	}
	return false
}

// works reports whether it is asked if something did what it was to, and takes the word.
func (s *sentence) works() bool {
	return s.used("work", "worked", "succeed", "succeeded", "successful", "geklappt", "funktioniert", "gewirkt", "angekommen", "erfolgreich", "ausgefuehrt")
}

// used takes words that a reading accounts for; false: none is there.
func (s *sentence) used(words ...string) bool {
	found := false
	for i, t := range s.t {
		if slices.Contains(words, t.stem) || slices.Contains(words, t.text) {
			s.t[i].used, found = true, true
		}
	}
	return found
}

// turnedDown takes the end of what was turned up or down, where it is asked who did it and no shades are spoken of: "who turned it down".
func (s *sentence) turnedDown() {
	if !s.has("who") || s.has("shade") || s.nameSays(Shade) || !s.has0("turn", "turned", "dimmed", "dim", "cranked", "dialled", "gedreht", "drehte") {
		return
	}
	s.used("down", "up", "runter", "herunter", "hoch")
}

// present reports whether it is asked who is or was somewhere: "who was in the lobby", "wer ist gerade im Turm".
func (s *sentence) present() bool {
	return s.has0("is", "was", "were", "are", "ist", "war", "waren", "sind") && s.has0("in", "im", "on", "auf", "at")
}
