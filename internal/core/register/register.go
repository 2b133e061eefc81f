package register

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// Value is the value of a lock. The zero Value means that there is no value.
type Value struct {
	Bytes string
	Is    bool // there is a value, which may be empty
}

// Register loads and stores the value of a lock for one lease. It is safe for concurrent use. Loads and stores run one
// after the other.
type Register struct {
	lease *renewal.Lease
	fan   *fanout.Fanout
	lock  nodescript.Lock
	owner string // the owner of the exclusive lease; a downgrade gives the lease another owner
	token int64
	turn  chan struct{} // contains an element while a load or a store runs

	mu      sync.Mutex
	sent    int64  // the sequence of the last write; 0: this lease has written nothing
	known   *Value // the value; nil: unknown, because nothing was loaded yet, or the last write had no result
	own     bool   // this lease wrote known, with the sequence sent
	lacking uint64 // the set of the nodes that may not have the value known
	kept    clock.Instant
}

// New returns the register of a lease. It also watches the renewals of the lease: see [Register.Renewed].
func New(lease *renewal.Lease, fan *fanout.Fanout, lock nodescript.Lock) *Register {
	r := &Register{lease: lease, fan: fan, lock: lock, owner: lease.Owner(), token: lease.Token(), turn: make(chan struct{}, 1)}
	lease.Watch(r)
	return r
}

// ErrSpent means that a lease has made the largest number of writes.
var ErrSpent = errors.New("this lease has written 99999999 times; release the lock and take it again")

// begin waits until no other load or store runs. If the error is nil, the caller must call end.
func (r *Register) begin(ctx context.Context) error {
	if err := r.lease.End(); err != nil {
		return err
	}
	select {
	case r.turn <- struct{}{}:
	case <-r.lease.Context().Done():
		return r.lease.End()
	case <-ctx.Done():
		return renewal.ErrUnknown
	}
	return nil
}

func (r *Register) end() { <-r.turn }

// Load returns the value. If some nodes may lack the value, Load first writes it to a majority.
//
// A load may need the answers of more nodes than granted the lock: see [quorum.Loading]. A loser of the lock may have
// kept the other nodes at that time. So Load renews the lease, which stores it on these nodes, and asks again. It also
// asks again if a node got the question too late, for instance after a pause of the node.
func (r *Register) Load(ctx context.Context) (Value, error) {
	if err := r.begin(ctx); err != nil {
		return Value{}, err
	}
	defer r.end()
	var bring time.Duration
	for {
		v, curable, err := r.load(ctx)
		if err == nil || !curable || bring > mostBring {
			return v, err
		}
		if gone := r.bring(ctx, bring); gone != nil {
			return Value{}, gone
		}
		bring = max(2*bring, leastBring)
	}
}

// load asks the nodes once. curable is true if a renewal and a second question may help: see [quorum.Curable].
func (r *Register) load(ctx context.Context) (v Value, curable bool, err error) {
	n, began := r.fan.N(), r.fan.Now()
	votes := quorum.NewLoading(n, r.token, r.sequence())
	q, err := r.ask(ctx,
		func(stamp int64) nodescript.Call {
			return nodescript.LoadValueCall(r.lock, r.owner, r.token, stamp)
		},
		func(_ int, a nodescript.Answer) quorum.Outcome { return votes.Answer(a) })
	if err != nil {
		var none *renewal.NoQuorumError
		return Value{}, errors.As(err, &none) && quorum.Curable(none.Answers), err
	}
	q.mu.Lock()
	waits := !votes.Settled() && !votes.Complete()
	q.mu.Unlock()
	if waits {
		r.linger(ctx, q, r.fan.Now().Sub(began))
	}
	q.mu.Lock()
	chosen, settled := *votes.Chosen(), votes.Settled()
	q.mu.Unlock()
	v = Value{chosen.Bytes, !chosen.None}
	if !settled {
		return v, false, r.write(ctx, v)
	}
	r.mu.Lock()
	r.known, r.own, r.kept = &v, chosen.Version.Token == r.token, r.fan.Now()
	r.mu.Unlock()
	return v, false, r.lease.End()
}

// Store writes the value. It returns nil if a majority has stored the value before the deadline of the lease.
func (r *Register) Store(ctx context.Context, bytes string) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	defer r.end()
	return r.write(ctx, Value{bytes, true})
}

// write writes a value with the next version. The caller has called begin.
func (r *Register) write(ctx context.Context, v Value) error {
	r.mu.Lock()
	if r.sent == nodescript.MostSequence {
		r.mu.Unlock()
		return ErrSpent
	}
	r.sent++
	sequence := r.sent
	r.known, r.own, r.lacking = nil, false, r.everyone() // the value is unknown until a majority has stored it
	r.mu.Unlock()
	votes := quorum.NewStoring(r.fan.N())
	_, err := r.ask(ctx,
		func(stamp int64) nodescript.Call { return r.storeCall(stamp, sequence, v) },
		func(node int, a nodescript.Answer) quorum.Outcome {
			r.noteStored(node, sequence, a)
			return votes.Answer(a)
		})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.own, r.kept = &v, true, r.fan.Now()
	return nil
}

func (r *Register) storeCall(stamp, sequence int64, v Value) nodescript.Call {
	return nodescript.StoreValueCall(r.lock, r.owner, r.token, stamp, sequence, v.Bytes, !v.Is)
}

// sequence returns the sequence of the last write.
func (r *Register) sequence() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

// everyone returns the set of all nodes.
func (r *Register) everyone() uint64 { return 1<<r.fan.N() - 1 }

// noteStored notes that a node has stored the value of a write.
func (r *Register) noteStored(node int, sequence int64, a nodescript.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Verdict == nodescript.Done && sequence == r.sent {
		r.lacking &^= 1 << node
	}
}
