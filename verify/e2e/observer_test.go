package e2e

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// witness is an observer that keeps all events.
type witness struct {
	mu   sync.Mutex
	seen []*holdfast.Event
}

func (w *witness) observer() holdfast.Observer {
	return holdfast.Observer{Observe: func(e *holdfast.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, e)
	}}
}

// of returns the events of a kind.
func (w *witness) of(kind holdfast.EventKind) (list []*holdfast.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.seen {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// await waits for n events of a kind, and returns the last one.
func (w *witness) await(t *testing.T, kind holdfast.EventKind, n int) *holdfast.Event {
	t.Helper()
	redistest.Eventually(t, 15*time.Second, "events", func() bool { return len(w.of(kind)) >= n })
	return w.of(kind)[n-1]
}

// watched opens a client with a witness.
func (s *set) watched(change ...func(*holdfast.Config)) (*holdfast.Client, *witness) {
	s.t.Helper()
	w := &witness{}
	change = append(change, func(c *holdfast.Config) { c.Observers = []holdfast.Observer{w.observer()} })
	return s.client(change...), w
}

func TestAnObserverReceivesTheStoryOfALease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, w := s.watched(func(c *holdfast.Config) { c.Prefix = "a:" })
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "mine")
	first, err := c.Mutex("x").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := w.await(t, holdfast.EventAcquired, 1)
	if got.Name != "x" || got.Client != c || got.Fence != first.Fence() || got.Owner != first.Owner() || got.Lease != first.Owner() ||
		got.Joined || got.Took <= 0 || got.Context.Value(key{}) != "mine" {
		t.Errorf("acquired: %+v", got)
	}
	deadline := first.Deadline() // of the acquisition, or of the first renewal if this goroutine was late
	renewed := w.await(t, holdfast.EventRenewed, 1)
	if old := deadline.Sub(renewed.Time); old < 1100*time.Millisecond && renewed.Margin > old+50*time.Millisecond {
		t.Errorf("renewed: the margin is %s, and the old deadline was %s away", renewed.Margin, old)
	}
	if renewed.Lease != got.Lease || renewed.Margin <= 0 || renewed.Margin >= 1178*time.Millisecond { // a busy process renews before a third is over
		t.Errorf("renewed: %+v", renewed)
	}
	second := make(chan *holdfast.Lease)
	go func() {
		l, err := c.Mutex("x").Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		second <- l
	}()
	if waiting := w.await(t, holdfast.EventWaiting, 1); waiting.Name != "x" || waiting.Err == nil {
		t.Errorf("waiting: %+v", waiting)
	}
	if st := c.Stats(); st.Waiting["x"] != 1 || st.Held["x"] != 1 || st.Window != window {
		t.Errorf("one waiter and one holder: %+v", st)
	}
	if err := first.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	released := w.await(t, holdfast.EventReleased, 1)
	if held := released.Time.Sub(got.Time); released.Lease != got.Lease || (released.Held-held).Abs() > held/2 {
		t.Errorf("released after %s: %+v", held, released)
	}
	l := <-second
	if took := w.await(t, holdfast.EventAcquired, 2).Took; took <= 0 {
		t.Errorf("the wait took %s", took)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := c.Stats(); len(st.Waiting) != 0 || len(st.Held) != 0 {
		t.Errorf("nobody waits or holds: %+v", st)
	}
	c.Close()
	kinds := []holdfast.EventKind{}
	for _, e := range w.seen { // Close has waited for the observer
		if e.Kind != holdfast.EventRenewed && e.Kind != holdfast.EventWaiting && e.Kind != holdfast.EventNode && e.Kind != holdfast.EventDelay {
			kinds = append(kinds, e.Kind)
		}
	}
	want := []holdfast.EventKind{
		holdfast.EventOpened, holdfast.EventAcquired, holdfast.EventReleased, holdfast.EventAcquired, holdfast.EventReleased, holdfast.EventClosed,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
}

func TestAnObserverReceivesWhyACallFailed(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	holder := lock(t, s.client(), "x")
	c, w := s.watched()
	codes := func(n int, want holdfast.EventCode) {
		t.Helper()
		if e := w.await(t, holdfast.EventRefused, n); e.Code != want || e.Name != "x" || e.Err == nil || e.Took <= 0 {
			t.Errorf("%+v, want %s", e, want)
		}
	}
	_, _ = c.Mutex("x").TryLock(t.Context())
	codes(1, holdfast.CodeHeld)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = c.Mutex("x").Lock(ctx)
	codes(2, holdfast.CodeTimedOut)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, _ = c.Mutex("x", holdfast.OnWait(func(error) { cancel() })).Lock(ctx)
	codes(3, holdfast.CodeCancelled)
	_, _ = c.TryLockAll(t.Context(), []string{"a", "x"})
	codes(4, holdfast.CodeHeld)
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, _ = c.LockAll(ctx, []string{"a", "x"})
	codes(5, holdfast.CodeTimedOut)
	if err := holder.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.servers[0].Kill()
	_, _ = c.Mutex("x").TryLock(t.Context())
	codes(6, holdfast.CodeUnavailable)
	if n := len(w.of(holdfast.EventRefused)); n != 6 {
		t.Errorf("%d refusals, want 6", n)
	}
}

func TestAnObserverReceivesWhyALeaseWasLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code holdfast.EventCode
		lose func(t *testing.T, s *set, c *holdfast.Client)
	}{
		{holdfast.CodeDeadline, func(_ *testing.T, s *set, _ *holdfast.Client) { s.servers[0].Freeze() }},
		{holdfast.CodeGone, func(t *testing.T, s *set, _ *holdfast.Client) { deleteBoth(t, s.servers[0], "x") }},
		{holdfast.CodeTaken, func(t *testing.T, s *set, _ *holdfast.Client) { replaceBoth(t, s.servers[0], "x") }},
		{holdfast.CodeForced, func(t *testing.T, _ *set, c *holdfast.Client) { takeAway(t, c, "x", admin.UnlockOptions{}) }},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			client, w := s.watched()
			l := lock(t, client, "x")
			c.lose(t, s, s.client())
			if c.code == holdfast.CodeDeadline {
				defer s.servers[0].Thaw()
			}
			if e := w.await(t, holdfast.EventLost, 1); e.Code != c.code || e.Lease != l.Owner() || e.Held <= 0 || e.Err == nil {
				t.Errorf("%+v, want %s", e, c.code)
			}
		})
	}
}

func TestAnObserverReceivesReadersAndDowngrades(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, w := s.watched()
	first := must(t)(c.Mutex("x").RLock(t.Context()))
	must(t)(c.Mutex("x").RLock(t.Context()))
	if a, b := w.await(t, holdfast.EventAcquired, 1), w.await(t, holdfast.EventAcquired, 2); a.Joined || !b.Joined || a.Lease != b.Lease {
		t.Errorf("two readers: %+v, %+v", a, b)
	}
	if held := c.Stats().Held["x"]; held != 1 {
		t.Errorf("two readers share %d leases", held)
	}
	_ = first
	l := lock(t, c, "y")
	id := l.Owner()
	if err := l.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := w.await(t, holdfast.EventReleased, 1); e.Lease != id || e.Owner == id {
		t.Errorf("released after a downgrade: %+v; want the lease %s", e, id)
	}
}

func must(t *testing.T) func(*holdfast.Lease, error) *holdfast.Lease {
	return func(l *holdfast.Lease, err error) *holdfast.Lease {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// An observer that hangs delays neither locks nor Close, and is told how many events it missed.
func TestAStuckObserverDelaysNoLock(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	free := make(chan struct{})
	var w witness
	watch := w.observer().Observe
	stuck := holdfast.Observer{Observe: func(e *holdfast.Event) { <-free; watch(e) }}
	c := s.client(calm, func(c *holdfast.Config) { c.Observers = []holdfast.Observer{stuck} })
	locked := make(chan *holdfast.Lease, 1)
	go func() {
		l, err := c.Mutex("long").Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		locked <- l
	}()
	var l *holdfast.Lease
	select {
	case l = <-locked:
	case <-time.After(20 * time.Second):
		close(free)
		t.Fatal("an observer that hangs delays a lock")
	}
	const cycles = 9000 // two events each, and 16,384 wait
	for range cycles {
		if err := lock(t, c, "x", holdfast.WaitThroughOutages()).Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !awaitRenewal(l) {
		t.Error("the lease was lost while the observer hung:", context.Cause(l.Context()))
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
	close(free)
	missed := w.await(t, holdfast.EventMissed, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	// These events come in addition: Opened, Acquired and Released of the long lease, its renewals, and Closed.
	if total := len(w.seen) - 1 + missed.Missed; total < 2*cycles || missed.Missed < 2*cycles-16384-10 {
		t.Errorf("%d events came and %d are reported missing, of more than %d", len(w.seen)-1, missed.Missed, 2*cycles)
	}
}

func TestStatsAndEventsNameANodeThatDoesNotVote(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.Password("secret"))
	for i, srv := range s.servers {
		s.urls[i] = "redis://:secret@" + srv.Addr()
	}
	c, w := s.watched()
	for _, n := range c.Stats().Nodes {
		if n.Reason != verdict.ReasonUnanswered || n.RoundTrip != 0 {
			t.Errorf("before the first call: %+v", n)
		}
	}
	s.ready(c)
	for i, n := range c.Stats().Nodes {
		if !n.Votes() || n.RoundTrip <= 0 || n.RoundTrip > 5*time.Second || !n.OffsetKnown || n.PendingReleases != 0 || n.Node != s.servers[i].URL()+"/0" {
			t.Errorf("a node that votes: %+v", n)
		}
	}
	l := lock(t, c, "x")
	s.servers[1].Kill()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "a release that waits for the node", func() bool {
		return c.Stats().Nodes[1].PendingReleases > 0
	})
	lock(t, c, "y")
	e := w.await(t, holdfast.EventNode, 1)
	if e.Node.Node != s.servers[1].URL()+"/0" || e.Node.Reachable() || e.Node.Votes() {
		t.Errorf("the event of the dead node: %+v", e.Node)
	}
	if n := c.Stats().Nodes[1]; n.Votes() || n.Reachable() || n.Reason != e.Node.Reason {
		t.Errorf("the dead node: %+v", n)
	}
}
