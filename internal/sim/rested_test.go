//go:build !race

package sim

import "testing"

// After a rest of a minute no vote counts for a client, and it saw no node lately. It must hear all nodes that answer
// before votes count again: one of them may call the server behind another node a stranger. The world of this seed has
// two holders if the client waits only for nodes that it saw lately.
func TestAClientThatRestedWaitsForObjections(t *testing.T) {
	alone(t)
	const seed = 46
	for _, v := range run(t, Draw(seed), nil).Violations {
		t.Errorf("seed %d: %s", seed, v)
	}
}
