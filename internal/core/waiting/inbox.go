package waiting

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Inbox receives the nodes' hand-offs to the waiters of this client. It has one subscription per node, no matter how
// many locks there are. It opens when a waiter waits for the first time.
type Inbox struct {
	fan    *fanout.Fanout
	client string
	// Repair renews the lease of owner. It is called when a node has reserved the name for owner after it refused the
	// repair of the lease. It returns false if there is no such lease. It must be set before the inbox opens. nil: no
	// lease is ever repaired.
	Repair func(owner string) bool

	mu     sync.Mutex
	opened bool
	up     []bool                  // by node: the subscription works
	bids   map[string]*bidder      // the bids that expect hand-offs, by owner
	enough chan struct{}           // closed when a majority of subscriptions works, and the others had a moment
	past   bid.Past                // the bids that are over, but may still get hand-offs
	hurry  map[int64]chan struct{} // by ticket: receives a value when past keeps a hand-off for a wait
}

// straggler is the time that the other subscriptions get after a majority of them works. The wait is useful because a
// waiter must not join the queue of a node that it does not hear: the node would think that the waiter is dead.
const straggler = 20 * time.Millisecond

// NewInbox returns the inbox of a client. client is the client id in the names of its owners.
func NewInbox(f *fanout.Fanout, client string) *Inbox {
	return &Inbox{
		fan: f, client: client, up: make([]bool, f.N()), bids: map[string]*bidder{}, enough: make(chan struct{}),
		past: bid.NewPast(client, f.Set().Claim()), hurry: map[int64]chan struct{}{},
	}
}

// open subscribes on every node at the first call. It waits until enough subscriptions work, or until ctx ends.
func (b *Inbox) open(ctx context.Context) {
	b.Subscribe()
	select {
	case <-b.enough:
	case <-ctx.Done():
	}
}

// Subscribe subscribes on every node at the first call. It does not wait for the subscriptions.
func (b *Inbox) Subscribe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.opened {
		b.opened = true
		b.fan.Listen(nodescript.Inbox(b.client), b.heard, b.stands)
		time.AfterFunc(b.fan.Timeout(), b.suffice)
	}
}

// suffice makes [Inbox.open] return. Subscriptions of some nodes may not work yet. Bids ask these nodes, too, but do not
// join their queues. They ask a node again when its subscription works.
func (b *Inbox) suffice() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.enough:
	default:
		close(b.enough)
	}
}

// stood reports whether enough subscriptions have worked at some time.
func (b *Inbox) stood() bool {
	select {
	case <-b.enough:
		return true
	default:
		return false
	}
}

// hears reports whether this client would hear a hand-off by node to owner, and accept it. The inbox would decline the
// claim of a bid that it does not expect.
func (b *Inbox) hears(owner string, node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node] && b.bids[owner] != nil
}

// stands notes whether a subscription works. Hand-offs that were sent while it was broken are lost. So when the
// subscription works again, all bids ask again: see [bid.Machine.HeardAgain].
func (b *Inbox) stands(node int, is bool) {
	b.mu.Lock()
	b.up[node] = is
	standing := 0
	for _, up := range b.up {
		if up {
			standing++
		}
	}
	var again []*bidder
	if is {
		for _, t := range b.bids {
			again = append(again, t)
		}
	}
	b.mu.Unlock()
	switch {
	case standing == len(b.up):
		b.suffice()
	case standing >= quorum.Majority(len(b.up)):
		time.AfterFunc(straggler, b.suffice)
	}
	slices.SortFunc(again, func(a, b *bidder) int {
		return cmp.Or(cmp.Compare(a.ticket(), b.ticket()), cmp.Compare(a.owner(), b.owner()))
	})
	for _, t := range again {
		t.heardAgain(node)
	}
}

// heard delivers a hand-off to its bid.
func (b *Inbox) heard(node int, message string) {
	h, ok := nodescript.ParseHandoff(message)
	if !ok {
		return // this is not from Holdfast: any client of the server may publish
	}
	b.mu.Lock()
	t := b.bids[h.Owner]
	b.mu.Unlock()
	if h.Wanted {
		if t != nil && t.asksFor(h) {
			t.wanted(node, h.Seen)
		}
		return
	}
	if t == nil && b.Repair != nil && b.Repair(h.Owner) {
		return
	}
	if t != nil {
		b.fan.Raise(h.Seen)
		if h.OfSlot {
			t.offered(node, h.Slot)
		}
		t.handed(node)
		return
	}
	b.decline(node, h)
}

// expect registers a bid, so that it gets its hand-offs. Hand-offs to earlier bids of the same wait may have come in the
// meantime. expect declines their claims.
func (b *Inbox) expect(t *bidder) {
	b.mu.Lock()
	b.bids[t.owner()] = t
	all := b.past.Take(t.ticket())
	b.mu.Unlock()
	b.answer(t, all)
}

// forget ends the registration that expect began.
func (b *Inbox) forget(t *bidder) {
	got := t.got()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.bids[t.owner()]; !there {
		return
	}
	delete(b.bids, t.owner())
	if got {
		b.past.Won(t.owner(), b.fan.Now())
	}
}
