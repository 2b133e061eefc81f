package renewal

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// A lease with a limit ends there, although the nodes renew it, and also by the clock alone.
func TestALimitEndsALeaseThatIsRenewed(t *testing.T) {
	const most = 25 * time.Second
	voters(t, []string{"E", "E", "E"}, make([]time.Duration, 3), func(e *Lease) {
		e.Limit(most)
		began := time.Now()
		time.Sleep(most - time.Millisecond)
		if e.Context().Err() != nil {
			t.Fatalf("before its limit the lease ended with %v", context.Cause(e.Context()))
		}
		if left := e.Deadline().Sub(e.keeper.fan.Now()); left != time.Millisecond {
			t.Fatalf("the deadline is in %s", left)
		}
		<-e.Context().Done()
		var lost *LostError
		if took := time.Since(began); took != most || !errors.As(context.Cause(e.Context()), &lost) || lost.MaxHold != most {
			t.Errorf("after %s it ended with %#v", took, context.Cause(e.Context()))
		}
	})
}

// A limit that lies behind the deadline does not end a lease that is not renewed.
func TestTheDeadlineCountsBeforeTheLimit(t *testing.T) {
	const ttl = 10 * time.Second
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		until := e.Deadline()
		e.Limit(ttl)
		<-e.Context().Done()
		var lost *LostError
		if now := e.keeper.fan.Now(); now != until || !errors.As(context.Cause(e.Context()), &lost) || lost.MaxHold != 0 {
			t.Errorf("it ended %s after its deadline with %#v", now.Sub(until), context.Cause(e.Context()))
		}
	})
}

// In a late process a lease whose renewals get no answer is lost before its deadline, but not before its limit. The
// release follows the announcement at once, so an earlier one would gain nothing.
func TestALateProcessHoldsALeaseUntilItsLimit(t *testing.T) {
	const ttl = 10 * time.Second
	for _, most := range []time.Duration{1500 * time.Millisecond, 7 * time.Second} { // before and after the first renewal
		suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
			defer delayed(e.keeper, time.Minute)()
			began := time.Now()
			e.Limit(most)
			<-e.Context().Done()
			var lost *LostError
			if took := time.Since(began); took != most || !errors.As(context.Cause(e.Context()), &lost) || lost.MaxHold != most {
				t.Errorf("with the limit %s the lease ended after %s: %#v", most, took, context.Cause(e.Context()))
			}
		})
	}
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		defer delayed(e.keeper, 100*time.Millisecond)()
		until := e.Deadline()
		e.Limit(until.Sub(e.keeper.fan.Now()) - time.Millisecond)
		<-e.Context().Done()
		var lost *LostError
		if early := until.Sub(e.keeper.fan.Now()); !errors.As(context.Cause(e.Context()), &lost) || lost.MaxHold != 0 || early < 150*time.Millisecond {
			t.Errorf("with a limit just before the deadline the lease ended %s before it: %#v", early, context.Cause(e.Context()))
		}
	})
}

// Readers that come later prolong the limit of their lease, and one without a limit removes it.
func TestALimitIsProlonged(t *testing.T) {
	voters(t, []string{"E"}, make([]time.Duration, 1), func(e *Lease) {
		e.Limit(5 * time.Second)
		time.Sleep(4 * time.Second)
		e.Prolong(3 * time.Second)
		e.Prolong(time.Second) // shorter than the other one
		time.Sleep(2 * time.Second)
		if e.End() != nil {
			t.Fatalf("it ended with %v", e.End())
		}
		e.Prolong(0)
		time.Sleep(time.Minute)
		if e.End() != nil {
			t.Errorf("without a limit it ended with %v", e.End())
		}
	})
}

// A limit so far away that no clock can show its end is none. This also holds for a limit that is prolonged to there.
func TestAHugeLimitIsNone(t *testing.T) {
	for _, huge := range []time.Duration{math.MaxInt64, math.MaxInt64 - time.Hour, math.MaxInt64 / 2} {
		voters(t, []string{"E"}, make([]time.Duration, 1), func(e *Lease) {
			time.Sleep(2 * time.Second)
			e.grant.Sent = e.keeper.fan.Now() // in a bubble it is 0, to which nothing can be added that is too much
			e.Limit(huge)
			time.Sleep(time.Minute)
			if e.End() != nil {
				t.Errorf("with the limit %s it ended with %v", huge, e.End())
			}
		})
		voters(t, []string{"E"}, make([]time.Duration, 1), func(e *Lease) {
			e.Limit(10 * time.Second)
			time.Sleep(2 * time.Second)
			e.Prolong(huge)
			time.Sleep(time.Minute)
			if e.End() != nil {
				t.Errorf("prolonged by %s it ended with %v", huge, e.End())
			}
		})
	}
}
