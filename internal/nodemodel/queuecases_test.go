package nodemodel

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Each of these cases breaks a rule of the queue if a script is weakened. The queue has two rules. An owner that hears
// "it is yours" is next, alive, and not yet a holder. And nothing in the queue prevents a release.

// ann, bob and cid are owners of the clients a, b and c.
const (
	ann, bob, cid = "web~a~1", "web~b~1", "web~c~1"
	nobody        = ""
)

func queue(owner string, T, ticket int64) nodescript.Call {
	return nodescript.QueueCall(lock, owner, T, 10*time.Second, ticket)
}

func pass(owner string, T int64, from string) nodescript.Call {
	return nodescript.PassCall(lock, owner, T, 10*time.Second, from)
}

func quit(owner string) nodescript.Call { return nodescript.QuitCall(lock, owner) }

// waits returns a voting world in which ann has the lock since T. bob and then cid wait. All of them hear.
func waits(t *testing.T) (w *world, T int64) {
	w = voting(t)
	T = w.now
	for _, o := range []string{ann, bob, cid} {
		w.listen(nodescript.Inbox(client(o)), true)
	}
	w.says("G0", acquire(ann, T))
	w.says("Hl0000000010000000000000"+ann, queue(cid, T+1, T+9))
	w.says("Hl0000000010000000000000"+ann, queue(bob, T+2, T+8)) // later, with the lower ticket
	w.says("Hl0000000010000000000001"+ann, queue(cid, T+3, T+1)) // a waiter keeps its ticket
	return w, T
}

// handed fails unless the call hands the name to owner, with a claim of 1 s.
func (w *world) handed(owner string, c nodescript.Call, want string) {
	w.t.Helper()
	seen := w.seenOf()
	real, model := w.call(0, c)
	heard := append([]string(nil), w.heard...)
	w.check(want, real, model)
	if owner == nobody {
		if len(heard) != 0 {
			w.t.Fatalf("%q was told; nobody should be", heard)
		}
		return
	}
	r := w.stored(lock)
	if r.Owner != owner || r.Token != 0 || r.Expiry != w.now+1_000_000 || r.Seen < seen {
		w.t.Fatalf("the record after a hand-off to %q is %+v, seen before was %d", owner, r, seen)
	}
	news := nodescript.Inbox(client(owner)) + " " + nodescript.Handoff{Owner: owner, Seen: r.Seen, Lock: lock}.String()
	if len(heard) != 1 || heard[0] != news {
		w.t.Fatalf("news %q, want only %q", heard, news)
	}
	if v := w.wire.must("GET", lock.Name); v != owner {
		w.t.Fatalf("the plain key says %q", v)
	}
}

func (w *world) seenOf() int64 {
	if w.wire.must("EXISTS", nodescript.RecordKey(lock.Name)) == int64(0) {
		return 0
	}
	return w.stored(lock).Seen
}

func (w *world) inQueue(want ...string) {
	w.t.Helper()
	list := w.wire.must("ZRANGE", queueKey(nodescript.RecordKey(lock.Name)), "0", "-1").([]any)
	for i, o := range list {
		if i >= len(want) || o != want[i] {
			w.t.Fatalf("%q wait, want %q", list, want)
		}
	}
	if len(list) != len(want) {
		w.t.Fatalf("%q wait, want %q", list, want)
	}
}

func TestReleaseHandsToTheLowestTicket(t *testing.T) {
	w, T := waits(t)
	w.handed(bob, release(ann, T), "D")
	w.inQueue(cid)
	w.says("G1", acquire(bob, T+4))
	w.handed(cid, release(bob, T+4), "D")
	w.says("G0", acquire(cid, T+6))
}

func TestHandOffIsNoGrant(t *testing.T) {
	w, T := waits(t)
	w.handed(bob, release(ann, T), "D")
	w.says("S", acquire(bob, T)) // a token at or below the one seen is refused, also from the owner of the claim
	w.says("Hc0000000001000000000000"+bob, queue(cid, T+5, T+9))
	w.says("L", nodescript.LeaveCall(lock, bob, T+2, T+60_000_000))
	w.says("Lg", extend(bob, T, T+5, T+5_000_000)) // a lease before it is not repaired
	w.says("G1", acquire(bob, T+5))
}

func TestClaimIsOverAfterASecond(t *testing.T) {
	w, T := waits(t)
	w.handed(bob, release(ann, T), "D")
	w.at(T + 999_999)
	w.says("Hc0000000000000001", queue(cid, w.now, T+9))
	w.at(T + 1_000_000)
	w.says("G0", queue(cid, w.now, T+9))
	w.says("Hl", acquire(bob, w.now+1))
}

// A waiter that does not hear is dropped at once. Otherwise each dead waiter would cost a second.
func TestDeadWaitersArePassedOver(t *testing.T) {
	w, T := waits(t)
	w.listen(nodescript.Inbox("b"), false)
	w.handed(cid, release(ann, T), "D")
	w.inQueue()

	w, T = waits(t)
	w.listen(nodescript.Inbox("b"), false)
	w.listen(nodescript.Inbox("c"), false)
	w.handed(nobody, release(ann, T), "D")
	if r := w.stored(lock); r.Owner != "" || r.Token != 0 {
		t.Fatalf("the name of dead waiters belongs to %+v", r)
	}
	w.says("G0", acquire(ann, T+5))
}

// A dead holder releases nothing. The first caller afterwards learns which waiter is next.
func TestWhoAsksFirstAfterADeadHolderIsNotNext(t *testing.T) {
	w, _ := waits(t)
	w.at(w.now + 10_000_000)
	w.handed(bob, acquire(ann, w.now), "Hc0000000001000000------"+bob)
	w.at(w.now + 1_000_000)
	w.handed(cid, queue(ann, w.now, w.now), "Hc0000000001000000000000"+cid)
	w.inQueue(ann)

	w, _ = waits(t)
	w.at(w.now + 10_000_000)
	w.says("G1", queue(bob, w.now, w.now)) // this waiter is next
	w.inQueue(cid)

	w, _ = waits(t) // the waiters before it are gone: it hears as they would
	w.listen(nodescript.Inbox("b"), false)
	w.at(w.now + 10_000_000)
	w.handed(cid, queue(cid, w.now, w.now), "Hc0000000001000000------"+cid)
}

func TestLateReleaseDoesNotFreeALaterGrant(t *testing.T) {
	w, T := waits(t)
	w.says("G1", acquire(ann, T+100)) // a later round of the same attempt
	w.handed(nobody, release(ann, T), "F")
	w.says("E", extend(ann, T+100, T+101, T+5_000_000))
	w.inQueue(bob, cid)
	w.handed(bob, release(ann, T+101), "D")
}

func TestReleaseGivesAClaimBack(t *testing.T) {
	w, T := waits(t)
	w.handed(bob, release(ann, T), "D")
	w.handed(cid, release(bob, T+2), "D")
	w.handed(nobody, release(cid, T+3), "D")
	w.says("G0", acquire(ann, w.now+10))
}

// An owner that gets the claim after its attempt has ended declines it. The next waiter hears at once. A lease of the
// same owner stays, because a renewal may have made the claim a lease.
func TestAClaimThatIsDeclinedGoesToTheNext(t *testing.T) {
	w, T := waits(t)
	decline := func(owner string) nodescript.Call { return nodescript.DeclineCall(lock, owner) }
	w.handed(nobody, decline(bob), "F") // it leaves the queue
	w.inQueue(cid)
	w.says("Hl0000000010000000000000"+ann, queue(bob, T+4, T+8))
	w.handed(nobody, decline(ann), "F")
	w.handed(bob, release(ann, T), "D")
	w.handed(nobody, decline(cid), "F")
	w.says("Hc", queue(cid, T+5, T+9))
	w.handed(cid, decline(bob), "D")
	w.says("G0", queue(cid, T+6, T+9))
	w.handed(nobody, decline(cid), "F")
	w.says("E", extend(cid, T+6, T+7, T+5_000_000))
}

func TestQuitLeavesOnlyItsOwnPlace(t *testing.T) {
	w, T := waits(t)
	w.says("D", quit(bob))
	w.says("D", quit(ann)) // it leaves the queue and keeps the lock
	w.inQueue(cid)
	w.says("E", extend(ann, T, T+5, T+5_000_000))
	w.handed(cid, release(ann, T), "D")
	w.says("D", quit(cid)) // a claim is not a place in the queue
	w.says("Hc", acquire(ann, T+9))
}

func TestQuitPassesEveryDoor(t *testing.T) {
	w, _ := waits(t)
	w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey)
	w.says("D", quit(bob))
	w.inQueue(cid)
}

func TestReleaseOfAWaiterLeavesTheQueue(t *testing.T) {
	w, T := waits(t)
	w.says("F", release(bob, T+2))
	w.inQueue(cid)
	w.says("E", extend(ann, T, T+5, T+5_000_000))
}

func TestPassNeedsTheOneWhoHasIt(t *testing.T) {
	w, T := waits(t)
	w.says("Hl", pass("web~a~2", T+5, bob)) // it waits, and has no lock to pass
	w.says("Hl", pass("web~a~2", T+5, nobody))
	w.says("G1", pass("web~a~2", T+5, ann))
	w.inQueue(bob, cid)
	w.says("Ll", extend(ann, T, T+6, T+5_000_000))
	w.handed(nobody, release(ann, T+6), "F") // late: another owner has the name
	w.says("E", extend("web~a~2", T+5, T+7, T+5_000_000))
	w.at(T + 20_000_000) // the lease is over: there is no lock to pass, and bob waits
	w.handed(bob, pass("web~a~3", w.now, "web~a~2"), "Hc")
}

func TestForeignKeyIsNeverHandedOn(t *testing.T) {
	foreign := func(w *world) {
		w.both(func(n *Node) { n.Set(lock.Name, "redlock", time.Hour) }, "SET", lock.Name, "redlock", "PX", "3600000")
	}
	w, T := waits(t)
	foreign(w)
	w.handed(nobody, release(ann, T), "D")
	w.inQueue(bob, cid)
	w.says("Hf0000003600000000------redlock", queue(bob, T+5, T+8))

	w, T = waits(t)
	foreign(w)
	w.at(T + 10_000_000)
	w.handed(nobody, acquire("web~d~1", w.now), "Hf")

	w, T = waits(t) // while it is claimed
	w.handed(bob, release(ann, T), "D")
	foreign(w)
	w.says("Hf", acquire(bob, T+5))

	w, T = waits(t) // a hash, as Redisson keeps its locks
	w.both(func(n *Node) { n.Del(lock.Name); n.HSet(lock.Name, "f", "1") }, "DEL", lock.Name)
	w.wire.must("HSET", lock.Name, "f", "1")
	w.handed(nobody, release(ann, T), "D")
}

// A queue key of another type must prevent neither a release nor a tombstone.
func TestQueueThatIsNoneKeepsNothingFromBeingGivenBack(t *testing.T) {
	w, T := waits(t)
	key := queueKey(nodescript.RecordKey(lock.Name))
	w.both(func(n *Node) { n.Set(key, "none", time.Hour) }, "SET", key, "none", "PX", "3600000")
	w.says("(WRONGTYPE)", queue(bob, T+4, T+8))
	w.says("(WRONGTYPE)", quit(bob))
	w.says("F", release(bob, T+4))
	if r := w.stored(lock); r.Seen != T+5 {
		t.Fatalf("seen %d after a release, want %d", r.Seen, T+5)
	}
	w.handed(nobody, release(ann, T+6), "D")
	if r := w.stored(lock); r.Owner != "" || r.Seen != T+7 {
		t.Fatalf("after the release the node keeps %+v", r)
	}
	w.both(func(n *Node) { n.Del(key) }, "DEL", key)
	w.says("G0", acquire(bob, T+8))
}

// A renewal brought a lease to a node where its owner waited. At the release the owner was the first of the queue. It
// got back the name that it released.
func TestNameIsNotHandedToTheOneWhoGivesItBack(t *testing.T) {
	w, T := waits(t)
	w.at(T + 10_000_000)
	w.says("R", extend(bob, T+20, w.now, w.now))
	w.inQueue(bob, cid)
	w.handed(cid, release(bob, w.now), "D")
}

// A claim lasts a second of the node's own clock. A clock that was half a minute ahead and is set right would shut the
// name for half a minute.
func TestClockThatIsAheadHandsNothingOn(t *testing.T) {
	w, T := waits(t)
	w.at(T + 30_000_000)
	w.handed(nobody, release(ann, T), "D")
	w.at(T + 1000)
	w.handed(bob, acquire(ann, w.now), "Hc")
	w.at(w.now + 1_000_000)
	w.handed(cid, acquire(ann, w.now), "Hc")
}

func TestFullMemoryHandsOn(t *testing.T) {
	w, T := waits(t)
	w.both(func(n *Node) { n.Full, n.Info.MaxMemory = true, 1 }, "CONFIG", "SET", "maxmemory", "1")
	w.says("(OOM)", queue("web~d~1", T+4, T+4))
	w.says("Hl", acquire("web~d~1", T+4))
	w.handed(bob, release(ann, T), "D")
	w.says("G1", queue(bob, T+5, T+8))
	w.says("D", quit(cid))
	w.handed(nobody, release(bob, T+6), "D")
}

func TestRenewalAndLeaveKeepTheFlag(t *testing.T) {
	w, T := waits(t)
	w.says("E", extend(ann, T, T+5, T+5_000_000))
	if r := w.stored(lock); !r.Waiting {
		t.Fatalf("after a renewal: %+v", r)
	}
	w.says("D", nodescript.LeaveCall(lock, ann, T, T+500_000))
	if r := w.stored(lock); !r.Waiting {
		t.Fatalf("after leaving: %+v", r)
	}
	w.handed(nobody, release(ann, T), "F")
	w.at(T + 500_000)
	w.handed(bob, acquire(ann, w.now), "Hc")
}

// Private locks have no plain key. They are handed on as others are.
func TestPrivateLockHandsOn(t *testing.T) {
	w := voting(t)
	T := w.now
	w.listen(nodescript.Inbox("b"), true)
	w.says("G0", nodescript.AcquireCall(private, ann, T, 10*time.Second))
	w.says("Hl", nodescript.QueueCall(private, bob, T+1, 10*time.Second, T+1))
	w.says("D", nodescript.ReleaseCall(private, ann, T))
	if v := w.wire.must("GET", private.Name); v != nil {
		t.Fatalf("a plain key %q was made", v)
	}
	w.says("G0", nodescript.AcquireCall(private, bob, T+2, 10*time.Second))
}

// A question that arrives after its own release finds a tombstone and locks nothing. If another owner has the name, the
// question joins the queue. The rank in the answer tells the client, which must then leave. Otherwise the name goes to
// a missing waiter for a second.
func TestQuestionThatArrivesAfterItsReleaseIsToldThatItWaits(t *testing.T) {
	w, T := waits(t)
	w.says("F", release(bob, T+5))
	w.inQueue(cid)
	w.says("Hl0000000010000000000000"+ann, queue(bob, T+5, T+8))
	w.inQueue(bob, cid)
	w.says("D", quit(bob))
	w.handed(cid, release(ann, T), "D")
}

// A pattern subscription, for example of an operator who watches, hears as a waiter does. While it exists, each dead
// waiter costs a claim.
func TestOnlookerMakesDeadWaitersLookAlive(t *testing.T) {
	w, T := waits(t)
	w.listen(nodescript.Inbox("b"), false)
	onlooker := dial(t, w.server)
	onlooker.must("PSUBSCRIBE", "*")
	stop := w.model.Subscribe(nodescript.Inbox("b"), func(string) {})
	defer stop()
	real, model := w.call(0, release(ann, T))
	w.check("D", real, model)
	if r := w.stored(lock); r.Owner != bob {
		t.Fatalf("after the release the node keeps %+v", r)
	}
}

// A private release does not read the plain key, and hands the name on. A waiter that uses the plain key finds the
// foreign lock. The hand-off gave it no grant.
func TestPrivateReleaseUnderAForeignKeyGrantsNothing(t *testing.T) {
	w, T := waits(t)
	w.both(func(n *Node) { n.Set(lock.Name, "redlock", time.Hour) }, "SET", lock.Name, "redlock", "PX", "3600000")
	w.says("D", nodescript.ReleaseCall(private, ann, T))
	if v := w.wire.must("GET", lock.Name); v != "redlock" {
		t.Fatalf("the foreign key says %q", v)
	}
	w.says("Hf", queue(bob, T+5, T+8))
}
