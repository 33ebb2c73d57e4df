package appliance

import "time"

// Aside is that somebody saw what needs attention and put it aside until it is over.
type Aside struct {
	Key string // of what it is about
	By  string
	At  time.Time
}
