package renewal

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// In a busy process the timer of a lease fires late, and a goroutine that has its lock may not run for seconds. Err of
// the context waits for neither, and no renewal brings a lease back that has ended by the clock.
func TestErrLooksAtTheClockAndWaitsForNoLock(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		ctx := e.Context()
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		time.Sleep(time.Minute)
		r := &renewal{lease: e, fan: e.grant.Fan, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1, 0), yes: 1}
		if ctx.Err() != nil || context.Cause(ctx) != nil {
			t.Fatalf("a held lease: %v, %v", ctx.Err(), context.Cause(ctx))
		}
		e.mu.Lock()
		sleep(e.deadline.Sub(e.keeper.fan.Now())) // no timer fires during this sleep
		said := make(chan error, 1)
		go func() { said <- ctx.Err() }()
		for i := 0; i < 20_000_000 && len(said) == 0; i++ { // on a busy machine another thread may have it, and not run
			runtime.Gosched()
		}
		select {
		case err := <-said:
			if err != context.Canceled {
				t.Errorf("at the deadline Err returned %v", err)
			}
		default:
			t.Error("Err waits for a lock")
		}
		e.mu.Unlock()
		e.renewed(r, quorum.Won)
		if !errors.Is(context.Cause(ctx), ErrLost) || ctx.Err() != context.Canceled {
			t.Errorf("after the deadline: %v, %v", ctx.Err(), context.Cause(ctx))
		}
		if !errors.Is(context.Cause(child), ErrLost) {
			t.Errorf("the context that was made from it ended with %v", context.Cause(child))
		}
		<-child.Done()
	})
}

// context.Cause of a lease that has ended by the clock is the loss, although no timer has fired. A function of OnEnd
// was called by then.
func TestTheCauseOfAnEndByTheClockIsTheLoss(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		var told, dropped error
		e.Ender().OnEnd(func(cause error) { told = cause })
		stop := e.Ender().OnEnd(func(cause error) { dropped = cause })
		stop()
		ctx := context.WithValue(e.Context(), key{}, 1)
		sleep(ttl)
		if cause := context.Cause(ctx); !errors.Is(cause, ErrLost) || told != cause || dropped != nil {
			t.Errorf("the cause is %v; OnEnd was told %v, and after stop %v", cause, told, dropped)
		}
		var late error
		e.Ender().OnEnd(func(cause error) { late = cause })
		if late != told || late == nil {
			t.Errorf("OnEnd after the end was told %v", late)
		}
	})
}

// key is the key of a context's value.
type key struct{}

// delayed makes the keeper believe that its process is late by d, until the end of the test.
func delayed(k *Keeper, d time.Duration) (stop func()) {
	end := make(chan struct{})
	go func() {
		for {
			k.pulse.worst.Store(int64(d))
			select {
			case <-time.After(time.Millisecond):
			case <-end:
				return
			}
		}
	}()
	return func() { close(end) }
}

// A lease that is not renewed ends earlier in a late process, by twice the delay, and by a quarter of its validity at
// most.
func TestALateProcessEndsALeaseThatIsNotRenewedEarlier(t *testing.T) {
	const ttl = 10 * time.Second
	for _, c := range []struct{ delay, early time.Duration }{
		{0, 0}, {leastLate / 2, 0}, {300 * time.Millisecond, 600 * time.Millisecond}, {time.Minute, quorum.Validity(ttl, 100*time.Millisecond) / 4},
	} {
		suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
			defer delayed(e.keeper, c.delay)()
			until := e.Deadline()
			<-e.Context().Done()
			early := until.Sub(e.keeper.fan.Now())
			if early < c.early-time.Millisecond || early > max(2*c.early, 0) {
				t.Errorf("delay %s: the lease ended %s before its deadline; want %s", c.delay, early, c.early)
			}
			var lost *LostError
			if errors.As(context.Cause(e.Context()), &lost); (lost.Early > 0) != (c.early > 0) || c.early > 0 && lost.Delay != c.delay {
				t.Errorf("delay %s: %+v", c.delay, lost)
			}
		})
	}
}

// The delay alone ends no lease: one that the nodes renew is kept.
func TestALateProcessKeepsALeaseThatIsRenewed(t *testing.T) {
	voters(t, []string{"E", "E", "E"}, make([]time.Duration, 3), func(e *Lease) {
		defer delayed(e.keeper, time.Minute)()
		time.Sleep(time.Minute)
		if e.End() != nil {
			t.Errorf("it ended with %v", e.End())
		}
	})
}

// The pulse beats only while there are leases, and measures no delay where there is none.
func TestThePulseEndsWithTheLastLease(t *testing.T) {
	voters(t, []string{"E"}, make([]time.Duration, 1), func(e *Lease) {
		k := e.keeper
		time.Sleep(10 * time.Second)
		k.mu.Lock()
		beats := k.beats
		k.mu.Unlock()
		if !beats || k.Delay() != 0 {
			t.Errorf("with a lease the pulse beats: %t, and the delay is %s", beats, k.Delay())
		}
		_ = e.Release(context.Background(), nil)
		time.Sleep(time.Second)
		synctest.Wait()
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.beats {
			t.Error("it beats without a lease")
		}
	})
}
