package holdfast

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/register"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// MostValue is the size of the largest value that [Lease.Store] accepts, in bytes.
const MostValue = nodescript.MostValue

var (
	// ErrBadValue means that [Lease.Store] cannot store the value, because it is larger than [MostValue].
	ErrBadValue = errors.New("bad value")

	// ErrNoValue means that the lease has no value. Only an exclusive lease of a [Mutex] has one. A slot of a
	// [Semaphore] and a reader have none.
	ErrNoValue = errors.New("only an exclusive lease of a Mutex has a value")
)

// Load returns the value that the last holder of this lock stored with [Lease.Store]. It returns nil if there is no
// value, and an empty slice for an empty value.
//
// Load returns the value of the last Store that returned nil, or of a later Store that failed although some nodes had
// got its value. After a holder has loaded a value, no later holder loads an older one. This guarantee ends if a
// majority of the nodes loses its memory between two uses. The nodes keep a value for 30 days after the last Load,
// Store or hourly renewal of a lease that used it. A lock that is taken without Load and Store does not prolong this
// time.
//
// Load asks the nodes that granted the lock. If they do not all have the same value, Load first writes the newest
// value to a majority. Otherwise a value that only a minority has could be missed now and appear later. Load takes
// one round trip, or two if it writes. Store takes one. If Load needs nodes that do not have the lease yet, or that got
// the question too late, it renews the lease and asks again, for about a second.
//
// The error matches [ErrLost] or [ErrReleased] if the lease has ended, and [ErrUnavailable] if too few nodes answered.
// It also matches ErrUnavailable if the nodes may have forgotten a value. This is so if too many of them lost their
// memory in the last 30 days and no value was stored on them since: see [verdict.ReasonYoungMemory]. A new node set is
// such a case: for its first 30 days, the first Load of a name needs all nodes.
//
// The same happens on a Redis Cluster for MaxTTL + Window after the hash slot of the name has moved, if the name has no
// value there: it may have stayed behind.
//
// If ctx ends first, the error matches ctx's Err and cause. For a slot of a semaphore and for a reader the error
// matches [ErrNoValue].
//
// All handles of a lease share its value.
func (l *Lease) Load(ctx context.Context) ([]byte, error) {
	if ctx == nil {
		return nil, withoutContext("load", strconv.Quote(l.name))
	}
	r, err := l.register()
	if err != nil {
		return nil, l.wrapValue(ctx, "load", err)
	}
	v, err := r.Load(ctx)
	switch {
	case err != nil:
		return nil, l.wrapValue(ctx, "load", err)
	case !v.Is:
		return nil, nil
	}
	return append([]byte{}, v.Bytes...), nil
}

// Store replaces the value of this lock. The next holders read it with [Lease.Load]. A value has up to [MostValue]
// bytes. Loads and Stores of one lease run one after the other.
//
// Store returns nil if a majority of the nodes has the value, and the lease was held at that time. After an error the
// value may or may not be stored. The holder must then call Load before it relies on the old or the new value.
//
// The error matches [ErrLost] or [ErrReleased] if the lease has ended, and [ErrUnavailable] if too few nodes
// answered. If ctx ends first, the error matches ctx's Err and cause. If the value is too large, the error matches
// [ErrBadValue]; for a slot of a semaphore or a reader it matches [ErrNoValue]. In these two cases nothing is stored.
//
// A process that was paused past its deadline cannot replace the value of a later holder.
func (l *Lease) Store(ctx context.Context, value []byte) error {
	if ctx == nil {
		return withoutContext("store", strconv.Quote(l.name))
	}
	if len(value) > MostValue {
		return fmt.Errorf("holdfast: store %q: %w: it has %d bytes; at most %d are allowed", l.name, ErrBadValue, len(value), MostValue)
	}
	r, err := l.register()
	if err == nil {
		err = r.Store(ctx, string(value))
	}
	return l.wrapValue(ctx, "store", err)
}

// wrapValue does the same as wrap for a call about the value. Its error names the key of the value where wrap names
// the key of the record.
func (l *Lease) wrapValue(ctx context.Context, what string, err error) error {
	var none *renewal.NoQuorumError
	if !errors.As(err, &none) || l.client.closed.Load() {
		return l.wrap(ctx, what, err)
	}
	key := func(nodescript.Answer) string {
		return nodescript.ValueKey(nodescript.RecordKey(l.client.config.Prefix + l.name))
	}
	return fmt.Errorf("holdfast: %s: %w", what, l.client.unavailable(l.name, 0, l.client.set(l.held.Name()).said.All(key, none.Answers, nil)))
}

// register returns the register, which reads and writes the value. All handles of the lease use the same one.
func (l *Lease) register() (*register.Register, error) {
	lock, ok := l.held.Kind().(*nodescript.Exclusive)
	if !ok || l.Shared() { // a reader under an exclusive lease is not alone: other readers may run beside it
		return nil, ErrNoValue
	}
	if err := l.end(); err != nil {
		return nil, err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.shared { // a reader's handle under an exclusive lease
		return nil, ErrNoValue
	}
	f.needs()
	if f.register == nil {
		f.register = register.New(l.held, l.client.set(lock.Name()).fan, lock.Lock())
	}
	return f.register, nil
}

// Value returns the value that the holders of a lock store with [Lease.Store]. It does not take the lock. It returns
// nil if there is no value. Use it for people and dashboards only. It may return a value whose Store is not complete.
// If this Store fails, the value may disappear again. [Lease.Load] is the call with a guarantee.
//
// The error matches [ErrUnavailable] if too few nodes answered. A node with other settings counts as missing.
func (c *Client) Value(ctx context.Context, name string) ([]byte, error) {
	m := c.Mutex(name)
	if ctx == nil {
		return nil, m.without("Value", "Context")
	}
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	var values []*nodescript.Stored
	var errs []error
	set, err := c.reach(ctx, m)
	if err != nil {
		return nil, m.prefix(err)
	}
	strange := set.lookAt(ctx, func() { values, errs = set.fan.Peek(ctx, m.lock.Lock()) })
	if err := set.enough(ctx, name, errs, strange); err != nil {
		return nil, m.prefix(err)
	}
	var last *nodescript.Stored
	for _, v := range values {
		if v != nil && (last == nil || v.Version.Compare(last.Version) > 0) {
			last = v
		}
	}
	if last == nil || last.None {
		return nil, nil
	}
	return append([]byte{}, last.Bytes...), nil
}
