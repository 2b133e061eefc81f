package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3"

	"github.com/holdfast-go/holdfast/fence"
)

// The token is shown in a short transaction, the work is done without one, and the write is a second short one.
func Example() {
	dir, err := os.MkdirTemp("", "fence-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "bank.db")+"?_busy_timeout=5000")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	accounts := fence.SQL{Dialect: fence.SQLite}
	if err := accounts.CreateTable(ctx, db); err != nil {
		log.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER);
		INSERT INTO account VALUES (42, 1000)`); err != nil {
		log.Fatal(err)
	}
	addInterest := func(t fence.Token, work func()) error {
		var balance int64
		err := accounts.Do(ctx, db, "account/42", t, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, `SELECT balance FROM account WHERE id = 42`).Scan(&balance)
		})
		if err != nil {
			return err
		}
		work()
		return accounts.Do(ctx, db, "account/42", t, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE account SET balance = ? WHERE id = 42`, balance+balance/100)
			return err
		})
	}
	// The first holder is paused during its work, and a second one comes.
	err = addInterest(fence.Token{Fence: 7}, func() {
		fmt.Println("second:", addInterest(fence.Token{Fence: 8}, func() {}))
	})
	fmt.Println("first:", err)
	fmt.Println(errors.Is(err, fence.ErrStale))
	// Output:
	// second: <nil>
	// first: fence: "account/42": token 7 of a writer is old: token 8 of a writer was here
	// true
}
