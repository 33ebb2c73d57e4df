package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"svc.internal/controller/platform"
)

const roomDeviceColumns = "SELECT id, workspace, controller, clusters, deployed, code, macro, address, fingerprint FROM room_device"

// RoomDevices returns all conferencing devices by ID.
func (s *Store) RoomDevices(ctx context.Context) ([]platform.RoomDevice, error) {
	all := []platform.RoomDevice{}
	err := each(ctx, s.views, func(row scanner) error {
		d, err := scanRoomDevice(row)
		all = append(all, d)
		return err
	}, roomDeviceColumns+" ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list room devices: %w", err)
	}
	return all, nil
}

// RoomDevice finds one; [platform.ErrNotFound] if there is none.
func (s *Store) RoomDevice(ctx context.Context, id string) (platform.RoomDevice, error) {
	d, err := scanRoomDevice(s.views.QueryRowContext(ctx, roomDeviceColumns+" WHERE id = $1", id))
	if err = found(err); err != nil {
		return d, fmt.Errorf("room device %q: %w", id, err)
	}
	return d, nil
}

// AddRoomDevice makes one; [platform.ErrExists] if it is there, [platform.ErrConflict] beyond the bound.
func (s *Store) AddRoomDevice(ctx context.Context, d platform.RoomDevice) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM room_device").Scan(&n); err != nil {
			return err
		}
		if n >= platform.MaxRoomDevices {
			return platform.Conflict("there are %d devices, the most that are kept", n)
		}
		clusters, err := json.Marshal(d.Clusters)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO room_device (id, workspace, controller, clusters, deployed, code, macro, address, fingerprint)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
			d.ID, d.Workspace, d.Controller, string(clusters), d.Deployed, d.Code, d.Macro, d.Address, d.Fingerprint)
		return oneRow(res, err, platform.ErrExists)
	})
	if err != nil {
		return fmt.Errorf("add room device %q: %w", d.ID, err)
	}
	return nil
}

// ChangeRoomDevice lets change work on a device and keeps the outcome, unless it is an error.
func (s *Store) ChangeRoomDevice(ctx context.Context, id string, change func(*platform.RoomDevice) error) (d platform.RoomDevice, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if d, err = scanRoomDevice(tx.QueryRowContext(ctx, roomDeviceColumns+" WHERE id = $1", id)); err != nil {
			return found(err)
		}
		if err := change(&d); err != nil {
			return err
		}
		clusters, err := json.Marshal(d.Clusters)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE room_device SET workspace = $2, controller = $3, clusters = $4, deployed = $5, code = $6, macro = $7, address = $8,
			fingerprint = $9 WHERE id = $1`, id, d.Workspace, d.Controller, string(clusters), d.Deployed, d.Code, d.Macro, d.Address, d.Fingerprint)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("change room device %q: %w", id, err)
	}
	return d, nil
}

// RemoveRoomDevice forgets one.
func (s *Store) RemoveRoomDevice(ctx context.Context, id string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM room_device WHERE id = $1", id)
		return oneRow(res, err, platform.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("remove room device %q: %w", id, err)
	}
	return nil
}

func scanRoomDevice(row scanner) (platform.RoomDevice, error) {
	var d platform.RoomDevice
	var clusters string
	if err := row.Scan(&d.ID, &d.Workspace, &d.Controller, &clusters, &d.Deployed, &d.Code, &d.Macro, &d.Address, &d.Fingerprint); err != nil {
		return d, err
	}
	return d, json.Unmarshal([]byte(clusters), &d.Clusters)
}
