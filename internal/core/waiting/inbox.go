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

// Inbox receives the hand-offs that nodes send to the waiters of this client. It has one subscription per node for all
// locks together. It opens when the client waits for the first time, or when a node refuses to repair a lease.
type Inbox struct {
	fan    *fanout.Fanout
	client string
	// Repair renews the lease of owner, and returns false if owner has no lease. Inbox calls it for a hand-off to an
	// owner that has no bid. Such a hand-off comes after a node refused to repair the lease and later reserved the
	// name for it. Set Repair before the inbox opens. nil: there are no leases to repair.
	Repair func(owner string) bool

	mu     sync.Mutex
	opened bool
	up     []bool                  // by node: whether the subscription works
	bids   map[string]*bidder      // the bids that accept hand-offs, by owner
	enough chan struct{}           // closes when a majority of subscriptions works and straggler has passed, or when all work, or after a node timeout
	past   bid.Past                // the ended bids to which hand-offs may still come
	hurry  map[int64]chan struct{} // by ticket: receives a value when past stores a hand-off for a wait
}

// straggler is the time that the remaining subscriptions get after a majority of them works. A waiter joins the queue
// of a node only if its subscription there works. Otherwise it would miss the node's hand-off, and the node would
// think that the waiter is dead. So this short wait lets a waiter join more queues.
const straggler = 20 * time.Millisecond

// NewInbox returns the inbox of a client. client is the client id, which is a part of each owner of this client.
func NewInbox(f *fanout.Fanout, client string) *Inbox {
	return &Inbox{
		fan: f, client: client, up: make([]bool, f.N()), bids: map[string]*bidder{}, enough: make(chan struct{}),
		past: bid.NewPast(client, f.Set().Claim()), hurry: map[int64]chan struct{}{},
	}
}

// open subscribes to all nodes at the first call. It waits until enough subscriptions work, or until ctx ends.
func (b *Inbox) open(ctx context.Context) {
	b.Subscribe()
	select {
	case <-b.enough:
	case <-ctx.Done():
	}
}

// Subscribe subscribes to all nodes at the first call. It does not wait for the subscriptions.
func (b *Inbox) Subscribe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.opened {
		b.opened = true
		b.fan.Listen(nodescript.Inbox(b.client), b.received, b.subscriptionChanged)
		b.fan.AfterFunc(min(b.fan.Timeout(), askEvery), b.stopOpening)
	}
}

// Idle reports whether no bid waits for a hand-off.
func (b *Inbox) Idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bids) == 0
}

// stopOpening ends the wait in [Inbox.open]. Some subscriptions may not work yet. Bids ask the nodes of these
// subscriptions, too, but do not join their queues. When such a subscription works later, the bids ask again and join.
func (b *Inbox) stopOpening() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.enough:
	default:
		close(b.enough)
	}
}

// isEnough reports whether the inbox is open, or was: then questions may join the queues of the nodes.
func (b *Inbox) isEnough() bool {
	select {
	case <-b.enough:
		return true
	default:
		return false
	}
}

// wouldAccept reports whether this client would receive a hand-off from node to owner, and accept it. It accepts only
// hand-offs to registered bids: see expect. It would decline all others.
func (b *Inbox) wouldAccept(owner string, node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node] && b.bids[owner] != nil
}

// subscriptionChanged notes whether the subscription to a node works. The client has lost all hand-offs that the node
// sent while the subscription was broken. So all bids ask again when it works again: see [bid.Machine.HeardAgain].
func (b *Inbox) subscriptionChanged(node int, is bool) {
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
		b.stopOpening()
	case standing >= quorum.Majority(len(b.up)):
		b.fan.AfterFunc(straggler, b.stopOpening)
	}
	slices.SortFunc(again, func(a, b *bidder) int {
		return cmp.Or(cmp.Compare(a.ticket(), b.ticket()), cmp.Compare(a.owner(), b.owner()))
	})
	for _, t := range again {
		t.heardAgain(node)
	}
}

// received handles a message that arrived on the subscription to a node.
func (b *Inbox) received(node int, message string) {
	h, ok := nodescript.ParseHandoff(message)
	if !ok {
		return // not a message of Holdfast: any client of the server may publish on this channel
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

// expect registers a bid, so that it gets its hand-offs. Hand-offs to earlier bids of the same wait may have come
// before this call. expect declines them after the new bid has joined the queues.
func (b *Inbox) expect(t *bidder) {
	b.mu.Lock()
	b.bids[t.owner()] = t
	all := b.past.Take(t.ticket())
	b.mu.Unlock()
	b.answer(t, all)
}

// forget removes a bid that expect registered. If the bid got the lock, later hand-offs to it are ignored: see
// [bid.Past.Fate].
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
