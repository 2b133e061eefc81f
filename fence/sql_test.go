package fence_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// The name of the table becomes a part of statements. The package verify/sql runs the statements on real servers.
func TestOnlyAPlainNameCanBeATable(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"", "fence", "app.fence", "_x1", "Fence", strings.Repeat("x", 63)} {
		want := table
		if want == "" {
			want = "fence"
		}
		for _, d := range []fence.Dialect{fence.Postgres, fence.MySQL, fence.SQLite} {
			schema, err := fence.SQL{Dialect: d, Table: table}.Schema()
			if err != nil || !strings.HasPrefix(schema, "CREATE TABLE IF NOT EXISTS "+want+" (\n") {
				t.Errorf("%s, table %q: %q, %v", d, table, schema, err)
			}
		}
	}
	for _, table := range []string{
		" ", "a b", "1a", "a;DROP TABLE x", `a"b`, "a`b", "a'b", "a.b.c", ".a", "a.", "a-b", "ä", "a\x00", "a(", strings.Repeat("x", 64),
	} {
		_, err := fence.SQL{Dialect: fence.Postgres, Table: table}.Schema()
		if err == nil || !strings.Contains(err.Error(), "must have letters, digits and _") {
			t.Errorf("table %q: %v", table, err)
		}
	}
}

func TestChecksOfSQLNeedWhatTheyUse(t *testing.T) {
	t.Parallel()
	s := fence.SQL{Dialect: fence.SQLite}
	if err := s.Check(t.Context(), nil, "a", writer(1)); err == nil || !strings.Contains(err.Error(), "transaction is nil") {
		t.Errorf("no transaction: %v", err)
	}
	if err := s.Check(t.Context(), nil, "a", writer(0)); !errors.Is(err, fence.ErrBadToken) {
		t.Errorf("no token: %v", err)
	}
	if err := s.Check(t.Context(), nil, "", writer(1)); !errors.Is(err, fence.ErrBadName) {
		t.Errorf("no name: %v", err)
	}
	if err := (fence.SQL{}).Check(t.Context(), nil, "a", writer(1)); err == nil || !strings.Contains(err.Error(), "use Postgres, MySQL or SQLite") {
		t.Errorf("no dialect: %v", err)
	}
}
