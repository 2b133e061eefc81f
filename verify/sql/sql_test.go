//go:build linux

package sqltest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
	"github.com/holdfast-go/holdfast/verify/fencing"
)

func TestMain(m *testing.M) { fencing.Main(m, open, stopServers) }

func writer(n int64) fence.Token { return fence.Token{Fence: n} }
func reader(n int64) fence.Token { return fence.Token{Fence: n, Mode: fence.Reader} }

// fresh returns a name that no other test and no earlier run of this test uses.
func fresh(name string) string { return name + "-" + rand.Text()[:12] }

func TestDatabasesAreFenced(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db := d.ready(t)
		fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
			return cell{db, name, fence.SQL{Dialect: d.dialect}}, nil
		})
	})
}

// A transaction that ends with an error, a refusal or a panic leaves neither marks nor values.
func TestATransactionThatFailsChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db, guard := d.ready(t), fence.SQL{Dialect: d.dialect}
		c := cell{db, fresh("failing"), guard}
		ctx := t.Context()
		if err := c.Write(ctx, writer(5), []byte("five")); err != nil {
			t.Fatal(err)
		}
		failed := errors.New("failed")
		err := guard.Do(ctx, db, c.name, writer(9), func(tx *sql.Tx) error {
			return errors.Join(c.put(ctx, tx, []byte("nine")), failed)
		})
		if !errors.Is(err, failed) {
			t.Errorf("%v; want the error of the function", err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			_ = guard.Do(ctx, db, c.name, writer(9), func(tx *sql.Tx) error {
				_ = c.put(ctx, tx, []byte("nine"))
				panic("on purpose")
			})
		}()
		err = guard.Do(ctx, db, c.name, writer(4), func(*sql.Tx) error { t.Error("an old token gets in"); return nil })
		if !errors.Is(err, fence.ErrStale) {
			t.Errorf("an old token: %v", err)
		}
		marks, err := guard.Marks(ctx, db, c.name)
		if marks != (fence.Marks{Writer: 5}) || err != nil {
			t.Errorf("the marks are %+v, %v; want 5 and 0", marks, err)
		}
		if value, err := c.Read(ctx, writer(5)); string(value) != "five" || err != nil {
			t.Errorf("the value is %q, %v", value, err)
		}
		if marks, err := guard.Marks(ctx, db, "never used"); marks != (fence.Marks{}) || err != nil {
			t.Errorf("the marks of a new resource are %+v, %v", marks, err)
		}
	})
}

// The check lasts to the end of the transaction: the next holder waits, and then sees what was written.
func TestTheNextHolderWaitsForTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db, guard := d.ready(t), fence.SQL{Dialect: d.dialect}
		ctx := t.Context()
		for range 20 {
			c := cell{db, fresh("waiting"), guard}
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := guard.Check(ctx, tx, c.name, writer(7)); err != nil {
				t.Fatal(err)
			}
			next := make(chan string, 1)
			go func() {
				value, err := c.Read(ctx, writer(8))
				if err != nil {
					value = []byte(err.Error())
				}
				next <- string(value)
			}()
			if err := errors.Join(c.put(ctx, tx, []byte("seven")), tx.Commit()); err != nil {
				t.Fatal(err)
			}
			if got := <-next; got != "seven" {
				t.Fatalf("the next holder reads %q; want what the transaction before it wrote", got)
			}
		}
	})
}

// snapshot writes with an older token while a transaction at "repeatable read" is under way, and returns what that
// transaction reads at its end.
func snapshot(t *testing.T, d database, name string, readFirst bool) (string, error) {
	t.Helper()
	db, guard, ctx := d.ready(t), fence.SQL{Dialect: d.dialect}, t.Context()
	c := cell{db, fresh(name), guard}
	if err := c.Write(ctx, writer(5), []byte("five")); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if readFirst {
		if _, err := c.get(ctx, tx); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Write(ctx, writer(6), []byte("six")); err != nil {
		t.Fatal(err)
	}
	if err := guard.Check(ctx, tx, c.name, writer(9)); err != nil {
		return "", err
	}
	value, err := c.get(ctx, tx)
	return string(value), err
}

// Check comes before everything that the transaction reads. This shows what happens otherwise.
func TestACheckComesBeforeTheReading(t *testing.T) {
	for _, name := range []string{"PostgreSQL", "MariaDB"} {
		if got, err := snapshot(t, one(t, name), "check first", false); got != "six" || err != nil {
			t.Errorf("%s, the check comes first: %q, %v; want six", name, got, err)
		}
	}
	if got, err := snapshot(t, one(t, "MariaDB"), "read first", true); got != "five" || err != nil {
		t.Errorf("MariaDB, the reading comes first: %q, %v; want the old five: the documents warn of it", got, err)
	}
	if got, err := snapshot(t, one(t, "PostgreSQL"), "read first", true); err == nil || !strings.Contains(err.Error(), "40001") {
		t.Errorf("PostgreSQL, the reading comes first: %q, %v; want a serialization failure", got, err)
	}
}

// A holder that is stopped inside its transaction keeps the row until the server ends its session. Then nothing of it
// is left, and it learns that at the commit.
func TestAServerEndsAStoppedTransaction(t *testing.T) {
	for name, limit := range map[string]string{
		"PostgreSQL": "SET idle_in_transaction_session_timeout = 300", "MariaDB": "SET SESSION idle_transaction_timeout = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := one(t, name)
			db, guard, ctx := d.ready(t), fence.SQL{Dialect: d.dialect}, t.Context()
			c := cell{db, fresh("stopped"), guard}
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.ExecContext(ctx, limit); err != nil {
				t.Fatal(err)
			}
			tx, err := conn.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			if err := errors.Join(guard.Check(ctx, tx, c.name, writer(7)), c.put(ctx, tx, []byte("seven"))); err != nil {
				t.Fatal(err)
			}
			value, err := c.Read(ctx, writer(8)) // waits until the server ends the session
			if len(value) != 0 || err != nil {
				t.Errorf("the next holder reads %q, %v; want nothing", value, err)
			}
			if err := tx.Commit(); err == nil {
				t.Error("the commit of the stopped holder succeeds")
			}
			if value, err := c.Read(ctx, writer(8)); len(value) != 0 || err != nil {
				t.Errorf("after that commit the value is %q, %v; want nothing", value, err)
			}
		})
	}
}

func TestTablesAndNames(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db, ctx := d.ready(t), t.Context()
		table := map[string]string{"pgx": "public.marks", "mysql": "test.marks", "sqlite3": "main.marks"}[d.driver]
		guard := fence.SQL{Dialect: d.dialect, Table: table}
		for range 2 { // it may exist
			if err := guard.CreateTable(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		nothing := func(*sql.Tx) error { return nil }
		for i, name := range []string{"a", "A", "a ", "ä", "a'b\"c`", "\u2028", strings.Repeat("x", 512)} {
			n := int64(100 - i)
			if err := guard.Do(ctx, db, name, reader(n), nothing); err != nil {
				t.Errorf("%.20q: %v", name, err)
			}
			if marks, err := guard.Marks(ctx, db, name); marks != (fence.Marks{Reader: n}) || err != nil {
				t.Errorf("%.20q: the marks are %+v, %v", name, marks, err)
			}
		}
		for _, name := range []string{"", "\xff", "a\x00", strings.Repeat("x", 513)} {
			if err := guard.Do(ctx, db, name, writer(1), nothing); !errors.Is(err, fence.ErrBadName) {
				t.Errorf("%.20q: %v; want ErrBadName", name, err)
			}
		}
		none := fence.SQL{Dialect: d.dialect, Table: "no_such_table"}
		if err := none.Do(ctx, db, "a", writer(1), nothing); err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "no_such_table") {
			t.Errorf("without the table: %v", err)
		}
	})
}

func TestPausedHoldersWriteNothingIntoADatabase(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 20
	}
	for _, name := range []string{"PostgreSQL", "MariaDB", "SQLite"} {
		t.Run(name, func(t *testing.T) {
			d := one(t, name)
			d.ready(t)
			fencing.Judge(t, fencing.Workload{Open: open, Store: d.driver + " " + d.dsn, Rounds: rounds})
		})
	}
}

// split is a register that checks in one transaction and writes in the next one.
type split struct{ cell }

func (s split) Write(ctx context.Context, t fence.Token, value []byte) error {
	if err := s.in.Do(ctx, s.db, s.name, t, func(*sql.Tx) error { return nil }); err != nil {
		return err
	}
	if t.Mode == fence.Reader {
		return fence.ErrReader
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.put(ctx, tx, value); err != nil {
		return err
	}
	return tx.Commit()
}

// A check in a transaction of its own leaves time for another holder. The suite finds that on each database.
func TestTheSuiteFindsTwoTransactions(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db := d.ready(t)
		err := fencetest.Check(t.Context(), func(_ context.Context, name string) (fence.Register, error) {
			return split{cell{db, name, fence.SQL{Dialect: d.dialect}}}, nil
		})
		if want := "NothingComesBetweenCompareAndWrite: round "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	})
}

// docs/guide/fencing.md shows one statement for shells. It compares and writes.
func TestOneStatementForShells(t *testing.T) {
	t.Parallel()
	d := one(t, "PostgreSQL")
	db, guard, ctx := d.ready(t), fence.SQL{Dialect: d.dialect}, t.Context()
	setup := `DROP TABLE IF EXISTS account; DELETE FROM fence WHERE name = 'account/42';
		CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL); INSERT INTO account VALUES (42, 0)`
	if _, err := db.ExecContext(ctx, setup); err != nil {
		t.Fatal(err)
	}
	const statement = `WITH shown AS (UPDATE fence SET writer = $1 WHERE name = 'account/42' AND writer <= $1 AND reader <= $1 RETURNING 1)
UPDATE account SET balance = balance + 1 WHERE id = 42 AND EXISTS (SELECT 1 FROM shown)`
	text, err := os.ReadFile("../../docs/guide/fencing.md")
	if err != nil || !strings.Contains(string(text), strings.ReplaceAll(statement, "$1", ":f")) {
		t.Errorf("docs/guide/fencing.md does not have this statement: %v", err)
	}
	nothing := func(*sql.Tx) error { return nil }
	for _, step := range []struct {
		show  fence.Token // shown first, by the package; none: nothing is shown
		token int64
		want  int64 // rows changed
	}{{writer(5), 5, 1}, {fence.Token{}, 5, 1}, {fence.Token{}, 6, 1}, {fence.Token{}, 5, 0}, {reader(9), 8, 0}, {fence.Token{}, 9, 1}} {
		if step.show.Fence > 0 {
			if err := guard.Do(ctx, db, "account/42", step.show, nothing); err != nil {
				t.Fatal(err)
			}
		}
		result, err := db.ExecContext(ctx, statement, step.token)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); n != step.want || err != nil {
			t.Errorf("%+v: %d rows, %v", step, n, err)
		}
	}
	// The package shows token 10 to the resource. After that, the statement with the older token 9 must write nothing.
	if err := guard.Do(ctx, db, "account/42", writer(10), nothing); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, statement, 9); err != nil {
		t.Fatal(err)
	}
	var balance int64
	if err := db.QueryRowContext(ctx, `SELECT balance FROM account WHERE id = 42`).Scan(&balance); balance != 4 || err != nil {
		t.Errorf("the balance is %d, %v; want 4", balance, err)
	}
}
