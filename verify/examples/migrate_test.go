package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Five instances start at once. One migrates the database, and all run as the service. A run with an old token changes
// nothing.
func TestMigrate(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Fatal("sqlite3 is not installed; run: apt-get install sqlite3")
	}
	database := filepath.Join(t.TempDir(), "orders.db")
	env := append(nodes(t), "SQL=sqlite3 -bail "+database)
	const instances = 5
	outs := make([]string, instances)
	var wait sync.WaitGroup
	for i := range instances {
		wait.Go(func() {
			var code int
			if outs[i], code = run(t, "../../examples/migrate", append(env, "MIGRATIONS=migrations"), "./entrypoint.sh", "echo", "serves"); code != 0 {
				t.Errorf("instance %d: exit code %d", i, code)
			}
		})
	}
	wait.Wait()
	all := strings.Join(outs, "")
	for what, want := range map[string]int{"applied 001-orders.sql\n": 1, "applied 002-paid.sql\n": 1, "serves\n": instances} {
		if n := strings.Count(all, what); n != want {
			t.Errorf("%q comes %d times, want %d", what, n, want)
		}
	}
	rows, _ := run(t, ".", env, "sqlite3", database, "SELECT count(*), sum(total), sum(paid) FROM orders")
	if rows != "1|100|0\n" {
		t.Errorf("orders: %q", rows)
	}

	more := t.TempDir()
	if err := os.WriteFile(filepath.Join(more, "003-more.sql"), []byte("INSERT INTO orders VALUES (2, 50, 0);"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, code := run(t, "../../examples/migrate", append(env, "HOLDFAST_FENCE=1"), "./migrate.sh", more); code == 0 || out != "" {
		t.Errorf("a run with an old token: exit code %d, %q", code, out)
	}
	if out, code := run(t, "../../examples/migrate", env, "holdfast", "run", "--through-outages", "migrate/orders", "--", "./migrate.sh", more); code != 0 || out != "applied 003-more.sql\n" {
		t.Errorf("the next migration: exit code %d, %q", code, out)
	}
	// A broken migration leaves nothing.
	if err := os.WriteFile(filepath.Join(more, "004-broken.sql"), []byte("INSERT INTO orders VALUES (3, 50, 0); INSERT INTO none VALUES (1);"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, code := run(t, "../../examples/migrate", env, "holdfast", "run", "--through-outages", "migrate/orders", "--", "./migrate.sh", more); code == 0 {
		t.Error("a broken migration succeeds")
	}
	if rows, _ := run(t, ".", env, "sqlite3", database, "SELECT count(*) FROM orders"); rows != "2\n" {
		t.Errorf("after a broken migration there are %q orders", rows)
	}
}
