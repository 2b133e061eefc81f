package renewal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// A renewal's majority counts only before the old deadline. After the deadline another client may have had the lock, so
// the majority must not count even if the timer is late.
func TestAMajorityAfterTheDeadlineRevivesNoLease(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		time.Sleep(time.Minute)
		r := &renewal{lease: e, fan: e.grant.Fan, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1, 0), yes: 1}
		sleep(e.Deadline().Sub(e.keeper.fan.Now()) + time.Second) // no timer fires during this sleep
		e.renewed(r, quorum.Won)
		if !errors.Is(e.End(), ErrLost) {
			t.Errorf("a lease came back to life: %v", e.End())
		}
	})
}

// Extend may raise the TTL while a renewal with the old TTL is under way, and Extend's own calls may be lost. The nodes
// then never get the new TTL.
func TestARenewalCountsForTheTTLThatItAskedFor(t *testing.T) {
	const ttl = 2 * time.Second
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		r := &renewal{lease: e, fan: e.grant.Fan, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1, 0), yes: 1}
		e.mu.Lock()
		e.ttl = time.Hour
		e.mu.Unlock()
		e.renewed(r, quorum.Won)
		if d := e.Deadline().Sub(r.sent); d > ttl {
			t.Errorf("believes for %s; the nodes were asked for %s", d, ttl)
		}
	})
}

// Until a majority agrees to Extend, its TTL does not decide the time between the tries, because the old deadline still
// counts.
func TestAFailedExtendIsTriedAgainWhileThereIsTime(t *testing.T) {
	const ttl = 4 * time.Second
	suspended(t, ttl, func(e *Lease, n *mute, _ func(time.Duration)) {
		time.Sleep(ttl / 20)
		if err := e.Extend(context.Background(), time.Hour); !errors.Is(err, ErrNoQuorum) {
			t.Fatalf("Extend on a node that nobody can reach: %v", err)
		}
		synctest.Wait()
		before := n.calls.Load()
		<-e.Context().Done()
		if tries := n.calls.Load() - before; tries < 3 {
			t.Errorf("after a failed Extend the node was asked %d times before the deadline; want three times at least", tries)
		}
	})
}

// Extend may raise the TTL while a renewal with the old TTL is under way, and that renewal wins.
func TestAShorterRenewalThatWinsAfterExtendIsFollowedInTime(t *testing.T) {
	const ttl = 4 * time.Second
	suspended(t, ttl, func(e *Lease, n *mute, _ func(time.Duration)) {
		time.Sleep(ttl / 20)
		r := &renewal{lease: e, fan: e.grant.Fan, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1, 0), yes: 1}
		_ = e.Extend(context.Background(), time.Hour)
		e.renewed(r, quorum.Won)
		synctest.Wait()
		before := n.calls.Load()
		<-e.Context().Done()
		if tries := n.calls.Load() - before; tries < 3 {
			t.Errorf("the node was asked %d times before the deadline; want three times at least", tries)
		}
	})
}

// A host that wakes shortly before a deadline has usually lost its connections, so the first try fails.
func TestThereIsMoreThanOneTryInWhatIsLeftAfterASuspension(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, n *mute, sleep func(time.Duration)) {
		time.Sleep(time.Minute)
		sleep(e.Deadline().Sub(e.keeper.fan.Now()) - time.Minute)
		<-e.Context().Done()
		if n.calls.Load() < 3 {
			t.Errorf("the node was asked %d times in the last minute; want three times at least", n.calls.Load())
		}
	})
}
