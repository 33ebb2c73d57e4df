package question

import (
	"fmt"
	"strings"
	"testing"
)

// wants sums up what an order wants.
func wants(q Question) string {
	switch do := q.Do; {
	case do == nil:
		return "no order"
	case do.Unclear != "":
		return do.Unclear
	case do.Level != nil:
		return fmt.Sprintf("level %d", *do.Level)
	case do.Position != nil:
		return fmt.Sprintf("position %d", *do.Position)
	}
	return "stop"
}

func TestAnOrderTakesPlainNumbersOnly(t *testing.T) {
	names := demoNames()
	for text, want := range map[string]string{
		"dim the canteen to 30%":                        "level 30",
		"dim the canteen to 30 %.":                      "level 30",
		"dim the canteen to 30 percent, please":         "level 30",
		"dim the canteen to 30 per cent":                "level 30",
		"set the canteen to 0 %":                        "level 0",
		"set the canteen to 100":                        "level 100",
		"set the canteen to five percent":               "level 5",
		"set the canteen (30 %)":                        "level 30",
		"set canteen: 30%":                              "level 30",
		"set canteen:30%":                               "level 30",
		"set canteen = 30 %":                            "level 30",
		"set the canteen to “30 %”":                     "level 30",
		"set lobby 3 to 40%":                            "whole zones",
		"set the lobby shades to half":                  "position 50",
		"set the lobby shades to two thirds":            "position 67",
		"set the lobby shades to a third":               "position 33",
		"open the lobby shades halfway":                 "position 50",
		"turn on the canteen":                           "level 100",
		"dim the canteen to -30%":                       "“-30%”",
		"dim the canteen to −30 %":                      "“−30 %”",
		"dim the canteen to - 30 %":                     "“- 30 %”",
		"dim the canteen to minus 30":                   "“minus 30”",
		"dim the canteen to minus thirty percent":       "“minus thirty %”",
		"dim the canteen to +30%":                       "“+30%”",
		"set lobby shades to -20%":                      "“-20%”",
		"set the canteen to 0x20 percent":               "“0x20”",
		"set the canteen to 1e2%":                       "“1e2%”",
		"set the canteen to 50-60%":                     "“50-60%”",
		"set the canteen to 50 - 60 %":                  "“50 - 60 %”",
		"set the canteen to 50 to 60 %":                 "“50 and 60 %”",
		"set the canteen to 50% or 60%":                 "“50 % and 60 %”",
		"set the canteen to 50,60%":                     "“50,60%”",
		"set the canteen to 37,5 %":                     "“37,5 %”",
		"set the canteen to 37.5 %":                     "“37.5 %”",
		"set the canteen to 1,000 %":                    "“1,000 %”",
		"set the canteen to 1 000 %":                    "“1 000 %”",
		"set the canteen to 130":                        "“130”",
		"set the canteen to 130 %":                      "“130 %”",
		"set the canteen to 5000%":                      "“5000 %”",
		"set the canteen to 99999999999999999999999 %":  "“99999999999999999999999 %”",
		"set the canteen to 2/3":                        "“2/3”",
		"set the canteen to 50½ %":                      "“50½ %”",
		"set the canteen to 5\u200b0 %":                 "0 to 100",
		"set the canteen to 50 ‰":                       "0 to 100",
		"set the canteen to 50°":                        "“50°”",
		"set the canteen to 50 k":                       "“50 k”",
		"set the canteen to twenty five percent":        "“twenty five %”",
		"set the canteen to sixty-five percent":         "“sixty five %”",
		"set the canteen to two hundred percent":        "“two hundred %”",
		"set the canteen to a hundred and five percent": "0 to 100",
		"set the canteen to three quarters":             "“three quarters”",
		"set the canteen to 3 point 5 percent":          "“3 point 5 %”",
		"set the canteen to -half":                      "“-half”", "set the canteen to -two thirds": "“-two thirds”", "set the canteen to -five percent": "“-five %”",
		"set the canteen to between 20 and 30 %": "“20 and 30 %”", "set the canteen to 30 percent of 50": "“30 % and 50”",
		"set the canteen to 50 % brighter": "“50 % brighter”", "set the canteen to below 30 %": "“below 30 %”", "turn on the lobby at 8": "“at 8”",
		"set the canteen to 10 minutes": "“10 minutes”", "set the canteen to ３０%": "0 to 100", "set the canteen to zero percent": "“zero %”",
		"dim the canteen by 20 %":                "“by 20 %”",
		"raise the canteen blinds by 20 percent": "“by 20 %”",
		"turn the canteen lights to -5":          "“-5”",
		"close the canteen shades to 130 %":      "“130 %”",
		"make the canteen 150 percent bright":    "“150 %”",
		"dim the canteen":                        "to what, from 0 to 100", "dim the lobby": "I need to know to what",
		"set the canteen to 20 % and the lobby to 30 %":   "“20 % and 30 %”",
		"close the canteen shades and dim it to 40 %":     "one thing at a time",
		"turn off the lobby and switch on the canteen":    "one thing at a time",
		"Close the canteen shades. Dim the lobby to 40 %": "one thing at a time",
		"close the canteen shades, dim the lobby to 40 %": "one thing at a time",
		"hello, please, dim the canteen to 40 %":          "level 40",
		"turn off the canteen plus lobby lights":          "level 0",
		"turn off the lobby and open office north":        "level 0",
	} {
		q := Parse(text, names, now)
		got := wants(q)
		if set := q.Do != nil && q.Do.Unclear == ""; set && got != want || !set && !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if strings.HasPrefix(want, "“") && !strings.Contains(got, "from 0 to 100") {
			t.Errorf("%q: nobody is told what is wanted: %s", text, got)
		}
	}
}

func TestAnOrderWithANegationIsNone(t *testing.T) {
	names := demoNames()
	for _, text := range []string{
		"close the shades in the canteen and dont dim it to 40 percent", "close the shades in the canteen and don't dim it to 40 percent",
		"close the shades in the canteen and don’t dim it", "close the canteen shades and do not dim the lights to 40 percent",
		"don't dim the canteen to 40 %", "dont dim the canteen to 40 %", "don t dim the canteen to 40 %", "don´t dim the canteen to 40 %", "do not open the lobby shades",
		"please do not turn off the canteen lights", "never turn off the lobby lights", "you should not turn off the lobby lights",
		"I do not want to turn off the lobby lights", "I don't want you to open the lobby shades",
		"set the canteen not to 40 %", "set the canteen to 40 %, not the lobby", "turn the lobby lights on, nothing else", "turn off the lobby lights without closing the shades",
		"dim the canteen nicht to 40 %", "set the canteen to 40 % but keine shades", "close the lobby shades and no lights", "turn off neither the canteen nor the lobby lights",
		"never mind the lobby and turn off the canteen lights", "turn off the canteen lights, can't you", "stop the lobby shades and cannot close",
	} {
		q := Parse(text, names, now)
		if text == "never mind the lobby and turn off the canteen lights" {
			if q.Do != nil && q.Do.Unclear == "" {
				t.Errorf("%q: %s", text, wants(q))
			}
			continue
		}
		if got := wants(q); !strings.Contains(got, "orders with “not”") {
			t.Errorf("%q: %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"which lights are not on?":                          "no order",
		"which lights aren’t on?":                           "no order",
		"are the lobby lights not on?":                      "no order",
		"why is there no light in the canteen":              "no order",
		"I do not care about the lobby, how is the canteen": "no order",
		"turn off all lights but not the lobby":             "leave something out",
		"turn off all lights except the lobby":              "leave something out",
		"turn the canteen lights on now":                    "level 100",
	} {
		if got := wants(Parse(text, names, now)); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
