package fence

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// SQL refuses old tokens in a SQL database, inside the transaction of the caller. The rows that the transaction changes
// are the resource. A table of its own has the marks of all resources, one row each.
//
// [SQL.Check] locks the row of the resource. The lock lasts to the end of the transaction, so nothing comes between the
// comparison and the caller's writes. If the token is old, the caller rolls back.
type SQL struct {
	// Dialect is [Postgres], [MySQL] (also for MariaDB) or [SQLite].
	Dialect Dialect

	// Table is the name of the table with the marks: letters, digits and _, if need be with a schema in front of it and
	// a dot. Defaults to fence.
	Table string
}

// Dialect contains the statements of one kind of database.
type Dialect struct {
	name string

	create string // makes the table
	begin  string // comes first, and locks the row if it does not exist; "" if the dialect needs no such statement
	read   string // locks and reads the row
	insert string // makes the row if read found none
	raise  string // sets both marks
}

// String returns the dialect's name.
func (d Dialect) String() string { return cmp.Or(d.name, "no dialect") }

// Check compares t with the marks of a resource, and raises them. It returns nil if the caller may go on. The marks are
// kept if the caller commits.
//
// Call Check before the transaction reads the resource. Otherwise the transaction may have read a state that an earlier
// holder has changed since.
//
// The error matches [ErrStale] if the token is old; then nothing was changed. It matches [ErrBadToken] or [ErrBadName]
// for a token or a name that is not allowed. Other errors are the driver's. After every error roll back. After a
// deadlock, a serialization failure or a locked SQLite database, repeat the transaction.
//
// Other transactions that check the same resource wait until this one ends. So do slow work outside. A shared lease has
// [Reader] as the mode of its token; with such a token only read.
func (s SQL) Check(ctx context.Context, tx *sql.Tx, resource string, t Token) error {
	return wrap("check", resource, s.check(ctx, tx, resource, t))
}

func (s SQL) check(ctx context.Context, tx *sql.Tx, resource string, t Token) error {
	if err := t.check(); err != nil {
		return err
	}
	if err := checkName(resource); err != nil {
		return err
	}
	table, err := s.table()
	if err != nil {
		return err
	}
	if tx == nil {
		return errors.New("the transaction is nil")
	}
	d := s.Dialect
	if d.begin != "" {
		if _, err := tx.ExecContext(ctx, in(table, d.begin), resource); err != nil {
			return err
		}
	}
	read := func() (m Marks, err error) {
		err = tx.QueryRowContext(ctx, in(table, d.read), resource).Scan(&m.Writer, &m.Reader)
		return m, err
	}
	seen, err := read()
	if errors.Is(err, sql.ErrNoRows) && d.insert != "" {
		if _, err := tx.ExecContext(ctx, in(table, d.insert), resource); err != nil {
			return err
		}
		seen, err = read() // another transaction may have made the row
	}
	if err != nil {
		return err
	}
	next, err := seen.Admit(resource, t)
	if err != nil || next == seen {
		return err
	}
	_, err = tx.ExecContext(ctx, in(table, d.raise), next.Writer, next.Reader, resource)
	return err
}

// Do runs f in a transaction of its own, after [SQL.Check]. It commits if f returns nil. Otherwise it rolls back and
// returns f's error. The transaction ends with ctx.
func (s SQL) Do(ctx context.Context, db *sql.DB, resource string, t Token, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return wrap("begin", resource, err)
	}
	defer func() { _ = tx.Rollback() }() // also if f panics; after Commit it does nothing
	if err := s.Check(ctx, tx, resource, t); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return wrap("commit", resource, tx.Commit())
}

// Marks returns the marks of a resource without showing a token. It is for people and tests.
func (s SQL) Marks(ctx context.Context, db *sql.DB, resource string) (m Marks, err error) {
	table, err := s.table()
	if err == nil {
		read := strings.TrimSuffix(in(table, s.Dialect.read), " FOR UPDATE")
		err = db.QueryRowContext(ctx, read, resource).Scan(&m.Writer, &m.Reader)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return m, wrap("marks of", resource, err)
}

// Schema returns the statement that makes the table, for a migration.
func (s SQL) Schema() (string, error) {
	table, err := s.table()
	if err != nil {
		return "", wrap("schema of", s.Table, err)
	}
	return in(table, s.Dialect.create), nil
}

// CreateTable makes the table if it does not exist. db may be a [sql.DB], a [sql.Conn] or a [sql.Tx].
func (s SQL) CreateTable(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
},
) error {
	schema, err := s.Schema()
	if err == nil {
		_, err = db.ExecContext(ctx, schema)
		err = wrap("create table", s.Table, err)
	}
	return err
}

// table returns the checked name of the table. It becomes a part of statements, so it must not be able to contain one.
func (s SQL) table() (string, error) {
	if s.Dialect.name == "" {
		return "", errors.New("no dialect: the field Dialect is empty; use Postgres, MySQL or SQLite")
	}
	table := cmp.Or(s.Table, "fence")
	parts := strings.Split(table, ".")
	for _, part := range parts {
		if len(parts) > 2 || !identifier(part) {
			return "", fmt.Errorf("the field Table is %q; it must have letters, digits and _, up to 63 and no digit first, with one dot after a schema", s.Table)
		}
	}
	return table, nil
}

func identifier(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

// in puts the name of the table into a statement.
func in(table, statement string) string { return strings.ReplaceAll(statement, "TABLE_", table) }
