package nodemodel

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These are the red cases. Each is a mistake that once broke a lock: in the literature, in another library, or in a
// draft of this one. They run through the scripts on a real server and on the model.

const window = 250 * time.Millisecond

var lock, private = nodescript.Lock{Name: "x"}, nodescript.Lock{Name: "x", Private: true}

// voting returns a world whose node votes.
func voting(t *testing.T, opts ...redistest.Option) *world {
	w := newWorld(t, opts...)
	w.vote(0)
	return w
}

func (w *world) vote(config int) {
	w.t.Helper()
	w.admits(config, "Q")
	w.at(w.now + configs[config].Quarantine().Microseconds())
	w.admits(config, "R")
}

// check fails unless both sides gave the wanted answer and agree in every key.
func (w *world) check(want, real, model string) {
	w.t.Helper()
	if how := w.differ(real, model); how != "" {
		w.t.Fatalf("the server and the model differ: %s", how)
	}
	if len(real) < len(want) || real[:len(want)] != want {
		w.t.Fatalf("answer %q, want %q", real, want)
	}
}

func (w *world) says(want string, c nodescript.Call) {
	w.t.Helper()
	real, model := w.call(0, c)
	w.check(want, real, model)
}

func (w *world) admits(config int, want string) {
	w.t.Helper()
	real, model := w.admit(config, w.now)
	if want == "Q" || len(want) < 2 || want[0] != 'Q' {
		w.check(want, real, model)
		return
	}
	w.check("Q", real, model)
	if real[73:] != want[1:] {
		w.t.Fatalf("quarantined because %q, want %q", real[73:], want[1:])
	}
}

func (w *world) stored(l nodescript.Lock) nodescript.Record {
	w.t.Helper()
	r, err := nodescript.ParseRecord(w.wire.must("GET", nodescript.RecordKey(l.Name)).(string))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// both does the same to the server and to the model.
func (w *world) both(model func(*Node), command ...string) {
	w.t.Helper()
	w.wire.must(command...)
	model(w.model)
	w.model.Info.Ran = w.model.Info.Ran || command[0] == "CONFIG"
}

func acquire(owner string, T int64) nodescript.Call {
	return nodescript.AcquireCall(lock, owner, T, 10*time.Second)
}

func release(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseCall(lock, owner, highest)
}

func extend(owner string, T, stamp, deadline int64) nodescript.Call {
	return nodescript.ExtendCall(lock, owner, T, stamp, deadline, 10*time.Second, window)
}

func TestClaimIsNoGrant(t *testing.T) {
	w := voting(t)
	claim := nodescript.Record{Seen: w.now - 1, Leased: w.now - 1, Expiry: w.now + 1_000_000, Owner: "a"}.String()
	w.both(func(n *Node) { n.Set(nodescript.RecordKey("x"), claim, time.Hour) }, "SET", nodescript.RecordKey("x"), claim, "PX", "3600000")

	w.says("Hc", acquire("b", w.now))
	w.says("S", acquire("a", w.now-1)) // its own claim does not answer a command that was sent before it
	// An extend that took the claim for its lease would revive an ended lease.
	w.says("Lg", extend("a", w.now-2, w.now, w.now))
	w.says("G", acquire("a", w.now))
}

func TestOneAttemptHasOneToken(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("a", w.now))
	// This is the second round of the same attempt. The grant of the first round must not count for the second one.
	w.says("G", acquire("a", w.now+1))
	if r := w.stored(lock); r.Token != w.now+1 || r.Seen != w.now+1 {
		t.Fatalf("after the second round the node keeps %+v", r)
	}
	w.says("S", acquire("a", w.now)) // the first command again, late
	// An extend of the first round's token does not extend the lease.
	w.says("Lg", extend("a", w.now, w.now+2, w.now+5_000_000))
	w.says("E", extend("a", w.now+1, w.now+2, w.now+5_000_000))
}

// A stamp that right nodes accept is within W of one of them. That node is within W of any other. So the stamp may be 2
// W ahead of this node.
func TestALateAcquireFindsItsTombstoneWhereItsClientIsAhead(t *testing.T) {
	w := voting(t)
	T := w.now + 2*W
	w.says("O", acquire("a", T))
	w.says("F", nodescript.AbortCall(lock, "a", T))
	w.at(T - W + 1)
	w.says("S", acquire("a", T)) // it comes again, on another connection
	w.at(T)
	w.says("G", acquire("b", T+2))

	// A release from a client with a wrong clock does not block the name for other clients.
	w.says("F", nodescript.AbortCall(lock, "c", T+hour))
	w.says("Hl", acquire("d", T+3))
	w.says("D", release("b", T+2))
	w.says("S", acquire("d", T+3)) // a client may follow this stamp: it is within W of its clock
}

// UnlockAt may keep a name for less time than a command needs to arrive. The name is then free when a late command of
// the lease comes. That command must not restore the lease for a whole TTL.
func TestALateCommandDoesNotBringBackWhatWasLeft(t *testing.T) {
	for _, l := range []nodescript.Lock{lock, private} {
		w := voting(t)
		T := w.now
		w.says("G0", nodescript.AcquireCall(l, "a", T, 10*time.Second))
		sent := T + 3_000_000
		w.at(sent)
		w.says("D", nodescript.LeaveCall(l, "a", T, sent+50_000))
		w.at(sent + 200_000)
		w.says("Lg", nodescript.ExtendCall(l, "a", T, sent, T+10_000_000, 10*time.Second, window))

		// UnlockAt ends the next lease within W of its acquire. A copy of this acquire that arrives late must not
		// restore the lease.
		T = w.now
		w.says("G0", nodescript.AcquireCall(l, "b", T, 10*time.Second))
		w.says("D", nodescript.LeaveCall(l, "b", T, T+50_000))
		// The leave ends its own lease and all earlier leases, but no later lease.
		if r := w.stored(l); r.Seen != T+1 || r.Leased != T+1 {
			t.Fatalf("of a lease %d that was left the node keeps %+v", T, r)
		}
		w.at(T + 100_000)
		w.says("S", nodescript.AcquireCall(l, "b", T, 10*time.Second))
		w.says("G0", nodescript.AcquireCall(l, "c", T+2, 10*time.Second))
	}
}

// A node that lost or missed a lease is free for any caller. A caller may give its grant back because the other nodes
// hold the lease. Its grant was no lease. The real lease can still be repaired.
func TestWhatNeverWonKeepsNoLeaseAway(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("b", w.now+1)) // a, with T = now, has the other nodes
	w.says("Ll", extend("a", w.now, w.now+2, w.now+5_000_000))
	w.says("D", nodescript.AbortCall(lock, "b", w.now+1))
	w.says("S", acquire("b", w.now+1)) // a late command of a stamp that was given back also finds its tombstone
	w.says("R", extend("a", w.now, w.now+3, w.now+5_000_000))
	w.says("E", extend("a", w.now, w.now+4, w.now+5_000_000))
	w.says("Hl", acquire("c", w.now+5))
	// A later lease ends the lease of a. After that, no renewal repairs the lease of a.
	w.says("D", release("a", w.now+4))
	w.says("G", acquire("c", w.now+6))
	w.says("D", release("c", w.now+6))
	w.says("Lg", extend("a", w.now, w.now+7, w.now+5_000_000))
	// A later lease that was never released also ends the earlier ones. This holds after its own end, and after another
	// owner's attempt.
	w.says("G", acquire("d", w.now+8))
	w.at(w.now + 11_000_000)
	w.says("G", acquire("e", w.now))
	w.says("D", nodescript.AbortCall(lock, "e", w.now))
	w.says("Lg", extend("c", w.now-11_000_000+6, w.now, w.now+5_000_000))
}

func TestRepeatedAcquireAnswersAsTheFirst(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("a", w.now))
	before := w.keys()
	w.says("G", acquire("a", w.now))
	if !slices.EqualFunc(before, w.keys(), Key.same) {
		t.Fatal("a repeated command changed a key")
	}
}

func TestExtendNeverLowersTheExpiry(t *testing.T) {
	w := voting(t)
	T := w.now
	w.says("G", acquire("a", T))
	w.says("E", extend("a", T, T+100, T+5_000_000))
	w.says("E", extend("a", T, T+50, T+5_000_000)) // an earlier one, late
	if r := w.stored(lock); r.Expiry != T+100+10_000_000 {
		t.Fatalf("expiry %d, want %d", r.Expiry, T+100+10_000_000)
	}
}

// A renewal may be late by up to its TTL. The node's time in the answer shows by how much.
func TestARenewalCountsUntilItsExpiry(t *testing.T) {
	for name, owner := range map[string]string{"writer": "a", "reader": amy} {
		t.Run(name, func(t *testing.T) {
			w := voting(t)
			T := w.now
			w.says("G", acquire(owner, T))
			w.at(T + 9_000_000)
			extend := func(want string, stamp int64) { // of an owner that relies on its lease for a minute
				t.Helper()
				w.says(want, nodescript.ExtendCall(lock, owner, T, stamp, T+60_000_000, 10*time.Second, window))
			}
			extend("E", w.now-W)
			extend("E"+nodescript.Micros(w.now), w.now-W-1)
			extend("E"+nodescript.Micros(w.now), w.now-10_000_000+1)
			extend("O"+nodescript.Micros(w.now), w.now-10_000_000)
			extend("E", w.now+W)
			extend("O"+nodescript.Micros(w.now), w.now+W+1)
			w.both((*Node).FlushAll, "FLUSHALL")
			w.vote(0)
			extend("R"+nodescript.Micros(w.now), w.now-W-1)
		})
	}
}

func TestLateReleaseOfAnEarlierAttemptFreesNothing(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("a", w.now))
	w.says("D", release("a", w.now))
	w.says("G", acquire("b", w.now+10))
	w.says("F", release("a", w.now)) // again
	w.says("Hl", acquire("c", w.now+20))
	w.says("E", extend("b", w.now+10, w.now+30, w.now+5_000_000))
}

func TestTombstoneFromAClockAnHourAheadDoesNotShutTheName(t *testing.T) {
	w := voting(t)
	w.says("F", release("a", w.now+hour))
	if r := w.stored(lock); r.Seen != w.now+W {
		t.Fatalf("seen %d, want TIME + W = %d", r.Seen, w.now+W)
	}
	w.says("S", acquire("b", w.now+W))
	w.at(w.now + 1)
	w.says("G", acquire("b", w.now+W))
}

func TestAcquireThatArrivesAfterItsReleaseLocksNothing(t *testing.T) {
	w := voting(t)
	w.says("F", release("a", w.now))
	w.says("S", acquire("a", w.now))
	w.says("G", acquire("b", w.now+2))
}

func TestExtendThatArrivesAfterItsReleaseRepairsNothing(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("a", w.now))
	w.says("D", release("a", w.now+5))
	w.says("Lg", extend("a", w.now, w.now+5, w.now+5_000_000))
	if v := w.wire.must("GET", "x"); v != nil {
		t.Fatalf("the plain key is back: %v", v)
	}
	// A late extend also repairs nothing on a node that did not have the lease and that saw another owner's attempt.
	w.says("G", acquire("b", w.now+10))
	w.says("D", nodescript.AbortCall(lock, "b", w.now+10))
	w.says("F", release("c", w.now+8))
	w.says("Lg", extend("c", w.now+7, w.now+8, w.now+5_000_000))
}

func TestLeaseIsRepairedOnlyWhileItsOwnerBelieves(t *testing.T) {
	w := voting(t)
	w.says("Lg", extend("a", w.now-2_000_000, w.now, w.now-W-1))
	w.says("R", extend("a", w.now-2_000_000, w.now, w.now-W))
	w.says("E", extend("a", w.now-2_000_000, w.now+1, w.now))
}

func TestScriptLoadedWhileAdmitRefusedMeetsNoGuard(t *testing.T) {
	w := newWorld(t)
	w.both(func(n *Node) { n.Info.MaxMemory, n.Info.Policy = 1<<40, "allkeys-lru" },
		"CONFIG", "SET", "maxmemory", "1099511627776", "maxmemory-policy", "allkeys-lru")
	w.admits(0, "Upolicy allkeys-lru")
	w.says("N", acquire("a", w.now))

	w.both(func(n *Node) { n.Info.Policy = "noeviction" }, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	real, model := w.admit(0, w.now+W+1)
	w.check("O", real, model)
	w.says("N", acquire("a", w.now))
	w.admits(0, "Qnew")
	w.says("N", acquire("a", w.now))
}

func TestPoisonIsReportedNotAdopted(t *testing.T) {
	w := voting(t)
	for _, c := range []struct {
		ahead int64
		want  string
	}{{W, "S"}, {W + 1, "P"}, {hour, "P"}} {
		r := nodescript.Record{Seen: w.now + c.ahead}.String()
		w.both(func(n *Node) { n.Set(nodescript.RecordKey("x"), r, time.Hour) }, "SET", nodescript.RecordKey("x"), r, "PX", "3600000")
		w.says(c.want+nodescript.Micros(w.now+c.ahead), acquire("a", w.now))
	}
}

func TestExpiredOwnersPlainKeyIsOverwritten(t *testing.T) {
	w := voting(t)
	w.says("G", acquire("a", w.now))
	w.both(func(n *Node) { n.Set("x", "a", time.Hour) }, "SET", "x", "a", "PX", "3600000") // it outlives its lease
	w.at(w.now + 10_000_000)
	w.says("G", acquire("b", w.now))
	if v := w.wire.must("GET", "x"); v != "b" {
		t.Fatalf("the plain key holds %q", v)
	}
	w.both(func(n *Node) { n.Set("x", "stranger", time.Hour) }, "SET", "x", "stranger", "PX", "3600000")
	w.at(w.now + 10_000_001)
	w.says("Hf", acquire("c", w.now))
}

func TestFullMemoryStillLetsGo(t *testing.T) {
	for _, l := range []nodescript.Lock{lock, private} {
		w := voting(t)
		T := w.now
		w.says("G", nodescript.AcquireCall(l, "a", T, 10*time.Second))
		w.both(func(n *Node) { n.Full, n.Info.MaxMemory = true, 1 }, "CONFIG", "SET", "maxmemory", "1")
		w.says("(OOM)", nodescript.AcquireCall(nodescript.Lock{Name: "{x}", Private: l.Private}, "b", T, 10*time.Second))
		w.says("Hl", nodescript.AcquireCall(l, "b", T+1, 10*time.Second))
		w.says("E", nodescript.ExtendCall(l, "a", T, T+1, T+5_000_000, 10*time.Second, window))
		w.says("R", nodescript.RefreshCall(T, window))
		w.says("F", nodescript.ReleaseCall(l, "b", T+1))
		w.says("D", nodescript.ReleaseCall(l, "a", T+1))
	}
}

func TestReleaseWhileTheClockSays1970KeepsAnothersLock(t *testing.T) {
	w := voting(t)
	T := w.now
	w.says("G", acquire("a", T))
	w.at(5_000_000)
	w.says("F", release("b", T+1))
	w.at(T + 1000)
	w.says("Hl", acquire("c", w.now+2))
	w.says("E", extend("a", T, w.now, w.now+5_000_000))
}

func TestForeignLockForCenturiesIsForever(t *testing.T) {
	w := voting(t)
	w.both(func(n *Node) { n.Set("x", "stranger", 99_999_999*time.Second) }, "SET", "x", "stranger", "PX", "99999999000")
	w.says("Hf0099999999000000------stranger", acquire("a", w.now))
	w.wire.must("SET", "x", "stranger", "PX", "99999999999999")
	w.model.Set("x", "stranger", time.Millisecond)
	w.model.keys["x"].expires = w.now/1000 + 99_999_999_999_999
	w.says("Hf"+forever+"------stranger", acquire("a", w.now))
}
