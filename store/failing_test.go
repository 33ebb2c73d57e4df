package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/site/migration"
)

var errDisk = errors.New("the disk failed")

// failing is a database of which one step fails: a statement that is begun, or the first row of what it reads.
type failing struct {
	real driver.Driver
	name string
	left atomic.Int64 // steps until that one; below 0: none fails
	err  error        // of that one; nil: errDisk
	// wentOn: a transaction in which a step failed was committed all the same.
	wentOn bool
}

func (f *failing) Driver() driver.Driver { return f.real }

func (f *failing) Connect(context.Context) (driver.Conn, error) {
	c, err := f.real.Open(f.name)
	return &failingConn{Conn: c, f: f}, err
}

type failingConn struct {
	driver.Conn
	f      *failing
	failed bool // since the transaction began
}

func (c *failingConn) step() error {
	if c.f.left.Load() >= 0 && c.f.left.Add(-1) < 0 {
		c.failed = true
		return cmp.Or(c.f.err, errDisk)
	}
	return nil
}

func (c *failingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	c.failed = false
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return failingTx{tx, c}, err
}

type failingTx struct {
	driver.Tx
	c *failingConn
}

func (tx failingTx) Commit() error {
	tx.c.f.wentOn = tx.c.f.wentOn || tx.c.failed
	return tx.Tx.Commit()
}

func (c *failingConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *failingConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
	return &failingRows{Rows: rows, c: c}, err
}

func (c *failingConn) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, q)
	return failingStmt{s, c}, err
}

type failingStmt struct {
	driver.Stmt
	c *failingConn
}

func (s failingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.step(); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

type failingRows struct {
	driver.Rows
	c     *failingConn
	begun bool
}

func (r *failingRows) Next(to []driver.Value) error {
	if !r.begun {
		r.begun = true
		if err := r.c.step(); err != nil {
			return err
		}
	}
	return r.Rows.Next(to)
}

// onFailing has a store use a database of which a step can be made to fail.
func onFailing(t *testing.T, s *Store) *failing {
	t.Helper()
	f := &failing{real: s.db.Load().conf.Driver(), name: "file:" + s.path + "?_foreign_keys=1&_txlock=immediate&_busy_timeout=10000"}
	f.left.Store(-1)
	one := func() *sql.DB {
		db := sql.OpenDB(f)
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { db.Close() })
		return db
	}
	old := s.db.Swap(&handles{conf: one(), behind: one(), read: one()})
	t.Cleanup(func() { old.close() })
	return f
}

// What an operation does to the database.
const (
	reads  = "reads"
	writes = "writes"
	once   = "writes, where there is something"
)

// onFailingDisk is a house, and a store of it of whose disk a step can be made to fail; fails has one fail after the other while
// something is done, which is told a number that differs each time.
func onFailingDisk(t *testing.T) (s *Store, fails func(name, kind string, steps iter.Seq[int64], do func(n int64) error)) {
	t.Helper()
	s = open(t, t.TempDir())
	in := demo()
	in.Pictures = map[string][]byte{"one": []byte("drawing")}
	in.Division.Floors = []appliance.Floor{{Name: "Ground", Plan: &appliance.Plan{Picture: "one", Type: "image/png", Width: 4, Height: 3}}}
	imports(t, s, in, ImportOptions{})
	s.keeper.stop() // else it looks at the database between two steps
	s.synced = func() bool { return true }
	disk := onFailing(t, s)
	looking, err := fileAt(s.path).Reader(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { looking.Close() })
	version := func() (n int) {
		t.Helper()
		if err := looking.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	return s, func(name, kind string, steps iter.Seq[int64], do func(n int64) error) {
		t.Helper()
		for n := range steps {
			before := version()
			disk.wentOn = false
			disk.left.Store(n)
			err := do(n)
			failed := disk.left.Swap(-1) < 0
			changed := version() != before
			switch {
			case err != nil && changed:
				t.Errorf("%s: the disk failed at step %d, which was told, and something is kept: %v", name, n, err)
			case failed && changed && disk.wentOn:
				t.Errorf("%s: the disk failed at step %d, and it went on", name, n)
			case failed && err == nil && !changed:
				t.Errorf("%s: the disk failed at step %d, and nobody was told", name, n)
			case !failed && (err != nil || changed != (kind != reads)):
				t.Errorf("%s: %v, written %v", name, err, changed)
			}
			if !failed || kind == once && changed {
				return
			}
		}
	}
}

// each step is the first, the one as many behind it as stride, and so on.
func eachStep(first, stride int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n := first; yield(n); n += stride {
		}
	}
}

// Wherever the disk fails, whoever wanted something is told, and nothing is kept of it; what is
// told as done is kept.
func TestWhereverTheDiskFailsAllIsKeptOrNothing(t *testing.T) {
	t.Parallel()
	s, fails := onFailingDisk(t)
	ctx := t.Context()
	site := load(t, s)
	shade, bus := site.Shades[0].ID, site.Buses[0].UUID
	if _, _, err := s.Migrate(ctx, Takeover{House: migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 700, Name: "Lamp"}}}, By: "ana", Watch: &Watch{Source: "old:443", Refresh: "r"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Load().conf.Exec("INSERT INTO user (uuid, number, name, role, password, created_at, revision) VALUES (zeroblob(16), 1, 'ana', 'admin', 'none', 0, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := s.TakeOver(ctx); err != nil {
		t.Fatal(err)
	}
	ana, _ := s.User("ana")
	var session, rotating string
	for _, op := range []struct {
		name string
		kind string
		do   func(n int64) error // n differs each time
	}{
		{"put something aside", writes, func(n int64) error { return s.PutAside(ctx, appliance.Aside{Key: fmt.Sprint(n)}) }},
		{"look what was put aside", reads, func(int64) error { _, err := s.Asides(ctx); return err }},
		{"measure a shade", writes, func(n int64) error {
			return s.SetShade(ctx, shade, appliance.ShadeSettings{TravelUp: time.Duration(n+20) * time.Second, TravelDown: 20 * time.Second})
		}},
		{"list migrations", reads, func(int64) error { _, err := s.Migrations(ctx); return err }},
		{"list watched houses", reads, func(int64) error { _, err := s.Watches(ctx); return err }},
		{"enrol", writes, func(int64) error { return s.SetCloud(ctx, Cloud{Platform: "p"}) }},
		{"where it is enrolled", reads, func(int64) error { _, err := s.Cloud(ctx); return err }},
		{"number a session", writes, func(int64) error { _, err := s.NextCloudSession(ctx); return err }},
		{"leave the platform", once, func(int64) error { return s.LeaveCloud(ctx) }},
		{"name a certificate", writes, func(n int64) error { return s.KeepCertificate(ctx, fmt.Sprint("/cert", n), "/key") }},
		{"make a secret", writes, func(n int64) error {
			_, err := s.Secret(ctx, fmt.Sprint("secret", n), func() ([]byte, error) { return []byte("x"), nil })
			return err
		}},
		{"replace a secret", writes, func(n int64) error { return s.ReplaceSecret(ctx, "secret", []byte(fmt.Sprint(n))) }},
		{"make a key", writes, func(n int64) error { _, _, err := s.AddKey(ctx, fmt.Sprint("key", n), true); return err }},
		{"set a role", writes, func(int64) error { return s.SetRole(ctx, "ana", account.RoleAdmin) }},
		{"log in to the public API", writes, func(int64) (err error) {
			ana, _ = s.User("ana")
			_, err = s.NewRefreshToken(ctx, ana)
			return err
		}},
		{"log in with a browser", writes, func(int64) (err error) {
			token, err := s.NewSession(ctx, ana)
			session = cmp.Or(token, session)
			return err
		}},
		{"use a session", reads, func(int64) error { _, err := s.UseSession(ctx, session); return err }},
		{"end a session", writes, func(int64) error { return s.EndSession(ctx, session) }},
		{"log in with a program", writes, func(int64) (err error) {
			token, err := s.NewRotatingToken(ctx, ana)
			rotating = cmp.Or(token, rotating)
			return err
		}},
		{"replace a token", writes, func(int64) (err error) {
			_, next, err := s.Rotate(ctx, rotating)
			rotating = cmp.Or(next, rotating)
			return err
		}},
		{"remove a user", once, func(int64) error { return s.RemoveUser(ctx, "ana") }},
		{"save states and the ledger", writes, func(n int64) error {
			b := someBatch(2)
			b.States[0].Level, b.States[1].Level = appliance.Level(n), appliance.Level(n)
			b.Entries = []appliance.Entry{someEntry(int(n), 2)}
			return s.SaveBatch(ctx, b)
		}},
		{"load states", reads, func(int64) error { _, err := s.LoadStates(ctx); return err }},
		{"read the ledger", reads, func(int64) error { _, err := s.Entries(ctx, 10, ""); return err }},
		{"save groups", writes, func(n int64) error {
			return s.SaveGroups(ctx, bus, appliance.BusGroups{Leaving: []string{fmt.Sprint(n)}})
		}},
		{"load groups", reads, func(int64) error { _, err := s.LoadGroups(ctx); return err }},
		{"note something", writes, func(int64) error { return s.Audit(ctx, account.Audit{What: "w"}) }},
		{"read a secret", reads, func(int64) error { _, err := s.KeptSecret(ctx, "secret"); return err }},
		{"plan a migration", reads, func(int64) error {
			_, err := s.PlanMigration(ctx, migration.House{Source: "new:443", Nodes: []migration.Node{{ID: 700, Name: "Lamp"}}})
			return err
		}},
		{"read the audit log", reads, func(int64) error { _, err := s.Audits(ctx, 10, 0, true); return err }},
		{"read a picture", reads, func(int64) error { _, err := s.Picture(ctx, site.Division.Floors[0].Plan.Picture); return err }},
		{"take over what others changed", reads, func(int64) error { s.seen = revisions{}; return s.TakeOver(ctx) }},
	} {
		fails(op.name, op.kind, eachStep(0, 1), op.do)
	}
}

// A change is worked out from the whole site or not made: what could not be read is not taken for gone.
func TestAChangeIsMadeOfTheWholeSite(t *testing.T) {
	t.Parallel()
	s, fails := onFailingDisk(t)
	ctx := t.Context()
	site := load(t, s)
	fails("read the whole site", reads, eachStep(1, 2), func(int64) error {
		return s.view(ctx, func(tx *sql.Tx) error { _, err := wholeSite(ctx, tx); return err })
	})
	fails("read what there is", reads, eachStep(0, 16), func(int64) error {
		_, faults, err := s.Stored(ctx)
		if err == nil && len(faults) > 0 {
			err = errors.New(faults[0].What)
		}
		return err
	})
	everything := ruled()
	everything.Buses[0].Name, everything.Clusters[0].Shades, everything.Shades = "other", []appliance.ID{-1}, []appliance.Shade{{ID: -1, Name: "new", Node: -1, Output: 1}}
	everything.Pictures = map[string][]byte{"two": []byte("drawing")}
	everything.Division.Floors = []appliance.Floor{{Name: "Attic", Plan: &appliance.Plan{Picture: "two", Type: "image/png", Width: 4, Height: 3}}}
	var p *plan
	working := func(tx *sql.Tx) (err error) {
		if p, err = newPlan(ctx, tx, everything, ImportOptions{}, time.Now()); err == nil {
			p.removing(siteChange{remove: map[Family][]appliance.ID{Shades: {site.Shades[1].ID}}})
		}
		return err
	}
	fails("work it out", reads, eachStep(4, 14), func(int64) error { return s.view(ctx, working) })
	if err := errors.Join(s.view(ctx, working), p.work()); err != nil {
		t.Fatal(err)
	}
	kept := errors.New("all of it was written")
	fails("save it", reads, eachStep(0, 1), func(n int64) error {
		err := s.write(ctx, func(tx *sql.Tx) error {
			if err := p.save(ctx, tx); err != nil {
				return err
			}
			return kept // so that nothing is
		})
		if errors.Is(err, kept) {
			return nil
		}
		return err
	})
	fails("take a house over", writes, eachStep(0, 1), func(n int64) error {
		_, _, err := s.Migrate(ctx, Takeover{House: migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 700 + n, Name: fmt.Sprint("Lamp ", n)}}}, By: "ana"})
		return err
	})
	fails("rename a cluster", writes, eachStep(7, 16), func(n int64) error {
		return s.UpdateCluster(ctx, site.Clusters[0].ID, "ana", func(c *appliance.Cluster) error { c.Name = fmt.Sprint("renamed ", n); return nil })
	})
	after := load(t, s)
	if c := after.Clusters[0]; !slices.Equal(c.Nodes, site.Clusters[0].Nodes) || !slices.Equal(c.Shades, site.Clusters[0].Shades) {
		t.Errorf("the cluster that was renamed has %v and %v, and had %+v", c.Nodes, c.Shades, site.Clusters[0])
	}
	if !reflect.DeepEqual(after.Division, site.Division) {
		t.Errorf("floors %+v, were %+v", after.Division, site.Division)
	}
}
