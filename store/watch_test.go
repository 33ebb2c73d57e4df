package store

import (
	"context"
	"os"
	"sync"
	"testing"

	"svc.internal/controller/shelf/account"
)

func readFile(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// watched collects what Watch tells until the test ends.
type watched struct {
	mu  sync.Mutex
	got Change
}

func watch(t *testing.T, s *Store) *watched {
	w := &watched{}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		s.Watch(ctx, func(c Change) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.got.Site, w.got.Accounts = w.got.Site || c.Site, w.got.Accounts || c.Accounts
		})
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	eventually(t, "the watcher listens", func() bool {
		s.keeper.mu.Lock()
		defer s.keeper.mu.Unlock()
		return len(s.keeper.watchers) == 1
	})
	return w
}

// take returns what was told so far and forgets it.
func (w *watched) take() Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.got
	w.got = Change{}
	return c
}

func TestWatchSeesOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	daemon, command := open(t, dir), open(t, dir)
	w := watch(t, daemon)

	addUser(t, command, "anna", account.RoleViewer)
	eventually(t, "the daemon knows anna", func() bool { _, ok := daemon.User("anna"); return ok })
	eventually(t, "the watcher is told of accounts", func() bool { return w.take() == Change{Accounts: true} })

	imports(t, command, demo(), ImportOptions{})
	eventually(t, "the watcher is told of the site", func() bool { return w.take() == Change{Site: true} })

	if err := command.SetPassword(t.Context(), "anna", "another password"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon takes the new password", func() bool {
		_, err := daemon.CheckPassword(t.Context(), "anna", "another password")
		return err == nil
	})
}

// A daemon loads the site, makes a certificate, opens its doors, and watches then.
func TestWatchTellsWhatWasCommittedSinceTheSiteWasLoaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	daemon, command := open(t, dir), open(t, dir)
	load(t, daemon)
	imports(t, command, demo(), ImportOptions{})
	eventually(t, "the keeper has seen the import", func() bool {
		daemon.refreshMu.Lock()
		defer daemon.refreshMu.Unlock()
		return daemon.seen.site > 0
	})
	w := watch(t, daemon)
	eventually(t, "the watcher is told of the site", func() bool { return w.take() == Change{Site: true} })
}

func TestWatchTellsNothingThatIsLoadedAlready(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	load(t, s)
	w := watch(t, s)
	addUser(t, s, "anna", account.RoleViewer)
	var told Change
	eventually(t, "the watcher is told of accounts", func() bool {
		c := w.take()
		told = Change{Site: told.Site || c.Site, Accounts: c.Accounts}
		return told.Accounts
	})
	if told.Site {
		t.Error("the watcher is told of a site that was loaded before it began")
	}
}

func TestWatchSeesOwnCommits(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	w := watch(t, s)
	imports(t, s, demo(), ImportOptions{})
	eventually(t, "the watcher is told of the site", func() bool { return w.take() == Change{Site: true} })
	secret, _, err := s.AddKey(t.Context(), "k", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.KeyOf(secret); !ok {
		t.Error("a key is unknown after AddKey returned")
	}
	eventually(t, "the watcher is told of accounts", func() bool { return w.take() == Change{Accounts: true} })
}

func TestReadersAndBatchesDoNotWaitForAnImport(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	tx, err := s.db.Load().conf.BeginTx(t.Context(), nil) // an import in progress
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if len(load(t, s).Nodes) != 3 {
		t.Error("a reader does not see the site during an import")
	}
	saved := make(chan error, 1)
	go func() { saved <- s.SaveBatch(context.Background(), someBatch(1)) }()
	select {
	case err := <-saved:
		t.Fatalf("a batch was saved during a write transaction: %v", err)
	default:
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-saved; err != nil {
		t.Errorf("batch after the import: %v", err)
	}
}
