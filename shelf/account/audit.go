package account

import "time"

// Audit is one change that somebody made.
type Audit struct {
	ID      int64 // grows
	At      time.Time
	Who     string // user or program
	From    string // address, or "console"
	What    string // "node.change"
	Subject string // "node 7 (Lobby)"
	Detail  string // what was set, as JSON; never a secret
	// Accounts: it is about users, keys or backups, which only admins read of.
	Accounts bool
}
