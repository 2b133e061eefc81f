package register

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// These are the pauses of a load that asks again: none before the first renewal, then from leastBring to mostBring,
// each twice as long as the one before. A loser gives its partial grants back within a round trip. If it died, they end
// with its TTL, which may be long, so the load fails.
const (
	leastBring = 5 * time.Millisecond
	mostBring  = time.Second
)

// bring renews the lease after a pause, so that nodes without the lease get it. It returns an error if the lease or ctx
// has ended.
func (r *Register) bring(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.lease.Context().Done():
		return r.lease.End()
	case <-ctx.Done():
		return renewal.ErrUnknown
	}
	err := r.lease.Renew(ctx)
	if errors.Is(err, renewal.ErrNoQuorum) {
		return nil // the next load finds out what is wrong
	}
	return err
}

// refreshEvery is the pause after which the holder sends its value to all nodes again. Each node then keeps the value
// for another [nodescript.ValueKept].
const refreshEvery = time.Hour

// Forgotten implements [renewal.Watcher]. A node that forgot the lease may have forgotten the value, too.
func (r *Register) Forgotten(node int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacking |= 1 << node
}

// Renewed implements [renewal.Watcher]. It sends the value to the nodes that may not have it, and does not wait for
// answers.
//
// Renewed sends nothing during a store, and nothing after a store that failed. At these times the value is unknown,
// and an older value could replace the new one.
func (r *Register) Renewed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		return
	}
	now := r.fan.Now()
	if now.Sub(r.kept) >= refreshEvery {
		r.lacking, r.kept = r.everyone(), now
	}
	if r.lacking == 0 {
		return
	}
	if !r.own { // an earlier lease wrote this value, so it gets a version of this lease
		r.sent++
		r.own = true
	}
	to, sequence := r.lacking, r.sent
	stamp, sent := r.fan.StampHeld()
	r.fan.Send(&fanout.Message{
		Call: r.storeCall(stamp, sequence, *r.known), To: brought{r, sequence}, SendBy: r.fan.SendBy(sent),
	}, func(node int) bool { return to>>node&1 != 0 })
}

// brought receives the answers to a store that Renewed has sent.
type brought struct {
	r        *Register
	sequence int64
}

// Answered implements [fanout.Receiver].
func (b brought) Answered(node, _ int, a nodescript.Answer) { b.r.noteStored(node, b.sequence, a) }
