package understand

import "testing"

// Times of day are said without "o'clock", too.
func TestTimesOfDayInWords(t *testing.T) {
	names := house()
	for _, l := range []labelled{
		{"were the lights in the lobby on at half past eight?", []string{"lights on @L 18T0830-18T0845"}},
		{"was the canteen lit at nine?", []string{"lights on @C 18T0900-18T0915"}},
		{"who switched the lobby off at quarter to nine", []string{"lights.who off @L 18T0845-18T0900"}},
		{"War das Licht in der Lobby um halb neun an?", []string{"lights on @L 18T0830-18T0845"}},
		{"Waren die Rollos in der Lobby um neun offen?", []string{"shades open @L 18T0900-18T0915"}},
		{"are the lobby lights at 60", []string{"lights =60% @L"}},
		{"set the lobby to half", []string{"set light=50 @L"}},
	} {
		if f := Read(l.text, names, now).Alone(); judge(f, l.want) != right {
			t.Errorf("%q: %s, want %v", l.text, f, l.want)
		}
	}
}
