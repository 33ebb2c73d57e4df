package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectBuses = `SELECT name, uuid, number, driver, port, baud_rate, parity, data_bits, stop_bits, options, disabled
	FROM bus ORDER BY place, name`

func scanBus(row scanner) (appliance.Bus, error) {
	var b appliance.Bus
	err := row.Scan(&b.Name, uuidColumn{&b.UUID}, &b.Number, &b.Driver, &b.Port,
		&b.Line.BaudRate, &b.Line.Parity, &b.Line.DataBits, &b.Line.StopBits,
		jsonColumn[map[string]string]{&b.Options}, &b.Disabled)
	return b, err
}

func saveBus(ctx context.Context, tx *sql.Tx, place int, b appliance.Bus) error {
	if b.Number == 0 { // of one that is there it does not change
		var err error
		if b.Number, err = nextNumber(ctx, tx, "bus", "bus", b.UUID); err != nil {
			return fmt.Errorf("save bus %s: %w", b.Name, err)
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO bus
		(uuid, number, place, name, driver, port, baud_rate, parity, data_bits, stop_bits, options, disabled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (uuid) DO UPDATE SET place = excluded.place, name = excluded.name,
		driver = excluded.driver, port = excluded.port, baud_rate = excluded.baud_rate,
		parity = excluded.parity, data_bits = excluded.data_bits, stop_bits = excluded.stop_bits,
		options = excluded.options, disabled = excluded.disabled`,
		b.UUID[:], b.Number, place, b.Name, b.Driver, b.Port, b.Line.BaudRate, b.Line.Parity,
		b.Line.DataBits, b.Line.StopBits, jsonText(b.Options), b.Disabled)
	if err != nil {
		return fmt.Errorf("save bus %s: %w", b.Name, err)
	}
	return nil
}

// nextNumber is the number of a row that is about to be written: a new one, unless the
// row is there.
func nextNumber(ctx context.Context, tx *sql.Tx, table, family string, uuid appliance.UUID) (n int, err error) {
	err = tx.QueryRowContext(ctx, "SELECT number FROM "+table+" WHERE uuid = ?", uuid[:]).Scan(&n)
	if !errors.Is(err, sql.ErrNoRows) {
		return n, err
	}
	err = tx.QueryRowContext(ctx, "UPDATE mark SET high = high + 1 WHERE family = ? RETURNING high", family).Scan(&n)
	return n, err
}

// removeBus forgets a bus. Buses have no integer ID, so nothing is kept of it.
func removeBus(ctx context.Context, tx *sql.Tx, b appliance.Bus) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM bus WHERE uuid = ?", b.UUID[:]); err != nil {
		return fmt.Errorf("remove bus %s: %w", b.Name, err)
	}
	return nil
}
