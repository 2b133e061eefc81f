package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// A place in a queue that no client writes spoils no other name in a list.
func TestASpoiltQueueHidesNoOtherName(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(steady))
	lock(t, c, "spoilt")
	lock(t, c, "other")
	queue := nodescript.QueueKey(nodescript.RecordKey("spoilt"))
	for _, score := range []string{"inf", "1e300", "12345678901234567", "0.5", "-inf", "-1e300"} {
		for _, srv := range s.servers {
			srv.MustDo(t, "DEL", queue)
			srv.MustDo(t, "ZADD", queue, score, "somebody")
		}
		items := listed(t, c, admin.ListOptions{})
		if len(items) != 2 || items["other"] == nil || !items["other"].Held || !items["spoilt"].Held {
			t.Errorf("with a place of %s in a queue the list has %d names", score, len(items))
		}
	}
}

// A close of the client ends a list with ErrClosed.
func TestACloseEndsAList(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(steady))
	for i := range 100 {
		lock(t, c, fmt.Sprint("held/", i))
	}
	looker := s.ready(s.client(steady))
	n, last := 0, error(nil)
	for _, err := range admin.List(t.Context(), looker, admin.ListOptions{}) {
		if n++; n == 1 {
			looker.Close()
		}
		last = err
	}
	if !errors.Is(last, holdfast.ErrClosed) {
		t.Errorf("after %d items the list ended with %v, want ErrClosed", n, last)
	}
}

// The clock of a minority does not decide how long a lock is held.
func TestAWrongClockMakesNoLockOlder(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	c := s.ready(s.client(steady))
	lock(t, c, "young")
	s.servers[2].Step(3 * time.Hour)
	if items := listed(t, c, admin.ListOptions{OlderThan: time.Hour}); len(items) != 0 {
		t.Errorf("a lock that is held for a moment counts as older than an hour: %v", items)
	}
}

// offAndOn is a node whose answers about locks are lost for a while.
type offAndOn struct {
	node.Node
	lost atomic.Int64 // the number of answers that are still lost
}

func (o *offAndOn) Do(ctx context.Context, command ...string) node.Reply {
	if command[0] == "EVAL_RO" && command[1] == nodescript.LookText() && len(command) > 3 && o.lost.Add(-1) >= 0 {
		return node.Reply{Err: errors.New("the answer is lost")}
	}
	return o.Node.(node.Commander).Do(ctx, command...)
}

// The nodes do not answer for a moment. The list has all names then, or ends with an error.
func TestAListLeavesOutNoNameDuringAnOutage(t *testing.T) {
	t.Parallel()
	for state, dead := range map[string]int{"all nodes live": 0, "one node is dead before": 1} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			looker := s.looker(10, func(_ int, n node.Node) node.Node {
				off := &offAndOn{Node: n}
				off.lost.Store(18) // three requests of four names, each sent three times, for two questions
				return off
			})
			for _, server := range s.servers[:dead] {
				server.Kill()
			}
			n, last := 0, error(nil)
			for _, last = range admin.List(t.Context(), looker, admin.ListOptions{}) {
				n++
			}
			if n != 10 && !errors.Is(last, holdfast.ErrUnavailable) {
				t.Errorf("the list has %d of 10 names, and ends with %v", n, last)
			}
		})
	}
}

// A node hangs during a list. The list then goes on without it, and does not wait for it again for each name. It has
// all names, also those that it had left to that node.
func TestAListGoesOnWithoutANodeThatHangs(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprintf("name%03d", i))
	}
	for some := range slices.Chunk(names, 200) {
		set, err := c.LockAll(t.Context(), some)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, hangs := range []int{0, 2} {
		listed, began := map[string]bool{}, time.Now()
		for item, err := range admin.List(t.Context(), c, admin.ListOptions{Free: true, Rate: 100_000}) {
			if err != nil {
				t.Fatal(err)
			}
			if listed[item.Name] = true; len(listed) == 10 {
				s.servers[hangs].Freeze()
			}
		}
		// The node timeout is 1 s, and each request is sent three times. There are 13 or more chunks of names.
		if took := time.Since(began); len(listed) != len(names) || took > 25*time.Second {
			t.Errorf("node %d hangs: %d of %d names after %s", hangs, len(listed), len(names), took)
		}
		s.servers[hangs].Thaw()
	}
}
