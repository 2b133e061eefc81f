package cli

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// errPhaseOver ends an attempt to lock that would continue long after the end of its phase.
var errPhaseOver = errors.New("the phase is over")

// cycles is the result of goroutines that lock and unlock, each with a name of its own.
type cycles struct {
	goroutines   int
	took         time.Duration
	lock, unlock []time.Duration
}

// stretch contains the contexts of one phase. When the context over ends, no new operation begins. When wait ends,
// operations that have begun are cancelled. The context give limits the releases. An interrupt does not end give, so
// that locks are given back.
type stretch struct{ over, wait, give context.Context }

func newStretch(ctx context.Context, d time.Duration) (s stretch, done func()) {
	over, endOver := context.WithTimeout(ctx, d)
	wait, endWait := context.WithTimeoutCause(ctx, d+patience, errPhaseOver)
	give, endGive := context.WithTimeout(context.WithoutCancel(ctx), d+2*patience)
	return stretch{over, wait, give}, func() { endOver(); endWait(); endGive() }
}

// cycle runs one goroutine per name, and each locks and unlocks its name for the time d. The first error ends all
// goroutines. cycle then returns the results so far, too.
func cycle(ctx context.Context, client *holdfast.Client, names []string, d time.Duration) (*cycles, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, done := newStretch(ctx, d)
	defer done()
	each := make([]cycles, len(names))
	errs := make([]error, len(names))
	began := time.Now()
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			if errs[i] = each[i].turn(s, client.Mutex(name)); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	all := &cycles{goroutines: len(names), took: time.Since(began)}
	for _, c := range each {
		all.lock = append(all.lock, c.lock...)
		all.unlock = append(all.unlock, c.unlock...)
	}
	return all, worst(errs)
}

// turn locks and unlocks until the end of the phase.
func (c *cycles) turn(s stretch, m *holdfast.Mutex) error {
	for s.over.Err() == nil {
		began := time.Now()
		lease, err := m.Lock(s.wait)
		if err != nil {
			return err
		}
		locked := time.Now()
		c.lock = append(c.lock, locked.Sub(began))
		// The time of an unlock begins here, and not when Lock returned.
		began = time.Now()
		if err := lease.Unlock(s.give); err != nil {
			return err
		}
		c.unlock = append(c.unlock, time.Since(began))
	}
	return nil
}

// worst returns the error that caused the others. The others only say that their operations were cancelled.
func worst(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}
