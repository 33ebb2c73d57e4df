package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectBuses = `SELECT name, uuid, driver, port, baud_rate, parity, data_bits, stop_bits, options, disabled
	FROM bus ORDER BY place, name`

func scanBus(row scanner) (appliance.Bus, error) {
	var b appliance.Bus
	err := row.Scan(&b.Name, uuidColumn{&b.UUID}, &b.Driver, &b.Port,
		&b.Line.BaudRate, &b.Line.Parity, &b.Line.DataBits, &b.Line.StopBits,
		jsonColumn[map[string]string]{&b.Options}, &b.Disabled)
	return b, err
}

func saveBus(ctx context.Context, tx *sql.Tx, place int, b appliance.Bus) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO bus
		(uuid, place, name, driver, port, baud_rate, parity, data_bits, stop_bits, options, disabled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (uuid) DO UPDATE SET place = excluded.place, name = excluded.name,
		driver = excluded.driver, port = excluded.port, baud_rate = excluded.baud_rate,
		parity = excluded.parity, data_bits = excluded.data_bits, stop_bits = excluded.stop_bits,
		options = excluded.options, disabled = excluded.disabled`,
		b.UUID[:], place, b.Name, b.Driver, b.Port, b.Line.BaudRate, b.Line.Parity,
		b.Line.DataBits, b.Line.StopBits, jsonText(b.Options), b.Disabled)
	if err != nil {
		return fmt.Errorf("save bus %s: %w", b.Name, err)
	}
	return nil
}

// removeBus forgets a bus. Buses have no integer ID, so nothing is kept of it.
func removeBus(ctx context.Context, tx *sql.Tx, b appliance.Bus) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM bus WHERE uuid = ?", b.UUID[:]); err != nil {
		return fmt.Errorf("remove bus %s: %w", b.Name, err)
	}
	return nil
}
