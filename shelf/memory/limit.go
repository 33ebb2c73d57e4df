// Package memory keeps a program within the memory that it may use.
package memory

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// ofLimit is the part of a limit from outside that the Go heap, stacks and the
	// runtime may grow to before they are collected harder: the rest is for what the
	// runtime does not count.
	ofLimit = 0.8
	// ofBoard is the part of the machine's memory where nobody set a limit.
	ofBoard = 0.25
	// least is enough for the largest of sites at rest; below it the collector would
	// do nothing else.
	least = 64 << 20
)

// SetLimit sets the soft limit of the runtime: a part of what the control group (and so
// systemd's MemoryMax) allows, else a share of the machine's memory. GOMEMLIMIT in the
// environment overrules it. It never sets more than most bytes. It returns the limit and
// where it comes from.
func SetLimit(most int64) (limit int64, from string) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1), "GOMEMLIMIT"
	}
	if limit, from = choose("/"); limit > most {
		limit, from = most, "what this program needs at most"
	}
	debug.SetMemoryLimit(limit)
	return limit, from
}

// Borrow lets the runtime grow by some bytes more before it collects harder, for what needs them for a while, such as a backup
// that is read: else the collector does nothing but look at what is needed, again and again, while commands wait. The part of
// the control group's or machine's memory that [SetLimit] keeps to is never passed. One borrows at a time.
func Borrow(bytes int64) (giveBack func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	most, _ := choose("/")
	was := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(max(was, min(was+bytes, most)))
	return func() { debug.SetMemoryLimit(was) }
}

// choose works it out for a machine whose file system begins at root.
func choose(root string) (limit int64, from string) {
	if group := groupLimit(root); group > 0 {
		return max(least, int64(ofLimit*float64(group))), "control group"
	}
	if board := total(root); board > 0 {
		return max(least, int64(ofBoard*float64(board))), "memory of the machine"
	}
	return math.MaxInt64, "nothing known"
}

// groupLimit is the lowest limit of the control group of this process and of those
// above it, in the unified hierarchy or in the older one of memory; 0: none.
func groupLimit(root string) (lowest int64) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[0] == "0" && parts[1] == "":
		case parts[1] == "memory":
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := filepath.Clean("/" + parts[2]); ; group = filepath.Dir(group) {
			if n := number(filepath.Join(root, base, group, file)); n > 0 && n < math.MaxInt64/2 && (lowest == 0 || n < lowest) {
				lowest = n
			}
			if group == "/" {
				break
			}
		}
	}
	return lowest
}

// number in a file; 0 if it is none, such as "max".
func number(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// total memory of the machine.
func total(root string) int64 {
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
