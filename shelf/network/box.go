package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Box is the system below, which sets the network. The zero Box sets none.
type Box struct {
	// Inbox is the folder from which it takes what is wished, and what is to be kept.
	Inbox string
	// Told is the file in which it says how it stands.
	Told string
}

// State is how it stands with a setting.
type State string

// What a State can be.
const (
	Kept    State = "kept"
	Asked   State = "asked"   // the system was asked, and has not begun
	Trying  State = "trying"  // it goes back by itself unless somebody keeps it
	Undone  State = "undone"  // it went back, to what is kept
	Refused State = "refused" // by the system; what is kept stays
)

var states = []State{Kept, Asked, Trying, Undone, Refused}

// Standing is how it stands.
type Standing struct {
	State State
	// Setting is the one in force, of Asked the one that was asked for.
	Setting Setting
	// Left is how long it is tried; 0 where it is not.
	Left time.Duration
}

// ErrBusy: a setting is being tried already. ErrNothing: none is.
var (
	ErrBusy    = errors.New("a setting is being tried: keep it, or wait until it has gone back")
	ErrNothing = errors.New("no setting is being tried: it is over")
)

// wish and keep are what is left in the inbox, and mostTold is how much is read of what is told.
const wish, keep, mostTold = "wish", "keep", 4 << 10

// Can reports whether the system sets its network from here.
func (b Box) Can() bool { return b.Inbox != "" }

// Standing tells how it stands. A system that has told nothing yet keeps the zero Setting.
func (b Box) Standing() Standing {
	told := values(b.Told)
	s := Standing{State: State(told["state"]), Setting: settingOf(told)}
	if !slices.Contains(states, s.State) {
		s.State = Kept
	}
	if asked := values(filepath.Join(b.Inbox, wish)); len(asked) > 0 && s.State != Trying {
		s.State, s.Setting = Asked, settingOf(asked)
	}
	if until, err := strconv.Atoi(told["until"]); err == nil && s.State == Trying {
		s.Left = max(0, time.Duration(until)*time.Second-sinceStart())
	}
	return s
}

// Ask leaves a setting for the system to try. It has to have passed Check. It fails with ErrBusy.
func (b Box) Ask(s Setting) error {
	if now := b.Standing().State; now == Asked || now == Trying {
		return ErrBusy
	}
	return b.leave(wish, s)
}

// Keep tells the system that the setting which is tried is to stay. It fails with ErrNothing.
func (b Box) Keep(s Setting) error {
	if b.Standing().State != Trying {
		return ErrNothing
	}
	return b.leave(keep, s)
}

// leave has the whole file there or none.
func (b Box) leave(name string, s Setting) error {
	if err := os.MkdirAll(b.Inbox, 0o700); err != nil {
		return fmt.Errorf("ask for a network: %w", err)
	}
	part := filepath.Join(b.Inbox, name+".part")
	if err := os.WriteFile(part, []byte(s.text()), 0o600); err != nil {
		return fmt.Errorf("ask for a network: %w", err)
	}
	if err := os.Rename(part, filepath.Join(b.Inbox, name)); err != nil {
		return fmt.Errorf("ask for a network: %w", err)
	}
	return nil
}

// values are the lines of a file that say what something is; none of a file that cannot be read.
func values(path string) map[string]string {
	out := map[string]string{}
	f, err := os.Open(path)
	if err != nil {
		return out
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, mostTold))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			out[name] = value
		}
	}
	return out
}

// sinceStart is how long the box has run, which is the system's clock for trials: the time of day may be set meanwhile.
func sinceStart() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // cannot fail for this clock
	return time.Duration(now.Nano())
}
