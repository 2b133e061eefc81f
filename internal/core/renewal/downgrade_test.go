package renewal

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Nodes that have changed a lease say that they do not have the exclusive one. So the answers to a renewal that was
// sent before a downgrade end nothing. Each request of the downgrade replaces the last one, so only the last one can
// win.
func TestOnlyTheLastRequestOfADowngradeWins(t *testing.T) {
	const ttl = 10 * time.Minute
	suspended(t, ttl, func(e *Lease, _ *mute, _ func(time.Duration)) {
		owner, token := e.Owner(), e.Token()
		before := &renewal{lease: e, fan: e.grant.Fan, sent: e.keeper.fan.Now(), ttl: ttl, owner: owner, votes: quorum.NewRenewal(1, 0)}
		done, err := e.downgrade(nodescript.NewShared(nodescript.Lock{Name: "x"}), "web~a~1-z")
		if err != nil {
			t.Fatal(err)
		}
		last := func() *renewal {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.tries[len(e.tries)-1]
		}
		first := last()
		e.renewed(before, quorum.Gone)
		if err := e.End(); err != nil {
			t.Fatalf("the answers to an earlier renewal ended the lease: %v", err)
		}
		e.renew(newOutcome(), nil)
		second := last()
		if first == second || second.stamp <= first.stamp || !second.downgrades {
			t.Fatalf("requests with the stamps %d and %d", first.stamp, second.stamp)
		}
		e.renewed(first, quorum.Won)
		if e.Token() != token {
			t.Errorf("an earlier request won: the token is %d", e.Token())
		}
		select {
		case <-done.done:
			t.Error("the downgrade ended with an earlier request")
		default:
		}
		e.renewed(second, quorum.Won)
		if err := done.get(context.Background()); err != nil {
			t.Error(err)
		}
		if e.Token() != second.stamp || e.Owner() == owner || !nodescript.IsReader(e.Owner()) {
			t.Errorf("the lease has the owner %q and the token %d", e.Owner(), e.Token())
		}
		e.renewed(before, quorum.Gone)
		if err := e.End(); err != nil {
			t.Errorf("the answers to an earlier renewal ended the lease: %v", err)
		}
	})
}
