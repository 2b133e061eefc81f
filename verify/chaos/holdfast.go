//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	redisnode "github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// lockers are the locks of this module, by name.
var lockers = map[string]Open{
	"holdfast": openHoldfast,
	"kinds":    openKinds,
	"plain":    openPlain,
}

// cluster is the name of the node set. It is necessary because clients reach the nodes under different addresses.
const cluster = "chaos"

type holdfastLocker struct {
	client *holdfast.Client
	role   Role
}

func openHoldfast(r Role) (Locker, error) {
	nodes, err := openNodes(r)
	if err != nil {
		return nil, err
	}
	maxTTL := r.MaxTTL
	if maxTTL == 0 {
		maxTTL = r.TTL
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, TTL: r.TTL, MaxTTL: maxTTL, Window: r.Window, NodeTimeout: nodeTimeout,
		Cluster: cluster, Label: fmt.Sprintf("client-%d", r.Client), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return &holdfastLocker{c, r}, nil
}

// openNodes opens the nodes through go-redis in every third client, and through rueidis in the other clients.
func openNodes(r Role) ([]redisnode.Node, error) {
	if r.Client%3 != 2 {
		return rueidisnode.Open(r.Nodes...)
	}
	var clients []redis.UniversalClient
	for _, u := range r.Nodes {
		o, err := redis.ParseURL(u)
		if err != nil {
			return nil, err
		}
		c := redis.NewClient(o)
		defer c.Close() // the node has its own connections
		clients = append(clients, c)
	}
	return goredisnode.Open(clients...)
}

// Lock usually waits. One time in ten it only tries, and its caller asks again.
func (l *holdfastLocker) Lock(ctx context.Context, name string) (Held, error) {
	m := l.client.Mutex(name, holdfast.OnWait(l.refused))
	lock, try := m.Lock, m.TryLock
	if rand.N(100) < l.role.Readers {
		lock, try = m.RLock, m.TryRLock
	}
	if rand.N(10) == 0 {
		lock = try
	}
	lease, err := lock(ctx)
	if err != nil {
		l.refused(err)
		return nil, err
	}
	return heldLease{lease, l.role.TTL}, nil
}

// intrude tries to get a lock that the nodes must refuse to this client. It returns the result.
func (l *holdfastLocker) intrude(ctx context.Context, name string) what {
	lease, err := l.client.Mutex(name).TryLock(ctx)
	if err != nil {
		l.refused(err)
		return turnedAway(err)
	}
	_ = lease.Unlock(ctx) // the nodes granted the lock, so the result of Unlock does not matter
	return has
}

// turnedAway distinguishes two failures of an attempt. In the first, so many nodes refuse the client that the other
// nodes are no majority. All other failures are of the second kind.
func turnedAway(err error) what {
	nodes, no := answers(err), 0
	for _, n := range nodes {
		if n.Reason == verdict.ReasonMisconfigured || n.Reason == verdict.ReasonDuplicate {
			no++
		}
	}
	if len(nodes) > 0 && len(nodes)-no <= len(nodes)/2 {
		return tried
	}
	return unsure
}

// answers returns the nodes' answers to a failed attempt.
func answers(err error) []verdict.Answer {
	var none *holdfast.UnavailableError
	var held *holdfast.HeldError
	switch {
	case errors.As(err, &none):
		return none.Nodes
	case errors.As(err, &held):
		return held.Nodes
	}
	return nil
}

func (l *holdfastLocker) Close() { _ = l.client.Close() }

// refused counts the refusals in the nodes' answers.
func (l *holdfastLocker) refused(err error) {
	if errors.Is(err, holdfast.ErrUnavailable) {
		l.role.Note("lock: no quorum")
	}
	for _, n := range answers(err) {
		if what := refusal(n); what != "" {
			l.role.Note("node: " + what)
		}
	}
}

// refusal returns the code and cause of an answer that is a refusal, "" for any other answer.
func refusal(n verdict.Answer) string {
	switch n.Reason {
	case verdict.ReasonGranted, verdict.ReasonUnanswered, verdict.ReasonDone, verdict.ReasonHeld, verdict.ReasonOffered:
		return ""
	}
	if n.Cause == "" {
		return n.Reason.String()
	}
	return n.Reason.String() + ": " + string(n.Cause)
}

type heldLease struct {
	*holdfast.Lease
	ttl time.Duration
}

func (h heldLease) Renew(ctx context.Context) error { return h.Extend(ctx, h.ttl) }

func (h heldLease) Token() int64          { return h.Fence() }
func (h heldLease) Done() <-chan struct{} { return h.Context().Done() }
