package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"svc.internal/controller/appliance"
)

// Import takes over a site, all of it or nothing, in one durable transaction.
//
// An entry's ID is kept if it is positive, whatever its range; a negative one is
// a placeholder that shades and clusters of the same import refer to; 0 is for
// entries that nothing refers to. What an entry is follows from its UUID, else
// its positive ID, else its name if one living thing has it. Buses are matched
// by UUID, else by name; a bus UUID whose first twelve bytes are zero is a
// placeholder too.
//
// Everything wrong with the import comes back in one [*Refused].
func (s *Store) Import(ctx context.Context, in appliance.Site, opts ImportOptions) (Report, error) {
	var report Report
	run := s.write
	if opts.Preview {
		run = s.view
	}
	err := run(ctx, func(tx *sql.Tx) error {
		p, err := newPlan(ctx, tx, in, opts, s.now())
		if err != nil {
			return err
		}
		p.keepsPlans = !opts.Replace
		if err := p.work(); err != nil {
			return err
		}
		report = p.report
		if opts.Preview || !report.Writes() {
			return nil
		}
		return p.save(ctx, tx)
	})
	if refused := (*Refused)(nil); errors.As(err, &refused) {
		return Report{}, refused
	}
	if err != nil {
		return Report{}, fmt.Errorf("import: %w", err)
	}
	if report.Writes() && !opts.Preview {
		s.committed(ctx)
	}
	return report, nil
}

// save writes what the report says.
func (p *plan) save(ctx context.Context, tx *sql.Tx) error {
	at := nanos(p.now)
	if p.report.Settings {
		if err := saveSettings(ctx, tx, p.final); err != nil {
			return err
		}
		if err := p.savePictures(ctx, tx); err != nil {
			return err
		}
	}
	if err := p.retire(ctx, tx, at); err != nil {
		return err
	}
	for _, item := range p.report.Returned {
		if err := unbury(ctx, tx, item.Family, item.ID); err != nil {
			return err
		}
		// A daemon may have written it down once more before it heard of the removal.
		if err := forgetState(ctx, tx, item.Family, item.ID); err != nil {
			return err
		}
	}
	for _, g := range p.buried {
		if err := bury(ctx, tx, g.family, g.noun, at, p.opts.By); err != nil {
			return err
		}
	}
	if err := p.saveRows(ctx, tx); err != nil {
		return err
	}
	for _, f := range families {
		if err := saveMark(ctx, tx, f, p.marks[f]); err != nil {
			return err
		}
	}
	return bump(ctx, tx, subjectSite)
}

func (p *plan) retire(ctx context.Context, tx *sql.Tx, at int64) error {
	for _, item := range p.report.Retired {
		var err error
		if item.Family == Buses {
			err = removeBus(ctx, tx, appliance.Bus{UUID: item.UUID, Name: item.Name})
		} else {
			err = retire(ctx, tx, item.Family, noun{item.ID, item.UUID, item.Name}, at, p.opts.By)
		}
		if err == nil {
			err = forgetState(ctx, tx, item.Family, item.ID)
		}
		if err != nil {
			return fmt.Errorf("retire %s %d (%s): %w", item.Family, item.ID, item.Name, err)
		}
	}
	return nil
}

// saveRows writes every row that is new or changed.
func (p *plan) saveRows(ctx context.Context, tx *sql.Tx) error {
	write := map[Family]map[appliance.ID]bool{Nodes: {}, Shades: {}, Clusters: {}, Scenes: {}, Rules: {}}
	for _, items := range [][]Item{p.report.Created, p.report.Returned, p.report.Changed} {
		for _, item := range items {
			if item.Family != Buses {
				write[item.Family][item.ID] = true
			}
		}
	}
	for place, b := range p.final.Buses {
		if err := saveBus(ctx, tx, place, b); err != nil {
			return err
		}
	}
	for _, n := range p.final.Nodes {
		if write[Nodes][n.ID] {
			if err := saveNode(ctx, tx, n); err != nil {
				return err
			}
		}
	}
	for _, h := range p.final.Shades {
		if write[Shades][h.ID] {
			if err := saveShade(ctx, tx, h); err != nil {
				return err
			}
		}
	}
	for _, c := range p.final.Clusters {
		if write[Clusters][c.ID] {
			if err := saveCluster(ctx, tx, c); err != nil {
				return err
			}
		}
	}
	for _, sc := range p.final.Scenes {
		if write[Scenes][sc.ID] {
			if err := saveScene(ctx, tx, sc); err != nil {
				return err
			}
		}
	}
	for _, r := range p.final.Rules {
		if write[Rules][r.ID] {
			if err := saveRule(ctx, tx, r); err != nil {
				return err
			}
		}
	}
	return nil
}
