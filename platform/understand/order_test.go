package understand

import (
	"strings"
	"testing"
)

// An amount is one whole number from 0 to 100, in figures or words, or a part of the whole; anything else sets nothing and is said.
func TestAnOrderTakesWholeNumbersFrom0To100(t *testing.T) {
	names := house()
	for text, want := range map[string]string{
		"dim the canteen to 30%":                                        "set light=30 @Canteen",
		"dim the canteen to 30 %.":                                      "set light=30 @Canteen",
		"dim the canteen to 30 percent, please":                         "set light=30 @Canteen",
		"dim the canteen to 30 per cent":                                "set light=30 @Canteen",
		"set the canteen to 0 %":                                        "set light=0 @Canteen",
		"set the canteen to 100":                                        "set light=100 @Canteen",
		"set the canteen to five percent":                               "set light=5 @Canteen",
		"set the canteen to twenty five percent":                        "set light=25 @Canteen",
		"set the canteen to sixty-five percent":                         "set light=65 @Canteen",
		"set the canteen to three quarters":                             "set light=75 @Canteen",
		"set the canteen to zero percent":                               "set light=0 @Canteen",
		"set the canteen (30 %)":                                        "set light=30 @Canteen",
		"set canteen: 30%":                                              "set light=30 @Canteen",
		"set canteen = 30 %":                                            "set light=30 @Canteen",
		"set the canteen to “30 %”":                                     "set light=30 @Canteen",
		"set the lobby shades to half":                                  "set shade=50 @Lobby",
		"set the lobby shades to two thirds":                            "set shade=2/3 @Lobby",
		"set the lobby shades to a third":                               "set shade=1/3 @Lobby",
		"open the lobby shades halfway":                                 "set shade=50 @Lobby",
		"turn on the canteen":                                           "set light=on @Canteen",
		"dim the canteen by 20 %":                                       "step light=-20 @Canteen",
		"dim the canteen to -30%":                                       "!value -30%",
		"dim the canteen to −30 %":                                      "!value −30",
		"dim the canteen to - 30 %":                                     "!value - 30",
		"dim the canteen to minus 30":                                   "!value minus 30",
		"dim the canteen to minus thirty percent":                       "!value minus thirty",
		"dim the canteen to +30%":                                       "!value +30%",
		"set lobby shades to -20%":                                      "!value -20%",
		"set the canteen to 50-60%":                                     "!value 50-60%, 50-60%",
		"set the canteen to 50 - 60 %":                                  "!value 50, - 60",
		"set the canteen to 50% or 60%":                                 "!value 60 %",
		"set the canteen to 37,5 %":                                     "!value 37,5",
		"set the canteen to 37.5 %":                                     "!value 37.5",
		"set the canteen to 1,000 %":                                    "!value 1,000",
		"set the canteen to 130":                                        "!value 130",
		"set the canteen to 130 %":                                      "!value 130",
		"set the canteen to 5000%":                                      "!value 5000",
		"set the canteen to 99999999999999999999999 %":                  "!value 99999999999999999999999",
		"set the canteen to 50 k":                                       "!color kelvin",
		"set the canteen to two hundred percent":                        "!value two hundred",
		"set the canteen to 3 point 5 percent":                          "!value 3 point 5",
		"set the canteen to between 20 and 30 %":                        "!value 30 %",
		"set the canteen to 10 minutes":                                 "!",
		"set the canteen to ３０%":                                        "!",
		"set the canteen to 0x20 percent":                               "!",
		"set the canteen to 1e2%":                                       "!",
		"set the canteen to 50½ %":                                      "!",
		"set the canteen to 5\u200b0 %":                                 "!",
		"set the canteen to 50 ‰":                                       "!",
		"set the canteen to 50°":                                        "!",
		"set the canteen to -half":                                      "!value -half",
		"set the canteen to below 30 %":                                 "!",
		"set the canteen to 50 % brighter":                              "!",
		"turn the lobby on, the canteen off and open the lobby blinds":  "set light=on @Lobby + set light=off @Canteen + set shade=100 @Lobby",
		"raise the canteen blinds by 20 percent":                        "!what ",
		"turn on the lobby at 8":                                        "!time at 8",
		"dim the canteen to 130 % and close the canteen shades":         "!value 130",
		"close the canteen shades and dim it to 40 %":                   "set shade=0 @Canteen + set light=40 @Canteen",
		"turn off the canteen plus lobby lights":                        "set light=off @Canteen @Lobby",
		"turn off the lobby and open office north":                      "set light=off @Lobby @Open_office_north",
		"turn off all lights but not the lobby":                         "set light=off all -@Lobby",
		"switch everything off but the lobby":                           "set all=off -@Lobby",
		"set the canteen to 20 % and the lobby to 30 %":                 "set light=20 @Canteen + set light=30 @Lobby",
		"dim the lobby and set the canteen to 40 %":                     "step light=- @Lobby + set light=40 @Canteen",
		"turn on the lobby lights and turn off the lobby lights":        "!",
		"close the blinds in the lobby, the lights in the canteen off!": "set shade=0 @Lobby + set light=off @Canteen",
	} {
		f := Read(text, names, now).Alone()
		got := f.String()
		if want == "!" {
			if len(f.Do) > 0 && f.Unclear == nil {
				t.Errorf("%q does something: %s", text, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// Nothing that is prohibited is done, however it is put.
func TestAnOrderWithANegationIsNone(t *testing.T) {
	names := house()
	for _, text := range []string{
		"close the shades in the canteen and dont dim it to 40 percent", "close the shades in the canteen and don't dim it to 40 percent",
		"close the shades in the canteen and don’t dim it", "close the canteen shades and do not dim the lights to 40 percent",
		"don't dim the canteen to 40 %", "dont dim the canteen to 40 %", "don t dim the canteen to 40 %", "don´t dim the canteen to 40 %", "do not open the lobby shades",
		"please do not turn off the canteen lights", "never turn off the lobby lights", "you should not turn off the lobby lights",
		"I do not want to turn off the lobby lights", "I don't want you to open the lobby shades",
		"set the canteen not to 40 %", "turn the lobby lights on, nothing else", "turn off the lobby lights without closing the shades",
		"dim the canteen nicht to 40 %", "set the canteen to 40 % but keine shades", "close the lobby shades and no lights", "turn off neither the canteen nor the lobby lights",
		"never mind the lobby and turn off the canteen lights", "turn off the canteen lights, can't you", "stop the lobby shades and cannot close",
		"schalte das Licht in der Lobby nicht aus", "mach kein Licht in der Lobby an",
	} {
		if f := Read(text, names, now); f.Unclear == nil && len(f.Do) > 0 {
			t.Errorf("%q: %s", text, f)
		}
	}
}

// A name that sounds like an order is a name.
// Where something is, is no order: "on the ground floor".
func TestAPlaceAloneIsNoOrder(t *testing.T) {
	for _, text := range []string{"on the ground floor", "those on the ground floor", "only those on the ground floor"} {
		if f := Read(text, house(), now); f.Topic == Order {
			t.Errorf("%q: %+v", text, f.Do)
		}
	}
}

func TestNamesAreNoOrders(t *testing.T) {
	names := NewNames([]Name{{Place{Kind: Zone, ID: 1, Name: "Turn off everything"}, "Turn off everything"}, {Place{Kind: Zone, ID: 2, Name: "Not the lobby"}, "Not the lobby"}})
	for text, want := range map[string]string{
		"which lights are on in turn off everything": "lights on @Turn_off_everything",
	} {
		if got := Read(text, names, now).String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"energy between 8 and 12 yesterday", "turn off the lobby", "lights above 50 % in \u202e lobby 3", "since", "between and", "to 5 pm from", "last 0 days", "9999 days ago",
		"between 10 and yesterday", "dim the lobby to -30% and dont", "except", "not the", "neither nor", "top 3", "schalte", "vor drei", "vor"} {
		f.Add(s)
	}
	names := house()
	f.Fuzz(func(t *testing.T, text string) {
		q := Read(text, names, now)
		if q.When != nil && !q.When.Now && q.When.To.Before(q.When.From) {
			t.Errorf("%q: a span ends before it starts: %v", text, q.When)
		}
		for _, d := range q.Do {
			if d.Percent != nil && (*d.Percent < 0 || *d.Percent > 100) || d.By != nil && (*d.By < 1 || *d.By > 100) {
				t.Errorf("%q: %s", text, q)
			}
		}
		_ = q.After(q).Alone().String()
		if d := Read("don't "+text, names, now); len(d.Do) > 0 && d.Unclear == nil && !strings.ContainsAny(text, ".,;:!?\n&–—") {
			t.Errorf("don't %q: %s", text, d)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	names := house()
	texts := []string{"which lights are on except in the lobby", "turn off all lights on the ground floor but the canteen", "how much energy did the offices use last week", "welche Lampen sind nicht aus"}
	for i := 0; b.Loop(); i++ {
		Read(texts[i%len(texts)], names, now)
	}
}

// What is made to take long takes milliseconds.
func BenchmarkReadWorst(b *testing.B) {
	names := house()
	for _, text := range []string{strings.Repeat("not ", 60), strings.Repeat("turn on not ", 20), strings.Repeat("if lights on ", 20), strings.Repeat("lobby, canteen and ", 20), strings.Repeat("x lights on ", 20), strings.Repeat("except the lobby ", 90), strings.Repeat("it is so dark we need ", 70), strings.Repeat("no, lobby 20, ", 30), strings.Repeat("leave lobby on and ", 15)} {
		b.Run(text[:8], func(b *testing.B) {
			for b.Loop() {
				Read(text, names, now)
			}
		})
	}
}

func BenchmarkReadLongest(b *testing.B) {
	names := house()
	text := strings.Repeat("turn on the lihgts in the kichen and ", 110)
	for b.Loop() {
		Read(text, names, now)
	}
}
