package store

import (
	"context"
	"database/sql"
	"time"
)

// querier is a transaction or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// scanner is a row.
type scanner interface {
	Scan(dest ...any) error
}

// each runs fn on each row of a query.
func each(ctx context.Context, q querier, fn func(row scanner) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return eachOf(rows, fn)
}

// eachOf runs fn on each row, and closes the rows.
func eachOf(rows *sql.Rows, fn func(row scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// oneRow turns a statement that hit no row into none.
func oneRow(res sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return none
	}
	return err
}

// Micros gives the stored form of t.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Moment is the inverse of [Micros].
func Moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
