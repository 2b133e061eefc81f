package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/verdict"
)

// MostSlots is the largest number of slots of a [Semaphore].
const MostSlots = nodescript.MostSlots

// ErrBadSlots means that no semaphore can have this number of slots. Or the caller's context already has a slot, and
// its number is not below k. The error names the bounds.
var ErrBadSlots = errors.New("bad number of slots")

// Semaphore is a name that up to k holders can have at a time. Each holder has its own slot, from 0 to k-1: see
// [Lease.Slot]. A slot works like a lock: it has a token, renewal and a deadline. Many goroutines may use one
// Semaphore.
//
// A Semaphore stores its settings, and the slot that a lease gave back last: the next call asks for this slot first. A
// program may also make a new Semaphore for every use. A call then more often asks for a slot that is taken, and needs
// one round trip more.
//
// A semaphore and a [Mutex] of the same name are different locks: they do not exclude each other.
type Semaphore struct {
	mutex Mutex // has the code of a lock; its field slots makes it take a slot
}

// Semaphore returns the semaphore with this name and k slots. It does not use the network. The rules for names are
// those of [Client.Mutex], and the options are those of a Mutex.
//
// The nodes do not store k. A caller uses the slots from 0 to its own k-1. If callers have different k, there are
// never more holders than the largest k. So a program can change k while other processes still use the old one.
//
// k is from 1 to [MostSlots]. For any other value, the methods that take a slot return an error that matches
// [ErrBadSlots] before they use the network.
func (c *Client) Semaphore(name string, k int, opts ...Option) *Semaphore {
	s := &Semaphore{mutex: Mutex{client: c, name: name}}
	m := &s.mutex
	m.set(&c.config, opts)
	m.lock = nodescript.NewExclusive(nodescript.Lock{Name: c.config.Prefix + name})
	m.slots = nodescript.NewSemaphore(nodescript.NewSlots(m.lock.Name(), k))
	m.bad = m.check()
	return s
}

// badSlots is an error that matches ErrBadSlots. Wrapping ErrBadSlots would add its words to the text.
type badSlots struct{ error }

func (badSlots) Is(target error) bool { return target == ErrBadSlots }

// check returns an error if the name, the number of slots or the TTL is bad.
func (m *Mutex) check() error {
	if err := checkName(m.lock.Name()); err != nil {
		return err
	}
	if m.slots != nil {
		if err := nodescript.CheckSlots(m.k()); err != nil {
			return badSlots{fmt.Errorf("semaphore %q: %w", m.name, err)}
		}
	}
	for _, err := range []error{m.client.config.checkTTL(m.ttl), checkHold(m.hold)} {
		if err != nil {
			return fmt.Errorf("%s %q: %w", m.noun(), m.name, err)
		}
	}
	return nil
}

// kind returns the kind of lock that a call asks for: the lock itself, or any slot of the semaphore.
func (m *Mutex) kind() nodescript.Kind {
	if m.slots != nil {
		return m.slots.Any()
	}
	return m.lock
}

// record returns the key of the record that a node's answer concerns.
func (m *Mutex) record(a nodescript.Answer) string {
	if m.slots != nil {
		return nodescript.SlotKey(m.lock.Name(), a.Slot)
	}
	return nodescript.RecordKey(m.lock.Name())
}

// k returns the number of slots of a semaphore, 0 for a lock.
func (m *Mutex) k() int {
	if m.slots != nil {
		return m.slots.K()
	}
	return 0
}

// noun returns "semaphore" or "lock", for errors.
func (m *Mutex) noun() string { return nounFor(m.k()) }

// Name returns the name as the caller gave it, without [Config.Prefix].
func (s *Semaphore) Name() string { return s.mutex.name }

// Slots returns k.
func (s *Semaphore) Slots() int { return s.mutex.k() }

// Acquire waits until it has a slot, and returns the lease. The client renews the lease until [Lease.Unlock]. Waiters
// get slots in the order in which they came.
//
// ctx, errors and options are as for [Mutex.Lock]. ErrHeld means that all slots are held. The error matches
// [ErrBadSlots] for a bad number of slots.
//
// If ctx belongs to a lease of a semaphore with this name, Acquire returns a handle of that lease, with the same slot.
// So a caller has one slot at most. Otherwise callers that each have a slot and want another one could wait for each
// other for ever. If that slot is k or higher, the error matches ErrBadSlots.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, s.mutex.without("Acquire", "Context")
	}
	return s.mutex.Lock(ctx)
}

// TryAcquire takes a slot if one is free and nobody waits. Otherwise the error matches [ErrHeld]. Everything else is
// as for [Mutex.TryLock].
func (s *Semaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, s.mutex.without("TryAcquire", "Context")
	}
	return s.mutex.TryLock(ctx)
}

// Do waits for a slot, runs fn while it holds the slot, and then releases the slot: see [Mutex.Do]. [FromContext]
// gives fn the lease, for its slot and token.
func (s *Semaphore) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.mutex.Do(ctx, fn)
}

// TryDo does the same as [Semaphore.Do], but does not wait: see [Semaphore.TryAcquire].
func (s *Semaphore) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.mutex.TryDo(ctx, fn)
}

// Status returns the holders of the slots, sorted by slot. It works as [Client.Status] does for a lock. Held is true
// if at least one slot is held. Nodes says for each node only whether it answered, and whether a slot is held there. If
// the holder of a slot is not known, the error says for each node why that slot could not be read.
func (s *Semaphore) Status(ctx context.Context) (*Status, error) {
	m := &s.mutex
	switch {
	case ctx == nil:
		return nil, m.without("Status", "Context")
	case m.bad != nil:
		return nil, m.prefix(m.bad)
	case m.client.closed.Load():
		return nil, m.prefix(ErrClosed)
	}
	var views [][]nodescript.View
	var errs [][]error
	set, err := m.client.reach(ctx, m)
	if err != nil {
		return nil, m.prefix(err)
	}
	strange := set.lookAt(ctx, func() { views, errs = set.fan.InspectSlots(ctx, nodescript.NewSlots(m.lock.Name(), m.k())) })
	votes := votesOf(views)
	if slices.ContainsFunc(votes, func(a nodescript.Answer) bool { return a.Verdict != nodescript.Done }) {
		votes = set.fan.AskVotes(ctx) // a node that does not vote may have forgotten holders, so its empty slots prove nothing
	}
	st := &Status{Name: m.name, Slots: m.k(), Nodes: make([]verdict.Answer, len(views))}
	var unread []verdict.Answer // the answers about the first slot whose holder is not known
	for slot := range m.k() {
		one := &Status{Name: m.name}
		for i := range views {
			n := verdict.Answer{Reason: verdict.ReasonFree}
			if set.said.Name(&n, i); errs[i][slot] != nil {
				set.said.Fail(&n, errs[i][slot])
				n = answers.About(n, nodescript.SlotKey(m.lock.Name(), slot))
			} else {
				n = answers.View(views[i][slot])
				set.said.Name(&n, i)
				if n.Unsure = votes[i].Verdict != nodescript.Done && !votes[i].Unwritable(); n.Unsure && n.Reason == verdict.ReasonFree {
					n.Reason = verdict.ReasonFreeNoVote
				}
			}
			if strange[i] != nil {
				n = *strange[i]
			}
			one.Nodes = append(one.Nodes, n)
			if slot == 0 || n.Held() && !st.Nodes[i].Held() {
				st.Nodes[i] = n
			}
		}
		if !one.judge() && unread == nil {
			unread = one.Nodes
		}
		for _, h := range one.Holders {
			h.Slot = slot
			st.Holders = append(st.Holders, h)
		}
	}
	st.Held = len(st.Holders) > 0
	if unread == nil {
		return st, nil
	}
	un := &UnavailableError{Name: m.name, Slots: m.k(), Nodes: unread}
	if ctx.Err() != nil {
		return st, m.prefix(ended(ctx, un))
	}
	return st, m.prefix(un)
}

// votesOf returns for each node whether it voted in all of its views.
func votesOf(views [][]nodescript.View) []nodescript.Answer {
	votes := make([]nodescript.Answer, len(views))
	for i, list := range views {
		if !slices.ContainsFunc(list, func(v nodescript.View) bool { return !v.Votes }) {
			votes[i].Verdict = nodescript.Done
		}
	}
	return votes
}

// record returns the key of the record of this lease.
func (l *Lease) record(nodescript.Answer) string { return recordOf(l.held) }

func recordOf(l *renewal.Lease) string {
	if s, ok := l.Kind().(*nodescript.Slot); ok {
		return nodescript.SlotKey(l.Name(), s.Slot())
	}
	return nodescript.RecordKey(l.Name())
}

// slots returns the number of slots of this lease's semaphore, or 0 for a lock.
func (l *Lease) slots() int {
	if s, ok := l.held.Kind().(*nodescript.Slot); ok {
		return s.Slots().K()
	}
	return 0
}

// Slot returns the slot of a semaphore that the lease has, from 0 to k-1. Two holders never have the same slot at the
// same time, so the slot can be a worker number, a port or a partition. Slot returns -1 for a lease of a [Mutex].
func (l *Lease) Slot() int {
	if s, ok := l.held.Kind().(*nodescript.Slot); ok {
		return s.Slot()
	}
	return -1
}
