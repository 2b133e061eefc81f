package node_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// The values are those of the command CLUSTER KEYSLOT.
func TestSlotOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int{
		"": 0, "foo": 12182, "123456789": 12739, "{foo}:holdfast": 12182, "a{foo}b{bar}": 12182, "{}foo": 9500, "foo{": 7673, "{foo": 13308,
	} {
		if got := node.SlotOf(key); got != want {
			t.Errorf("the slot of %q is %d, want %d", key, got, want)
		}
	}
}
