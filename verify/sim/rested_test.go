//go:build !race

package sim

import "testing"

// After a minute without work a client has not seen any node lately, so no vote counts. The client must hear all nodes
// that answer before votes count again. One of these nodes may call the server behind another node a stranger. The
// world of this seed has two holders if the client waits only for nodes that it saw lately.
func TestAClientThatRestedWaitsForObjections(t *testing.T) {
	alone(t)
	holds(t, 46)
}

// A client sends a report to a far node that it has not met yet. That node stores nothing of the report, so clients
// with another list could still get the places. The world of this seed has two holders if the client counts votes
// anyway.
func TestAReportThatANodeDidNotKeepIsRepeated(t *testing.T) {
	alone(t)
	holds(t, 46)
}

// holds checks that the world of a seed breaks no promise.
func holds(t *testing.T, seed uint64) {
	t.Helper()
	for _, v := range run(t, Draw(seed), nil).Violations {
		t.Errorf("seed %d: %s", seed, v)
	}
}
