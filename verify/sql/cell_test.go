//go:build linux

package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// cell is a register in a row of a table. It shows how a program uses fence.SQL: each access is a short transaction.
type cell struct {
	db   *sql.DB
	name string
	in   fence.SQL
}

// makeTables makes the table of the marks, and the table of the values.
func makeTables(ctx context.Context, db *sql.DB, d fence.Dialect) error {
	if err := (fence.SQL{Dialect: d}).CreateTable(ctx, db); err != nil {
		return err
	}
	table := `CREATE TABLE IF NOT EXISTS cell (name TEXT PRIMARY KEY, value BLOB NOT NULL)`
	switch d {
	case fence.Postgres:
		table = `CREATE TABLE IF NOT EXISTS cell (name text PRIMARY KEY, value bytea NOT NULL)`
	case fence.MySQL:
		table = `CREATE TABLE IF NOT EXISTS cell (name VARBINARY(512) PRIMARY KEY, value LONGBLOB NOT NULL) ENGINE = InnoDB`
	}
	_, err := db.ExecContext(ctx, table)
	return err
}

func (c cell) Read(ctx context.Context, t fence.Token) (value []byte, err error) {
	err = c.in.Do(ctx, c.db, c.name, t, func(tx *sql.Tx) (err error) {
		value, err = c.get(ctx, tx)
		return err
	})
	return value, err
}

// get reads the value in a transaction.
func (c cell) get(ctx context.Context, tx *sql.Tx) (value []byte, err error) {
	query := `SELECT value FROM cell WHERE name = ?`
	if c.in.Dialect == fence.Postgres {
		query = `SELECT value FROM cell WHERE name = $1`
	}
	err = tx.QueryRowContext(ctx, query, c.name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

func (c cell) Write(ctx context.Context, t fence.Token, value []byte) error {
	return c.in.Do(ctx, c.db, c.name, t, func(tx *sql.Tx) error {
		if t.Mode == fence.Reader {
			return fence.ErrReader
		}
		return c.put(ctx, tx, value)
	})
}

// put writes the value in a transaction.
func (c cell) put(ctx context.Context, tx *sql.Tx, value []byte) error {
	query := `INSERT INTO cell (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	switch c.in.Dialect {
	case fence.Postgres:
		query = strings.Replace(query, "?, ?", "$1, $2", 1)
	case fence.MySQL:
		query = `INSERT INTO cell (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = VALUES(value)`
	}
	if value == nil {
		value = []byte{} // nil is NULL
	}
	_, err := tx.ExecContext(ctx, query, c.name, value)
	return err
}

// dialects has the dialect of each driver.
var dialects = map[string]fence.Dialect{"pgx": fence.Postgres, "mysql": fence.MySQL, "sqlite3": fence.SQLite}

// open opens a cell in any process. store is the driver, a space and the DSN.
func open(store, name string) (fence.Register, error) {
	driver, dsn, _ := strings.Cut(store, " ")
	d, ok := dialects[driver]
	if !ok {
		return nil, fmt.Errorf("unknown driver %q", driver)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2)
	return cell{db, name, fence.SQL{Dialect: d}}, nil
}

// ready connects to a database that has the tables.
func (d database) ready(t *testing.T) *sql.DB {
	t.Helper()
	db := d.connect(t)
	tables.Lock() // servers do not promise that two CREATE TABLE IF NOT EXISTS at once both succeed
	defer tables.Unlock()
	if err := makeTables(t.Context(), db, d.dialect); err != nil {
		t.Fatal(err)
	}
	return db
}
