package waiting

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// Inbox hears what the nodes hand to the waiters of this client: one subscription per
// node, whatever the number of locks. It is opened when one waits for the first time.
type Inbox struct {
	fan    *fanout.Fanout
	client string
	// Repair has the lease of an owner renewed to which a node handed the name: its repair was refused there before. It
	// reports whether there is such a lease. It is set before the inbox is opened; nil: there is none.
	Repair func(owner string) bool

	mu     sync.Mutex
	opened bool
	up     []bool          // per node: the subscription stands
	bids   map[string]*bid // by owner
	enough chan struct{}   // closed when a majority has stood, and the others had a moment
	past   past            // bids that are over, of which nodes may speak still
}

// straggler is how long the subscriptions of the other nodes may take after a majority
// stands: a waiter that joins a queue it does not hear is taken for dead there.
const straggler = 20 * time.Millisecond

// NewInbox returns the inbox of a client, by the name that its owners carry.
func NewInbox(f *fanout.Fanout, client string) *Inbox {
	return &Inbox{fan: f, client: client, up: make([]bool, f.N()), bids: map[string]*bid{}, past: past{claim: f.Set().Claim(), since: map[string]clock.Instant{}, waits: map[int64]*between{}}, enough: make(chan struct{})}
}

// open subscribes on every node, the first time, and waits until enough hear.
func (b *Inbox) open(ctx context.Context) {
	b.Subscribe()
	select {
	case <-b.enough:
	case <-ctx.Done():
	}
}

// Subscribe subscribes on every node, the first time, and does not wait for that.
func (b *Inbox) Subscribe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.opened {
		b.opened = true
		b.fan.Listen(nodescript.Inbox(b.client), b.heard, b.stands)
		time.AfterFunc(b.fan.Timeout(), b.suffice)
	}
}

// suffice ends the waiting of open. Nodes that do not hear yet are asked without a
// place in their queue, and again when they do.
func (b *Inbox) suffice() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.enough:
	default:
		close(b.enough)
	}
}

// stood reports whether subscriptions have stood before.
func (b *Inbox) stood() bool {
	select {
	case <-b.enough:
		return true
	default:
		return false
	}
}

// hears reports whether a hand-off by node to owner would be heard, and taken for its own: who stands in a queue
// without being expected would decline its turn.
func (b *Inbox) hears(owner string, node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node] && b.bids[owner] != nil
}

// stands notes that a subscription stands or broke. What was handed over while it was
// broken was lost: all ask again when it is back, see [bid.heardAgain].
func (b *Inbox) stands(node int, is bool) {
	b.mu.Lock()
	b.up[node] = is
	standing := 0
	for _, up := range b.up {
		if up {
			standing++
		}
	}
	var again []*bid
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
	slices.SortFunc(again, func(a, b *bid) int { return cmp.Or(cmp.Compare(a.ticket, b.ticket), cmp.Compare(a.owner, b.owner)) })
	for _, t := range again {
		t.heardAgain(node)
	}
}

// heard passes a hand-off on.
func (b *Inbox) heard(node int, message string) {
	h, ok := nodescript.ParseHandoff(message)
	if !ok {
		return // not of Holdfast: anybody may publish
	}
	b.mu.Lock()
	t := b.bids[h.Owner]
	b.mu.Unlock()
	if h.Wanted {
		if t != nil {
			t.wanted(node, h.Seen)
		}
		return
	}
	if t == nil && b.Repair != nil && b.Repair(h.Owner) {
		return
	}
	if t != nil {
		b.fan.Raise(h.Seen)
		t.handed(node)
		return
	}
	b.decline(node, h)
}

// expect has hand-offs to a bid taken for its own, and answers those to earlier bids of its wait.
func (b *Inbox) expect(t *bid) {
	b.mu.Lock()
	b.bids[t.owner] = t
	all := b.past.keptOf(t.ticket)
	b.mu.Unlock()
	b.answer(t, all)
}

// forget ends what expect began.
func (b *Inbox) forget(t *bid) {
	got := t.got()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.bids[t.owner]; !there {
		return
	}
	delete(b.bids, t.owner)
	if got {
		b.past.won(t.owner, b.fan.Now())
	}
}
