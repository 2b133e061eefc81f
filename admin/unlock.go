package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// endsAtOnce is the largest number of leases that Unlock ends at the same time. Each end waits for the node timeout if
// a node hangs.
const endsAtOnce = 16

// UnlockOptions selects the holders from which [Unlock] takes a lock away.
type UnlockOptions struct {
	// Owners are the owners whose leases end, each as in [verdict.Holder.Owner]. If none of them has the lock, Unlock
	// takes nothing away. If a lock has more than 100 readers, Unlock finds only the owners that
	// [holdfast.Status.Holders] has. Defaults to all holders at the time of the call.
	Owners []string

	// Slots is the number of slots of a semaphore. Defaults to 0: the name is a lock.
	Slots int
}

// Unlocked is the result of [Unlock].
type Unlocked struct {
	Name     string
	Holders  []verdict.Holder // the holders whose leases ended; empty if nobody had the lock
	Notice   time.Duration    // the longest time for which these holders may still believe that they have the lock
	Released time.Time        // when the last lease ended, by this machine's clock
}

// Unlock takes a lock away from its holders. Use it for a holder that keeps a lock for too long. If you can, end the
// holder's process instead: after Unlock, its work goes on until the process learns of the loss.
//
// The nodes give the name to the first waiter at once. The old holder learns of it at its next renewal, usually within
// a third of its lease's validity: its lease ends with [holdfast.ErrLost], and [holdfast.LostError.Forced] is true. If
// the old holder does not reach the nodes, it relies on the lease until its deadline, which is within its TTL. A paused
// process learns of it when it runs again.
//
// So two holders may believe that they have the lock, for [Unlocked.Notice] at most, or until a paused process runs
// again. The new holder has the higher fencing token. A resource that checks tokens refuses the old holder as soon as
// the new one has used it.
//
// A client may ask for the lock at the moment of the call, so that the nodes have granted it and the client does not
// know yet. Unlock then ends this grant. If the client still asks, it may get the lock after that with a higher token.
// That lease is a new one. A reader may also join its client's lease until the client learns of the loss.
//
// Late requests of the old holder change nothing. A renewal does not bring its lease back, and a release does not end
// the lease of the next holder. The readers of one client share a lease, so all of them lose it.
//
// The error matches [holdfast.ErrHeld] in three cases: the lock has other owners than Owners, new owners came during
// the call, or the holder is no client of Holdfast. In the last case delete the key with the lock's name.
//
// If the key of a slot of a semaphore cannot be read, Unlock ends only the holders in Owners, and otherwise returns an
// error.
//
// The error matches [holdfast.ErrUnavailable] if less than a majority of the nodes answered. The lease may have ended
// on these nodes, and the holder may keep it with the others. Call Unlock again then. If nobody has the lock, the
// result has no holders and the error is nil. The Logger gets a line for each lease that ends.
func Unlock(ctx context.Context, client *holdfast.Client, name string, o UnlockOptions) (*Unlocked, error) {
	if ctx == nil {
		return nil, fmt.Errorf("holdfast: unlock %q: %w", name, errNoContext)
	}
	in := inside.Of(client)
	out := &Unlocked{Name: name, Notice: in.MaxTTL}
	prefix := func(err error) error { return fmt.Errorf("holdfast: %w", err) }
	look := func() (*holdfast.Status, error) { return client.Status(ctx, name) }
	if o.Slots != 0 {
		look = func() (*holdfast.Status, error) { return client.Semaphore(name, o.Slots).Status(ctx) }
	}
	s, err := look()
	if err != nil && (s == nil || len(o.Owners) == 0) {
		return nil, err
	}
	holders := slices.DeleteFunc(slices.Clone(s.Holders), func(h verdict.Holder) bool {
		return h.Offered || len(o.Owners) > 0 && !slices.Contains(o.Owners, h.Owner)
	})
	switch {
	case err != nil && len(holders) == 0:
		return nil, err
	case !s.Held || len(holders) == 0 && len(o.Owners) == 0: // the lock is free, or only reserved for a waiter
		return out, nil
	case len(holders) == 0 || holders[0].Foreign:
		return out, prefix(held(s))
	}
	for left := max(s.Readers, len(holders)); ; {
		if err := endAll(ctx, in, s, holders, out); err != nil {
			return out, prefix(err)
		}
		// The nodes list the first 100 readers. Look for the others. Readers that came during this call come last.
		if left -= len(holders); left <= 0 || len(holders) == 0 || len(o.Owners) > 0 {
			break
		}
		next, err := look()
		if err != nil {
			return out, err
		}
		if !next.Held || !next.Holder().Shared || next.Holder().Offered {
			break
		}
		s, holders = next, slices.DeleteFunc(next.Holders, func(h verdict.Holder) bool { return h.Offered })
		holders = holders[:min(left, len(holders))]
	}
	if len(out.Holders) > 0 {
		return out, nil
	}
	// The holders ended their leases during this call. Other owners may have the lock now.
	if s, err = look(); err != nil {
		return nil, err
	}
	if s.Held && !s.Holder().Offered {
		return out, prefix(held(s))
	}
	return out, nil
}

// held returns a holdfast.HeldError for the holders of s.
func held(s *holdfast.Status) error {
	e := &holdfast.HeldError{Name: s.Name, Slots: s.Slots, Holders: s.Holders, Readers: s.Readers, ExpiresIn: -1, Nodes: s.Nodes}
	if h := s.Holder(); !h.Until.IsZero() {
		e.ExpiresIn = max(time.Until(h.Until), 0)
	}
	return e
}

// endAll ends the leases of holders on all nodes, and adds those that ended to out, in the order of holders. After an
// error it begins no further end. It returns the error of the first holder that has one.
func endAll(ctx context.Context, in *inside.Client, s *holdfast.Status, holders []verdict.Holder, out *Unlocked) error {
	over, errs := make([]time.Time, len(holders)), make([]error, len(holders))
	var begun atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	for range min(endsAtOnce, len(holders)) {
		wait.Go(func() {
			for !failed.Load() {
				i := int(begun.Add(1)) - 1
				if i >= len(holders) {
					return
				}
				done, err := end(ctx, in, s, holders[i])
				if done {
					over[i] = time.Now()
				}
				if errs[i] = err; err != nil {
					failed.Store(true)
				}
			}
		})
	}
	wait.Wait()
	for i, at := range over {
		if at.IsZero() {
			continue
		}
		out.Holders = append(out.Holders, holders[i])
		if at.After(out.Released) {
			out.Released = at
		}
	}
	return cmp.Or(errs...)
}

// end ends the lease of a holder on all nodes. It returns false if the lease had ended already.
func end(ctx context.Context, in *inside.Client, s *holdfast.Status, h verdict.Holder) (bool, error) {
	lock := in.Lock(s.Name)
	call := nodescript.ForceCall(lock, h.Owner, h.Fence)
	record := nodescript.RecordKey(lock.Name)
	if s.Slots > 0 {
		call = nodescript.NewSlots(lock.Name, s.Slots).ForceCall(h.Slot, h.Owner, h.Fence)
		record = nodescript.SlotKey(lock.Name, h.Slot)
	}
	set, err := in.Set(ctx, s.Name)
	if err != nil {
		return false, err
	}
	said := set.Fan.Force(ctx, call)
	done, reached := 0, 0
	for _, answer := range said {
		switch answer.Verdict {
		case nodescript.Done:
			done, reached = done+1, reached+1
		case nodescript.NotMine:
			reached++
		}
	}
	if done > 0 {
		in.Emit(events.Event{Kind: events.Forced, Name: lock.Name, Owner: h.Owner, Token: h.Fence})
	}
	if reached < quorum.Majority(len(said)) {
		un := in.Unavailable(s.Name, s.Slots, set.Said.All(func(nodescript.Answer) string { return record }, said, nil))
		if ctx.Err() != nil {
			return false, in.Ended(ctx, un)
		}
		return false, un
	}
	return done > 0, nil
}
