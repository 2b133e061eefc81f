package waiting

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// wants sends a renewal of owner's lease, which node 0 does not have. It sends another renewal when node 0 hands the
// name to owner.
func (a *apart) wants(owner string) {
	token, _ := nodescript.Ticket(owner)
	extend := func() {
		stamp, _, err := a.l.Fan.Stamp()
		if err != nil {
			a.t.Error(err)
		}
		call := nodescript.ExtendCall(a.lock.Lock(), owner, token, stamp, stamp, 10*time.Second, a.l.Fan.Set().Window)
		a.l.Fan.Send(&fanout.Message{Call: call}, func(node int) bool { return node == 0 })
	}
	stop := a.nodes[0].Subscribe(nodescript.Inbox(nodescript.ClientOf(owner)), func(string) { go extend() })
	a.t.Cleanup(stop)
	extend()
}

// A waiter that came first keeps its partial grant while younger waiters wait. But it gives this grant back to a lease
// that needs repair, even while another node does not answer it.
func TestAPartIsGivenBackToAHolderThatWantsItsNode(t *testing.T) {
	for what, hangs := range map[string]bool{"a node is cut off": false, "a node hangs": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApart(t)
				owner := a.other(time.Hour, 2)
				a.nodes[1].cut.Store(!hangs)
				if hangs {
					a.nodes[1].far = a.l.Fan.Timeout() * 9 / 10
				}
				a.waits(func() {
					if has := a.holder(0); has == "" || has == owner {
						t.Fatalf("node 0 is held by %q", has)
					}
					a.wants(owner)
					time.Sleep(gather)
					for range 3 { // during this time no client takes the node away
						if has := a.holder(0); has != owner {
							t.Fatalf("the lease was not repaired: %q has the node", has)
						}
						time.Sleep(askEvery)
					}
				})
			})
		})
	}
}
