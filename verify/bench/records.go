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

// lease is a held lock with a fencing token. The tokens give the order of all leases of a name, in all processes.
type lease interface {
	Fence() int64
	Deadline() time.Time
	Unlock(ctx context.Context) error
}

// fenced is a locker whose leases have tokens. Without tokens the bench could not know which acquisition followed which
// release.
type fenced interface {
	locker
	lease(ctx context.Context, name string) (lease, error)
}

// record is a lease with the times that its holder noted.
type record struct {
	Token     int64
	Had, Gave time.Duration // just after the return of Lock; just before the call of Unlock

	process int // of the team
}

// monotonic returns CLOCK_MONOTONIC. All processes of a machine share this clock, and nobody sets it. Go's time.Now
// contains it too, but does not show it.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// recorder is a locker that records every lease.
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
		r.mu.Lock() // only after Unlock, because no other work may come between the noted time and the release
		defer r.mu.Unlock()
		r.records = append(r.records, record{Token: l.Fence(), Had: had, Gave: gave})
		return err
	}, nil
}

// handoff is a release and the acquisition that followed it.
type handoff struct {
	at     time.Duration // the instant at which the next holder had the lock
	gap    time.Duration // the time from just before the call of Unlock to just after the return of Lock
	within bool          // both holders are in one process
}

// pair sorts the leases of all processes by their tokens, and pairs each lease with the lease before it. It returns an
// error if two leases overlap, because the cost of a broken lock is of no interest.
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
