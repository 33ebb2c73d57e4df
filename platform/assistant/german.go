package assistant

// german is the catalogue: English sentence to German one. Values stand in the same order, or are numbered.
var german = map[string]string{
	// parts
	" and ": " und ", " and %d more": " und %d weitere", "none": "keine", "; then ": "; dann ", " in ": " in ", "%d of %d": "%d von %d",
	"light": "Leuchte", "shade": "Rollo", "zone": "Zone", "floor": "Etage", "device": "Gerät", "meter": "Zähler", "fault": "Störung",

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
}
