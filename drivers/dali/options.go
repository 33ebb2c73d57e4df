package dali

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/option"
)

// busOptions are the driver's settings of a bus. See docs/drivers/dali.md.
type busOptions struct {
	gateway        string
	gatewayTimeout time.Duration // 0: the gateway's own
	answerWait     time.Duration
	broadcast      bool
	groups         appliance.GroupMode
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{answerWait: 45 * time.Millisecond, broadcast: true}
	err := option.Read(texts, map[string]option.Setter{
		"gateway":        option.Choice(&o.gateway, "atx", "luba", "sci"),
		"gatewayTimeout": option.Span(&o.gatewayTimeout, 50*time.Millisecond, 5*time.Second),
		"answerWait":     option.Span(&o.answerWait, 22*time.Millisecond, 500*time.Millisecond),
		"broadcast":      option.Flag(&o.broadcast),
		"groups":         option.Groups(&o.groups),
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
	err := option.Read(texts, map[string]option.Setter{
		"curve":     option.Choice(&o.curve, "standard", "linear"),
		"fade":      option.Span(&o.fade, 0, 17*time.Minute),
		"minLevel":  option.Whole(&o.minLevel, 0, 100),
		"kelvinMin": option.Whole(&o.kelvinMin, 1000, 20000),
		"kelvinMax": option.Whole(&o.kelvinMax, 1000, 20000),
	})
	return o, err
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
