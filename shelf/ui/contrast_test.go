package ui_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Text is readable on whatever it may stand on, in both colour schemes; edges of
// controls can be seen.
func TestContrast(t *testing.T) {
	light, dark := tokens(t)
	for scheme, c := range map[string]map[string]string{"light": light, "dark": dark} {
		for _, row := range []struct {
			ink   string
			on    []string
			least float64
		}{
			{"text", []string{"bg", "surface", "sunken", "accent-tint", "fault-tint", "warn-tint"}, 7},
			{"text2", []string{"bg", "surface"}, 7},
			{"text2", []string{"sunken"}, 4.5},
			{"accent", []string{"bg", "surface", "accent-tint"}, 4.5},
			{"on-accent", []string{"accent"}, 7},
			{"fault", []string{"bg", "surface", "fault-tint"}, 4.5},
			{"warn", []string{"bg", "surface", "warn-tint"}, 4.5},
			{"ok", []string{"bg", "surface"}, 4.5},
			{"surface", []string{"fault"}, 4.5},
			{"edge", []string{"bg", "surface"}, 3},
		} {
			for _, on := range row.on {
				if got := contrast(t, c[row.ink], c[on]); got < row.least {
					t.Errorf("%s: %s on %s has %.1f, want %.1f", scheme, row.ink, on, got, row.least)
				}
			}
		}
	}
}

func tokens(t *testing.T) (light, dark map[string]string) {
	css, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	light, dark = map[string]string{}, map[string]string{}
	for i, to := range []map[string]string{light, dark} {
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(blocks[i][1], -1) {
			to[m[1]] = m[2]
		}
	}
	if len(light) != len(dark) || len(light) < 15 {
		t.Fatalf("%d colours in light, %d in dark", len(light), len(dark))
	}
	return light, dark
}

// contrast of two colours after WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + .05) / (math.Min(la, lb) + .05)
}

func luminance(t *testing.T, colour string) float64 {
	var sum float64
	for i, weight := range []float64{.2126, .7152, .0722} {
		hex := strings.TrimPrefix(colour, "#")
		if len(hex) != 6 {
			t.Fatalf("colour %q", colour)
		}
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		s := float64(v) / 255
		if s <= .04045 {
			s /= 12.92
		} else {
			s = math.Pow((s+.055)/1.055, 2.4)
		}
		sum += weight * s
	}
	return sum
}
