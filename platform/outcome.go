package platform

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is what the controller said.
type Outcome struct {
	Done    bool   // the hardware has it
	Detail  string // who did not obey, or why not
	Command string // entry in the controller's ledger
	// Things is how many lights or shades were addressed; 0: an older controller does not say. Not are those that do not
	// have it, by name.
	Things int
	Not    []Exception
	// Within is how long the controller gave its hardware for the order: 2 s and the bus time of its fan-out, 10 s at most; 0: an
	// older controller does not say.
	Within time.Duration
}

// Exception is a thing that did not do what it was told.
type Exception struct {
	Kind string // [KindLight] or [KindShade]
	ID   int64
	Name string
	Why  string // a reason of the wire, such as "silent"
}

// NotAll says of an order who did not do it, each by name and with why, and how many of all did; all may be 0: not known.
func NotAll(all int, who []string) string {
	const named = 3
	text := strings.Join(who[:min(named, len(who))], "; ")
	if more := len(who) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	if done := all - len(who); done > 0 {
		return fmt.Sprintf("%d of %d done; %s.", done, all, text)
	}
	return "Not done: " + text + "."
}

// WhyNot says for people, after a name, why a thing did not do what it was told: "does not answer".
func WhyNot(why string) string {
	switch why {
	case "offline":
		return "is offline"
	case "silent":
		return "does not answer"
	case "refused":
		return "refuses it"
	case "elsewhere":
		return "stands at another value"
	case "late":
		return "was not told in time"
	case "bus":
		return "cannot be reached: its bus is down"
	case "superseded":
		return "was told something newer"
	case "unconfirmed":
		return "did not confirm it"
	}
	return "did not do it"
}
