package fanout

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// unproved is a node to which a new connection hangs.
type unproved struct {
	node.Node
	proofs atomic.Int64
}

func (n *unproved) Identify(ctx context.Context) (node.Identity, error) {
	n.proofs.Add(1)
	<-ctx.Done()
	return node.Identity{}, ctx.Err()
}

func (n *unproved) Met() node.Identity { return node.Identity{} }

// A vote that waits for a proof does not wait for another one after it.
func TestAVoteWaitsForOneProofAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		v, hangs := f.voters[0], &unproved{Node: f.voters[0].node}
		v.site.node = hangs
		v.proveNow()
		synctest.Wait()
		began := time.Now()
		if v.admitted() {
			t.Error("a node votes whose address was never proven")
		}
		if took, n := time.Since(began), hangs.proofs.Load(); n != 1 || took > proofTimeouts*time.Second {
			t.Errorf("a vote waited for %d proofs, %s; want one of %s", n, took, proofTimeouts*time.Second)
		}
	})
}

// hangsOnce is a node to which the first new connection hangs. The others work.
type hangsOnce struct{ unproved }

func (n *hangsOnce) Identify(ctx context.Context) (node.Identity, error) {
	if n.proofs.Load() == 0 {
		return n.unproved.Identify(ctx)
	}
	n.proofs.Add(1)
	return node.Identity{}, nil
}

// A proof that began while the node could not be reached does not delay the vote of a node that is back.
func TestANodeThatIsBackIsProvenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		v, hangs := f.voters[0], &hangsOnce{unproved{Node: f.voters[0].node}}
		v.site.node = hangs
		v.doubt()
		v.unmet.Store(true)
		v.proveNow()
		synctest.Wait()
		began := time.Now()
		if !v.admitted() {
			t.Error("the node does not vote")
		}
		if took, n := time.Since(began), hangs.proofs.Load(); n < 2 || took > time.Millisecond {
			t.Errorf("the vote came after %s and %d proofs; want at once, and one beside the one that hung", took, n)
		}
	})
}
