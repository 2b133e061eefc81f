//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
)

// kindsLocker uses every kind of lock. The place of a name among the names decides its kind: a third of the names are
// plain locks, a third are semaphores, and a third are locked alone or together.
type kindsLocker struct{ *holdfastLocker }

const (
	fewSlots  = 2
	moreSlots = 3 // for every fourth client, as in a rolling change
)

func openKinds(r Role) (Locker, error) {
	l, err := openHoldfast(r)
	if err != nil {
		return nil, err
	}
	return kindsLocker{l.(*holdfastLocker)}, nil
}

// Lock implements [Locker]. If a name is not in the list Role.Names, it is a semaphore.
func (l kindsLocker) Lock(ctx context.Context, name string) (Held, error) {
	switch slices.Index(l.role.Names, name) % 3 {
	case 0:
		return l.holdfastLocker.Lock(ctx, name)
	case 2:
		return l.lockSet(ctx, name)
	}
	return l.acquire(ctx, name)
}

func (l kindsLocker) acquire(ctx context.Context, name string) (Held, error) {
	k := fewSlots
	if l.role.Client%4 == 0 {
		k = moreSlots
	}
	s := l.client.Semaphore(name, k, holdfast.OnWait(l.refused))
	acquire := s.Acquire
	if rand.N(10) == 0 {
		acquire = s.TryAcquire
	}
	lease, err := acquire(ctx)
	if err != nil {
		l.refused(err)
		return nil, err
	}
	return heldSlot{heldLease{lease, l.role.TTL}, slotName(name, lease.Slot())}, nil
}

// heldSlot is a held slot of a semaphore. The judges see each slot as a lock of its own.
type heldSlot struct {
	heldLease
	name string
}

// Names implements [named].
func (h heldSlot) Names() []string { return []string{h.name} }

func slotName(name string, slot int) string { return fmt.Sprintf("%s%s%d", name, slotMark, slot) }

const slotMark = ".slot"

// askedFor returns the name for which a client asked when it got this lock.
func askedFor(lock string) string {
	name, _, _ := strings.Cut(lock, slotMark)
	return name
}

// locks returns the names of the locks that the judges see.
func (p Plan) locks() (list []string) {
	for i, name := range p.names() {
		if p.Locker != "kinds" || i%3 != 1 {
			list = append(list, name)
			continue
		}
		for slot := range moreSlots {
			list = append(list, slotName(name, slot))
		}
	}
	return list
}

// lockSet locks name alone, or with the other names of this kind.
func (l kindsLocker) lockSet(ctx context.Context, name string) (Held, error) {
	names := []string{name}
	for i, other := range l.role.Names {
		if i%3 == 2 && other != name && rand.N(2) == 0 {
			names = append(names, other)
		}
	}
	lock := l.client.LockAll
	if rand.N(10) == 0 {
		lock = l.client.TryLockAll
	}
	set, err := lock(ctx, names, holdfast.OnWait(l.refused))
	if err != nil {
		l.refused(err)
		return nil, err
	}
	return heldSet{set, names}, nil
}

// heldSet is a held set. The set has a deadline, and each of its names has a token.
type heldSet struct {
	*holdfast.LeaseSet
	names []string // the first one is the name that the client asked for
}

// Names implements [named].
func (h heldSet) Names() []string { return h.names }

// Token implements [Held].
func (h heldSet) Token() int64 { return h.TokenOf(h.names[0]) }

// TokenOf returns the token of one name.
func (h heldSet) TokenOf(name string) int64 { return h.Fence(name) }

// Done implements [Held].
func (h heldSet) Done() <-chan struct{} { return h.Context().Done() }

// Work implements [brief]. A client that waits for one name of a set may hold other names of the set, and the judges do
// not know these.
func (h heldSet) Work() time.Duration { return 2*time.Millisecond + rand.N(15*time.Millisecond) }

// named is a held lock with other names than the one that its client asked for.
type named interface{ Names() []string }

// brief is a held lock that decides how long its holder works.
type brief interface{ Work() time.Duration }
