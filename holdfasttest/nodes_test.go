package holdfasttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
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

func TestSetsAreSeparate(t *testing.T) {
	t.Parallel()
	for range 2 {
		if _, err := holdfasttest.Client(t, holdfast.Config{}).Mutex("x").TryLock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// With its default settings a client of a new set locks at once.
func TestFirstLockDoesNotWait(t *testing.T) {
	t.Parallel()
	began := time.Now()
	holdfasttest.Client(t, holdfast.Config{})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("ready after %s", took)
	}
}

func TestStoppedMajorityLosesTheLeaseAndRestartedOneSitsOut(t *testing.T) {
	t.Parallel()
	cfg := holdfast.Config{MaxTTL: time.Second}
	nodes := holdfasttest.Start(t, 3)
	client := nodes.Client(t, cfg)
	lease, err := client.Mutex("x").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
