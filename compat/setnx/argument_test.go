package setnx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A call with a nil context or a nil function says so, and leaves no lock behind. Unlock ends the lease all the same.
func TestANilArgumentIsAnError(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t).URL(), nil)
	var none context.Context
	m, held := c.Mutex("x"), mustLock(t, c, "held")
	second := func(_ any, err error) error { return err }
	for _, call := range []struct {
		err  error
		want string
	}{
		{second(m.Lock(none)), `setnx: lock "x": nil Context`},
		{second(m.TryLock(none)), `setnx: lock "x": nil Context`},
		{m.Do(none, func(context.Context) error { return nil }), `setnx: lock "x": nil Context`},
		{m.Do(t.Context(), nil), `setnx: lock "x": nil function`},
		{m.TryDo(t.Context(), nil), `setnx: lock "x": nil function`},
		{held.Extend(none, 5*time.Second), `setnx: extend "held": nil Context`},
		{held.Unlock(none), `setnx: unlock "held": nil Context`},
	} {
		if call.err == nil || call.err.Error() != call.want {
			t.Errorf("%v; want %s", call.err, call.want)
		}
	}
	if cause := context.Cause(held.Context()); !errors.Is(cause, holdfast.ErrReleased) {
		t.Errorf("the lease: %v; want ErrReleased", cause)
	}
	for _, name := range []string{"x", "held"} {
		if _, err := c.Mutex(name).TryLock(t.Context()); err != nil {
			t.Errorf("%s is left behind: %v", name, err)
		}
	}
}
