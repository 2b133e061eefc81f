package fence

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// SQL refuses old tokens in an SQL database, inside a transaction of the caller. The resource is the rows that this
// transaction changes. A separate table has the marks of all resources, in one row for each resource.
//
// [SQL.Check] locks the row of the resource until the transaction ends. So nothing can happen between the comparison
// of the token and the caller's writes. If the token is old, the caller must roll back.
type SQL struct {
	// Dialect is [Postgres], [MySQL] (also for MariaDB) or [SQLite].
	Dialect Dialect

	// Table is the name of the table with the marks: letters, digits and _. A schema and a dot may come before it.
	// Defaults to fence.
	Table string
}

// Dialect contains the statements of one kind of database.
type Dialect struct {
	name string

	create string // creates the table
	begin  string // the first statement, which creates or locks the row; "" if the dialect needs none
	read   string // locks and reads the row
	insert string // creates the row if read found none
	raise  string // sets both marks
}

// String returns the dialect's name.
func (d Dialect) String() string { return cmp.Or(d.name, "no dialect") }

// Check compares t with the marks of a resource, and raises the marks. It returns nil if the caller may continue. The
// new marks stay only if the caller commits.
//
// Call Check before the transaction reads the resource. Otherwise the transaction may read data that an earlier
// holder changes before Check.
//
// The error matches [ErrStale] if the token is old. It matches [ErrBadToken] or [ErrBadName] if the token or the name
// is not valid. Other errors are those of the driver. Roll back after every error. After a deadlock, a serialization
// failure or a locked SQLite database, repeat the transaction.
//
// Other transactions that check the same resource wait until this transaction ends. So do slow work before it or
// after it. The token of a shared lease has the mode [Reader]: with such a token only read.
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
	if ctx == nil {
		return errNoContext
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

// Do begins a transaction, calls [SQL.Check], and then runs f. It commits if f returns nil. Otherwise it rolls back
// and returns f's error. If ctx ends, the transaction is rolled back.
func (s SQL) Do(ctx context.Context, db *sql.DB, resource string, t Token, f func(tx *sql.Tx) error) error {
	switch {
	case ctx == nil:
		return wrap("begin", resource, errNoContext)
	case f == nil:
		return wrap("begin", resource, errors.New("nil function"))
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return wrap("begin", resource, err)
	}
	defer func() { _ = tx.Rollback() }() // also if f panics; after Commit, Rollback does nothing
	if err := s.Check(ctx, tx, resource, t); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return wrap("commit", resource, tx.Commit())
}

// Marks returns the marks of a resource. It uses no token, so it changes nothing. It is for people and tests.
func (s SQL) Marks(ctx context.Context, db *sql.DB, resource string) (m Marks, err error) {
	if ctx == nil {
		return m, wrap("marks of", resource, errNoContext)
	}
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

// Schema returns the statement that creates the table, for a migration.
func (s SQL) Schema() (string, error) {
	table, err := s.table()
	if err != nil {
		return "", wrap("schema of", s.Table, err)
	}
	return in(table, s.Dialect.create), nil
}

// CreateTable creates the table if it does not exist. db may be a [sql.DB], a [sql.Conn] or a [sql.Tx].
func (s SQL) CreateTable(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
},
) error {
	if ctx == nil {
		return wrap("create table", s.Table, errNoContext)
	}
	schema, err := s.Schema()
	if err == nil {
		_, err = db.ExecContext(ctx, schema)
		err = wrap("create table", s.Table, err)
	}
	return err
}

// table returns the name of the table. It checks the name first, because the name becomes a part of SQL statements: a
// bad name could contain another statement.
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
