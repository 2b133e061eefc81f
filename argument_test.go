package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A call with a nil context or a nil function says so, names itself, and leaves no lock behind.
func TestANilArgumentIsAnError(t *testing.T) {
	t.Parallel()
	c := connect("web-1")
	defer c.Close()
	m, s := c.Mutex("argument"), c.Semaphore("argument", 2)
	lease, err := c.Mutex("argument/held").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set, err := c.LockAll(t.Context(), []string{"argument/a", "argument/b"})
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	work := func(context.Context) error { t.Error("the function ran"); return nil }
	names := []string{"argument", "argument/c"}
	second := func(_ any, err error) error { return err }
	for _, call := range []struct {
		err  error
		want string
	}{
		{second(m.Lock(none)), `holdfast: lock "argument": Lock: nil Context`},
		{second(m.TryLock(none)), `holdfast: lock "argument": TryLock: nil Context`},
		{second(m.RLock(none)), `holdfast: lock "argument": RLock: nil Context`},
		{second(m.TryRLock(none)), `holdfast: lock "argument": TryRLock: nil Context`},
		{m.Do(none, work), `holdfast: lock "argument": Do: nil Context`},
		{m.Do(t.Context(), nil), `holdfast: lock "argument": Do: nil function`},
		{m.TryDo(none, work), `holdfast: lock "argument": TryDo: nil Context`},
		{m.TryDo(t.Context(), nil), `holdfast: lock "argument": TryDo: nil function`},
		{m.RDo(none, work), `holdfast: lock "argument": RDo: nil Context`},
		{m.RDo(t.Context(), nil), `holdfast: lock "argument": RDo: nil function`},
		{m.TryRDo(none, work), `holdfast: lock "argument": TryRDo: nil Context`},
		{m.TryRDo(t.Context(), nil), `holdfast: lock "argument": TryRDo: nil function`},
		{second(s.Acquire(none)), `holdfast: semaphore "argument": Acquire: nil Context`},
		{second(s.TryAcquire(none)), `holdfast: semaphore "argument": TryAcquire: nil Context`},
		{s.Do(none, work), `holdfast: semaphore "argument": Do: nil Context`},
		{s.Do(t.Context(), nil), `holdfast: semaphore "argument": Do: nil function`},
		{s.TryDo(t.Context(), nil), `holdfast: semaphore "argument": TryDo: nil function`},
		{second(s.Status(none)), `holdfast: semaphore "argument": Status: nil Context`},
		{second(c.Status(none, "argument")), `holdfast: lock "argument": Status: nil Context`},
		{second(c.Value(none, "argument")), `holdfast: lock "argument": Value: nil Context`},
		{second(c.Now(none)), "holdfast: time of the nodes: nil Context"},
		{second(c.LockAll(none, names)), "holdfast: LockAll: nil Context"},
		{second(c.TryLockAll(none, names)), "holdfast: TryLockAll: nil Context"},
		{c.DoAll(none, names, work), "holdfast: DoAll: nil Context"},
		{c.DoAll(t.Context(), names, nil), "holdfast: DoAll: nil function"},
		{lease.Extend(none, 5*time.Second), `holdfast: extend "argument/held": nil Context`},
		{second(lease.Load(none)), `holdfast: load "argument/held": nil Context`},
		{lease.Store(none, nil), `holdfast: store "argument/held": nil Context`},
		{lease.Downgrade(none), `holdfast: downgrade "argument/held": nil Context`},
		{set.Extend(none, 5*time.Second), `holdfast: extend "argument/a", "argument/b": nil Context`},
	} {
		if call.err == nil || call.err.Error() != call.want {
			t.Errorf("%v; want %s", call.err, call.want)
		}
	}
	for _, name := range names {
		if l, err := c.Mutex(name).TryLock(t.Context()); err != nil {
			t.Errorf("%s is left behind: %v", name, err)
		} else if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for call, recovered := range map[string]any{
		"holdfast: FromContext: nil Context":         panicOf(func() { holdfast.FromContext(none) }),
		"holdfast: LeaseSetFromContext: nil Context": panicOf(func() { holdfast.LeaseSetFromContext(none) }),
	} {
		if recovered != call {
			t.Errorf("panic %v; want %s", recovered, call)
		}
	}
}

// panicOf returns the value with which f panics.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// Unlock ends the lease even if it returns an error. So it does if its context is nil.
func TestUnlockWithANilContextEndsTheLease(t *testing.T) {
	t.Parallel()
	c := connect("web-1")
	defer c.Close()
	var none context.Context
	for name, end := range map[string]func(*holdfast.Lease, *holdfast.LeaseSet) error{
		"Unlock":            func(l *holdfast.Lease, _ *holdfast.LeaseSet) error { return l.Unlock(none) },
		"UnlockAt":          func(l *holdfast.Lease, _ *holdfast.LeaseSet) error { return l.UnlockAt(none, time.Time{}) },
		"Unlock of a set":   func(_ *holdfast.Lease, s *holdfast.LeaseSet) error { return s.Unlock(none) },
		"UnlockAt of a set": func(_ *holdfast.Lease, s *holdfast.LeaseSet) error { return s.UnlockAt(none, time.Time{}) },
	} {
		lease, err := c.Mutex("unlock/one").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		set, err := c.LockAll(t.Context(), []string{"unlock/two"})
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]context.Context{`holdfast: unlock "unlock/one": nil Context`: lease.Context(), `holdfast: unlock "unlock/two": nil Context`: set.Context()}
		err = end(lease, set)
		if err == nil || held[err.Error()] == nil || held[err.Error()].Err() == nil {
			t.Errorf("%s: %v; want an error that names the lock, and the end of the lease", name, err)
		}
		for _, one := range []error{lease.Unlock(t.Context()), set.Unlock(t.Context())} {
			if one != nil && !errors.Is(one, holdfast.ErrReleased) {
				t.Error(one)
			}
		}
	}
}
