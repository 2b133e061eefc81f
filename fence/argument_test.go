package fence_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
)

// A call with a nil context or a nil function says so.
func TestANilArgumentIsAnError(t *testing.T) {
	t.Parallel()
	var none context.Context
	token := writer(1)
	second := func(_ any, err error) error { return err }
	table, db := fence.SQL{Dialect: fence.SQLite}, &sql.DB{}
	file := fence.File{Path: filepath.Join(t.TempDir(), "x")}
	object := fence.Object{Store: &fencetest.Objects{}, Key: "x"}
	redis := fence.Redis{Key: "x"}
	_, _, peek := file.Peek(none)
	for call, err := range map[string]error{
		"file read":    second(file.Read(none, token)),
		"file write":   file.Write(none, token, nil),
		"file peek":    peek,
		"object read":  second(object.Read(none, token)),
		"object write": object.Write(none, token, nil),
		"redis read":   second(redis.Read(none, token)),
		"redis write":  redis.Write(none, token, nil),
		"probe":        fence.ProbeObjects(none, &fencetest.Objects{}, "x"),
		"check":        table.Check(none, &sql.Tx{}, "x", token),
		"do":           table.Do(none, db, "x", token, func(*sql.Tx) error { return nil }),
		"marks":        second(table.Marks(none, db, "x")),
		"create table": table.CreateTable(none, db),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), ": nil Context") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if err := table.Do(t.Context(), db, "x", token, nil); err == nil || !strings.HasSuffix(err.Error(), ": nil function") {
		t.Errorf("do without a function: %v", err)
	}
}
