package redistest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// electionTime is the time for which a requested failover may take. The servers give it up after five seconds, and it is
// then asked for again.
const electionTime = 6 * time.Second

// Failover makes a replica of this master the master (CLUSTER FAILOVER), and returns it. The master hands over its data
// first, and becomes a replica. Failover tries until ctx ends, for 20 s at most.
func (c *Cluster) Failover(ctx context.Context, master *Server) (*Server, error) {
	return c.failover(ctx, master)
}

// ForceFailover does the same as [Cluster.Failover] without the master's help (CLUSTER FAILOVER FORCE). The master may
// be frozen or killed. What it did not send to the replica is lost.
func (c *Cluster) ForceFailover(ctx context.Context, master *Server) (*Server, error) {
	return c.failover(ctx, master, "FORCE")
}

func (c *Cluster) failover(ctx context.Context, master *Server, how ...any) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last := errors.New("it has no replica that answers")
	for {
		for _, replica := range c.ReplicasOf(master) {
			if _, err := replica.do(ctx, append([]any{"CLUSTER", "FAILOVER"}, how...)...); err != nil {
				last = err
				continue
			}
			last = fmt.Errorf("%s does not become the master", replica.Addr())
			if poll(ctx, electionTime, func() bool {
				return replica.Role() == "master" && (len(how) > 0 || master.Role() == "slave")
			}) {
				return replica, nil
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("redistest: failover of %s: %w: %w", master.Addr(), last, context.Cause(ctx))
		}
	}
}

// poll waits until ok is true. It reports false if that takes longer than within, or if ctx ends.
func poll(ctx context.Context, within time.Duration, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !ok() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
	return true
}
