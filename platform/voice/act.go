package voice

import (
	"regexp"
	"strings"
)

// pattern is a whole command as a row of classes, and what it means. Amounts stand for themselves: A is any of a number
// with or without "percent", a fraction, the highest and the lowest.
type pattern struct {
	row *regexp.Regexp
	do  func(amount) (Heard, bool)
}

// amount of a sentence; none where class is empty.
type amount struct {
	class string // "num", "part", "third", "max", "min"
	n     int    // percent; of a third, how many
}

// shorthand used in the rows below.
var short = strings.NewReplacer(
	"<A>", `(?:num (?:percent )?|part |third |max |min )`,
	"<N>", `num (?:percent |points )?`,
	"<L>", `(?:lights |brightness |lights to brightness |level )`, // what has a brightness
	"<ANY>", `(?:verb |dim |brighten |raise |lower |increase |reduce |pull |give |activate )`,
	"<UP>", `(?:up |down |on )?`,
	"<TO>", `(?:to |on |at )?`,
	"<B>", `(?:brightness |level |lights )?`,
	"<S>", `shades `,
	"<P>", `(?:pull |draw )`,
	"by <N>", `by (?:num (?:percent |points )?|part |third )`,
	"<W>", `(?:way )?`,
)

func row(r string, do func(amount) (Heard, bool)) pattern {
	return pattern{regexp.MustCompile("^(?:" + short.Replace(r) + ")$"), do}
}

var patterns = []pattern{
	// lights on, off, toggled
	row(`(?:verb |flip )?lights on |(?:verb |flip )on lights (?:on )?|on lights |activate (?:lights |room )|give lights |verb lights up on `, plain(LightsOn)),
	row(`(?:verb |flip |shut )?lights off |(?:verb |flip |shut )off lights (?:off )?|off lights |kill (?:off )?lights (?:off )?`, plain(LightsOff)),
	row(`toggle lights |lights toggle |(?:flip |verb |toggle )lightswitch |flip lights |toggle lights (?:on off|off on) `, plain(LightsToggle)),

	// a brightness
	row(`<ANY>?<UP><L><UP><TO><A><B>`, setLights),
	row(`<ANY><UP><L>(?:fully up |up fully |on fully |fully on )|<L>fully (?:up |on )|<L>up fully `, fixed(LightsSet, 100)),
	row(`<ANY><UP><L>(?:fully down |down fully )|<L>fully down |fully dim <L>|dim <L>fully |<L>down fully `, fixed(LightsSet, 1)),
	row(`<ANY>up <L>fully `, fixed(LightsSet, 100)),
	row(`<ANY>down <L>fully `, fixed(LightsSet, 1)),
	row(`fully brighten <L>|brighten <L>fully |(?:verb )?lights fully on `, fixed(LightsSet, 100)),
	row(`(?:num percent |max |min |part )brightness |(?:max |num percent )lights `, setLights),
	row(`(?:give |verb )(?:it )?(?:max |num percent |part |third |min )(?:brightness |lights )`, setLights),
	row(`(?:dim |brighten )(?:it |room )?(?:up |down )?(?:to |at )<A><B>`, setLights),
	row(`(?:num percent |part )on lights `, setLights),
	row(`verb (?:room )brightness (?:to |at )<A>`, setLights),
	row(`(?:verb )?lights (?:dim |dimmer |brighter )(?:to |at )<A>|<ANY>?<L>(?:up |down )?(?:to |at )<A>(?:brighter |on |dim )?`, setLights),

	// dimmer and brighter
	row(`dim (?:down )?(?:lights |room |it |brightness )?(?:down )?(?:by <N>)?`, step(LightsDim)),
	row(`(?:lower |reduce )(?:down )?(?:lights |brightness )(?:down |level )?(?:by <N>)?`, step(LightsDim)),
	row(`verb (?:down )?<L>(?:down |dimmer |lower )(?:by <N>)?|verb down <L>(?:by <N>)?|<L>(?:down |dimmer |lower )(?:by <N>)?`, step(LightsDim)),
	row(`(?:verb |give )?(?:it |room |lights )?(?:<N>)?dimmer (?:lights )?|dimmer (?:by <N>)?|(?:verb |give )?(?:it |room )dimmer by <N>`, step(LightsDim)),
	row(`verb num percent off <L>`, step(LightsDim)),
	row(`(?:verb |give )?lesslight |verb (?:lights |it |room )<N>(?:down |lower )|verb lights lower `, step(LightsDim)),
	row(`brighten (?:up )?(?:lights |room |it |brightness )?(?:up )?(?:by <N>)?`, step(LightsBrighten)),
	row(`(?:raise |increase )(?:up )?(?:lights |brightness )(?:up |level )?(?:by <N>)?`, step(LightsBrighten)),
	row(`verb (?:up )?<L>(?:up |brighter |more )(?:by <N>)?|verb up <L>(?:by <N>)?|bringup <L>(?:by <N>)?|<L>(?:up |brighter )(?:by <N>)?`, step(LightsBrighten)),
	row(`(?:verb |give )?(?:it |room |lights )?(?:<N>)?brighter (?:lights )?|brighter (?:by <N>)?|(?:verb |give )?(?:it |room )brighter by <N>`, step(LightsBrighten)),
	row(`(?:verb |give )?morelight |verb (?:lights |it |room )<N>up `, step(LightsBrighten)),

	// shades, whole ways
	row(`(?:fully )?open (?:fully )?(?:up )?(?:fully )?<S>(?:up |fully |fully up |up fully |fully open )?|<S>(?:fully )?(?:open |up )(?:up )?(?:fully )?`, plain(ShadesOpen)),
	row(`(?:fully )?raise (?:up )?<S>(?:up )?(?:fully )?(?:up )?|verb <S>(?:fully )?(?:up |open |raise )(?:fully )?|(?:verb up |verb open |bringup |<P>up |<P>open )<S>(?:fully )?`, plain(ShadesOpen)),
	row(`<P><S>(?:fully )?(?:up |open )(?:fully )?`, plain(ShadesOpen)),
	row(`(?:fully )?(?:close |shut )(?:fully )?(?:up |down |off )?<S>(?:up |down )?(?:fully |fully down |down fully )?|<S>(?:fully )?(?:close |down |shut )(?:down )?(?:fully )?`, plain(ShadesClose)),
	row(`(?:fully )?lower (?:down )?<S>(?:down )?(?:fully )?(?:down )?|verb <S>(?:fully )?(?:down |close |shut |lower )(?:fully )?|(?:verb down |verb close |<P>down |<P>close )<S>(?:fully )?`, plain(ShadesClose)),
	row(`<P><S>(?:fully )?(?:down |close |shut )(?:fully )?|(?:fully )?draw <S>(?:fully )?`, plain(ShadesClose)),
	row(`(?:stop |verb )?stop (?:moving |opening |open |close |verb )?<S>(?:there |moving |now |open |close )?|<S>stop (?:there )?|verb <S>stop |(?:verb |stop )<S>there `, plain(ShadesStop)),

	// shades, an opening
	row(`(?:verb |raise |open |pull |increase |give )(?:up )?<S>(?:up |open )?<TO><A><W>(?:open |up )?|<S>(?:up |open )?<TO><A><W>(?:open |up )?`, setShades),
	row(`(?:lower |close |shut |<P>|reduce |verb )(?:down )?<S>(?:down )?(?:to |at )<A><W>(?:open )?|<S>(?:down |close )(?:to |at )<A><W>`, setShades),
	row(`(?:open |raise |pull up )<S>(?:up )?by (?:third |part )|(?:verb |give )?<A>on <S>`, setShades),
	row(`(?:close |lower |shut |<P>down )<S>(?:down )?by (?:third |part )`, coverShades),
	row(`draw <S>part `, halfShades),
	row(`(?:verb |leave )<S><A>(?:open )?|(?:<A>|third )(?:open |raise )<S>|third <S>|verb (?:<A>)<S>`, setShades),
	row(`(?:lower |close |shut |verb down |<P>down )<S>(?:down )?<A><W>|(?:verb |<P>)<S>down <A><W>|<S>down <A><W>|<A>(?:close |lower )<S>`, coverShades),
	row(`(?:verb |close |lower |<P>)?<S>(?:to |at )?<A><W>(?:close |down |shut |covered )`, coverShades),

	// the panel
	row(`(?:show |open |bringup |give |verb |pull up )(?:room )?panel (?:up |on |open )?(?:onscreen )?|(?:open )up panel (?:onscreen )?|(?:room )?panel (?:onscreen )?`, plain(PanelShow)),
	row(`(?:verb |show )up panel (?:onscreen )?|verb on panel `, plain(PanelShow)),
}

var atAnHour = regexp.MustCompile(`on lights at num $`)

// act understands one action for this room, or nothing.
func act(words []string) (Heard, bool) {
	if h, ok := decide(classify(words)); ok {
		return h, true
	}
	return Heard{}, false
}

func decide(s []token) (Heard, bool) {
	if len(s) == 0 || len(s) > 16 {
		return Heard{}, false
	}
	var b strings.Builder
	var a amount
	amounts := 0
	for i, t := range s {
		if t.class == "room" && i+1 < len(s) && (s[i+1].class == "lights" || s[i+1].class == "shades" || s[i+1].class == "panel" || s[i+1].class == "brightness") {
			continue // "room lights"
		}
		if t.class == "," {
			continue
		}
		switch t.class {
		case "?":
			return Heard{}, false
		case "num", "part", "third", "max", "min":
			a = amount(t)
			amounts++
		}
		b.WriteString(t.class)
		b.WriteByte(' ')
	}
	if amounts > 1 {
		return Heard{}, false
	}
	row := b.String()
	if atAnHour.MatchString(row) && a.n <= 12 {
		return Heard{}, false // "turn on the lights at 8" is a time of day as well
	}
	for _, p := range patterns {
		if p.row.MatchString(row) {
			return p.do(a)
		}
	}
	return Heard{}, false
}

func plain(i Intent) func(amount) (Heard, bool) {
	return func(amount) (Heard, bool) { return Heard{Intent: i}, true }
}

func fixed(i Intent, percent int) func(amount) (Heard, bool) {
	return func(amount) (Heard, bool) { return Heard{Intent: i, Slots: Slots{Percent: &percent}}, true }
}

func step(i Intent) func(amount) (Heard, bool) {
	return func(a amount) (Heard, bool) {
		if a.class == "" {
			return Heard{Intent: i}, true
		}
		if a.class == "third" {
			a.n = []int{0, 33, 67}[a.n]
		}
		if a.n < 1 || a.n > 100 {
			return Heard{}, false
		}
		return Heard{Intent: i, Slots: Slots{By: &a.n}}, true
	}
}

func setLights(a amount) (Heard, bool) {
	if a.class == "third" {
		a.n = []int{0, 33, 67}[a.n]
	}
	return percent(LightsSet, a.n)
}

func setShades(a amount) (Heard, bool) {
	if a.class == "third" {
		return Heard{Intent: ShadesPreset, Slots: Slots{Preset: presets[a.n]}}, true
	}
	return percent(ShadesSet, a.n)
}

var presets = map[int]string{1: "one_third", 2: "two_thirds"}

// coverShades takes the amount as what is covered: "30 percent closed", or a closing verb with an amount and no "to".
func coverShades(a amount) (Heard, bool) {
	if a.class == "third" {
		a.n = 3 - a.n
	} else {
		a.n = 100 - a.n
	}
	return setShades(a)
}

// halfShades is the one part that means the same open and covered: "draw the curtains halfway".
func halfShades(a amount) (Heard, bool) {
	if a.n != 50 {
		return Heard{}, false
	}
	return setShades(a)
}

func percent(i Intent, n int) (Heard, bool) {
	if n < 0 || n > 100 {
		return Heard{}, false
	}
	return Heard{Intent: i, Slots: Slots{Percent: &n}}, true
}
