package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
)

// Site loads what was configured. Whatever cannot be read is left out, with all
// that hangs on it, and named in the faults; the rest is complete in itself:
// every bus, node and shade that an entry refers to is there. An error means
// that nothing could be read at all. A [Store.Watch] that begins later tells of
// what is committed from here on.
func (s *Store) Site(ctx context.Context) (appliance.Site, []appliance.Fault, error) {
	var site appliance.Site
	var faults []appliance.Fault
	var at revisions
	var atErr error
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		at, atErr = loadRevisions(ctx, tx)
		site, faults, err = loadSite(ctx, tx)
		return err
	})
	if err != nil {
		return appliance.Site{}, nil, fmt.Errorf("load the site: %w", err)
	}
	if atErr == nil { // else the site is of use all the same, and nobody hears of changes
		s.loaded.Store(&at)
	}
	return site, faults, nil
}

// Stored is [Store.Site] for whoever only looks: what it returns need not come into force.
func (s *Store) Stored(ctx context.Context) (site appliance.Site, faults []appliance.Fault, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		site, faults, err = loadSite(ctx, tx)
		return err
	})
	if err != nil {
		return appliance.Site{}, nil, fmt.Errorf("read the site: %w", err)
	}
	return site, faults, nil
}

// siteLoader collects what can be read.
type siteLoader struct {
	ctx     context.Context
	tx      *sql.Tx
	site    appliance.Site
	faults  []appliance.Fault
	stopped error // why the database was not read to the end
}

func loadSite(ctx context.Context, tx *sql.Tx) (appliance.Site, []appliance.Fault, error) {
	l, err := readSite(ctx, tx)
	return l.site, l.faults, err
}

// wholeSite is loadSite for who writes what follows from it: it fails if the database was not
// read to the end, since what it has besides would be taken for gone. Rows that cannot be read
// are left out all the same; importing them again repairs them.
func wholeSite(ctx context.Context, tx *sql.Tx) (appliance.Site, error) {
	l, err := readSite(ctx, tx)
	if err == nil {
		err = l.stopped
	}
	return l.site, err
}

func readSite(ctx context.Context, tx *sql.Tx) (*siteLoader, error) {
	l := &siteLoader{ctx: ctx, tx: tx}
	// The first query tells whether the database can be read at all; afterwards
	// damage is local.
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int)); err != nil {
		return l, err
	}
	l.settings()
	l.buses()
	l.nodes()
	l.shades()
	l.clusters()
	l.scenes()
	l.rules()
	l.retired()
	return l, ctx.Err()
}

func (l *siteLoader) fault(where, format string, args ...any) {
	l.faults = append(l.faults, appliance.Fault{Where: where, What: fmt.Sprintf(format, args...)})
}

// rows walks a table, turning unreadable rows into faults.
func (l *siteLoader) rows(word, query string, fn func(scanner) error) {
	broken := func(key any, err error) {
		l.fault(fmt.Sprint(word, " ", key), "its row in the database cannot be read: %v; import it again", err)
	}
	l.walk(word+"s", query, broken, fn)
}

// walk tells broken of unreadable rows of a table.
func (l *siteLoader) walk(where, query string, broken func(key any, err error), fn func(scanner) error) {
	if err := each(l.ctx, l.tx, broken, fn, query); err != nil {
		l.stop(where, err)
	}
}

func (l *siteLoader) stop(where string, err error) {
	l.fault(where, "reading the database stopped: %v; restore a backup", err)
	l.stopped = err
}

func (l *siteLoader) settings() {
	f := &l.site.Settings.Freshness
	broken := func(_ any, err error) {
		l.fault("site", "its name and settings cannot be read: %v; import the site again", err)
	}
	l.walk("site", "SELECT name, invert_shades, fresh_light, fresh_moving, fresh_idle, fresh_power, division FROM site", broken, func(row scanner) error {
		var division []byte
		err := row.Scan(&l.site.Name, &l.site.Settings.InvertShades, &f.Light, &f.MovingShade, &f.IdleShade, &f.Power, &division)
		if err != nil {
			return err
		}
		return json.Unmarshal(division, &l.site.Division)
	})
}

func (l *siteLoader) buses() {
	l.rows("bus", selectBuses, func(row scanner) error {
		b, err := scanBus(row)
		if err == nil {
			l.site.Buses = append(l.site.Buses, b)
		}
		return err
	})
}

func (l *siteLoader) nodes() {
	have := map[appliance.UUID]bool{}
	for _, b := range l.site.Buses {
		have[b.UUID] = true
	}
	l.rows("node", selectNodes, func(row scanner) error {
		n, err := scanNode(row)
		if err != nil {
			return err
		}
		if !n.Bus.IsZero() && !have[n.Bus] {
			l.fault(fmt.Sprintf("node %d (%s)", n.ID, n.Name), "its bus %s cannot be read; import that bus again", n.Bus)
			return nil
		}
		l.site.Nodes = append(l.site.Nodes, n)
		return nil
	})
}

func (l *siteLoader) shades() {
	have := map[appliance.ID]bool{}
	for _, n := range l.site.Nodes {
		have[n.ID] = true
	}
	l.rows("shade", selectShades, func(row scanner) error {
		h, err := scanShade(row)
		if err != nil {
			return err
		}
		if h.Node != 0 && !have[h.Node] {
			l.fault(fmt.Sprintf("shade %d (%s)", h.ID, h.Name), "its node %d cannot be read; import that node again", h.Node)
			return nil
		}
		l.site.Shades = append(l.site.Shades, h)
		return nil
	})
}

func (l *siteLoader) clusters() {
	nodes := l.members("SELECT cluster, node FROM cluster_node ORDER BY cluster, node")
	shades := l.members("SELECT cluster, shade FROM cluster_shade ORDER BY cluster, shade")
	haveNode, haveShade := map[appliance.ID]bool{}, map[appliance.ID]bool{}
	for _, n := range l.site.Nodes {
		haveNode[n.ID] = true
	}
	for _, h := range l.site.Shades {
		haveShade[h.ID] = true
	}
	l.rows("cluster", selectClusters, func(row scanner) error {
		c, err := scanCluster(row)
		if err != nil {
			return err
		}
		c.Nodes = slices.DeleteFunc(nodes[c.ID], func(id appliance.ID) bool { return !haveNode[id] })
		c.Shades = slices.DeleteFunc(shades[c.ID], func(id appliance.ID) bool { return !haveShade[id] })
		l.site.Clusters = append(l.site.Clusters, c)
		return nil
	})
}

// retired are the IDs that are never used again.
func (l *siteLoader) retired() {
	h := &l.site.Highest
	for family, to := range map[Family]*appliance.ID{Nodes: &h.Node, Shades: &h.Shade, Clusters: &h.Cluster, Scenes: &h.Scene, Rules: &h.Rule} {
		if err := l.tx.QueryRowContext(l.ctx, "SELECT high FROM mark WHERE family = ?", family).Scan(to); err != nil {
			l.stop(fmt.Sprintf("highest ID of %ss", family), err)
		}
	}
	l.rows("retired ID", "SELECT id, family, uuid, name FROM tombstone ORDER BY family, id", func(row scanner) error {
		var id appliance.ID
		var family Family
		var r appliance.Retired
		if err := row.Scan(&id, &family, uuidColumn{&r.UUID}, &r.Name); err != nil {
			return err
		}
		switch family {
		case Nodes:
			r.Node = id
		case Shades:
			r.Shade = id
		case Clusters:
			r.Cluster = id
		case Scenes:
			r.Scene = id
		case Rules:
			r.Rule = id
		}
		l.site.Retired = append(l.site.Retired, r)
		return nil
	})
}

// members reads who is in which cluster, ascending. The query yields cluster and member.
func (l *siteLoader) members(query string) map[appliance.ID][]appliance.ID {
	members := map[appliance.ID][]appliance.ID{}
	l.rows("cluster", query, func(row scanner) error {
		var cluster, member appliance.ID
		err := row.Scan(&cluster, &member)
		if err == nil {
			members[cluster] = append(members[cluster], member)
		}
		return err
	})
	return members
}

func saveSettings(ctx context.Context, tx *sql.Tx, site appliance.Site) error {
	f := site.Settings.Freshness
	division, err := json.Marshal(site.Division)
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE site SET name = ?, invert_shades = ?, fresh_light = ?,
			fresh_moving = ?, fresh_idle = ?, fresh_power = ?, division = ?`,
			site.Name, site.Settings.InvertShades, int64(f.Light), int64(f.MovingShade), int64(f.IdleShade), int64(f.Power), string(division))
	}
	if err != nil {
		return fmt.Errorf("save the site's settings: %w", err)
	}
	return nil
}
