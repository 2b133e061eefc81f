package waiting

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// mute returns a locker on three nodes. hang makes the nodes hang, or ends that. met says that the locker has met the
// nodes before.
func mute(t *testing.T, timeout, retry time.Duration, met bool) (l *Locker, hang func(bool)) {
	t.Helper()
	set, models := voting(0, 0, 0)
	var nodes []node.Node
	var hung []*hanging
	for _, m := range models {
		hung = append(hung, &hanging{Node: m})
		nodes = append(nodes, hung[len(hung)-1])
	}
	hang = func(is bool) {
		for _, n := range hung {
			n.hangs.Store(is)
		}
	}
	hang(!met)
	l = locker(t, set, timeout, nodes...)
	if l.RetryDelay = retry; met {
		l.Fan.Settle(t.Context())
		l.Inbox.open(t.Context())
		l.Fan.AskVotes(t.Context())
	}
	return l, hang
}

// Waiters of one process are in one line, and only the first waiter asks. Its findings about an outage count for the
// others. Each waiter gets the error when it has waited in vain for a second. It does not get the error a second after
// the waiter before it.
func TestAnOutageEndsAllWaitsForANameTogether(t *testing.T) {
	const timeout = 100 * time.Millisecond
	for _, c := range []struct {
		retry, ttl, apart time.Duration
		unmet             bool // the client has never met the nodes
		held              bool // another owner has the lock when the nodes stop answering
		want              time.Duration
	}{
		{retry: timeout, ttl: 10 * time.Second, want: Patience},
		{retry: timeout, ttl: 10 * time.Second, unmet: true, want: Patience},
		{retry: timeout, ttl: 10 * time.Second, apart: 7 * time.Millisecond, want: Patience},
		{retry: timeout, ttl: 10 * time.Second, apart: 7 * time.Millisecond, unmet: true, want: Patience},
		{retry: 30 * time.Minute, ttl: 10 * time.Second, want: Patience},
		{retry: 30 * time.Minute, ttl: 3 * time.Second, held: true, want: 3 * time.Second},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, hang := mute(t, timeout, c.retry, !c.unmet)
				lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				if c.held {
					l.taken(t, lock, 10*time.Second, nil)
				} else {
					hang(true)
				}
				var all sync.WaitGroup
				took := make([]time.Duration, 100)
				kinds := make([]Kind, len(took))
				begun := time.Now()
				for i := range took {
					all.Go(func() {
						since := time.Now()
						_, r := l.Wait(t.Context(), lock, c.ttl, func(*Refusal) {})
						took[i] = time.Since(since)
						kinds[i] = r.Kind
						if c.held {
							took[i] = time.Since(begun)
						}
					})
					time.Sleep(c.apart)
				}
				if c.held {
					time.Sleep(500 * time.Millisecond)
					hang(true)
				}
				all.Wait()
				most := c.want + 2*timeout + timeout // the last try, and the try before it
				if c.held {
					most += 500*time.Millisecond + askEvery // the waiters notice the outage with their next question
				}
				for i, d := range took {
					if kinds[i] != Unavailable || d < c.want || d > most {
						t.Fatalf("waiter %d of %d was told %d after %s; want that nothing is known, after %s to %s", i, len(took), kinds[i], d, c.want, most)
					}
				}
			})
		})
	}
}

// A minority that answers "held" is no quorum. A waiter that hears no other node must get that error in time. The round
// is decided before the client gives up the silent nodes, so the first look finds the lock held.
func TestAMinorityThatSaysHeldIsNoQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, ttl = 100 * time.Millisecond, 2 * time.Second
		set, models := voting(0, 0, 0)
		var nodes []node.Node
		var hung []*hanging
		for _, m := range models {
			hung = append(hung, &hanging{Node: m})
			nodes = append(nodes, hung[len(hung)-1])
		}
		l := met(t, locker(t, set, timeout, nodes...))
		l.Inbox.open(t.Context())
		l.Fan.AskVotes(t.Context())
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		l.taken(t, lock, 10*time.Second, nil)
		var all sync.WaitGroup
		var silent time.Time
		for i := range 4 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // before the third lease ends
				defer cancel()
				_, r := l.Wait(ctx, lock, ttl, func(*Refusal) {})
				if took, most := time.Since(silent), askEvery+ttl+4*timeout; r == nil || r.Kind != Unavailable || took > most {
					t.Errorf("waiter %d was told %+v %s after a majority had fallen silent; want that nothing is known, after %s at most", i, r, took, most)
				}
			})
		}
		time.Sleep(1500 * time.Millisecond)
		silent = time.Now()
		hung[0].hangs.Store(true)
		hung[1].hangs.Store(true)
		all.Wait()
	})
}

// A waiter through outages continues to wait. The waiters beside it still get their error in time.
func TestAWaiterThroughOutagesIsServedWhenTheNodesAreBack(t *testing.T) {
	const timeout = 100 * time.Millisecond
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("first=%t", first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, hang := mute(t, timeout, timeout, true)
				hang(true)
				lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				var all sync.WaitGroup
				through := func() {
					begun := time.Now()
					_, r := l.WaitFor(t.Context(), Want{Lock: lock, TTL: 10 * time.Second, Through: true, Told: func(*Refusal) {}})
					if took := time.Since(begun); r != nil || took < time.Minute || took > time.Minute+2*time.Second {
						t.Errorf("who waits through an outage of a minute was told %+v after %s", r, took)
					}
				}
				if first {
					all.Go(through)
					time.Sleep(time.Millisecond)
				}
				for i := range 5 {
					all.Go(func() {
						begun := time.Now()
						_, r := l.Wait(t.Context(), lock, 10*time.Second, func(*Refusal) {})
						if took := time.Since(begun); r == nil || r.Kind != Unavailable || took > Patience+3*timeout {
							t.Errorf("waiter %d was told %+v after %s", i, r, took)
						}
					})
					time.Sleep(time.Millisecond)
				}
				if !first {
					all.Go(through)
				}
				time.Sleep(time.Minute)
				hang(false)
				all.Wait()
			})
		})
	}
}

// If the context of a waiter behind others in its process ends while the name is held, the waiter gets ErrHeld. It gets
// the knowledge of the first waiter, and the process's own knowledge of a lock that the process has.
func TestAWaiterBehindOthersIsToldWhatTheFirstKnows(t *testing.T) {
	for _, c := range []struct {
		what  string
		here  bool          // the lock came to this process
		after time.Duration // the time until the contexts end
		label string
	}{
		{"held by another process", false, 500 * time.Millisecond, "other"},
		{"held in this process, and nobody has asked since", true, 5 * time.Millisecond, "label"},
		{"held in this process", true, 5 * time.Second, "label"},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ttl = 10 * time.Second
				l, lock := neighbours(t, 1)[0], nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				owner, token := l.taken(t, lock, ttl, nil)
				got := make(chan struct{})
				if c.here {
					go func() {
						if _, r := l.Wait(t.Context(), lock, ttl, func(*Refusal) {}); r != nil {
							t.Errorf("the first: %+v", r)
						}
						close(got)
					}()
				}
				time.Sleep(2 * time.Millisecond)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var all sync.WaitGroup
				for i := range 5 {
					all.Go(func() {
						_, r := l.Wait(ctx, lock, ttl, func(*Refusal) {})
						if r == nil {
							t.Error("it has the lock")
							return
						}
						if owner, _, _ := r.Holder(); r.Kind != Held || !strings.HasPrefix(owner, c.label+"~") {
							t.Errorf("waiter %d was told %d, holder %q; want that %s has it", i, r.Kind, owner, c.label)
						}
					})
					time.Sleep(2 * time.Millisecond)
				}
				if c.here {
					l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), owner, token)}, nil)
					<-got
				}
				time.Sleep(c.after)
				cancel()
				all.Wait()
			})
		})
	}
}

// TryLock repeats a split vote for a moment, no matter how long a waiting Lock pauses.
func TestTheRetryDelayOfLockDoesNotPaceTryLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := three(t, func(i int, m *nodemodel.Node) node.Node {
			return far{m, time.Duration(3-i) * time.Millisecond} // the free node answers first
		})
		l.RetryDelay = 30 * time.Minute
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		for i := range 2 { // no two nodes name the same holder
			l.taken(t, lock, 10*time.Second, func(node int) bool { return node == i })
			time.Sleep(10 * time.Millisecond) // without this pause the owner would be the same
		}
		begun := time.Now()
		_, r := l.Try(t.Context(), lock, 10*time.Second)
		if took := time.Since(begun); r == nil || r.Kind != Contended || took > 2*time.Second {
			t.Errorf("TryLock took %s; %+v", took, r)
		}
	})
}
