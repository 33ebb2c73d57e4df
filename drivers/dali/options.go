package dali

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// busOptions are the driver's settings of a bus. See docs/drivers/dali.md.
type busOptions struct {
	gateway        string
	gatewayTimeout time.Duration // 0: the gateway's own
	answerWait     time.Duration
	broadcast      bool
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{answerWait: 45 * time.Millisecond, broadcast: true}
	err := readOptions(texts, map[string]func(string) error{
		"gateway":        choice(&o.gateway, "atx", "luba", "sci"),
		"gatewayTimeout": span(&o.gatewayTimeout, 50*time.Millisecond, 5*time.Second),
		"answerWait":     span(&o.answerWait, 22*time.Millisecond, 500*time.Millisecond),
		"broadcast":      flag(&o.broadcast),
	})
	if err == nil && o.gateway == "" {
		err = fmt.Errorf("option gateway is missing: which device is between this port and the DALI line: %s", gatewayNames)
	}
	return o, err
}

// nodeOptions are the driver's settings of a node.
type nodeOptions struct {
	curve                string
	fade                 time.Duration
	minLevel             int
	kelvinMin, kelvinMax int
}

func readNodeOptions(texts map[string]string) (nodeOptions, error) {
	o := nodeOptions{curve: "standard"}
	err := readOptions(texts, map[string]func(string) error{
		"curve":     choice(&o.curve, "standard", "linear"),
		"fade":      span(&o.fade, 0, 17*time.Minute),
		"minLevel":  whole(&o.minLevel, 0, 100),
		"kelvinMin": whole(&o.kelvinMin, 1000, 20000),
		"kelvinMax": whole(&o.kelvinMax, 1000, 20000),
	})
	return o, err
}

// readOptions refuses keys that nobody reads.
func readOptions(texts map[string]string, read map[string]func(string) error) error {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		set := read[key]
		if set == nil {
			return fmt.Errorf("option %q is unknown, allowed: %s", key, strings.Join(slices.Sorted(maps.Keys(read)), ", "))
		}
		if err := set(texts[key]); err != nil {
			return fmt.Errorf("option %s: %w", key, err)
		}
	}
	return nil
}

func span(to *time.Duration, low, high time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < low || d > high {
			return fmt.Errorf("%q: want a time from %v to %v, such as 700ms or 1.5s", text, low, high)
		}
		*to = d
		return nil
	}
}

func whole(to *int, low, high int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q: want a whole number from %d to %d", text, low, high)
		}
		*to = n
		return nil
	}
}

func flag(to *bool) func(string) error {
	return func(text string) error {
		switch text {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return fmt.Errorf("%q: want true or false", text)
		}
		return nil
	}
}

func choice(to *string, words ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%q: want %s", text, strings.Join(words, " or "))
		}
		*to = text
		return nil
	}
}

// parseShort reads a node's address.
func parseShort(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= Shorts || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("address %q: want a DALI short address from 0 to 63", text)
	}
	return n, nil
}

// parseGroups reads the groups a gear is in; bit n stands for group n.
func parseGroups(texts []string) (set uint16, err error) {
	for _, text := range texts {
		g, err := strconv.Atoi(text)
		if err != nil || g < 0 || g >= Groups || strconv.Itoa(g) != text {
			return 0, fmt.Errorf("group %q: want a DALI group from 0 to 15", text)
		}
		set |= 1 << g
	}
	return set, nil
}

// profile is a kind of gear.
type profile struct {
	abilities            appliance.Ability
	kelvinMin, kelvinMax appliance.Kelvin
}

// profiles by name. They follow device types of IEC 62386, not products.
var profiles = map[string]profile{
	"dali-dt6":      {abilities: appliance.CanDim},
	"dali-dt8-tc":   {abilities: appliance.CanDim | appliance.CanTune, kelvinMin: 2700, kelvinMax: 6500},
	"dali-dt8-rgbw": {abilities: appliance.CanDim | appliance.CanColour},
	"dali-switch":   {abilities: appliance.CanSwitch},
}

func profileNames() string { return strings.Join(slices.Sorted(maps.Keys(profiles)), ", ") }
