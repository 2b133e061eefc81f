package fencetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/fence"
)

const (
	rounds  = 30
	writers = 4
)

// writersOfThePast lets holders with old tokens write without a pause. Then a new holder reads with a higher token.
// After this read, no write with an old token may change the value. This includes a write whose token was compared
// before the read.
func writersOfThePast(ctx context.Context, s suite) error {
	for round := range s.rounds {
		if err := s.onePast(ctx, fmt.Sprint("round-", round), reader); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if err := s.onePast(ctx, fmt.Sprint("round-", round, "-writer"), writer); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

func (s suite) onePast(ctx context.Context, name string, mode func(int64) fence.Token) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	errs, begun := make([]error, writers), make(chan struct{}, writers)
	var shown atomic.Bool
	for i := range writers {
		r, err := s.register(ctx, name)
		if err != nil {
			return err
		}
		wg.Go(func() { errs[i] = past(ctx, r, i, begun, &shown) })
	}
	holder, err := s.register(ctx, name)
	if err != nil {
		return err
	}
	for range writers {
		<-begun
	}
	t := mode(100)
	before, err := holder.Read(ctx, t)
	shown.Store(true)
	if err != nil {
		return fmt.Errorf("a read with %s: %w", t, err)
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	after, err := holder.Read(ctx, t)
	if err != nil {
		return fmt.Errorf("a second read with %s: %w", t, err)
	}
	if string(before) != string(after) {
		return fmt.Errorf("a write of an earlier holder arrived after %s was shown: the value changed from %.60q to %.60q", t, before, after)
	}
	return nil
}

// past writes until a write is refused. All goroutines of past use the same token, so they do not refuse each other.
// Soon after the higher token was used, a write must be refused.
func past(ctx context.Context, r fence.Register, id int, begun chan<- struct{}, shown *atomic.Bool) error {
	began := sync.OnceFunc(func() { begun <- struct{}{} })
	for n, late := 0, 0; late < 3; n++ {
		if shown.Load() {
			late++ // the call before may have begun before the higher token was used; this one began later
		}
		err := r.Write(ctx, writer(1), fmt.Appendf(nil, "%d.%d", id, n))
		began()
		switch {
		case errors.Is(err, fence.ErrStale):
			return nil
		case err != nil:
			return fmt.Errorf("a write with %s: %w", writer(1), err)
		}
		if n%8 == 7 {
			runtime.Gosched() // a store in memory never waits, so the new holder would get no processor time
		}
	}
	return fmt.Errorf("writes with %s succeeded after a higher token was shown", writer(1))
}

// firstAccesses lets several holders access a resource that does not exist yet, at the same time. The holder with the
// highest token must never be refused. No holder with a lower token may write after it.
func firstAccesses(ctx context.Context, s suite) error {
	for round := range s.rounds {
		name := fmt.Sprint("round-", round)
		const holders = 6
		var wg sync.WaitGroup
		errs := make([]error, holders)
		start := make(chan struct{}) // closed to let all of them begin at once
		for i := range holders {
			r, err := s.register(ctx, name)
			if err != nil {
				close(start)
				return err
			}
			wg.Go(func() {
				n := int64(i) + 1
				<-start
				err := r.Write(ctx, writer(n), strconv.AppendInt(nil, n, 10))
				if err != nil && (!errors.Is(err, fence.ErrStale) || n == holders) {
					errs[i] = fmt.Errorf("a write with %s, while lower and higher ones came: %w", writer(n), err)
				}
			})
		}
		close(start)
		wg.Wait()
		a := s.begin(ctx, name)
		a.reads(writer(holders), strconv.Itoa(holders))
		if err := errors.Join(append(errs, a.err)...); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}
