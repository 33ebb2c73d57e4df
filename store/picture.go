package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"svc.internal/controller/appliance"
)

// picturesMost bounds the pictures of all plans together, in bytes: a site file of 8 MiB has to hold them.
const picturesMost = 3 << 20

// Picture is one of a plan of the site, by its name. It fails with [appliance.ErrNotFound].
func (s *Store) Picture(ctx context.Context, name string) (data []byte, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT data FROM picture WHERE name = ?", name).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			return appliance.ErrNotFound
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("picture %.12s: %w", name, err)
	}
	return data, nil
}

// Pictures adds to a site the pictures of its plans, for an export. One that cannot be read is a fault.
func (s *Store) Pictures(ctx context.Context, site *appliance.Site) (faults []appliance.Fault) {
	site.Pictures = map[string][]byte{}
	for _, f := range site.Division.Floors {
		if f.Plan == nil {
			continue
		}
		data, err := s.Picture(ctx, f.Plan.Picture)
		if err != nil {
			faults = append(faults, appliance.Fault{Where: "plan of " + f.Name, What: fmt.Sprintf("its picture cannot be read: %v; put in another", err)})
			continue
		}
		site.Pictures[f.Plan.Picture] = data
	}
	return faults
}

// picturesOf are the names of the pictures of a division.
func picturesOf(d appliance.Division) map[string]bool {
	names := map[string]bool{}
	for _, f := range d.Floors {
		if f.Plan != nil {
			names[f.Plan.Picture] = true
		}
	}
	return names
}

// loadPictureSizes tells how many bytes each picture has that is kept.
func loadPictureSizes(ctx context.Context, tx *sql.Tx) (map[string]int, error) {
	sizes := map[string]int{}
	err := each(ctx, tx, func(any, error) {}, func(row scanner) error {
		var name string
		var size int
		err := row.Scan(&name, &size)
		sizes[name] = size
		return err
	}, "SELECT name, length(data) FROM picture")
	return sizes, err
}

// checkPictures refuses plans whose pictures nobody has, and more of them than a site file can hold.
func (p *plan) checkPictures() {
	was, all := picturesOf(p.have.Division), 0
	for name := range picturesOf(p.final.Division) {
		size := cmp.Or(len(p.in.Pictures[name]), p.pictures[name])
		if size == 0 && !was[name] {
			p.problem("site.floors", "plan", "the picture %.12s is not there", name)
		}
		all += size
	}
	if all > picturesMost {
		p.problem("site.floors", "picture", "the pictures of all plans together have %d KiB, and %d fit; make some of them smaller", all>>10, picturesMost>>10)
	}
}

// savePictures keeps those that the plans show, and no others.
func (p *plan) savePictures(ctx context.Context, tx *sql.Tx) error {
	was, is := picturesOf(p.have.Division), picturesOf(p.final.Division)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if data := p.in.Pictures[name]; data != nil {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO picture (name, data) VALUES (?, ?)", name, data); err != nil {
				return fmt.Errorf("save a picture: %w", err)
			}
		}
	}
	for name := range was {
		if !is[name] {
			if _, err := tx.ExecContext(ctx, "DELETE FROM picture WHERE name = ?", name); err != nil {
				return fmt.Errorf("forget a picture: %w", err)
			}
		}
	}
	return nil
}

// Nameless is what a building is called that gets its first floor or settings before somebody has named it.
const Nameless = "Building"

// UpdatePlans changes how the site is divided, with the picture that change returns, if any: its name and bytes.
func (s *Store) UpdatePlans(ctx context.Context, by string, change func(d *appliance.Division) (name string, data []byte, err error)) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		d := site.Division
		name, data, err := change(&d)
		if err != nil {
			return siteChange{}, err
		}
		in := appliance.Site{Name: cmp.Or(site.Name, Nameless), Settings: site.Settings, Division: d}
		if data != nil {
			in.Pictures = map[string][]byte{name: data}
		}
		return siteChange{in: in}, nil
	})
	return err
}
