package understand

// notSlips are words of their own that lie one slip from one of ours.
var notSlips = wordSet("tower garage kitchen basement roof cellar sauna garden bathroom toilet restroom lab office hall store shop " +
	"shower washer dishwasher server bedroom foyer reception stairs stair staircase gym pool library attic balcony terrace fridge freezer oven " +
	"charge charged charger stage blink blinks shape shake shame valve drain stock closet cooker dryer lever spade spare pond plane plate lift " +
	"water heater boiler door gate fan pump pipe tank leak camera lock alarm fire smoke gas oil rain snow solar battery car parking printer phone " +
	"elevator escalator desk chair table carpet paint roof wall ceiling light night right might sight fight shares binds blends camps ramps clamps " +
	"pencil control patrol certain grapes booms groom bloom frighten tighten rise praise arise rinse mower flower blower often spoken oven " +
	"steps launch points persons person screams reach teach beach peach coach total tidal moral rural plural nation station stations portion " +
	"cable table fable stable marble party parts ports posts pests beds feeds weeds seeds needs deeds thing think thank bring ring wing wings hotel motel model " +
	"salt droop stoop minuet tonne allee ziege ziegen drossel leichter leuchter leuchtern leuchtend lichtere lichteren hallt hallte hallten schallt schallte schallten " +
	"schalltet lasen stör wechsels paneel röhrend röhrten rohren schleiße schleißen hose driver lightning hallway hall entry exit inner outer projector rotten bottle battle cattle settle kettle metal medal pedal petal")

// exact words have to be said as they are: who hears a wrong amount or a wrong operator does something else.
var exact = wordSet("half halfway midway third quarter except excluding without neither never nothing minus hundred")

// forgive replaces words that nobody knows by the only one they can be a slip for.
func (s *sentence) forgive(names Names) {
	for i := range s.t {
		w := s.t[i].stem
		if len(w) < 4 || names.known[w] || s.lex.words[w] || timeWords[w] || notSlips[w] || digit(w[0]) || s.inOtherLanguage(w) {
			continue
		}
		meant := ""
		for k, set := range []map[string]bool{names.known, timeWords, s.lex.single} {
			least := 5
			if k == 0 {
				least = 4 // names are few, and those of the building are meant
			}
			for known := range set {
				slip := len(known) >= 5 && near(w, known, least, k == 0)
				if s.f.Lang == German && k == 2 { // one letter for another makes "finster" of "Fenster"
					slip = len(known) >= 7 && len(known) != len(w) && near(w, known, least, false) && (countable(known) == Light || countable(known) == Shade)
				}
				if (slip || k == 2 && twisted(w, known)) && !exact[known] && (meant == "" || known < meant) {
					meant = known
				}
			}
			if meant != "" {
				s.t[i].stem = meant
				break
			}
		}
	}
}

func (s *sentence) inOtherLanguage(w string) bool {
	other := German
	if s.f.Lang == German {
		other = English
	}
	return lexicons[other].single[w]
}

// respell writes words that nobody knows as what places are commonly called where they can only be a slip for that: "Korridro".
func (n Names) respell(t []token) {
	for i := range t {
		w := t[i].stem
		if len(w) < 6 || t[i].used || n.known[w] || len(n.called[w]) > 0 || germanRooms[w] || timeWords[w] || notSlips[w] || digit(w[0]) || lexicons[English].words[w] || lexicons[German].words[w] {
			continue
		}
		meant := ""
		for known := range n.called {
			if len(known) >= 6 && twisted(w, known) && (meant == "" || known < meant) {
				meant = known
			}
		}
		if meant != "" {
			t[i].stem = meant
		}
	}
}
