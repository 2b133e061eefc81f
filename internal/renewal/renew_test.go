package renewal

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/quorum"
)

// A renewal's majority counts only inside the old deadline: when it comes later the lock may have
// been somebody else's in between, and a timer that is late must not decide that.
func TestAMajorityAfterTheDeadlineRevivesNoLease(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, sleep func(time.Duration)) {
		time.Sleep(time.Minute)
		r := &renewal{lease: e, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1)}
		sleep(e.Deadline().Sub(e.keeper.fan.Now()) + time.Second) // no timer fires meanwhile
		e.renewed(r, quorum.Won)
		if !errors.Is(e.End(), ErrLost) {
			t.Errorf("a lease came back to life: %v", e.End())
		}
	})
}

// Extend may raise the TTL while a renewal for the old one is under way, and its own calls be lost:
// the nodes were never asked for more than the old one.
func TestARenewalCountsForTheTTLThatItAskedFor(t *testing.T) {
	const ttl = 2 * time.Second
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		r := &renewal{lease: e, sent: e.keeper.fan.Now(), ttl: ttl, votes: quorum.NewRenewal(1)}
		e.mu.Lock()
		e.ttl = time.Hour
		e.mu.Unlock()
		e.renewed(r, quorum.Won)
		if d := e.Deadline().Sub(r.sent); d > ttl {
			t.Errorf("believes for %s; the nodes were asked for %s", d, ttl)
		}
	})
}
