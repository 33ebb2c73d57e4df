package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// The three words, and that nothing is known yet.
const (
	done     = "done"
	underWay = "on its way"
	notDone  = "not done"
	sent     = "sent"
)

// place is where a thing truly is.
type place struct {
	levels   []int // of a light's outputs
	position float64
	motion   string // of a shade
}

// truth is where the things of a lane are.
func (l *lane) truth() map[appliance.ID]place {
	out := map[appliance.ID]place{}
	for _, d := range l.building.Devices() {
		for _, x := range l.things {
			switch {
			case x.node != d.NodeID:
			case !x.shade:
				out[x.id] = place{levels: targets(d)}
			default:
				for _, s := range d.Shades {
					if s.ShadeID == x.id {
						out[x.id] = place{position: s.ExactPosition, motion: s.Motion}
					}
				}
			}
		}
	}
	return out
}

// there reports whether a thing is where an order wants it.
func (l *lane) there(o *told, x *thing, p place) bool {
	if !x.shade {
		verb := map[string]string{"on": "ON", "off": "OFF", "set": "DIM"}[o.verb]
		if verb == "ON" && o.door == "chat" { // which is told as 100 %
			return (&order{verb: "DIM", value: 100}).met(x, p.levels)
		}
		return (&order{verb: verb, value: o.value}).met(x, p.levels)
	}
	if o.verb == "stop" {
		return p.motion == "stopped"
	}
	return (p.motion == "stopped" || l.heads(o, x, p)) && math.Abs(p.position-float64(o.goal())) <= l.near(x)
}

// rooms reports whether the order came from a room, which tells of shades that they go.
func (o *told) rooms() bool { return o.door != "chat" }

// goal of an order to shades.
func (o *told) goal() int {
	switch o.verb {
	case "open":
		return 100
	case "close":
		return 0
	}
	return o.value
}

// near is how wrong the position of a shade may be: that of one without eyes is reckoned.
func (l *lane) near(x *thing) float64 {
	return math.Max(2, float64(l.daemon.core.Snapshot().Shade(x.id).Uncertainty)+3)
}

// heads reports whether a shade goes where an order wants it; one without eyes may go by an end.
func (l *lane) heads(o *told, x *thing, p place) bool {
	switch {
	case !x.shade, o.verb == "stop", p.motion == "stopped":
		return false
	case o.verb == "set":
		return true
	}
	return p.motion == map[string]string{"open": "opening", "close": "closing"}[o.verb]
}

// judge compares what chat told of an order with what is so, and returns the word that was used.
func (l *lane) judge(o *told, text string) string {
	word := ""
	for w, prefix := range map[string]string{done: "Done: ", underWay: "On its way: ", notDone: "Not done: "} {
		if strings.HasPrefix(text, prefix) {
			word = w
		}
	}
	l.count(o, word)
	switch word {
	case done:
		l.all(o, text, false)
	case notDone:
		l.none(o, text)
	case underWay: // what is not there comes to be, or is told
	default:
		l.wrong(o, text, "which is none of the three words")
	}
	return word
}

// heard compares what was told in a room with what is so: of shades it tells that they go there.
func (l *lane) heard(o *told, success bool, text string) {
	switch {
	case success && strings.HasPrefix(text, "Sent."):
		l.count(o, sent)
		l.later(o)
	case success:
		l.count(o, done)
		l.all(o, text, true)
	case strings.Contains(text, " done; "):
		l.count(o, "done in part")
		l.all(o, text, true)
	default:
		l.count(o, notDone)
		l.none(o, text)
	}
}

// later waits for the end of something of which a room was told that it is sent: its panel says it.
func (l *lane) later(o *told) {
	for range 150 {
		time.Sleep(100 * time.Millisecond)
		lights, shades, both := strings.Cut(l.at.tap(l.room, "", "", "").Message, "Shades: ")
		text, mine := strings.CutPrefix(lights, "Lights: ")
		if l.shades {
			text, mine = shades, both
		}
		if mine {
			l.heard(o, strings.HasPrefix(text, "Done."), text)
			return
		}
	}
	l.wrong(o, "Sent.", "and nothing more")
}

// follow waits for the end of an order that was on its way.
func (l *lane) follow(o *told, session string) {
	for began := time.Now(); ; {
		time.Sleep(5 * time.Second)
		answer := l.at.chat(session, "hello")
		at := time.Since(began)
		_, text, over := strings.Cut(answer, "\n\nOf what you told me at ")
		seen, end, _ := strings.Cut(text, ": ")
		switch {
		case over && !strings.HasSuffix(seen, " I have not seen the end"):
			if l.judge(o, end) == underWay {
				l.wrong(o, text, "which is no end")
			}
			return
		case over:
			l.count(o, "not seen")
			l.unseen(o, text)
			return
		}
		if at > 6*time.Minute {
			l.wrong(o, answer, "and nothing of its end")
			return
		}
	}
}

// unseen is wrong if all is as it was ordered, and shown to be so.
func (l *lane) unseen(o *told, text string) {
	now, snap := l.truth(), l.daemon.core.Snapshot()
	if !slices.ContainsFunc(l.things, func(x *thing) bool {
		return !l.there(o, x, now[x.id]) || x.shade && !snap.Shade(x.id).Position.OK()
	}) {
		l.wrong(o, text, "and "+l.describe(l.things, o.before, now))
	}
}

var offlineCount = regexp.MustCompile(`(\d+) (?:light|shade|device)s? (?:is|are) offline`)

// all is wrong if something that was not named as an exception is not as it was told to be, or something that was named is well.
// moves: of a shade that goes there it was told.
func (l *lane) all(o *told, text string, moves bool) {
	for _, x := range l.things {
		if l.named(x, text) {
			l.unwell(o, x, text)
		}
	}
	many := 0
	if m := offlineCount.FindStringSubmatch(text); m != nil {
		many, _ = strconv.Atoi(m[1])
	}
	for began := time.Now(); ; time.Sleep(nextPacket) {
		now := l.truth()
		var missing []*thing
		for _, x := range l.things {
			goes := moves && (l.heads(o, x, now[x.id]) || l.pretends(x))
			if !l.named(x, text) && !l.there(o, x, now[x.id]) && !goes {
				missing = append(missing, x)
			}
		}
		if len(missing) <= many {
			return
		}
		if time.Since(began) > l.shows(o, missing) {
			l.wrong(o, text, fmt.Sprintf("but %s", l.describe(missing, o.before, now)))
			return
		}
	}
}

// pretends reports whether a motor may say that it runs, and does not: one that is stuck does, until it gives up.
func (l *lane) pretends(x *thing) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	is, ever := l.ill[x.bus+"/"+x.at]
	return x.shade && ever && is.to.IsZero()
}

// shows is how long after it was confirmed something may come to be seen: what an interface to DMX took is in its next packet, an
// actuator waits before it turns round, and a shade without eyes that stands at an end makes sure of that first.
func (l *lane) shows(o *told, missing []*thing) (most time.Duration) {
	for _, x := range missing {
		switch {
		case x.bus == "dmx":
			most = max(most, 2*nextPacket)
		case !o.rooms(): // chat tells of shades that have arrived
		case x.timed && o.verb == "set":
			most = max(most, endLasts)
		case x.shade:
			most = max(most, settles)
		}
	}
	return most
}

// none is wrong if something came to be as the order wants it, or somebody is named who is well.
func (l *lane) none(o *told, text string) {
	now := l.truth()
	var came []*thing
	for _, x := range l.things {
		if l.named(x, text) {
			l.unwell(o, x, text)
		}
		if !l.there(o, x, o.before[x.id]) && l.there(o, x, now[x.id]) || !l.heads(o, x, o.before[x.id]) && l.heads(o, x, now[x.id]) {
			came = append(came, x)
		}
	}
	if len(came) > 0 {
		l.wrong(o, text, fmt.Sprintf("but %s", l.describe(came, o.before, now)))
	}
}

func (l *lane) describe(list []*thing, before, now map[appliance.ID]place) string {
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprintf("%s (%s at %s %s) is %+v, and was %+v", x.title(), x.make, x.bus, x.at, now[x.id], before[x.id]))
	}
	return strings.Join(out, "; ")
}

func (x *thing) title() string {
	if x.shade {
		return fmt.Sprint("Shade ", x.id)
	}
	return fmt.Sprint("Node ", x.id)
}

// named reports whether a text names a thing.
func (l *lane) named(x *thing, text string) bool {
	return regexp.MustCompile(x.title() + `\b`).MatchString(text)
}

// unwell is wrong if a thing that was said not to obey was well all the time.
func (l *lane) unwell(o *told, x *thing, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range []string{x.bus, x.bus + "/" + x.at} {
		if is, ever := l.ill[what]; ever && (is.to.IsZero() || o.from.Before(is.to.Add(recovery))) {
			return
		}
	}
	l.t.Errorf("SEED=%d at %v: %s: %q, but %s is well", l.seed, time.Since(bubbleBegins), o, text, x.title())
}

func (l *lane) wrong(o *told, text, but string) {
	l.t.Errorf("SEED=%d at %v: %s in %s, %v ago: %q, %s", l.seed, time.Since(bubbleBegins), o, l.room, time.Since(o.from), text, but)
}

func (o *told) String() string { return fmt.Sprintf("%s by %s (%d)", o.verb, o.door, o.value) }

func (l *lane) count(o *told, word string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words[o.door+" "+word]++
}
