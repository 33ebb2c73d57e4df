package operations

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/site/backup"
	"svc.internal/controller/site/offsite"
	"svc.internal/controller/store"
)

const (
	// offsiteSecret is the name under which the settings are kept: they hold a password.
	offsiteSecret = "offsite backups"
	// offsiteEvery is how often it is looked whether a copy is due, and how long after a failure it is tried again at first: twice
	// as long each time, offsiteRarely at most.
	offsiteEvery, offsiteRarely = 10 * time.Minute, 160 * time.Minute
)

// Offsite makes copies of backups outside of the box, and knows how it stands with them.
type Offsite struct {
	db    *store.Store
	stick string // folder of a stick; empty: none can be plugged in
	log   *slog.Logger
	kick  chan struct{} // somebody wants it now

	mu       sync.Mutex
	now      offsite.Settings
	underWay bool // or about to be, since somebody wants it
	failures map[*offsite.Copies]int
}

// NewOffsite reads the settings; where that fails there are none. stick is the folder where the system mounts a stick; empty: it
// mounts none.
func NewOffsite(ctx context.Context, db *store.Store, stick string, log *slog.Logger) *Offsite {
	o := &Offsite{db: db, stick: stick, log: log, kick: make(chan struct{}, 1), failures: map[*offsite.Copies]int{}}
	text, err := db.KeptSecret(ctx, offsiteSecret)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &o.now)
	}
	if err != nil {
		log.Error("backups leave the box no more: the settings cannot be read; set them anew", "why", err)
		o.now = offsite.Settings{}
	}
	return o
}

// TakePrepared takes the public key that waits in a data directory (see [Card.HandOver]), where none was set before; to where copies go is
// said later. What waited is forgotten.
func (o *Offsite) TakePrepared(ctx context.Context, dataDir string) error {
	path := filepath.Join(dataDir, handover, "backup-key")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && o.OffsiteNow().Key == "" {
		err = o.SetOffsite(ctx, api.OffsiteEdit{Key: strings.TrimSpace(string(text)), Keep: offsite.KeepUsual})
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("take the key for backups that was prepared: %w", err)
	}
	return nil
}

// keep stores the settings; mu is held.
func (o *Offsite) keep(ctx context.Context, s offsite.Settings) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return o.db.ReplaceSecret(ctx, offsiteSecret, text)
}

// OffsiteNow tells the settings, without the password, and how it stands.
func (o *Offsite) OffsiteNow() api.OffsiteBackups {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.now
	out := api.OffsiteBackups{Series: s.Series, Key: s.Key, Keep: s.Keep, Stick: toldCopies(s.Stick), StickPossible: o.stick != "", UnderWay: o.underWay}
	if s.Keep == 0 {
		out.Keep = offsite.KeepUsual
	}
	if a := s.Address; a != nil {
		out.Server = &api.OffsiteServer{Kind: a.Kind, URL: a.URL, User: a.User, Region: a.Region, Fingerprint: a.Fingerprint, CA: a.CA, Copies: *toldCopies(s.Server)}
	}
	return out
}

func toldCopies(c *offsite.Copies) *api.OffsiteCopies {
	if c == nil {
		return nil
	}
	_, overdue := c.Overdue(time.Now())
	return &api.OffsiteCopies{Last: utc(c.Last), File: c.File, Size: c.Size, Failed: utc(c.Failed), Why: c.Why, Note: c.Note, Overdue: overdue}
}

// SetOffsite takes other settings, whole. What they leave out of the password stays, if user and server do.
func (o *Offsite) SetOffsite(ctx context.Context, in api.OffsiteEdit) error {
	if in.Key == "" && (in.Stick || in.Server != nil) {
		return &offsite.FieldError{Field: "key", Why: "this is needed: copies leave the box only encrypted"}
	}
	if in.Key != "" {
		if err := backup.CheckKey(in.Key); err != nil {
			return &offsite.FieldError{Field: "key", Why: err.Error()}
		}
	}
	if in.Keep < 1 || in.Keep > offsite.KeepMost {
		return &offsite.FieldError{Field: "keep", Why: fmt.Sprintf("want 1 to %d", offsite.KeepMost)}
	}
	if in.Stick && o.stick == "" {
		return &offsite.FieldError{Field: "stick", Why: "this controller's system mounts no sticks"}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	next := offsite.Settings{Series: o.now.Series, Key: in.Key, Keep: in.Keep}
	if next.Series == "" {
		next.Series = newSeries()
	}
	since := offsite.Copies{Since: time.Now()}
	if in.Stick {
		if next.Stick = o.now.Stick; next.Stick == nil {
			next.Stick = new(since)
		}
	}
	if in.Server != nil {
		a := offsite.Address(*in.Server)
		before := o.now.Address
		same := before != nil && before.Kind == a.Kind && before.URL == a.URL && before.User == a.User
		if a.Password == "" && same {
			a.Password = before.Password
		} else if a.Password == "" && before != nil {
			return &offsite.FieldError{Field: "server/password", Why: "the password is needed again for another address or user"}
		}
		if _, err := a.Place(); err != nil {
			return inServer(err)
		}
		next.Address = &a
		if next.Server = new(since); same {
			next.Server = o.now.Server
		}
	}
	if err := o.keep(ctx, next); err != nil {
		return err
	}
	o.now, o.failures = next, map[*offsite.Copies]int{}
	return nil
}

// inServer is an error of a field of the server.
func inServer(err error) error {
	var field *offsite.FieldError
	if errors.As(err, &field) {
		return &offsite.FieldError{Field: "server/" + field.Field, Why: field.Why}
	}
	return err
}

func newSeries() string {
	b := make([]byte, 4)
	rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}

// TryOffsite begins to make a copy in each place now. It returns [appliance.ErrInUse] while one is being made, and
// [appliance.ErrNotFound] where none is wanted.
func (o *Offsite) TryOffsite() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.now.Stick == nil && o.now.Server == nil:
		return fmt.Errorf("no copies are wanted anywhere: %w", appliance.ErrNotFound)
	case o.underWay:
		return fmt.Errorf("a copy is being made: %w", appliance.ErrInUse)
	}
	o.underWay = true
	o.kick <- struct{}{}
	return nil
}

// Overdue tells where the newest copy is too old, and how old it is.
func (o *Offsite) Overdue(now time.Time) (list []api.OffsiteOverdue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if since, yes := o.now.Stick.Overdue(now); yes {
		list = append(list, api.OffsiteOverdue{To: "stick", Since: since})
	}
	if since, yes := o.now.Server.Overdue(now); yes {
		list = append(list, api.OffsiteOverdue{To: "server", Since: since})
	}
	return list
}

// LastCopy tells when the newest copy was made on the "stick" or the "server"; zero: never, or none is wanted.
func (o *Offsite) LastCopy(to string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := map[string]*offsite.Copies{"stick": o.now.Stick, "server": o.now.Server}[to]; c != nil {
		return c.Last
	}
	return time.Time{}
}

// Run makes copies when they are due until ctx ends. Nobody waits for it.
func (o *Offsite) Run(ctx context.Context) error {
	for {
		now := false
		select { // not at once: there is enough to do at the start
		case <-time.After(offsiteEvery):
		case <-o.kick:
			now = true
		case <-ctx.Done():
			return nil
		}
		o.copies(ctx, now)
	}
}

// copies makes one in each place where it is due, or at once.
func (o *Offsite) copies(ctx context.Context, now bool) {
	o.mu.Lock()
	s := o.now
	stick, server := o.isDue(s.Stick, now), o.isDue(s.Server, now)
	o.underWay = stick || server
	o.mu.Unlock()
	if stick {
		o.copyTo(ctx, "stick", s, s.Stick, offsite.Stick{Folder: o.stick})
	}
	if server {
		if place, err := s.Address.Place(); err != nil {
			o.note(ctx, "server", s.Server, offsite.Sent{}, err)
		} else {
			o.copyTo(ctx, "server", s, s.Server, place)
		}
	}
	o.mu.Lock()
	o.underWay = len(o.kick) > 0
	o.mu.Unlock()
}

// isDue: mu is held.
func (o *Offsite) isDue(c *offsite.Copies, now bool) bool {
	switch {
	case c == nil:
		return false
	case now:
		return true
	}
	if n := o.failures[c]; n > 0 && time.Since(c.Failed) < min(offsiteEvery<<min(n-1, 10), offsiteRarely)-offsiteEvery/2 {
		return false
	}
	return store.DueByNight(c.Last, time.Now())
}

func (o *Offsite) copyTo(ctx context.Context, to string, s offsite.Settings, c *offsite.Copies, place offsite.Place) {
	sent, err := offsite.Send(ctx, place, offsite.Series{ID: s.Series, Keep: s.Keep}, time.Now(), func(ctx context.Context) (offsite.File, error) {
		return o.db.SealedBackup(ctx, backup.Seal{Key: s.Key})
	})
	if ctx.Err() == nil {
		o.note(ctx, to, c, sent, err)
	}
}

// note keeps what became of a copy. Trouble is logged once, until it is over.
func (o *Offsite) note(ctx context.Context, to string, c *offsite.Copies, sent offsite.Sent, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c != o.now.Stick && c != o.now.Server {
		return // it is not wanted any more
	}
	if err != nil {
		c.Failed, c.Why = time.Now(), err.Error()
		if o.failures[c]++; o.failures[c] == 1 {
			o.log.Error("no copy of a backup outside of the box; lights and shades go on", "to", to, "why", err)
		}
	} else {
		*c = offsite.Copies{Since: c.Since, Last: time.Now(), File: sent.Name, Size: sent.Size, Note: sent.Note}
		delete(o.failures, c)
		o.log.Info("copy of a backup outside of the box", "to", to, "file", sent.Name, "bytes", sent.Size, "note", sent.Note)
	}
	if err := o.keep(ctx, o.now); err != nil {
		o.log.Warn("how it went with a copy of a backup is forgotten at the next start", "why", err)
	}
}
