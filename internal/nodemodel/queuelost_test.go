package nodemodel

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestFlushForgetsTheQueue(t *testing.T) {
	w, T := waits(t)
	w.both((*Node).FlushAll, "FLUSHALL")
	w.says("F", release(ann, T))
	w.inQueue()
	w.vote(0)
	w.says("G0", queue(cid, w.now, T+9))
}

// Only an outsider can delete a record alone. The flag is deleted with it, so the node ignores the queue until a waiter
// joins it again. The node grants no lock twice because of that.
func TestLostRecordForgetsWhoWaitsUntilTheyAskAgain(t *testing.T) {
	w, T := waits(t)
	w.both(func(n *Node) { n.Del(nodescript.RecordKey(lock.Name)) }, "DEL", nodescript.RecordKey(lock.Name))
	w.says("R", extend(ann, T, T+5, T+5_000_000))
	w.says("Hl", queue(cid, T+6, T+9))
	w.inQueue(bob, cid)
	w.handed(bob, release(ann, T+6), "D")
}

// A node that keeps its data over a restart keeps the queue. Its waiters hear nothing until they connect again.
func TestQueueOutlivesARestartOfADurableNode(t *testing.T) {
	w := newWorld(t, redistest.Durable())
	w.data = true
	w.vote(1)
	T := w.now
	call := func(want string, c nodescript.Call) {
		t.Helper()
		real, model := w.call(1, c)
		w.check(want, real, model)
	}
	for _, o := range []string{bob, cid} {
		w.listen(nodescript.Inbox(client(o)), true)
	}
	call("G0", acquire(ann, T))
	call("Hl", queue(bob, T+1, T+1))
	call("Hl", queue(cid, T+2, T+2))
	w.restart()
	w.admits(1, "R")
	w.inQueue(bob, cid)
	w.listen(nodescript.Inbox(client(cid)), true)
	call("D", release(ann, T))
	if r := w.stored(lock); r.Owner != cid || r.Waiting {
		t.Fatalf("after the release the node keeps %+v", r)
	}
}

// An owner's grant on a node that a lease lacks is a partial grant. The node refuses the holder's repair, and puts it
// before all waiters. When the partial grant is given back, the name goes to the holder.
func TestARefusedRepairIsHandedTheNameFirst(t *testing.T) {
	w, T := waits(t)
	w.listen(nodescript.Inbox("d"), true)
	const dan = "web~d~1"
	real, model := w.call(0, extend(dan, T-20, w.now, w.now))
	heard := append([]string(nil), w.heard...)
	w.check("Ll"+ann, real, model)
	news := nodescript.Inbox("a") + " " + nodescript.Handoff{Owner: ann, Seen: T, Lock: lock, Wanted: true}.String()
	if len(heard) != 1 || heard[0] != news {
		t.Fatalf("news %q, want only %q", heard, news)
	}
	w.inQueue(dan, bob, cid)
	w.says("G1", acquire(ann, T+4)) // the owner of the partial grant may ask again
	w.handed(dan, nodescript.AbortCall(lock, ann, T+4), "D")
	w.says("Hc0000000001000000000000"+dan, queue(bob, T+5, T+8))
	w.says("R", extend(dan, T-20, w.now, w.now))
	w.inQueue(bob, cid)
	w.handed(bob, release(dan, w.now), "D")
}

// A claim is no grant, so a repair does not wait for it.
func TestARepairGoesBeforeAClaim(t *testing.T) {
	w, T := waits(t)
	w.handed(bob, nodescript.AbortCall(lock, ann, T), "D")
	w.says("R", extend("web~d~1", T-20, w.now, w.now))
	w.says("Hl0000000010000000000000web~d~1", queue(bob, T+5, T+8))
}

// The repair of an ended lease gets no place, or loses it to the owner of the next lease.
func TestARefusedRepairOfALeaseThatIsOverWaitsForNothing(t *testing.T) {
	w, T := waits(t)
	w.listen(nodescript.Inbox("d"), true)
	w.says("Ll"+ann, extend("web~d~1", T-20, w.now, w.now-1_000_000))
	w.inQueue(bob, cid)
	w.says("Ll"+ann, extend("web~d~1", T-20, w.now, w.now))
	w.inQueue("web~d~1", bob, cid)
	w.handed(bob, release(ann, T), "D") // it was a later lease
	w.inQueue(cid)
}
