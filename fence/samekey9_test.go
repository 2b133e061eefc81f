package fence_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// The lock of a resource may have the name of its key on the same server ("any server will do").
func TestALockAndItsKeyMayHaveOneName(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	client := nodes.Client(t, holdfast.Config{})
	state := fence.Redis{Server: nodes.Open(t)[0].(fence.Evaler), Key: "state"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := client.Mutex("state").Do(ctx, func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return state.Write(ctx, fence.Of(lease), []byte("x"))
	})
	if err != nil {
		t.Errorf("a write of the key with the name of its lock: %v", err)
	}
	if err := state.Write(ctx, fence.Token{Fence: 1}, []byte("x")); err != nil {
		t.Logf("afterwards: %v", err)
	}
	if err := client.Mutex("state").Do(ctx, func(ctx context.Context) error { return nil }); err != nil {
		t.Errorf("the lock: %v", err)
	}
}
