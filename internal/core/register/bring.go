package register

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// refreshEvery is the time after which a held lease makes all nodes keep its value for another [nodescript.ValueKept].
const refreshEvery = time.Hour

// Forgotten implements [renewal.Watcher]. The node may also have forgotten the value.
func (r *Register) Forgotten(node int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacking |= 1 << node
}

// Renewed implements [renewal.Watcher]. It sends the value to the nodes that lack it, and does not wait for answers.
//
// Renewed sends nothing while a store runs, or after a store that failed. At those times nobody knows the value, and the
// earlier value could replace the new one.
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
	if !r.own { // an earlier lease wrote it
		r.sent++
		r.own = true
	}
	to, sequence := r.lacking, r.sent
	stamp, sent := r.fan.StampHeld()
	r.fan.Send(&fanout.Message{
		Call: r.storeCall(stamp, sequence, *r.known), To: brought{r, sequence}, SendBy: r.fan.SendBy(sent),
	}, func(node int) bool { return to>>node&1 != 0 })
}

// brought receives the answers to a value that a renewal has sent.
type brought struct {
	r        *Register
	sequence int64
}

// Answered implements [fanout.Receiver].
func (b brought) Answered(node, _ int, a nodescript.Answer) { b.r.has(node, b.sequence, a) }
