package holdfasttest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/internal/leasetest"
)

func TestClientsOfOneSetExcludeEachOther(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	a, b := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
	lease, err := a.Mutex("x").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("second lock: %v, want ErrHeld", err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := b.Mutex("x").TryLock(t.Context()); err != nil {
		t.Errorf("after unlock: %v", err)
	}
}

// failing is a test that is expected to fail. It keeps the message of the failure.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (f *failing) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

// The nodes never vote for a client with another configuration, so the test of such a client fails at once.
func TestAClientOfAnotherConfigurationFailsAtOnce(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	nodes.Client(t, holdfast.Config{MaxTTL: 5 * time.Second})
	f, began := &failing{TB: t}, time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		nodes.Client(f, holdfast.Config{MaxTTL: 6 * time.Second})
	}()
	<-done
	if took := time.Since(began); took > 5*time.Second || !strings.Contains(f.said, "configuration differs") || !strings.Contains(f.said, "max-ttl=6s") {
		t.Errorf("after %s the test fails with %q; want the two configurations at once", took, f.said)
	}
}

func TestSetsAreSeparate(t *testing.T) {
	t.Parallel()
	for range 2 {
		if _, err := holdfasttest.Client(t, holdfast.Config{}).Mutex("x").TryLock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A client of new nodes with default settings locks at once.
func TestFirstLockDoesNotWait(t *testing.T) {
	t.Parallel()
	began := time.Now()
	holdfasttest.Client(t, holdfast.Config{})
	// A quarantine would take 10.25 s.
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("ready after %s", took)
	}
}

func TestStoppedMajorityLosesTheLeaseAndRestartedOneSitsOut(t *testing.T) {
	t.Parallel()
	cfg := holdfast.Config{MaxTTL: 2400 * time.Millisecond, Window: 300 * time.Millisecond} // for a busy machine
	nodes := holdfasttest.Start(t, 3)
	client := nodes.Client(t, cfg)
	lease := leasetest.Lock(t, client, "x")
	nodes.Stop(0)
	nodes.Stop(1)
	select {
	case <-lease.Context().Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the lease was not lost")
	}
	if cause := context.Cause(lease.Context()); !errors.Is(cause, holdfast.ErrLost) {
		t.Errorf("cause %v, want ErrLost", cause)
	}
	nodes.Restart(t, 0)
	nodes.Restart(t, 1)
	if _, err := client.Mutex("y").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("a restarted majority voted at once: %v", err)
	}
	if _, err := client.Mutex("y").Lock(t.Context()); err != nil {
		t.Errorf("after the quarantine: %v", err)
	}
}

// A test can make a job lose its lock and need not wait for a TTL.
func TestALeaseIsLostAtOnceWhereATestSaysSo(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	c := nodes.Client(t, holdfast.Config{})
	lease, err := c.Mutex("x").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Mutex("y").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes.Lose(t, lease)
	if err := context.Cause(lease.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the cause is %v, want ErrLost", err)
	}
	if err := lease.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock: %v, want ErrLost", err)
	}
	if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("the thief's lock: %v, want ErrHeld", err)
	}
	if err := other.Unlock(t.Context()); err != nil {
		t.Errorf("another lease: %v", err)
	}
}

// noted is a test that keeps its log.
type noted struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (n *noted) Log(args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, fmt.Sprint(args...))
}

func (n *noted) Logf(format string, args ...any) { n.Log(fmt.Sprintf(format, args...)) }

func (n *noted) log() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.said)
}

func TestNewNodesAreNoNews(t *testing.T) {
	t.Parallel()
	n := &noted{TB: t}
	holdfasttest.Start(t, 3).Client(n, holdfast.Config{})
	if said := n.log(); len(said) > 0 {
		t.Errorf("the log of a test that has done nothing yet says %q", said)
	}
}

func TestASetWithoutNodesFailsTheTest(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, -1} {
		if got, want := failure(t, func(tb testing.TB) { holdfasttest.Start(tb, n) }), fmt.Sprintf("n is %d; it must be at least 1", n); !strings.Contains(got, want) {
			t.Errorf("Start(%d): %q; want %q", n, got, want)
		}
	}
}

func TestALeaseThatWasReleasedIsNotLost(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 1)
	lease, err := nodes.Client(t, holdfast.Config{}).Mutex("x").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := failure(t, func(tb testing.TB) { nodes.Lose(tb, lease) }); !strings.Contains(got, `the lease on "x" is not lost`) {
		t.Errorf("it said %q", got)
	}
}

// failure runs a test that is expected to fail. It returns the message of the failure, "" if there is no failure.
func failure(tb testing.TB, test func(testing.TB)) string {
	f := &failing{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.said
}

// A shared lock is lost like an exclusive one, also by its other readers.
func TestASharedLockIsLostOnDemand(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	c, other := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
	lease, err := c.Mutex("x").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	beside, err := other.Mutex("x").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes.Lose(t, lease)
	if !errors.Is(context.Cause(lease.Context()), holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", context.Cause(lease.Context()))
	}
	if err := beside.Extend(t.Context(), 10*time.Second); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("a reader beside a thief extends its lease: %v", err)
	}
}

// A slot of a semaphore is lost like a lock.
func TestASlotIsLostOnDemand(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	c := nodes.Client(t, holdfast.Config{})
	lease, err := c.Semaphore("x", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes.Lose(t, lease)
	if !errors.Is(context.Cause(lease.Context()), holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", context.Cause(lease.Context()))
	}
	if other, err := c.Semaphore("x", 2).TryAcquire(t.Context()); err != nil || other.Slot() == lease.Slot() {
		t.Errorf("%v, %v; want the other slot", other, err)
	}
}

// The log of a test that takes a lease away says who did it, and nothing that sounds like a failure.
func TestTheLogSaysThatTheTestTookTheLease(t *testing.T) {
	nodes, n := holdfasttest.Start(t, 3), &noted{TB: t}
	lease, err := nodes.Client(n, holdfast.Config{}).Mutex("x").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes.Restart(t, 2) // it has lost the lease
	nodes.Lose(n, lease)
	if err := context.Cause(lease.Context()); !strings.Contains(err.Error(), "taken by holdfasttest.Lose") {
		t.Errorf("the lease ended with %v", err)
	}
	for _, line := range n.log() {
		if strings.Contains(line, "does not have the lease") || strings.Contains(line, "lock lost") && !strings.Contains(line, "holdfasttest.Lose") {
			t.Errorf("the log has %s", line)
		}
	}
}
