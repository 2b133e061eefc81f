package waiting

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// A lone caller draws one stamp, which is its ticket and its token.
func TestALoneCallersTicketIsItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := three(t, func(_ int, m *nodemodel.Node) node.Node { return m })
		for range 3 {
			time.Sleep(time.Second)
			g, r := l.Wait(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, nil)
			if r != nil {
				t.Fatal(r)
			}
			if ticket, _ := nodescript.Ticket(g.Owner); ticket != g.Token || g.Sent != l.Fan.Now() {
				t.Errorf("ticket %d, token %d, drawn %v ago; want one stamp", ticket, g.Token, l.Fan.Now().Sub(g.Sent))
			}
			l.unlock(nodescript.NewExclusive(nodescript.Lock{Name: "x"}), g, 10*time.Second)
			synctest.Wait()
			l.Inbox.open(t.Context()) // the next calls ask for a place in the queues
			l.Fan.AskVotes(t.Context())
		}
	})
}

// Only the first question of a bid has its ticket as the stamp, and only if the bid asks at once.
func TestLaterStampsAreHigherThanTheTicket(t *testing.T) {
	for what, before := range map[string]func(b *bidder){
		"a question in the name of the releaser": func(b *bidder) { b.joinFirst(); synctest.Wait() },
		"a pause":                                func(*bidder) { time.Sleep(2 * fresh) },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := three(t, func(_ int, m *nodemodel.Node) node.Node { return m })
				time.Sleep(time.Second)
				l.taken(t, nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, nil)
				b := l.bid(t)
				defer b.giveUp()
				drawn := l.Fan.Now()
				before(b)
				b.mu.Lock()
				highest := max(b.machine.Stamp(), b.ticket())
				b.mu.Unlock()
				b.join(drawn)
				if b.mu.Lock(); b.machine.Stamp() <= highest {
					t.Errorf("stamp %d after %d", b.machine.Stamp(), highest)
				}
				b.mu.Unlock()
			})
		})
	}
}

// counted is a node that counts its calls.
type counted struct {
	*nodemodel.Node
	calls *atomic.Int32
}

func (n counted) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	n.calls.Add(int32(len(calls)))
	return n.Node.EvalSHA(ctx, calls)
}

// A waiter whose process had the lock after its ticket was drawn asks once: its stamp is above all stamps of that
// lease.
func TestAWaiterAsksAboveTheLeasesOfItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		l := three(t, func(_ int, m *nodemodel.Node) node.Node { return counted{m, &calls} })
		l.Fair = true // no pass
		time.Sleep(time.Second)
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		ask := func() (Grant, *Refusal) { return l.Wait(t.Context(), lock, 10*time.Second, nil) }
		first := l.bid(t)
		l.lines.enter(Want{Lock: lock}, first, 0)
		held, r := l.ask(t.Context(), first, 0)
		if r != nil {
			t.Fatal(r)
		}
		got := make(chan Grant)
		go func() {
			g, r := ask()
			if r != nil {
				t.Error(r)
			}
			got <- g
		}()
		synctest.Wait() // it has a ticket, and stands behind the first
		highest, _, err := l.Fan.Stamp()
		if err != nil {
			t.Fatal(err)
		}
		l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), held.Owner, highest)}, nil)
		time.Sleep(10 * time.Microsecond)
		calls.Store(0)
		l.lines.leave(lock.Line(), opening{}, false, nil)
		g := <-got
		synctest.Wait()
		if ticket, _ := nodescript.Ticket(g.Owner); ticket >= highest || g.Token <= highest || calls.Load() != 3 {
			t.Errorf("ticket %d, token %d, %d calls after a lease with the stamp %d; want one call to each node", ticket, g.Token, calls.Load(), highest)
		}
		l.unlock(lock, g, 10*time.Second)
	})
}
