package waiting

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
)

// A dead holder leaves a lease that ends by each node's own clock, so the first waiter gets one node after another. It
// has a partial grant for as long as the clocks differ. The dead holder's ticket is older, but the dead holder waits
// for nothing.
func TestALeaseThatEndsNodeByNodeCostsNoPlaceInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tenth = time.Second / 10
		set, models := voting(tenth, tenth*9/10, 0, -tenth/2, -tenth)
		client := func() *Locker {
			l := met(t, locker(t, set, time.Second, models[0], models[1], models[2], models[3], models[4]))
			l.Fair = true
			return l
		}
		holder := client()
		waiters := []*Locker{client(), client(), client(), client()}
		for round := range 100 {
			lock := nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint(round)})
			if _, r := holder.Wait(t.Context(), lock, 2*time.Second, nil); r != nil {
				t.Fatalf("the holder: %+v", r)
			}
			var mu sync.Mutex
			var served []int
			var wait sync.WaitGroup
			for i, l := range waiters {
				time.Sleep(set.Window)
				wait.Go(func() {
					g, r := l.Wait(t.Context(), lock, 10*time.Second, func(*Refusal) {})
					if r != nil {
						t.Errorf("waiter %d: %+v", i, r)
						return
					}
					mu.Lock()
					served = append(served, i)
					mu.Unlock()
					g.End()
					l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token)}, nil)
				})
			}
			wait.Wait()
			if !slices.IsSorted(served) {
				t.Errorf("round %d: served in the order %v", round, served)
			}
		}
	})
}

// apart is a waiter, and the nodes that it shares with other clients. It draws its ticket with its first question.
type apart struct {
	t     *testing.T
	l     *Locker
	nodes []*away
	lock  *nodescript.Exclusive
	born  int64
}

func newApart(t *testing.T) *apart {
	l, nodes := hearing(t, func(m *nodemodel.Node) *away { return &away{Node: m} })
	return &apart{t: t, l: l, nodes: nodes, lock: nodescript.NewExclusive(nodescript.Lock{Name: "x", Private: true}), born: l.Fan.StampAt(l.Fan.Now())}
}

// other gives nodes to another client, whose ticket is younger than all others by the given time.
func (a *apart) other(younger time.Duration, nodes ...int) (owner string) {
	stamp, _, err := a.l.Fan.Stamp()
	if err != nil {
		a.t.Fatal(err)
	}
	owner = nodescript.NewOwner("other", "client of its own", a.born+younger.Microseconds(), []byte("random"))
	call := nodescript.AcquireCall(a.lock.Lock(), owner, stamp, 10*time.Second)
	a.l.Fan.Send(&fanout.Message{Call: call}, func(node int) bool { return slices.Contains(nodes, node) })
	synctest.Wait()
	for _, n := range nodes {
		if has := a.holder(n); has != owner {
			a.t.Fatalf("node %d is held by %q, want %q", n, has, owner)
		}
	}
	return owner
}

func (a *apart) holder(node int) string {
	for _, k := range a.nodes[node].Keys() {
		if k.Name == nodescript.RecordKey(a.lock.Name()) {
			r, _ := nodescript.ParseRecord(k.Text)
			return r.Owner
		}
	}
	return ""
}

// waits waits for the lock until the function while returns.
func (a *apart) waits(while func()) {
	stop := a.l.waits(a.t, a.lock, 10*time.Second)
	time.Sleep(askEvery / 4)
	while()
	stop()
}

// A waiter keeps its partial grant while only younger waiters are on the other nodes. If an older waiter comes there,
// the first waiter must learn of it soon, because no client has the name while both keep their partial grants.
func TestAMinorityIsGivenBackSoonToAnOlderOneWhoCameLater(t *testing.T) {
	for range 20 { // in a single run, it may ask soon by chance
		synctest.Test(t, func(t *testing.T) {
			a := newApart(t)
			a.other(time.Hour, 2)
			a.nodes[1].cut.Store(true)
			a.waits(func() {
				mine := a.holder(0)
				if mine == "" {
					t.Fatal("it does not keep its minority beside a younger one")
				}
				a.nodes[2].Del(nodescript.RecordKey(a.lock.Name()))
				a.other(0, 2)
				late := time.Now().Add(3 * bid.PartEvery)
				for a.holder(0) == mine { // the waiter may take the node again for a moment
					if time.Now().After(late) {
						t.Fatalf("%s later it still keeps what an older one waits for", 3*bid.PartEvery)
					}
					time.Sleep(time.Millisecond)
				}
			})
		})
	}
}

// A partial grant may last. For example, the other nodes belong to a younger client, which cannot reach one of them.
func TestWhoHasAPartForLongAsksEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApart(t)
		a.other(time.Hour, 1, 2)
		a.nodes[1].cut.Store(true)
		a.waits(func() {
			time.Sleep(4 * askEvery)
			before := a.nodes[2].asked.Load()
			time.Sleep(5 * askEvery)
			if asked := a.nodes[2].asked.Load() - before; asked > 10 {
				t.Errorf("it asked a node %d times in five seconds", asked)
			}
		})
	})
}

// The answers of a slow node come after their round has failed.
func TestWhatWasGivenBackIsNoPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApart(t)
		a.nodes[0].slow = gather / 4
		a.other(-time.Hour, 1, 2)
		b := a.l.bid(t)
		b.lock = a.lock
		a.l.Inbox.expect(b)
		for range 2 {
			b.askAll()
			time.Sleep(gather / 10)
			b.next(time.Second, askEvery) // the round with all nodes has failed; then the grant comes
			time.Sleep(gather)
		}
		b.mu.Lock()
		part := b.machine.Part()
		b.mu.Unlock()
		if part != 0 {
			t.Errorf("it was given back, and stands as a part: %b", part)
		}
		b.giveUp()
	})
}
