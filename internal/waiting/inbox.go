package waiting

import (
	"cmp"
	"context"
	"maps"
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

	mu     sync.Mutex
	opened bool
	up     []bool          // per node: the subscription stands
	bids   map[string]*bid // by owner
	enough chan struct{}   // closed when a majority has stood, and the others had a moment

	// When owners got the lock, for as long as a claim lasts. The hand-offs of one release come from all
	// nodes, a majority is enough, and the news of the others come later.
	served map[string]clock.Instant
	swept  clock.Instant
}

// straggler is how long the subscriptions of the other nodes may take after a majority
// stands: a waiter that joins a queue it does not hear is taken for dead there.
const straggler = 20 * time.Millisecond

// NewInbox returns the inbox of a client, by the name that its owners carry.
func NewInbox(f *fanout.Fanout, client string) *Inbox {
	return &Inbox{fan: f, client: client, up: make([]bool, f.N()), bids: map[string]*bid{}, served: map[string]clock.Instant{}, enough: make(chan struct{})}
}

// open subscribes on every node, the first time, and waits until enough hear.
func (b *Inbox) open(ctx context.Context) {
	b.mu.Lock()
	if !b.opened {
		b.opened = true
		b.fan.Listen(nodescript.Inbox(b.client), b.heard, b.stands)
		time.AfterFunc(b.fan.Timeout(), b.suffice)
	}
	b.mu.Unlock()
	select {
	case <-b.enough:
	case <-ctx.Done():
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

// hears reports whether a hand-off by node would be heard.
func (b *Inbox) hears(node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node]
}

// stands notes that a subscription stands or broke. What was handed over while it was
// broken was lost: all ask again when it is back.
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
		t.askAll()
	}
}

// heard passes a hand-off on. One for an owner that nobody bids under any more is declined: a node that
// came back with the memory of a minute ago has a queue of bids that are over, and each would cost those
// who wait a claim. To who has just won it needs no answer: the release of its lease ends the
// claim, too, or a renewal brings the lease to that node.
func (b *Inbox) heard(node int, message string) {
	h, ok := nodescript.ParseHandoff(message)
	if !ok {
		return // not of Holdfast: anybody may publish
	}
	b.mu.Lock()
	t := b.bids[h.Owner]
	since, served := b.served[h.Owner]
	b.mu.Unlock()
	now := b.fan.Now()
	switch {
	case t != nil:
		b.fan.Raise(h.Seen)
		t.handed(node)
	case !served || now.Sub(since) > nodescript.Claim:
		b.fan.SendTo(node, &fanout.Message{Call: nodescript.DeclineCall(h.Lock, h.Owner), SendBy: now.Add(nodescript.Claim)})
	}
}

func (b *Inbox) expect(t *bid) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bids[t.owner] = t
}

// forget ends what expect began.
func (b *Inbox) forget(t *bid) {
	got, now := t.got(), b.fan.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.bids[t.owner]; !there {
		return
	}
	delete(b.bids, t.owner)
	if !got {
		return
	}
	if now.Sub(b.swept) > nodescript.Claim {
		maps.DeleteFunc(b.served, func(_ string, since clock.Instant) bool { return now.Sub(since) > nodescript.Claim })
		b.swept = now
	}
	b.served[t.owner] = now
}
