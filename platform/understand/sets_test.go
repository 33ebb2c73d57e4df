package understand

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var berlin = func() *time.Location {
	l, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return l
}()

// now is a Wednesday, 14:32:20 in Berlin.
var now = time.Date(2026, 11, 18, 14, 32, 20, 0, berlin)

// short are the short names of places in the sets.
var short = map[string]string{"L": "Lobby", "C": "Canteen", "N": "Open_office_north", "S": "Open_office_south", "K": "Corridor_ground_floor", "A": "Meeting_room_Alps",
	"LK": "Meeting_room_Lakes", "W": "Annex_workshop", "G": "Annex_gallery", "T": "Tower_lounge", "GF": "Ground_floor", "UF": "Upper_floor", "AX": "Annex"}

// house are the names of the building that the sets are about.
func house() Names {
	var n []Name
	add := func(kind Kind, id int64, name string, also ...string) {
		for _, text := range append([]string{name}, also...) {
			p := Place{Kind: kind, ID: id, Name: name}
			if kind == Zone {
				p.On = []string{"Upper floor", "Upper floor", "Ground floor", "Ground floor", "Ground floor", "Upper floor", "Upper floor", "Annex", "Annex", ""}[id-1]
			}
			n = append(n, Name{p, text})
		}
	}
	n = append(n, Name{Text: "Harbour House"})
	for i, z := range []string{"Open office north", "Open office south", "Lobby", "Canteen", "Corridor ground floor", "Meeting room Alps", "Meeting room Lakes", "Annex workshop", "Annex gallery", "Tower lounge"} {
		add(Zone, int64(i+1), z)
	}
	add(Floor, 0, "Ground floor", "ground level", "downstairs", "Erdgeschoss", "EG")
	add(Floor, 0, "Upper floor", "upstairs", "top floor", "Obergeschoss", "OG")
	add(Floor, 0, "Annex")
	id := int64(1)
	for _, z := range []struct {
		name  string
		count int
	}{{"Open office north", 8}, {"Open office south", 6}, {"Lobby", 4}, {"Canteen", 5}, {"Corridor ground floor", 3}, {"Alps", 3}, {"Lakes", 3}, {"Workshop", 4}, {"Gallery", 2}, {"Lounge", 1}} {
		for k := range z.count {
			add(Device, id, fmt.Sprintf("%s %d", z.name, k+1))
			id++
		}
	}
	for i, s := range []string{"Lobby shade 1", "Lobby shade 2", "Canteen shade 1", "Canteen shade 2", "Lounge shade"} {
		add(Shade, int64(5001+i), s)
	}
	for i, m := range []string{"Meter ground floor", "Meter open offices", "Meter workshop", "Meter Alps", "Meter lobby"} {
		add(Meter, int64(127+i), m, []string{"ground floor meter", "open offices meter", "workshop meter", "meeting room Alps meter", "lobby meter"}[i])
	}
	add(Device, 140, "Wall station lobby")
	for _, b := range []string{"offices", "shades", "meters"} {
		n = append(n, Name{Place{Kind: Bus, Name: b}, "bus " + b}, Name{Place{Kind: Bus, Name: b}, b + " bus"})
	}
	return NewNames(n)
}

// labelled is a line of a set: a sentence, and what should be understood, in several ways where several are right.
type labelled struct {
	text string
	want []string
}

func readSet(t *testing.T, name string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	for in := bufio.NewScanner(f); in.Scan(); {
		text, want, ok := strings.Cut(in.Text(), "\t")
		if !ok {
			t.Fatalf("%s: %q has no label", name, in.Text())
		}
		all = append(all, labelled{text, strings.Split(want, "|")})
	}
	return all
}

var (
	dayForm  = regexp.MustCompile(`^d(\d+)(?:-(\d+))?$`)
	timeForm = regexp.MustCompile(`^(\d\d)T(\d{4})-(\d\d)T(\d{4})$`)
)

// spread writes a label as frames are written.
func spread(label string) string {
	var words []string
	for _, w := range strings.Fields(label) {
		if m := dayForm.FindStringSubmatch(w); m != nil {
			first, _ := strconv.Atoi(m[1])
			last := first
			if m[2] != "" {
				last, _ = strconv.Atoi(m[2])
			}
			from := time.Date(2026, 11, first, 0, 0, 0, 0, berlin)
			to := time.Date(2026, 11, last+1, 0, 0, 0, 0, berlin)
			w = from.Format("0102T1504") + "-" + to.Format("0102T1504")
		} else if m := timeForm.FindStringSubmatch(w); m != nil {
			w = "11" + m[1] + "T" + m[2] + "-11" + m[3] + "T" + m[4]
		} else if sign := strings.TrimRight(w[:min(2, len(w))], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); sign == "@" || sign == "-@" {
			if full, ok := short[w[len(sign):]]; ok {
				w = sign + full
			}
		} else if i := strings.IndexAny(w, "<>="); i >= 0 && strings.HasSuffix(w, "kWh") {
			n, _ := strconv.ParseFloat(strings.Trim(w[i:], "<>=kWh"), 64)
			w = w[:i] + strings.TrimRight(w[i:], "0123456789.kWh") + fmt.Sprint(n*1000) + "Wh"
		} else if i >= 0 && strings.HasSuffix(w, "h") && !strings.HasSuffix(w, "Wh") {
			n, _ := strconv.ParseFloat(strings.Trim(w[i:], "<>=h"), 64)
			w = w[:i] + strings.TrimRight(w[i:], "0123456789.h") + fmt.Sprint(n*60) + "m"
		}
		words = append(words, w)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// verdict of one sentence.
type verdict int

const (
	right verdict = iota
	refused
	wrong
)

func judge(f Frame, want []string) verdict {
	got := f.String()
	for _, w := range want {
		switch {
		case w == "?" && f.Unclear != nil, w == "split":
			return right
		case strings.HasPrefix(w, "!") && f.Topic == Order && f.Unclear != nil && (w == "!" || "!"+string(f.Unclear.Why) == w):
			return right
		case w == "!" && f.Unclear != nil:
			return right // not understood at all: nothing is done, and that is said
		case spread(w) == spread(got):
			return right
		}
	}
	if f.Unclear != nil {
		return refused
	}
	return wrong
}

// score reads a set and prints both rates: right, and confidently wrong.
func score(t *testing.T, sets ...string) (share, confident float64) {
	t.Helper()
	names := house()
	n := [3]int{}
	for _, set := range sets {
		for _, l := range readSet(t, set) {
			f := Read(l.text, names, now).Alone()
			v := judge(f, l.want)
			n[v]++
			if v != right {
				t.Logf("%s %q:\n      got %s\n     want %s", []string{"", "refused", "WRONG  "}[v], l.text, f, strings.Join(l.want, " | "))
			}
		}
	}
	all := float64(n[0] + n[1] + n[2])
	share, confident = 100*float64(n[right])/all, 100*float64(n[wrong])/all
	t.Logf("%v: %d sentences: %.1f %% right, %.1f %% refused, %.1f %% confidently wrong", sets, int(all), share, 100*float64(n[refused])/all, confident)
	return share, confident
}

// The open half is what the grammar was mended by.
func TestOpenSets(t *testing.T) {
	atLeast(t, 98, 0.5, "questions.tsv", "orders.tsv", "german.tsv", "others.tsv")
}

func atLeast(t *testing.T, share, confident float64, sets ...string) {
	t.Helper()
	for _, set := range sets {
		if r, c := score(t, set); r < share || c > confident {
			t.Errorf("%s: want at least %.0f %% right and at most %.1f %% confidently wrong", set, share, confident)
		}
	}
}

// Everyday words for what is known here, and sentences that only look as if they were about it.
func TestEverydayWords(t *testing.T) {
	atLeast(t, 100, 0, "words.tsv")
}
