package virtual

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
)

// In these tests clients have long leases and are idle for minutes.

// A renewal waits while the client meets nodes again or reads their clocks, so its stamp may be too old on arrival.
func TestExtendAfterARest(t *testing.T) {
	t.Parallel()
	for _, hung := range []bool{false, true} {
		for _, w := range []float64{0.01, 0.1, 0.3, 0.6, 1.0, 1.5} {
			t.Run(fmt.Sprintf("a round trip of %.2f windows, one node hangs: %v", w, hung), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { extendsAfterARest(t, w, hung) })
			})
		}
	}
}

func extendsAfterARest(t *testing.T, trip float64, hung bool) {
	s := newFarSet(t, 10*time.Minute)
	c, ways := s.client(2 * time.Second)
	defer c.Close()
	for _, way := range ways {
		way.there.Store(int64(s.span(trip / 2)))
		way.back.Store(int64(s.span(trip / 2)))
	}
	l := lock(t, c, "x", holdfast.WithTTL(10*time.Minute))
	if hung {
		ways[2].there.Store(int64(time.Hour))
	}
	for i := range 10 {
		time.Sleep(2 * time.Minute)
		if err := l.Extend(t.Context(), 10*time.Minute); err != nil {
			t.Errorf("after %d rests: %v", i+1, err)
		}
	}
	// The requests of a downgrade must come in their window.
	time.Sleep(2 * time.Minute)
	if err := l.Downgrade(t.Context()); err != nil {
		t.Errorf("a downgrade after a rest: %v", err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// twoLists contains five modelled nodes in virtual time. It makes clients with some of them.
type twoLists struct {
	t     *testing.T
	set   nodescript.Config
	nodes []*nodemodel.Node
	clock clock.Clock
}

func newTwoLists(t *testing.T) *twoLists {
	set := nodeSet(3, 10*time.Minute)
	return &twoLists{t, set, manyNodes(5, set), clock.Monotonic()}
}

func (s *twoLists) client(which ...int) (*holdfast.Client, []*far) {
	var ways []*far
	for _, i := range which {
		ways = append(ways, newFar(s.nodes[i], s.clock, time.Millisecond))
	}
	return open(s.t, s.set, holdfast.Config{}, ways), ways
}

// A holder is idle until its next renewal. During this time the common node of both lists comes back. The node must
// hear of the holder's list before another client reports its own list.
func TestAHolderThatRestsTellsANodeThatComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTwoLists(t)
		a, ofA := s.client(0, 1, 2)
		defer a.Close()
		ofA[0].cut.Store(true)
		held := lock(t, a, "x")
		time.Sleep(70 * time.Second)
		ofA[0].cut.Store(false)
		time.Sleep(10 * time.Second)
		b, _ := s.client(0, 3, 4)
		defer b.Close()
		if o, err := b.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
			t.Errorf("two holders: %v and %v", held, o)
		} else if !errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("the client with another list is told: %v", err)
		}
	})
}

// The nodes keep the name of UnlockAt for MaxTTL, and the members of the list for longer.
func TestANameThatIsKeptAfterARestIsKeptFromAnotherList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTwoLists(t)
		a, _ := s.client(0, 1, 2)
		held := lock(t, a, "x")
		time.Sleep(385 * time.Second)
		at := time.Now().Add(s.set.MaxTTL)
		if err := held.UnlockAt(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		a.Close()
		b, _ := s.client(0, 3, 4)
		defer b.Close()
		for time.Now().Before(at) {
			if o, err := b.Mutex("x").TryLock(t.Context()); err == nil {
				t.Fatalf("%v has the name %s before the time", o, time.Until(at))
			}
			time.Sleep(time.Second)
		}
	})
}
