package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// manySlots is the number of slots from which an operator takes holders away here.
const manySlots = 60

// slack is a node timeout. Several requests are under way to each node here, so a busy machine needs more time for
// each.
const slack = 3 * time.Second

func slackened(c *holdfast.Config) { steady(c); c.NodeTimeout = slack }

// allSlots takes all slots of a semaphore.
func allSlots(t *testing.T, c *holdfast.Client, name string) (leases []*holdfast.Lease) {
	t.Helper()
	for range manySlots {
		l, err := c.Semaphore(name, manySlots).TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, l)
	}
	return leases
}

// The end of each lease waits for a node that hangs. An operator who ends many leases waits a few times, and not once
// per lease.
func TestAnOperatorTakesManySlotsAwayBesideANodeThatHangs(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(slackened))
	leases := allSlots(t, s.ready(s.client(slackened)), "sem")
	s.servers[1].Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), manySlots*slack/4)
	defer cancel()
	start := time.Now()
	u, err := admin.Unlock(ctx, c, "sem", admin.UnlockOptions{Slots: manySlots})
	end := time.Now()
	s.servers[1].Thaw()
	if err != nil || len(u.Holders) != manySlots {
		t.Fatalf("with one of three nodes frozen, after %s: %+v, %v", end.Sub(start), u, err)
	}
	t.Logf("%d holders after %s", len(u.Holders), end.Sub(start).Round(time.Millisecond))
	if u.Released.Before(start) || u.Released.After(end) {
		t.Errorf("the last lease ended at %s; want a time from %s to %s", u.Released, start, end)
	}
	owners := map[string]bool{}
	for i, h := range u.Holders {
		owners[h.Owner] = true
		if h.Slot != i {
			t.Errorf("holder %d has slot %d; want the holders in the order of slots", i, h.Slot)
		}
	}
	for _, l := range leases {
		if !owners[l.Owner()] {
			t.Errorf("the holder of slot %d is missing in %+v", l.Slot(), u.Holders)
		}
		redistest.Eventually(t, soon, fmt.Sprintf("the holder of slot %d to learn of it", l.Slot()), func() bool {
			var lost *holdfast.LostError
			return errors.As(l.Extend(t.Context(), 5*time.Minute), &lost) && lost.Forced
		})
	}
}

// obstinate is a node that an operator's releases of slots do not reach.
type obstinate struct {
	node.Node
	force string
	asked *atomic.Int32
}

var errObstinate = errors.New("no release of an operator passes")

func (n *obstinate) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if text == n.force {
		n.asked.Add(1)
		return node.Reply{Err: node.NotSent(errObstinate)}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// An operator who does not reach a majority is told so. Unlock begins no further end after that, and the leases last.
func TestAnOperatorWithoutAMajorityEndsFewLeases(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	leases := allSlots(t, s.ready(s.client(slackened)), "sem")
	var asked atomic.Int32
	operator := s.ready(s.client(slackened, func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(asUser(*c, s.urls)...)
		if err != nil {
			t.Fatal(err)
		}
		set := s.config()
		set.MaxTTL = c.MaxTTL
		op := nodescript.NewSlots("sem", manySlots).ForceCall(0, "a~b~1", 1).Op
		for i := range nodes[:2] {
			nodes[i] = &obstinate{Node: nodes[i], force: nodescript.ForceText(set, op), asked: &asked}
		}
		c.Nodes = nodes
	}))
	u, err := admin.Unlock(t.Context(), operator, "sem", admin.UnlockOptions{Slots: manySlots})
	if !errors.Is(err, holdfast.ErrUnavailable) || u == nil || len(u.Holders) != 0 {
		t.Errorf("without a majority: %+v, %v", u, err)
	}
	if n := int(asked.Load()) / 2; n == 0 || n > manySlots/2 {
		t.Errorf("Unlock asked to end %d of %d leases; want some, and less than half", n, manySlots)
	}
	for _, l := range leases {
		if err := l.Extend(t.Context(), 5*time.Minute); err != nil {
			t.Errorf("slot %d: %v", l.Slot(), err)
		}
	}
}
