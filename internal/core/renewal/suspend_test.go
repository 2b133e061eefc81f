package renewal

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/node"
)

// mute is a node that no client can reach. It counts the tries.
type mute struct {
	node.Node
	calls atomic.Int32
}

func (n *mute) Addr() string { return "mute" }

func (n *mute) Eval(context.Context, string, node.Call, ...string) node.Reply {
	n.calls.Add(1)
	return node.Reply{Err: errors.New("unreachable")}
}

func (n *mute) Close() {}

// suspended runs f in a bubble in which a client holds a lease of ttl, won this instant. sleep simulates a suspension
// of the host: the steady clock continues, and no timer runs.
func suspended(t *testing.T, ttl time.Duration, f func(e *Lease, n *mute, sleep func(time.Duration))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const window = 100 * time.Millisecond
		var slept atomic.Int64
		mono := clock.Monotonic()
		n := &mute{}
		fan := fanout.New(fanout.Config{
			Nodes: []node.Node{n}, Timeout: time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Set:    nodescript.Config{N: 1, MaxTTL: time.Hour, Window: window, Cluster: "test"},
			Random: rand.Uint64,
			Clock:  func() clock.Instant { return mono().Add(time.Duration(slept.Load())) },
		})
		k := NewKeeper(fan)
		defer fan.Close(t.Context())
		defer k.Close()
		now := fan.Now()
		e := k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), waiting.Won{
			Owner: "a~b~c", Token: 1, Sent: now, Deadline: quorum.Deadline(now, ttl, window),
		}, ttl, nil)
		synctest.Wait() // the watch must begin while the host is awake
		f(e, n, func(d time.Duration) { slept.Add(int64(d)) })
	})
}

// Timers do not run while a host is suspended, so the lease's own timer would fire too late by the length of the
// suspension.
func TestALeaseThatRanOutWhileTheHostWasSuspendedEndsWhenItWakes(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		time.Sleep(time.Minute)
		sleep(ttl)
		woken := time.Now()
		<-e.Context().Done()
		if took := time.Since(woken); took > watchEvery {
			t.Errorf("the loss was noticed %s after waking; want at most %s", took, watchEvery)
		}
		if !errors.Is(context.Cause(e.Context()), ErrLost) {
			t.Errorf("the lease ended with %v", context.Cause(e.Context()))
		}
	})
}

// A caller that asks in the second before the keeper's check also gets the right answer.
func TestALeaseThatRanOutIsOverForWhoeverAsks(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		sleep(ttl)
		if err := e.Release(context.Background(), nil); !errors.Is(err, ErrLost) {
			t.Errorf("Release on waking: %v; want ErrLost", err)
		}
		if !errors.Is(e.End(), ErrLost) || e.Context().Err() == nil {
			t.Errorf("the lease is still believed in: %v", e.End())
		}
	})
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		sleep(ttl)
		if err := e.Extend(context.Background(), ttl); !errors.Is(err, ErrLost) {
			t.Errorf("Extend on waking: %v; want ErrLost", err)
		}
	})
}

func TestAShortSuspensionIsFollowedByARenewalAtOnce(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, n *mute, sleep func(time.Duration)) {
		sleep(ttl / 2) // the host sleeps until after the renewal and before the deadline
		time.Sleep(watchEvery)
		synctest.Wait()
		if e.End() != nil || n.calls.Load() == 0 {
			t.Errorf("after waking the lease's end is %v, and the node got %d calls; want none and some", e.End(), n.calls.Load())
		}
		before := e.Deadline()
		<-e.Context().Done() // the node never answers
		if over := e.keeper.fan.Now().Sub(before); over < 0 || over > watchEvery {
			t.Errorf("the lease ended %s after its deadline", over)
		}
	})
}

// When the client holds no lease, the scheduler sleeps for an hour, by a clock that stops while the host is suspended.
// A lease that comes later is renewed when it is due, and ends at its deadline. It does not matter whether the host
// slept for longer than the scheduler planned, or whether the client holds another lease during that time.
func TestALeaseThatComesAfterASuspensionIsRenewedAndEndsAtItsDeadline(t *testing.T) {
	const ttl, window = time.Second, 100 * time.Millisecond
	for _, slept := range []time.Duration{watchEvery / 2, time.Minute, 40 * time.Minute, 5 * time.Hour} {
		for _, alone := range []bool{true, false} {
			suspended(t, time.Hour, func(first *Lease, n *mute, sleep func(time.Duration)) {
				k := first.keeper
				first.mu.Lock()
				first.deadline = first.deadline.Add(24 * time.Hour)
				first.mu.Unlock()
				if alone {
					_ = first.Release(context.Background(), func(_ nodescript.Kind, _ waiting.Won, _ int64, _ clock.Instant, release func(bool, time.Duration)) {
						release(true, 0)
					})
				}
				time.Sleep(30*time.Minute + watchEvery/4) // the scheduler has looked, and sleeps
				synctest.Wait()
				n.calls.Store(0)
				sleep(slept)
				now, woken := k.fan.Now(), time.Now()
				e := k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "y"}), waiting.Won{
					Owner: "a~b~d", Token: 2, Sent: now, Deadline: quorum.Deadline(now, ttl, window),
				}, ttl, nil)
				<-e.Context().Done()
				if took := time.Since(woken); took != quorum.Validity(ttl, window) {
					t.Errorf("slept for %s, alone=%v: its loss was announced after %s; want %s", slept, alone, took, quorum.Validity(ttl, window))
				}
				if calls := n.calls.Load(); calls < 3 {
					t.Errorf("slept for %s, alone=%v: the node was asked %d times; want three times at least", slept, alone, calls)
				}
			})
		}
	}
}

// The deadline's own timer ends the lease, without the keeper's check.
func TestALeaseThatNobodyCanRenewEndsAtItsDeadline(t *testing.T) {
	const ttl = 10 * time.Second
	suspended(t, ttl, func(e *Lease, n *mute, _ func(time.Duration)) {
		start := time.Now()
		<-e.Context().Done()
		if took := time.Since(start); took != quorum.Validity(ttl, 100*time.Millisecond) {
			t.Errorf("the lease ended after %s; want %s to the nanosecond", took, quorum.Validity(ttl, 100*time.Millisecond))
		}
		if n.calls.Load() < 3 {
			t.Errorf("the node was asked %d times; want a renewal and two repetitions at least", n.calls.Load())
		}
	})
}

// Failed renewals also find the loss, but later. Here they find it after 11/10 of the validity, because one of them
// comes at a tenth.
func TestALossBetweenTwoRenewalsIsAnnouncedAtTheDeadline(t *testing.T) {
	const ttl = 10 * time.Second
	validity := quorum.Validity(ttl, 100*time.Millisecond)
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		start := time.Now()
		time.Sleep(validity / 10)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := e.Extend(ctx, ttl); err == nil {
			t.Error("Extend on a node that nobody can reach succeeded")
		}
		<-e.Context().Done()
		if took := time.Since(start); took != validity {
			t.Errorf("the lease ended after %s; want %s to the nanosecond", took, validity)
		}
	})
}

// The shortest TTL, 8 W, is valid for half of the TTL. This leaves time for a renewal whose answers are lost, and for
// two more renewals.
func TestALeaseOfTheShortestTTLIsRenewedMoreThanOnce(t *testing.T) {
	suspended(t, 800*time.Millisecond, func(e *Lease, n *mute, _ func(time.Duration)) {
		<-e.Context().Done()
		if n.calls.Load() < 3 {
			t.Errorf("the node was asked %d times before the deadline; want three times at least", n.calls.Load())
		}
	})
}
