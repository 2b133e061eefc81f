package virtual

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// moving is an address that leads to another server once moved is set. The old connections still lead to the former
// one.
type moving struct {
	*sited
	moved atomic.Bool
}

func (m *moving) Identify(ctx context.Context) (node.Identity, error) {
	id, err := m.sited.Identify(ctx)
	if m.moved.Load() {
		id.Run, id.Moved = "another", 1
	}
	return id, err
}

// The address of a node leads to another server, and the client notices it. The reason names this, and does not guess
// that keys were deleted.
func TestALossByAMovedAddressSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(1, 10*time.Second)
		m := &moving{sited: &sited{flip: newFlip(clock.Monotonic(), 0, manyNodes(1, set)[0], 0)}}
		c := open(t, set, holdfast.Config{}, []*moving{m})
		defer c.Close()
		l := lock(t, c, "x")
		time.Sleep(time.Millisecond) // a proof at the instant of the grant is about the server of the grant
		m.moved.Store(true)
		<-l.Context().Done()
		for what, err := range map[string]error{"the context": context.Cause(l.Context()), "Unlock": l.Unlock(t.Context())} {
			const want = `lock "x" lost: a majority of the nodes did not have it any more: the addresses of 1 of 1 nodes lead to other servers now (addr0: its address leads to another server now)`
			if text := err.Error(); strings.TrimPrefix(text, "holdfast: ") != want {
				t.Errorf("%s: %s", what, text)
			}
		}
	})
}
