package admin_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/admin"
)

// A call with a nil context says so.
func TestANilContextIsAnError(t *testing.T) {
	t.Parallel()
	c := connect("cli")
	defer c.Close()
	var none context.Context
	_, names := admin.NamesWithValue(none, c)
	_, unlock := admin.Unlock(none, c, "x", admin.UnlockOptions{})
	calls := map[string]any{
		"holdfast: names with a value: nil Context": names.Error(),
		`holdfast: unlock "x": nil Context`:         unlock.Error(),
		"holdfast: admin.Nodes: nil Context":        panicOf(func() { admin.Nodes(none, c) }),
		"holdfast: admin.Trust: nil Context":        panicOf(func() { admin.Trust(none, c) }),
	}
	for _, err := range admin.List(none, c, admin.ListOptions{}) {
		calls["holdfast: list: nil Context"] = err.Error()
	}
	for want, got := range calls {
		if got != want {
			t.Errorf("%v; want %s", got, want)
		}
	}
	if len(calls) != 5 {
		t.Error("List returned no error")
	}
}

// panicOf returns the value with which f panics.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
