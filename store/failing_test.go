package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
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
		return errDisk
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

// Wherever the disk fails, whoever wanted something is told, and nothing is kept of it; what is
// told as done is kept, and what nobody touched is as it was.
func TestWhereverTheDiskFailsAllIsKeptOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	in := demo()
	in.Pictures = map[string][]byte{"one": []byte("drawing")}
	in.Division.Floors = []appliance.Floor{{Name: "Ground", Plan: &appliance.Plan{Picture: "one", Type: "image/png", Width: 4, Height: 3}}}
	imports(t, s, in, ImportOptions{})
	ana := addUser(t, s, "ana", account.RoleAdmin)
	site := load(t, s)
	s.keeper.stop() // else it looks at the database between two steps
	s.synced = func() bool { return true }
	disk := onFailing(t, s)
	ctx := t.Context()
	other := open(t, dir)
	looking, err := other.db.Load().read.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close()
	version := func() (n int) {
		t.Helper()
		if err := looking.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	node, shade, cluster, bus := site.Nodes[0].ID, site.Shades[0].ID, site.Clusters[0].ID, site.Buses[0].UUID
	house := func(n int64) migration.House {
		return migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 700, Name: fmt.Sprint("Lamp ", n)}}}
	}
	var session, rotating string
	var scene, rule appliance.ID
	const reads, writes, changes, once = "reads", "writes", "writes, after it read the site as an import does", "writes, where there is something"
	for _, op := range []struct {
		name string
		kind string
		do   func(n int64) error // n differs each time
	}{
		{"put something aside", writes, func(n int64) error { return s.PutAside(ctx, appliance.Aside{Key: fmt.Sprint(n)}) }},
		{"look what was put aside", reads, func(int64) error { _, err := s.Asides(ctx); return err }},
		{"import", writes, func(n int64) error {
			other := site.Nodes[1]
			other.Note = fmt.Sprint(n)
			_, err := s.Import(ctx, appliance.Site{Buses: site.Buses, Nodes: []appliance.Node{other}}, ImportOptions{})
			return err
		}},
		{"change a device", changes, func(n int64) error {
			return s.UpdateDevice(ctx, node, "ana", func(v *appliance.Node) error { v.Note = fmt.Sprint(n); return nil }, nil)
		}},
		{"change a bus", changes, func(n int64) error {
			return s.UpdateBus(ctx, bus, "ana", func(b *appliance.Bus) error {
				b.Options = map[string]string{"guard": fmt.Sprint(n+2, "ms")}
				return nil
			}, nil)
		}},
		{"measure a shade", writes, func(n int64) error {
			return s.SetShade(ctx, shade, appliance.ShadeSettings{TravelUp: time.Duration(n+20) * time.Second, TravelDown: 20 * time.Second})
		}},
		{"make a cluster", changes, func(n int64) error {
			_, err := s.CreateCluster(ctx, appliance.Cluster{Name: fmt.Sprint("c", n), Nodes: []appliance.ID{node}, Shades: []appliance.ID{shade}}, "ana")
			return err
		}},
		{"rename a cluster", writes, func(n int64) error {
			return s.UpdateCluster(ctx, cluster, "ana", func(c *appliance.Cluster) error { c.Name = fmt.Sprint("renamed ", n); return nil })
		}},
		{"make a scene", changes, func(n int64) (err error) {
			scene, err = s.CreateScene(ctx, appliance.Scene{Name: fmt.Sprint("s", n), Actions: []appliance.Action{{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.All}}}}, "ana")
			return err
		}},
		{"make a rule", changes, func(n int64) (err error) {
			rule, err = s.CreateRule(ctx, appliance.Rule{Name: fmt.Sprint("r", n), When: appliance.Trigger{Kind: appliance.AtTime, Days: appliance.EveryDay},
				Actions: []appliance.Action{{Scene: scene}}}, "ana")
			return err
		}},
		{"change a rule", changes, func(n int64) error {
			return s.UpdateRule(ctx, rule, "ana", func(r *appliance.Rule) error { r.When.Minute = int(n + 1); return nil })
		}},
		{"retire a rule", once, func(int64) error { return s.RemoveRule(ctx, rule, "ana", func(appliance.Rule) error { return nil }) }},
		{"change the settings", changes, func(n int64) error {
			return s.UpdateSettings(ctx, "ana", func(name *string, _ *appliance.Settings, _ *appliance.Division) error {
				*name = fmt.Sprint("House ", n)
				return nil
			})
		}},
		{"take a house over", changes, func(n int64) error {
			_, _, err := s.Migrate(ctx, Takeover{House: house(n), By: "ana", Watch: &Watch{Source: "old:443", Refresh: "r"}})
			return err
		}},
		{"plan to take a house over", reads, func(n int64) error { _, err := s.PlanMigration(ctx, house(n)); return err }},
		{"list migrations", reads, func(int64) error { _, err := s.Migrations(ctx); return err }},
		{"look at a house", writes, func(n int64) error { return s.Looked(ctx, Watch{Source: "old:443", Refresh: fmt.Sprint(n)}) }},
		{"list watched houses", reads, func(int64) error { _, err := s.Watches(ctx); return err }},
		{"undo a migration", once, func(int64) error { _, err := s.UndoMigration(ctx, 0, true, "ana"); return err }},
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
		{"read the audit log", reads, func(int64) error { _, err := s.Audits(ctx, 10, 0, true); return err }},
		{"read a picture", reads, func(int64) error { _, err := s.Picture(ctx, site.Division.Floors[0].Plan.Picture); return err }},
		{"read the site", reads, func(int64) error {
			_, faults, err := s.Stored(ctx)
			if err == nil && len(faults) > 0 {
				err = errors.New(faults[0].What)
			}
			return err
		}},
		{"take over what others changed", reads, func(int64) error { s.seen = revisions{}; return s.TakeOver(ctx) }},
	} {
		first := int64(0)
		if op.kind == changes {
			disk.left.Store(1000)
			if err := op.do(-1); err != nil {
				t.Fatal(op.name, err)
			}
			first = 1000 - disk.left.Swap(-1) - 20 // its last steps
		}
		for n, done := first, false; !done; n++ {
			before := version()
			disk.wentOn = false
			disk.left.Store(n)
			err := op.do(n)
			failed := disk.left.Swap(-1) < 0
			changed := version() != before
			done = !failed || op.kind == once && changed
			switch {
			case err != nil && changed:
				t.Errorf("%s: the disk failed at step %d, which was told, and something is kept: %v", op.name, n, err)
			case failed && changed && disk.wentOn:
				t.Errorf("%s: the disk failed at step %d, and it went on", op.name, n)
			case failed && err == nil && !changed:
				t.Errorf("%s: the disk failed at step %d, and nobody was told", op.name, n)
			case !failed && (err != nil || changed != (op.kind != reads)):
				t.Errorf("%s: %v, written %v", op.name, err, changed)
			}
		}
	}
	after := load(t, s)
	for _, n := range site.Nodes {
		if !slices.ContainsFunc(after.Nodes, func(v appliance.Node) bool { v.Note = n.Note; return reflect.DeepEqual(v, n) }) {
			t.Errorf("of node %d there is not left what was: %+v", n.ID, after.Nodes)
		}
	}
	if c := after.Clusters[0]; !slices.Equal(c.Nodes, site.Clusters[0].Nodes) || !slices.Equal(c.Shades, site.Clusters[0].Shades) {
		t.Errorf("the cluster that was renamed has %v and %v, and had %+v", c.Nodes, c.Shades, site.Clusters[0])
	}
	if !reflect.DeepEqual(after.Division, site.Division) {
		t.Errorf("floors %+v, were %+v", after.Division, site.Division)
	}
}
