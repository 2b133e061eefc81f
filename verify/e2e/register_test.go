package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

func load(t testing.TB, l *holdfast.Lease) []byte {
	t.Helper()
	v, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func store(t testing.TB, l *holdfast.Lease, value string) {
	t.Helper()
	if err := l.Store(t.Context(), []byte(value)); err != nil {
		t.Fatal(err)
	}
}

// The next holder finds the value of the last one: any bytes, up to the limit.
func TestTheNextHolderFindsTheValue(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := plainSet(t, n)
			a, b := s.ready(s.client()), s.ready(s.client())
			l := lock(t, a, "x")
			if v := load(t, l); v != nil {
				t.Errorf("a fresh name has the value %q", v)
			}
			unlock(t, l)
			last := []byte(nil)
			for i, v := range []string{"one", "", "\x00\xff\r\n", strings.Repeat("v", holdfast.MostValue)} {
				c := []*holdfast.Client{a, b}[i%2]
				l := lock(t, c, "x")
				if got := load(t, l); !bytes.Equal(got, last) || (got == nil) != (last == nil) {
					t.Errorf("found %q; want %q", got, last)
				}
				store(t, l, v)
				if last = []byte(v); !bytes.Equal(load(t, l), last) {
					t.Errorf("the holder itself does not find %q", v)
				}
				unlock(t, l)
			}
			l = lock(t, a, "y")
			if v := load(t, l); v != nil {
				t.Errorf("another name has the value %q", v)
			}
			err := l.Store(t.Context(), make([]byte, holdfast.MostValue+1))
			if !errors.Is(err, holdfast.ErrBadValue) || !strings.Contains(err.Error(), "16385 bytes; at most 16384") {
				t.Errorf("a value that is too large: %v", err)
			}
		})
	}
}

// Handles share the value. Slots have none, and neither has a lease that has ended.
func TestOnlyAHolderOfALockHasAValue(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client())
	l := lock(t, c, "x")
	h, err := c.Mutex("x").Lock(l.Context())
	if err != nil {
		t.Fatal(err)
	}
	store(t, h, "of the handle")
	unlock(t, h)
	if err := h.Store(t.Context(), nil); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a released handle stores: %v", err)
	}
	if v := load(t, l); string(v) != "of the handle" {
		t.Errorf("found %q", v)
	}
	unlock(t, l)
	if _, err := l.Load(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a released lease loads: %v", err)
	}
	slot, err := c.Semaphore("x", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slot.Load(t.Context()); !errors.Is(err, holdfast.ErrNoValue) {
		t.Errorf("a slot loads: %v", err)
	}
	if err := slot.Store(t.Context(), nil); !errors.Is(err, holdfast.ErrNoValue) {
		t.Errorf("a slot stores: %v", err)
	}
}

// Readers have no value, and neither has a lease that was made a shared one.
func TestReadersHaveNoValue(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	writer := lock(t, c, "x")
	store(t, writer, "v")
	if err := writer.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader, err := c.Mutex("x").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*holdfast.Lease{writer, reader} {
		if _, err := l.Load(t.Context()); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("a reader loads: %v", err)
		}
		if err := l.Store(t.Context(), []byte("w")); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("a reader stores: %v", err)
		}
	}
	unlock(t, writer, reader)
	if v := load(t, lock(t, c, "x")); string(v) != "v" {
		t.Errorf("found %q", v)
	}
}

// A lock that does not use its value has no key for it.
func TestALockWithoutAValueStoresNone(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	l := lock(t, s.ready(s.client()), "x")
	if err := l.Extend(t.Context(), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	key := nodescript.ValueKey(nodescript.RecordKey("x"))
	if n := s.servers[0].MustDo(t, "EXISTS", key); n != int64(0) {
		t.Errorf("%s exists", key)
	}
	store(t, l, "v")
	if ms := s.servers[0].MustDo(t, "PTTL", key).(int64); ms < (30*24*time.Hour - time.Minute).Milliseconds() {
		t.Errorf("the value ends in %d ms; want 30 days", ms)
	}
}

// A majority that is stopped makes Store and Load fail. Afterwards the holder's next Load decides the value.
func TestAValueNeedsAMajority(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.NodeTimeout = 5*time.Second, 5*time.Second, time.Second }))
	l := lock(t, c, "x")
	store(t, l, "old")
	joins(t, s, 2, l) // the lock and the value need only two nodes
	s.servers[1].Freeze()
	store(t, l, "new") // two of three
	s.servers[2].Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := l.Store(ctx, []byte("minority"))
	if err == nil || !errors.Is(err, holdfast.ErrUnavailable) && !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("a minority stored: %v", err)
	}
	s.servers[1].Thaw()
	s.servers[2].Thaw()
	_ = l.Unlock(ctx)
	s.ready(c)
	first := lock(t, c, "x")
	v := string(load(t, first))
	if v != "new" && v != "minority" {
		t.Errorf("found %q after a store that returned nil", v)
	}
	unlock(t, first)
	if again := string(load(t, lock(t, c, "x"))); again != v {
		t.Errorf("found %q after %q", again, v)
	}
}

// A node that forgot the value gets it with the next renewal.
func TestARenewalBringsTheValueToANodeThatForgotIt(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	l := lock(t, s.ready(s.client(calm)), "x")
	store(t, l, "v")
	key := nodescript.ValueKey(nodescript.RecordKey("x"))
	s.flush(s.servers[0])
	redistest.Eventually(t, 20*time.Second, "the value on the node that lost its memory", func() bool {
		v, err := s.servers[0].Do("GET", key)
		text, _ := v.(string)
		return err == nil && strings.HasSuffix(text, "v"+"v")
	})
}

// "None" from nodes that may have forgotten is no answer, unless all nodes say so.
func TestAYoungMemoryIsNoEvidence(t *testing.T) {
	t.Parallel()
	s := bareSet(t, 3)
	c := s.ready(s.client())
	s.servers[2].Freeze()
	defer s.servers[2].Thaw()
	l := lock(t, c, "x")
	_, err := l.Load(t.Context())
	var un *holdfast.UnavailableError
	if !errors.As(err, &un) {
		t.Fatalf("two of three new nodes have no value, and Load returns %v", err)
	}
	young := 0
	for _, n := range un.Nodes {
		if n.Reason == verdict.ReasonYoungMemory {
			young++
		}
	}
	if young != 2 || !strings.Contains(err.Error(), "younger than 30 days") {
		t.Errorf("%d nodes are young: %v", young, err)
	}
	store(t, l, "v") // a value that is written now is evidence
	unlock(t, l)
	if v := load(t, lock(t, c, "x")); string(v) != "v" {
		t.Errorf("found %q", v)
	}
}

// A lock has its lease on a bare majority, because somebody else kept the third node for a moment. On young nodes the
// first load needs all three, so it brings the lease to the third one.
func TestALoadBringsTheLeaseToTheNodesThatItNeeds(t *testing.T) {
	t.Parallel()
	s := bareSet(t, 3)
	c := s.ready(s.client())
	s.servers[2].MustDo(t, "SET", "x", "alien")
	l := lock(t, c, "x")
	freed := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		_, err := s.servers[2].Do("DEL", "x")
		freed <- err
	})
	if v, err := l.Load(t.Context()); v != nil || err != nil {
		t.Errorf("the first load found %q, %v", v, err)
	}
	if err := <-freed; err != nil {
		t.Error(err)
	}
	unlock(t, l)
}

// A node pauses for longer than W, so it gets the question too late. On young nodes a load needs all three, so it asks
// again.
func TestALoadAsksAgainAfterAPauseOfANode(t *testing.T) {
	t.Parallel()
	s := bareSet(t, 3)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.NodeTimeout = 4*time.Second, 3*time.Second }))
	l := lock(t, c, "x")
	s.servers[0].Freeze()
	time.AfterFunc(2*window, s.servers[0].Thaw)
	if v, err := l.Load(t.Context()); v != nil || err != nil {
		t.Errorf("the first load found %q, %v", v, err)
	}
	unlock(t, l)
}

// A key that holds something else is reported, and left alone.
func TestAForeignKeyInThePlaceOfAValueIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	l := lock(t, s.ready(s.client()), "x")
	key := nodescript.ValueKey(nodescript.RecordKey("x"))
	for _, write := range [][]any{{"SET", key, "short"}, {"SET", key, strings.Repeat("l", holdfast.MostValue+1000)}, {"HSET", key, "a", "b"}} {
		s.servers[0].MustDo(t, "DEL", key)
		s.servers[0].MustDo(t, write...)
		_, err := l.Load(t.Context())
		for _, err := range []error{err, l.Store(t.Context(), []byte("v"))} {
			var un *holdfast.UnavailableError
			if !errors.As(err, &un) || un.Nodes[0].Reason != verdict.ReasonCorrupt || un.Nodes[0].Value != key {
				t.Errorf("%v: %v", write[:1], err)
			}
		}
		if kind := s.servers[0].MustDo(t, "TYPE", key); kind == "string" != (write[0] == "SET") {
			t.Errorf("%s is a %s", key, kind)
		}
	}
	s.servers[0].MustDo(t, "DEL", key)
	store(t, l, "v")
}

// A reader below an exclusive lease has no value either: readers run beside each other.
func TestAReaderUnderAnExclusiveLeaseHasNoValue(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client())
	writer := lock(t, c, "x")
	store(t, writer, "v")
	for range 2 {
		reader, err := c.Mutex("x").RLock(writer.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Store(t.Context(), []byte("w")); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("a reader stores: %v", err)
		}
		if _, err := reader.Load(t.Context()); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("a reader loads: %v", err)
		}
	}
}
