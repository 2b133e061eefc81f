package fanout

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
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

// A vote counts only while the last proof holds that led to the server that voted. A later proof may lead to another
// server, which does not know of the vote.
func TestAVoteCountsAsLongAsTheProofOfItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		v := f.voters[0]
		v.site.node = &unproved{}
		prove := func(run string) (at clock.Instant) {
			time.Sleep(time.Second)
			v.mu.Lock()
			defer v.mu.Unlock()
			at = f.Now()
			v.provenLocked(run, at, at)
			return at
		}
		want := func(what string, sent, proof clock.Instant) {
			t.Helper()
			if got := v.holds(sent); got != proof.Add(f.provenFor()) {
				t.Errorf("%s: a vote counts until %s after its proof; want %s", what, got.Sub(proof), f.provenFor())
			}
		}
		first := prove("first")
		want("one server", first, first)
		again := prove("first")
		want("proven again", first, again)
		second := prove("second")
		want("a vote of the former server", again, again)
		want("a vote at the moment of the change", second, again)
		want("a vote of the second server", second+1, second)
		third := prove("third")
		want("a vote before both changes", again, again)
		want("a vote of the third server", third+1, third)
		time.Sleep(f.set.MaxTTL)
		prove("third")
		former := prove("third")
		fourth := prove("fourth")
		want("a vote of the third server, after the fourth came", former, former)
		want("a vote of the fourth server", fourth+1, fourth)
		if !v.view(f.Now()).elsewhere {
			t.Error("calls are sent as votes although the last proof led to another server than the one greeted")
		}
	})
}

// The server of a node may have run a renewal behind another node before the client met it here. It does not get the
// renewal again.
func TestANodeWithANewServerGetsNoOlderRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		draws := func(m *Message) bool { return len(f.senders[0].draw([]*Message{m})) > 0 }
		renewal := func() *Message {
			return &Message{Draw: func() (nodescript.Call, bool) { return nodescript.QuitCall(lockX, "o"), true }}
		}
		old := renewal()
		if !draws(old) {
			t.Fatal("a renewal is not sent")
		}
		time.Sleep(time.Second)
		f.meet(0, "a server that the client never met")
		if draws(old) {
			t.Error("a renewal is sent that is older than the client's first meeting with the server")
		}
		if !draws(renewal()) {
			t.Error("a later renewal is not sent")
		}
		time.Sleep(time.Second)
		last := renewal()
		draws(last)
		f.meet(0, "a server that the client never met")
		if !draws(last) {
			t.Error("a renewal is not sent, although the client met the server before it")
		}
	})
}

// metNow is a node whose connections for calls have just proven its address.
type metNow struct{ unproved }

func (n *metNow) Identify(context.Context) (node.Identity, error) {
	n.proofs.Add(1)
	return node.Identity{Dials: 2 * newUntil}, nil
}

func (n *metNow) Met() node.Identity { return node.Identity{Dials: 2 * newUntil} }

// Somebody who looks at a node gets a dial. The connections for calls may all lead to one of several servers.
func TestALookDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		v, n := f.voters[0], &metNow{unproved{Node: f.voters[0].node}}
		v.site.node = n
		v.proveOften(nodescript.Answer{Verdict: nodescript.Done})
		if n.proofs.Load() == 0 {
			t.Error("a look made no connection")
		}
	})
}
