package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file has hash slots whose former master has no slots any more, values that stayed behind, and admissions to which
// somebody has written.

// A master that gives its last slot away stays a master, with cluster-allow-replica-migration no. It proves its memory.
func TestAMasterWithoutSlotsProvesItsMemory(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0, redistest.Args("--cluster-allow-replica-migration", "no"))
	holder, other := c.client(), c.client()
	extra := c.AddMaster()
	name := names("n", 1)[0]
	home := c.master(name)
	l := lock(t, holder, name)
	came := any(nil)
	adopted := func(to *redistest.Server) {
		t.Helper()
		c.move(to, name)
		redistest.Eventually(t, 20*time.Second, "the adoption of the slot", func() bool {
			now, err := to.Do("HGET", nodescript.SlotGuard(redistest.Slot(name))+":admission", "came")
			if err != nil || now == nil || now == came {
				return l.Context().Err() != nil
			}
			came = now
			return true
		})
	}
	adopted(extra)
	adopted(home)
	if role := extra.Role(); role != "master" {
		t.Fatalf("the former master is a %s", role)
	}
	if _, err := other.Mutex(name).TryLock(t.Context()); err == nil {
		t.Error("two holders")
	}
	renews(t, l)
}

// The record of a name has moved, its value stayed behind, and the slot is given by force. The next holder does not learn
// that there is no value.
func TestAValueThatStayedBehindIsNotDenied(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0)
	a, b := c.client(), c.client()
	name := names("n", 1)[0]
	to := c.other(name)
	l := lock(t, a, name)
	if err := l.Store(t.Context(), []byte("seen")); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	from := c.comes(name, to)
	c.send(from, to, nodescript.RecordKey(name))
	to.MustDo(t, "CLUSTER", "SETSLOT", redistest.Slot(name), "NODE", c.ID(to)) // by force
	redistest.Eventually(t, 20*time.Second, "the lock", func() bool {
		var err error
		l, err = b.Mutex(name).TryLock(t.Context())
		return err == nil
	})
	if v, err := l.Load(t.Context()); err == nil {
		t.Errorf("the value is %q, want an error: it may be missing", v)
	}
	if err := l.Store(t.Context(), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Load(t.Context()); err != nil || string(v) != "new" {
		t.Errorf("after a store, the value is %q, %v", v, err)
	}
}

// Somebody has stored no number where the admission of a slot has one. The slot has a quarantine, and votes again.
func TestASpoiltAdmissionIsQuarantined(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 3, 0)
	short := func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = 2*time.Second, 2*time.Second }
	first := c.client(short)
	list := names("n", 4)
	for i, f := range [][2]string{
		{"came", "abc"}, {"came", "nan"}, {"came", "9e999"}, {"came", ""}, {"apart", "abc"}, {"until", "abc"}, {"refreshed", "abc"},
		{"since", "q"}, {"epoch", "q"}, {"came", "99999999999999999999"}, {"run", ""},
	} {
		name := list[i]
		redistest.Eventually(t, 20*time.Second, "the lock of a slot without a quarantine", func() bool {
			l, err := first.Mutex(name).TryLock(t.Context())
			return err == nil && l.Unlock(t.Context()) == nil
		})
		admission := nodescript.SlotGuard(redistest.Slot(name)) + ":admission"
		c.master(name).MustDo(t, "HSET", admission, f[0], f[1])
		if f[0] == "run" { // a slot that votes has a guard that tells where it came from
			c.master(name).MustDo(t, "HSET", admission, "until", "9999999999999999")
		}
		free := "{" + name + "}free"
		client := first // it finds a spoilt time of the move when it asks for a free name, and the others at an admission
		if f[0] != "came" {
			client = c.client(short)
		}
		c.refuses(client, free)
	}
	for i := range 11 { // all have begun
		redistest.Eventually(t, 20*time.Second, "the end of a quarantine", func() bool {
			_, err := first.Mutex("{" + list[i] + "}free").TryLock(t.Context())
			return err == nil
		})
	}
}
