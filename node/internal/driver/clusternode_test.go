package driver

import (
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// The servers have met, and nobody has given them hash slots yet.
func TestAClusterWithoutHashSlotsRefusesCalls(t *testing.T) {
	c, _ := fake(t, each("ab", "ab")...)
	now, err := c.Look(t.Context())
	if err != nil || len(now.Shards) != 0 || now.Owner[0] != -1 {
		t.Fatalf("%+v, %v", now, err)
	}
	for what, err := range map[string]error{
		"EvalSHA": c.EvalSHA(t.Context(), []node.Call{{Keys: []string{"k"}}})[0].Err,
		"Eval":    c.Eval(t.Context(), "return 1", node.Call{}).Err,
		"Listen":  c.Listen(t.Context(), "channel", func(string) {}),
	} {
		if node.Code(err) != node.ClusterDown {
			t.Errorf("%s: %v", what, err)
		}
	}
}
