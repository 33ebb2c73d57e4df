package assistant

// german is the catalogue: English sentence to German one. Values stand in the same order, or are numbered.
var german = map[string]string{
	// parts
	" and ": " und ", " and %d more": " und %d weitere", "none": "keine", "; then ": "; dann ", " in ": " in ", "%d of %d": "%d von %d",
	"light": "Leuchte", "shade": "Rollo", "zone": "Zone", "floor": "Etage", "device": "Komponente", "meter": "Messstelle", "fault": "Störung",

	// what became of an order
	"done": "erledigt", "on its way": "unterwegs", "not done": "nicht erledigt",
	"is offline": "ist offline", "does not answer": "antwortet nicht", "refuses it": "lehnt es ab", "stands at another value": "steht auf einem anderen Wert",
	"was not told in time": "kam nicht mehr rechtzeitig an die Reihe", "cannot be reached: its bus is down": "ist nicht zu erreichen: sein Bus ist ausgefallen",
	"was told something newer": "bekam inzwischen eine neuere Anweisung", "did not confirm it": "hat es nicht bestätigt", "did not do it": "hat es nicht getan",
	"sent, and its controller has not answered yet":                                       "gesendet, der Controller hat noch nicht geantwortet",
	"its controller is offline":                                                           "der Controller ist offline",
	"its controller is no longer known here":                                              "der Controller ist hier nicht mehr bekannt",
	"too many orders are under way; try again":                                            "es sind zu viele Anweisungen unterwegs; bitte noch einmal",
	"it could not be sent; try again":                                                     "es konnte nicht gesendet werden; bitte noch einmal",
	"What you told me at %s is still not there: %s":                                       "Die Anweisung von %s ist noch nicht ausgeführt: %s",
	"Of what you told me at %s: %s":                                                       "Zur Anweisung von %s: %s",
	"Dropped: nothing was done.":                                                          "Verworfen: Es wurde nichts getan.",
	"Nothing was done: the preview is %s old. Say again what you want.":                   "Es wurde nichts getan: Die Vorschau ist %s alt. Bitte noch einmal sagen, was geschehen soll.",
	"There is nothing waiting for a yes or no. Ask me something, or tell me what to set.": "Nichts wartet auf ein Ja oder Nein. Fragen Sie etwas, oder sagen Sie, was zu stellen ist.",

	// what an order would do
	"switch the lights off": "Licht aus", "set the lights to %d %%": "Licht auf %d %%", "close the shades": "Rollos schließen",
	"move the shades to %d %% open": "Rollos auf %d %% offen", "stop the shades": "Rollos anhalten",
	"Not done yet. This would %s. Answer “yes” within %s to do it; anything else drops it.": "Noch nicht ausgeführt. Es wäre: %s. „Ja“ innerhalb von %s führt es aus; alles andere verwirft es.",
	"present level unknown": "jetziger Wert unbekannt", "present position unknown": "jetzige Stellung unbekannt", "%d on now": "jetzt %d an", "now %s open on average": "jetzt im Mittel %s offen",

	// why not
	"I did nothing: %s": "Ich habe nichts getan: %s",
	noControl:           "Ich darf für Sie nichts schalten oder bewegen: Ihr Schlüssel oder Ihre Anmeldung darf nur lesen. Dazu braucht es einen Schlüssel mit der Erlaubnis zu steuern; sie wird beim Anlegen vergeben.",
	"I cannot switch or move anything: this platform has no way to its controllers.":                                                       "Ich kann nichts schalten oder bewegen: Diese Plattform hat keinen Weg zu ihren Controllern.",
	"I did nothing: the controller of %s is offline, so nothing would arrive in time.":                                                     "Ich habe nichts getan: Der Controller von %s ist offline, nichts käme rechtzeitig an.",
	"I did nothing: that would be %d zones, at most %d are possible at once.":                                                              "Ich habe nichts getan: Das wären %d Zonen, höchstens %d gehen auf einmal.",
	"I cannot do it later (%s); I can do it now.":                                                                                          "Später (%s) kann ich es nicht tun, jetzt schon.",
	"I cannot do it for a while only (%s) and undo it afterwards; say it without, and again when it should end.":                           "Nur für eine Weile (%s) kann ich es nicht tun; sagen Sie es ohne, und noch einmal, wenn es enden soll.",
	"I cannot wait for a condition (%s); rules on the controller can.":                                                                     "Auf eine Bedingung (%s) kann ich nicht warten; Regeln des Controllers können das.",
	"no controller here can set heating, cooling or ventilation; I can switch and dim lights and move shades.":                             "Heizung, Kühlung oder Lüftung stellt hier kein Controller; ich kann Licht schalten und dimmen und Rollos bewegen.",
	"I cannot recall scenes; I can switch and dim lights and move shades, zone by zone.":                                                   "Szenen kann ich nicht abrufen; ich kann Licht schalten und dimmen und Rollos bewegen, Zone für Zone.",
	"I cannot set colours; I can switch and dim lights and move shades.":                                                                   "Farben kann ich nicht stellen; ich kann Licht schalten und dimmen und Rollos bewegen.",
	"I do not understand orders with “not” (%s); say only what is to be done, and nothing happens to the rest.":                            "Anweisungen mit „nicht“ (%s) verstehe ich nicht; sagen Sie nur, was geschehen soll, mit dem Rest geschieht nichts.",
	"I understood %s, and I need one whole number from 0 to 100: say for example “set the lobby to 60 %%”.":                                "Ich habe %s verstanden und brauche eine ganze Zahl von 0 bis 100: zum Beispiel „Lobby auf 60 %%“.",
	"I do not understand %s, and that is not something I can do; I can set lights to a level and move or stop shades, zone by zone.":       "Ich verstehe %s nicht und kann das nicht tun; ich kann Licht auf einen Wert stellen und Rollos bewegen oder anhalten, Zone für Zone.",
	"I need to know what to do with what, from 0 to 100 %%: say for example “set the lobby to 60 %%” or “move the lobby shades to 30 %%”.": "Ich muss wissen, was womit geschehen soll, von 0 bis 100 %%: zum Beispiel „Lobby auf 60 %%“ oder „Rollos der Lobby auf 30 %%“.",
	"a panel can be opened at its device only.":                                                                                            "ein Bedienfeld öffnet sich nur an seinem Gerät.",
	"which zone or floor do you mean, or all of them?":                                                                                     "welche Zone oder Etage ist gemeint, oder alle?",
	"I command whole zones, not single devices; name a zone or a floor.":                                                                   "ich steuere ganze Zonen, keine einzelnen Geräte; nennen Sie eine Zone oder Etage.",
	"%s belongs to %s and to what is left out, and I command whole zones.":                                                                 "%s gehört zu %s und zu dem, was ausgenommen ist, und ich steuere ganze Zonen.",
	"I do not know how bright %s is now; say to what level, from 0 to 100 %%.":                                                             "Ich weiß nicht, wie hell es in %s jetzt ist; sagen Sie, auf welchen Wert, von 0 bis 100 %%.",
	"no zone%s has a %s.": "keine Zone%s hat das: %s.",

	// questions
	"is": "ist", "are": "sind", "Yes: ": "Ja: ", "No: ": "Nein: ", "As far as I know: ": "Soweit ich weiß: ", "Yes, as far as I know: ": "Ja, soweit ich weiß: ",
	"on": "an", "off": "aus", "on at %s": "an mit %s", "above": "über", "at or above": "bei mindestens", "below": "unter", "at or below": "bei höchstens", "at": "bei", " open": " offen",
	"open, wholly or partly": "ganz oder teilweise offen", "closed": "geschlossen", "opening": "öffnet", "closing": "schließt", "moving": "bewegt sich", "stopped": "steht",
	" on ": " auf ", " among ": " unter ", " without ": " ohne ", "the building": "das Gebäude", "brightest": "Hellste", "dimmest": "Dunkelste",
	"I do not know: of %s%s none has a current level.":                  "Ich weiß es nicht: Von %s%s hat keine einen aktuellen Wert.",
	"I do not know: of %s%s none has a current position.":               "Ich weiß es nicht: Von %s%s hat keines eine aktuelle Stellung.",
	"None of the %s%s is %s.":                                           "Keine der %s%s ist %s.",
	"None that I know of: none of the %d with a current level%s is %s.": "Soweit ich weiß, keine: Von den %d mit aktuellem Wert%s ist keine %s.",
	"None of the %d with a known position%s is %s.":                     "Von den %d mit bekannter Stellung%s ist keines %s.",
	"All %s%s are %s.": "Alle %s%s sind %s.", "%d of %s%s %s %s.": "%d von %s%s %s %s.", "%d of %s%s %s on.": "%d von %s%s %s an.",
	" That is %s of those whose level is known.": " Das sind %s derer, deren Wert bekannt ist.", " That is %s of those whose position is known.": " Das sind %s derer, deren Stellung bekannt ist.",
	" The mean level of all with a current reading is %s.": " Der mittlere Wert aller mit aktueller Ablesung ist %s.", "The mean level of the %s%s is %s.": "Der mittlere Wert der %s%s ist %s.",
	"I do not know any of the levels%s now.": "Ich kenne jetzt keinen der Werte%s.", "I do not know any level%s now.": "Ich kenne jetzt keinen Wert%s.",
	"By zone: %s.": "Nach Zonen: %s.", "%s %d (mean %s)": "%s %d (im Mittel %s)", "%d in no zone": "%d in keiner Zone", "%s is %s.": "%s ist %s.", "%s is %s open": "%s ist %s offen", "%s %s open": "%s %s offen",
	" It reports: %s.": " Es meldet: %s.", "All %s%s with a current level are off.": "Alle %s%s mit aktuellem Wert sind aus.", "The %s%s: %s": "%s%s: %s",
	"Of %s nothing current is known, because the controller does not report.": "Von %s ist nichts Aktuelles bekannt, weil der Controller nicht berichtet.",
	"%s %s offline, so I do not know what is there: %s.":                      "%s %s offline, also weiß ich nicht, was dort ist: %s.", "%s %s without a recent reading, so I do not know: %s.": "%s %s ohne neue Ablesung, also weiß ich es nicht: %s.",
	"%s %s never read, so I do not know: %s.": "%s %s nie abgelesen, also weiß ich es nicht: %s.",
	"%s has not reported any devices yet.":    "%s hat noch keine Geräte gemeldet.", "No %s is known%s.": "Bekannt ist nichts dieser Art (%s)%s.", "I do not know: %s.": "Ich weiß es nicht: %s.",
	"%s what %s does": "%s, was %s tut", "%s was %s": "%s wurde %s", "%s is %s": "%s ist %s", "the last reading of %s is %s old": "die letzte Ablesung von %s ist %s alt",
	"the controller does not report": "der Controller berichtet nicht", "offline, never seen": "offline, nie gesehen", "offline, last seen %s ago": "offline, zuletzt gesehen vor %s",
	"not read since a restart": "seit einem Neustart nicht abgelesen", "its last reading is %s old": "die letzte Ablesung ist %s alt", "never read": "nie abgelesen",
	"I do not know: levels are reported as they are now, and their history is not kept.":    "Ich weiß es nicht: Werte werden so gemeldet, wie sie jetzt sind; ihr Verlauf wird nicht aufgehoben.",
	"I can tell what is on now, and what was measured of energy.":                           "Ich kann sagen, was jetzt an ist, und was an Energie gemessen wurde.",
	"I do not know: positions are reported as they are now, and their history is not kept.": "Ich weiß es nicht: Stellungen werden so gemeldet, wie sie jetzt sind; ihr Verlauf wird nicht aufgehoben.",
	"Of %s%s %d %s fully open, %d closed and %d in between.":                                "Von %s%s %[4]s %[3]d ganz offen, %[5]d geschlossen und %[6]d dazwischen.", " The mean is %s open.": " Im Mittel sind sie %s offen.",
	"No shade%s is reported as moving.": "Kein Rollo%s ist als bewegt gemeldet.", "%s%s %s moving: %s.": "%s%s %s in Bewegung: %s.",
	"I do not know what answers now%s: the controller does not report.": "Ich weiß nicht, was jetzt%s antwortet: Der Controller berichtet nicht.", "When last heard, %d of %s did not answer.": "Als er zuletzt berichtete, antworteten %d von %s nicht.",
	"%d of %s%s %s online.": "%d von %s%s %s online.", " That is %s.": " Das sind %s.", "All %s%s answer; none is offline.": "Alle %s%s antworten; nichts ist offline.", "%d of %s%s %s offline.": "%d von %s%s %s offline.",
	"never seen": "nie gesehen", "last seen %s ago, %s": "zuletzt gesehen vor %s, %s", "Offline: %s.": "Offline: %s.", "It was never seen.": "Gesehen wurde es nie.", "It was last seen %s ago, %s.": "Zuletzt gesehen vor %s, %s.",
	"is online": "ist online", "%s %s.": "%s %s.",

	// where it comes from
	"Source: controller %s, %s; ": "Quelle: Controller %s, %s; ", "the reading is %s old.": "die Ablesung ist %s alt.", "%d readings, %s old.": "%d Ablesungen, %s alt.", "%d readings, %s to %s old.": "%d Ablesungen, %s bis %s alt.",
	"Source: controller %s; it gave no reading that I could use.": "Quelle: Controller %s; er gab keine Ablesung, die ich verwenden könnte.", " The controller has never reported.": " Der Controller hat nie berichtet.",
	" The controller is offline, last heard %s ago (%s): nothing newer is known.": " Der Controller ist offline, zuletzt gehört vor %s (%s): Neueres ist nicht bekannt.",
	"reported by the controller": "vom Controller gemeldet", "measured": "gemessen", "acknowledged by the device": "vom Gerät bestätigt", "estimated from travel time": "aus der Fahrzeit geschätzt", "sent, the hardware cannot confirm it": "gesendet, die Hardware kann es nicht bestätigen", "known from before a restart": "von vor einem Neustart bekannt",

	// what is not understood
	"I know nothing called %s in %s.": "%s kenne ich in %s nicht.", "So I do not answer, rather than answer something else.": "Also antworte ich nicht, statt etwas anderes zu beantworten.",
	"The zones are %s.": "Die Zonen sind %s.", "The floors are %s.": "Die Etagen sind %s.", "I took that as %s.": "Ich habe das als %s verstanden.",
	"I did not understand the time %s, and a figure of another time would not help. Say it for instance as “yesterday”, “last week”, “since Monday” or “9 to 13 November”.": "Die Zeit %s habe ich nicht verstanden, und eine Zahl zu einer anderen Zeit hülfe nicht. Sagen Sie zum Beispiel „gestern“, „letzte Woche“, „seit Montag“.",
	"I do not understand %s together with the rest of the question, so I do not answer, rather than answer something else. Ask it in other words, or one thing at a time.":  "Ich verstehe %s zusammen mit dem Rest der Frage nicht, also antworte ich nicht, statt etwas anderes zu beantworten. Fragen Sie mit anderen Worten oder eins nach dem anderen.",
	"I did not understand that, so I will not guess.": "Das habe ich nicht verstanden, also rate ich nicht.",
	helpText: "Ich beantworte Fragen zu den Gebäuden, die dieser Plattform berichten, mit Quelle und Alter jeder Ablesung: Energie nach Zeit, Zone, Etage oder Zähler; Leistung jetzt und Spitzen; " +
		"welches Licht an ist und wie hell; wie weit Rollos offen sind; Störungen und was offline ist; was eingebaut ist; welche Controller verbunden sind; Vorschläge zum Sparen. " +
		"Mit einem Schlüssel, der steuern darf, stelle ich auch Licht und Rollos, nachdem ich gezeigt habe, was geschähe. Was nicht gemessen ist, sage ich.",
}
