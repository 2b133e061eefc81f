package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lease is a held lock whose fencing token orders it among all leases of its name,
// whichever process had them.
type lease interface {
	Fence() int64
	Deadline() time.Time
	Unlock(ctx context.Context) error
}

// fenced is a locker with such leases. Without tokens nobody outside can say which
// acquisition followed which release.
type fenced interface {
	locker
	lease(ctx context.Context, name string) (lease, error)
}

// record is a lease as its holder saw it.
type record struct {
	Token     int64
	Had, Gave time.Duration // Lock had returned; Unlock was about to be called

	process int // of the team
}

// monotonic is CLOCK_MONOTONIC, the one clock that processes of a machine share and
// nobody sets. Go's time.Now has it too, but does not show it.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(t.Nano())
}

// recorder is a locker that notes every lease.
type recorder struct {
	fenced

	mu      sync.Mutex
	records []record
}

func (r *recorder) lock(ctx context.Context, name string) (func() error, error) {
	l, err := r.lease(ctx, name)
	if err != nil {
		return nil, err
	}
	had := monotonic()
	return func() error {
		gave := monotonic()
		err := l.Unlock(context.Background())
		r.mu.Lock() // after Unlock: nothing of ours may lie between the instant and the release
		defer r.mu.Unlock()
		r.records = append(r.records, record{Token: l.Fence(), Had: had, Gave: gave})
		return err
	}, nil
}

// handoff is a release and the acquisition that followed it.
type handoff struct {
	at     time.Duration // the next holder had it
	gap    time.Duration // nobody had it: from before Unlock was called until Lock had returned
	within bool          // both in one process
}

// pair puts the leases of all processes in the order of their tokens, and pairs each
// with the one before. Leases that overlap are an error: what a lock costs that two
// hold is of no interest.
func pair(outcomes []outcome) (handoffs []handoff, err error) {
	var all []record
	for i, o := range outcomes {
		for _, r := range o.Records {
			r.process = i
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b record) int { return cmp.Compare(a.Token, b.Token) })
	for i := 1; i < len(all); i++ {
		before, r := all[i-1], all[i]
		switch {
		case before.Token == r.Token:
			return nil, fmt.Errorf("two leases have the token %d, in processes %d and %d", r.Token, before.process, r.process)
		case r.Had < before.Gave:
			return nil, fmt.Errorf("lease %d began %v before lease %d was given back, in processes %d and %d",
				r.Token, before.Gave-r.Had, before.Token, r.process, before.process)
		}
		handoffs = append(handoffs, handoff{at: r.Had, gap: r.Had - before.Gave, within: r.process == before.process})
	}
	return handoffs, nil
}
