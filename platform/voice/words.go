package voice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// saying is what a person is answered: what is spoken, of twelve words at most and without the names of buses or files, and what is
// shown, which may say more.
type saying struct{ speak, reply string }

// same is spoken and shown.
func same(text string) saying { return saying{text, text} }

// in says a sentence in a language. Whatever is missing in German stays English.
func in(lang understand.Lang, format string, values ...any) string {
	if lang == understand.German {
		if de, ok := german[format]; ok {
			format = de
		}
	}
	return fmt.Sprintf(format, values...)
}

// cannot says what can be said.
const cannot = `I can switch and dim the lights, and move the shades. Say for instance "lights to 50 percent" or "open the shades".`

// unheard is spoken where nothing tells why.
const unheard = `I did not understand. Say for instance "lights to 50 percent".`

// darkness is spoken where a step has nothing to start from.
const darkness = `I don't know how bright it is now. Say a level.`

// howFar is spoken where shades are to go a little, and not all stand at one place that is known.
const howFar = `Say how far, for instance "shades 30 percent".`

// whichOf is spoken where everything is to be on or off.
const whichOf = `Lights or shades? Say for instance "lights off".`

// help says what can be said, with examples that work in the room.
func (r *Room) help(ctx context.Context, d platform.RoomDevice, lang understand.Lang) saying {
	speak := `Say "lights to 50 percent", "brighter" or "shades down".`
	switch lights, shades := len(r.inRoom(ctx, d, platform.KindLight)) > 0, len(r.inRoom(ctx, d, platform.KindShade)) > 0; {
	case lights && !shades:
		speak = `Say "lights on", "brighter" or "lights to 50 percent".`
	case shades && !lights:
		speak = `Say "shades up", "shades down" or "shades 30 percent".`
	}
	reply := in(lang, speak) + " " + in(lang, cannot)
	if scenes := r.sceneNames(d); scenes != "" {
		reply += " " + in(lang, "Scenes: %s.", scenes)
	}
	return saying{in(lang, speak), reply}
}

// refusals are why an order is not done as it was said.
var refusals = map[understand.Reason]string{
	understand.Later:     "I cannot do it later, only now.",
	understand.For:       "I cannot do it for a while only.",
	understand.If:        "I cannot wait for a condition.",
	understand.Elsewhere: "I command the lights and shades of this room, all of them.",
	understand.SceneSet:  "This room has no such scene.",
	understand.Coloured:  "I cannot set colours.",
	understand.Heating:   "I cannot set heating, cooling or ventilation.",
	understand.Value:     "I need a whole number from 0 to 100.",
	understand.Undo:      "I do not keep earlier settings. Say a level.",
	understand.Multiple:  "I do not reckon with what it is now. Say a level.",
	understand.Contrary:  "Those exclude each other. Say one of them.",
	understand.Negated:   "Then I do nothing.",
	understand.Missing:   "I command only lights and shades.",
	understand.Absent:    "I command only lights and shades.",
	understand.Which:     whichOf,
}

// refuse says why nothing is done.
func refuse(lang understand.Lang, u *understand.Unclear) saying {
	if u == nil {
		return saying{in(lang, unheard), in(lang, cannot)}
	}
	if u.Why == understand.ToOrBy {
		return same(in(lang, "To %s, or by %s? Say it again.", u.Words[0], u.Words[0]))
	}
	why, ok := refusals[u.Why]
	if !ok {
		return saying{in(lang, unheard), in(lang, cannot)}
	}
	reply := in(lang, "Nothing was done: ") + in(lang, why)
	if words := strings.Join(u.Words, "”, “"); words != "" {
		reply = in(lang, "Nothing was done (“%s”): ", words) + in(lang, why)
	}
	return saying{in(lang, why), reply + " " + in(lang, cannot)}
}

// speakable is how many words are spoken at most.
const speakable = 12

// exceptions says who did not obey.
func exceptions(lang understand.Lang, all int, not []wire.Exception) saying {
	var who, short []string
	for _, x := range not {
		why := string(x.Why)
		who = append(who, x.Name+" "+in(lang, platform.WhyNot(why)))
		if x.Why == wire.WhyBus { // of a bus only who mends it wants to know
			why = string(wire.WhySilent)
		}
		short = append(short, x.Name+" "+in(lang, platform.WhyNot(why)))
	}
	out := saying{speak: notAll(lang, all, short), reply: notAll(lang, all, who)}
	if len(short) > 1 || len(strings.Fields(out.speak)) > speakable {
		out.speak = in(lang, "%d of %d do not obey.", len(not), max(all, len(not)))
	}
	return out
}

// notAll is [platform.NotAll] in a language.
func notAll(lang understand.Lang, all int, who []string) string {
	text := platform.NotAll(all, who)
	if lang != understand.German {
		return text
	}
	text = strings.Replace(text, "Not done: ", "Nicht erledigt: ", 1)
	text = strings.Replace(text, " done; ", " erledigt; ", 1)
	return strings.Replace(strings.Replace(text, " of ", " von ", 1), "; and ", "; und ", 1)
}

// offline says how many things are.
func offline(lang understand.Lang, n int, thing string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " " + in(lang, "1 "+thing+" is offline.")
	}
	return " " + in(lang, "%d "+thing+"s are offline.", n)
}

// upper begins a sentence.
func upper(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

// firstSentences is what is spoken of a long answer.
func firstSentences(text string) string {
	const spoken = 300
	if len(text) <= spoken {
		return text
	}
	if i := strings.LastIndex(text[:spoken], ". "); i > 0 {
		return text[:i+1]
	}
	return strings.ToValidUTF8(text[:spoken], "") + "…"
}

// joined are the sentences of several steps, each once.
func joined(all []saying) saying {
	var speak, reply []string
	for _, t := range all {
		if !slices.Contains(speak, t.speak) { // "Sent." once
			speak = append(speak, t.speak)
		}
		if !slices.Contains(reply, t.reply) {
			reply = append(reply, t.reply)
		}
	}
	return saying{strings.Join(speak, " "), strings.Join(reply, " ")}
}

// german is the catalogue: English sentence to German one.
var german = map[string]string{
	cannot:   `Ich kann das Licht schalten und dimmen und die Rollos bewegen. Sagen Sie etwa „Licht auf 50 Prozent“ oder „Rollos auf“.`,
	unheard:  `Das habe ich nicht verstanden. Sagen Sie etwa „Licht auf 50 Prozent“.`,
	darkness: "Wie hell es ist, weiß ich nicht. Sagen Sie einen Wert.",
	whichOf:  `Licht oder Rollos? Sagen Sie etwa „Licht aus“.`, "Scenes: %s.": "Szenen: %s.",
	`Say "lights to 50 percent", "brighter" or "shades down".`: `Sagen Sie „Licht auf 50 Prozent“, „heller“ oder „Rollos runter“.`,
	`Say "lights on", "brighter" or "lights to 50 percent".`:   `Sagen Sie „Licht an“, „heller“ oder „Licht auf 50 Prozent“.`,
	`Say "shades up", "shades down" or "shades 30 percent".`:   `Sagen Sie „Rollos hoch“, „Rollos runter“ oder „Rollos 30 Prozent“.`,
	"a quarter": "ein Viertel", "a third": "ein Drittel", "half": "die Hälfte", "two thirds": "zwei Drittel", "three quarters": "drei Viertel",
	howFar: `Sagen Sie, wie weit, etwa „Rollos 30 Prozent“.`, "The lights are off.": "Das Licht ist aus.",

	"Nothing was done: ":              "Es wurde nichts getan: ",
	"Nothing was done (“%s”): ":       "Es wurde nichts getan („%s“): ",
	"I cannot do it later, only now.": "Später kann ich es nicht tun, nur jetzt.", "I cannot do it for a while only.": "Nur für eine Weile kann ich es nicht tun.",
	"I cannot wait for a condition.":                             "Auf eine Bedingung kann ich nicht warten.",
	"I command the lights and shades of this room, all of them.": "Ich steuere Licht und Rollos dieses Raums, und zwar alle.",
	"This room has no such scene.":                               "Eine solche Szene hat dieser Raum nicht.", "I cannot set colours.": "Farben kann ich nicht stellen.",
	"Several scenes have that name. Tap one.": "So heißen mehrere Szenen. Tippen Sie auf eine.", "Scene %s.": "Szene %s.",
	`Say "scene %s".`: "Sagen Sie „Szene %s“.", "It has: %s.": "Er hat: %s.",
	"I cannot set heating, cooling or ventilation.": "Heizung, Kühlung und Lüftung kann ich nicht stellen.", "I need a whole number from 0 to 100.": "Ich brauche eine ganze Zahl von 0 bis 100.",
	"I do not keep earlier settings. Say a level.":      "Frühere Werte hebe ich nicht auf. Sagen Sie einen Wert.",
	"I do not reckon with what it is now. Say a level.": "Vom jetzigen Wert rechne ich nicht. Sagen Sie einen Wert.",
	"Those exclude each other. Say one of them.":        "Das schließt sich aus. Sagen Sie eines davon.",
	"I command only lights and shades.":                 "Ich steuere nur Licht und Rollos.",
	"Then I do nothing.":                                "Dann tue ich nichts.",
	"To %s, or by %s? Say it again.":                    "Auf %s oder um %s? Sagen Sie es noch einmal.",
	"I cannot answer that now; try again.":              "Das kann ich jetzt nicht beantworten; bitte noch einmal.",
	"I only know how the lights and shades are.":        "Ich weiß nur, wie Licht und Rollos sind.",
	"I do not know how the lights are now.":             "Wie das Licht jetzt ist, weiß ich nicht.",
	"I do not know how the shades are now.":             "Wie die Rollos jetzt stehen, weiß ich nicht.",
	"Yes: ":                                             "Ja: ",
	"No: ":                                              "Nein: ",
	"the lights are off.":                               "das Licht ist aus.",
	"the lights are on, at %d percent.":                 "das Licht ist an, mit %d Prozent.",
	"the lights are on, at %d to %d percent.":           "das Licht ist an, mit %d bis %d Prozent.",
	"%d of %d lights are on, at %d percent.":            "%d von %d Leuchten sind an, mit %d Prozent.",
	"%d of %d lights are on, at %d to %d percent.":      "%d von %d Leuchten sind an, mit %d bis %d Prozent.",
	"the shades are closed.":                            "die Rollos sind zu.",
	"the shades are open.":                              "die Rollos sind offen.",
	"the shades are about %d percent open.":             "die Rollos sind zu etwa %d Prozent offen.", "the shades are about %d to %d percent open.": "die Rollos sind zu etwa %d bis %d Prozent offen.",
	"the shades are %d percent open.":       "die Rollos sind zu %d Prozent offen.",
	"the shades are %d to %d percent open.": "die Rollos sind zu %d bis %d Prozent offen.",
	`Say "brighter".`:                       "Sagen Sie „heller“.",
	`Say "darker".`:                         "Sagen Sie „dunkler“.",
	`Say "close the shades".`:               "Sagen Sie „Rollos zu“.",
	`Say "lights on".`:                      "Sagen Sie „Licht an“.",
	`Say "open the shades".`:                "Sagen Sie „Rollos auf“.",
	"the shades are moving.":                "die Rollos fahren.",
	"All lights and shades here answer. Please tell the building's technician.": "Hier antworten alle. Bitte sagen Sie es der Haustechnik.",
	"%d of %d lights and shades here do not answer.":                            "%d von %d Leuchten und Rollos hier antworten nicht.",
	"Lights here: %d; shades: %d.":                                              "Leuchten hier: %d; Rollos: %d.",
	"%d did not report.":                                                        "%d haben nicht berichtet.",
	"%d of %d do not obey.":                                                     "%d von %d gehorchen nicht.",
	"1 light is offline.":                                                       "1 Leuchte ist offline.",
	"%d lights are offline.":                                                    "%d Leuchten sind offline.",
	"1 shade is offline.":                                                       "1 Rollo ist offline.",
	"%d shades are offline.":                                                    "%d Rollos sind offline.",
	"1 device is offline.":                                                      "1 Gerät ist offline.",
	"%d devices are offline.":                                                   "%d Geräte sind offline.",
	"Sent.":                                                                     "Gesendet.",
	"Lights on.":                                                                "Licht an.",
	"Lights off.":                                                               "Licht aus.",
	"Lights at %d percent.":                                                     "Licht auf %d Prozent.",
	"Shades opening.":                                                           "Rollos fahren auf.",
	"Shades closing.":                                                           "Rollos fahren zu.",
	"Shades going to %d percent open.":                                          "Rollos fahren auf %d Prozent offen.",
	"Shades going to one third.":                                                "Rollos fahren auf ein Drittel.",
	"Shades going to two thirds.":                                               "Rollos fahren auf zwei Drittel.",
	"Shades stopped.":                                                           "Rollos angehalten.",
	"Here are the controls.":                                                    "Hier ist die Bedienung.",
	"That could not be sent; try again.":                                        "Es ließ sich nicht senden; bitte noch einmal.",
	"That came too late; nothing was done. Say it again.":                       "Das kam zu spät, nichts geschah. Sagen Sie es noch einmal.",
	"The controls could not be opened.":                                         "Die Bedienung ließ sich nicht öffnen.",
	"That was not done.":                                                        "Das wurde nicht getan.",
	"Not all of it was done.":                                                   "Nicht alles wurde getan.",
	"is offline":                                                                "ist offline", "does not answer": "antwortet nicht", "refuses it": "lehnt es ab", "stands at another value": "steht auf einem anderen Wert",
	"was not told in time": "kam nicht rechtzeitig an die Reihe", "cannot be reached: its bus is down": "ist nicht zu erreichen: sein Bus ist ausgefallen",
	"was told something newer": "bekam eine neuere Anweisung", "did not confirm it": "hat es nicht bestätigt", "did not do it": "hat es nicht getan",
}
