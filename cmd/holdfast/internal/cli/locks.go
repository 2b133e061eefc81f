package cli

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
)

// held is what acquire returns: the lease of one lock, or the set of leases of several locks.
type held interface {
	Context() context.Context
	Deadline() time.Time
	Unlock(ctx context.Context) error
	UnlockAt(ctx context.Context, at time.Time) error
}

// calls returns two functions that take these locks: lock waits, and try does not. Several names are taken as one set.
// If f has slots, the name is a semaphore. If f has shared, the lock is taken as a reader.
func calls(c *holdfast.Client, names []string, f runFlags, options []holdfast.Option) (lock, try func(context.Context) (held, error)) {
	if len(names) > 1 {
		all := func(take func(context.Context, []string, ...holdfast.Option) (*holdfast.LeaseSet, error)) func(context.Context) (held, error) {
			return func(ctx context.Context) (held, error) { return unlessFailed(take(ctx, names, options...)) }
		}
		return all(c.LockAll), all(c.TryLockAll)
	}
	if f.slots > 0 {
		s := c.Semaphore(names[0], int(f.slots), options...)
		return func(ctx context.Context) (held, error) { return unlessFailed(s.Acquire(ctx)) },
			func(ctx context.Context) (held, error) { return unlessFailed(s.TryAcquire(ctx)) }
	}
	m := c.Mutex(names[0], options...)
	if f.shared {
		return func(ctx context.Context) (held, error) { return unlessFailed(m.RLock(ctx)) },
			func(ctx context.Context) (held, error) { return unlessFailed(m.TryRLock(ctx)) }
	}
	return func(ctx context.Context) (held, error) { return unlessFailed(m.Lock(ctx)) },
		func(ctx context.Context) (held, error) { return unlessFailed(m.TryLock(ctx)) }
}

// unlessFailed returns h, or nil if there is an error. Without this, a failed call would return an interface that is
// not nil but contains a nil pointer.
func unlessFailed[H held](h H, err error) (held, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// holding contains all locks that protect the command of a run: the locks of this run, and locks of outer runs.
type holding struct {
	held
	names []string // names of the locks in held
	all   []lockOf // NAME, and then the names of --also in the order of the command line
}

// lockOf is one lock as the environment of the command names it.
type lockOf struct{ name, owner, fence string }

// newHolding returns the holding of a run. outer contains the locks of outer runs, by name.
func newHolding(h held, names []string, outer map[string]lockOf) *holding {
	mine := &holding{held: h}
	for _, name := range names {
		l, ok := outer[name]
		if !ok {
			l = lockOf{name: name}
			switch h := h.(type) {
			case *holdfast.Lease:
				l.owner, l.fence = h.Owner(), strconv.FormatInt(h.Fence(), 10)
			case *holdfast.LeaseSet:
				l.owner, l.fence = h.Owner(name), strconv.FormatInt(h.Fence(name), 10)
			}
			if !slices.Contains(mine.names, name) {
				mine.names = append(mine.names, name)
			}
		}
		mine.all = append(mine.all, l)
	}
	return mine
}

// lost returns the lock or semaphore whose loss ended the command, for a message.
func (h *holding) lost() string {
	var lost *holdfast.LostError
	if errors.As(context.Cause(h.Context()), &lost) {
		return called(lost.Name, lost.Slots)
	}
	return called(h.names[0], 0)
}

// called returns the noun and the name of a lock (slots is 0) or a semaphore.
func called(name string, slots int) string {
	if slots > 0 {
		return "semaphore " + strconv.Quote(name)
	}
	return "lock " + strconv.Quote(name)
}

// quotedAll returns the names, in quotes, for a message.
func quotedAll(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}

// unique returns the names in their order, each only once.
func unique(names []string) (list []string) {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// named matches the environment variables that name the locks of the innermost run.
var named = regexp.MustCompile(`^HOLDFAST_(NAME|FENCE)(_[0-9]+)?$|^HOLDFAST_(OWNER|SLOT)$`)

// slot returns the environment variable for the slot of a semaphore, or nothing for a lock.
func (h *holding) slot() []string {
	if l, ok := h.held.(*holdfast.Lease); ok && l.Slot() >= 0 {
		return []string{"HOLDFAST_SLOT=" + strconv.Itoa(l.Slot())}
	}
	return nil
}

// naming returns the environment variables that name the locks of a run: NAME, and then the names of --also.
func naming(all []lockOf) []string {
	env := []string{"HOLDFAST_NAME=" + all[0].name, "HOLDFAST_FENCE=" + all[0].fence, "HOLDFAST_OWNER=" + all[0].owner}
	for i, l := range all[1:] {
		n := strconv.Itoa(i + 1)
		env = append(env, "HOLDFAST_NAME_"+n+"="+l.name, "HOLDFAST_FENCE_"+n+"="+l.fence)
	}
	return env
}
