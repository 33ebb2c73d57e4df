package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"svc.internal/controller/appliance"
)

// scanner is what sql.Row and sql.Rows share.
type scanner interface{ Scan(...any) error }

// uuidColumn scans a 16-byte blob.
type uuidColumn struct{ to *appliance.UUID }

func (c uuidColumn) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(c.to) {
		return fmt.Errorf("UUID: want 16 bytes, have %T of another length", v)
	}
	copy(c.to[:], b)
	return nil
}

// uuidOrNull is the same where there may be none.
type uuidOrNull struct{ to *appliance.UUID }

func (c uuidOrNull) Scan(v any) error {
	if v == nil {
		*c.to = appliance.UUID{}
		return nil
	}
	return uuidColumn(c).Scan(v)
}

// orNull is the stored form of a UUID that may be missing.
func orNull(u appliance.UUID) any {
	if u.IsZero() {
		return nil
	}
	return u[:]
}

// jsonColumn scans JSON text; null and empty lists and maps become nil.
type jsonColumn[T any] struct{ to *T }

func (c jsonColumn[T]) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("want JSON text, have %T", v)
	}
	return json.Unmarshal([]byte(text), c.to)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // lists and maps of strings and integers only
	}
	return string(text)
}

// each calls fn for every row. A row that fn cannot read is told to broken with
// what identifies it (the first column); an error of the database itself ends
// the walk and is told too, so that everything readable is read.
func each(ctx context.Context, tx *sql.Tx, broken func(key any, err error), fn func(scanner) error, query string) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		err := fn(rows)
		if err == nil {
			continue
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if rows.Scan(values...) != nil {
			broken(nil, err)
			continue
		}
		broken(*values[0].(*any), err)
	}
	return rows.Err()
}
