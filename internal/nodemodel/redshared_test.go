package nodemodel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// These are the red cases of readers: who has the name, and which late requests change nothing. amy, ben and cat are
// readers of the clients a, b and c.
const amy, ben, cat = "web~a~2~r", "web~b~2~r", "web~c~2~r"

func read(owner string, T int64) nodescript.Call {
	return nodescript.AcquireCall(lock, owner, T, 10*time.Second)
}

func readLater(owner string, T, ticket int64) nodescript.Call {
	return nodescript.QueueCall(lock, owner, T, 10*time.Second, ticket)
}

func unread(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseCall(lock, owner, highest)
}

func abort(owner string, highest int64) nodescript.Call {
	return nodescript.AbortCall(lock, owner, highest)
}

func abortRead(owner string, highest int64) nodescript.Call {
	return nodescript.AbortCall(lock, owner, highest)
}

func extendRead(owner string, T, stamp, deadline int64) nodescript.Call {
	return nodescript.ExtendCall(lock, owner, T, stamp, deadline, 10*time.Second, 250*time.Millisecond)
}

// reading returns a voting world in which amy and ben read, with the tokens T and T + 1. Every client hears.
func reading(t *testing.T) (w *world, T int64) {
	w = voting(t)
	for _, o := range []string{ann, bob, cid} {
		w.listen(nodescript.Inbox(client(o)), true)
	}
	w.says("G0", read(amy, w.now))
	w.says("G0", read(ben, w.now+1))
	return w, w.now
}

// reads fails unless inspect lists these readers and tokens.
func (w *world) reads(want ...any) {
	w.t.Helper()
	real, model := w.eval(nodescript.InspectText(), nodescript.InspectCall(lock))
	w.check("", real, model)
	v, err := nodescript.ParseView(node.Reply{Value: real})
	if err != nil {
		w.t.Fatal(err)
	}
	var got []any
	for _, r := range v.Readers.List {
		got = append(got, r.Owner, r.Token)
	}
	if fmt.Sprint(got...) != fmt.Sprint(want...) {
		w.t.Fatalf("%v read, want %v", got, want)
	}
}

// tells fails unless the call gives the answer, and tells these owners in this order.
func (w *world) tells(want string, c nodescript.Call, owners ...string) {
	w.t.Helper()
	real, model := w.call(0, c)
	var told []string
	for _, m := range w.heard {
		_, news, _ := strings.Cut(m, " ")
		h, _ := nodescript.ParseHandoff(news)
		told = append(told, h.Owner)
	}
	w.check(want, real, model)
	if strings.Join(told, " ") != strings.Join(owners, " ") {
		w.t.Fatalf("%q were told, want %q", told, owners)
	}
}

func TestReadersShareAndAWriterWaits(t *testing.T) {
	w, T := reading(t)
	w.says("Hr0000000010000001000000000002"+amy+"\n"+ben, queue(bob, T+2, T-9)) // the lowest token, the latest expiry
	w.reads(amy, T, ben, T+1)
	w.tells("D", unread(amy, T))
	w.tells("D", unread(ben, T+1), bob)
	w.says("Hc", read(amy, T+3))
	w.says("G0", acquire(bob, T+4))
	w.says("Hl0000000010000004------"+bob, read(amy, T+5))
}

func TestReadersDoNotMakeEachOtherStale(t *testing.T) {
	w, T := reading(t)
	w.says("G0", read(cat, T-1))
	w.reads(cat, T-1, amy, T, ben, T+1)
	w.says("G0", read(cat, T-1)) // a repeated command
}

func TestAWritersTokenIsAboveAllBefore(t *testing.T) {
	w, T := reading(t)
	w.says("D", unread(ben, T+1))
	w.says("D", abortRead(amy, T))
	stamp := T + 2
	w.says("S"+nodescript.Micros(stamp), acquire(ann, stamp))
	w.says("G0", acquire(ann, stamp+1))
	w.says("Hl", read(amy, stamp+2))
	w.says("D", release(ann, stamp+1))
	w.says("S"+nodescript.Micros(stamp+2), read(amy, stamp+1))
	w.says("G0", read(amy, stamp+3))
}

func TestALateReleaseOfAnEarlierRoundFreesNoReader(t *testing.T) {
	w, T := reading(t)
	w.says("G0", read(amy, T+5)) // a second round of amy
	w.says("F", abortRead(amy, T))
	w.reads(ben, T+1, amy, T+5)
}

func TestALateAcquireLowersNoReadersToken(t *testing.T) {
	w, T := reading(t)
	w.says("G0", read(amy, T+5))
	w.says("S"+nodescript.Micros(T+5), read(amy, T))
	w.reads(ben, T+1, amy, T+5)
}

// A downgrade replaces a lease on which its holder relies until the old deadline.
func TestADowngradeNeverShortensTheLease(t *testing.T) {
	w := voting(t)
	T := w.now
	w.says("G0", acquire(ann, T))
	for i := range int64(2) { // the second request replaces the entry of the first one
		w.says("G0", nodescript.PassCall(lock, amy, T+1+i, 4*time.Second, ann))
		real, model := w.eval(nodescript.InspectText(), nodescript.InspectCall(lock))
		w.check("", real, model)
		v, err := nodescript.ParseView(node.Reply{Value: real})
		if err != nil {
			t.Fatal(err)
		}
		if want := T + 10_000_000; v.Readers.List[0].Expiry != want {
			t.Fatalf("after request %d the lease ends %d us too early", i+1, want-v.Readers.List[0].Expiry)
		}
	}
}

func TestALateRequestOfAReleasedReaderLocksNothing(t *testing.T) {
	w, T := reading(t)
	w.says("E", extendRead(amy, T, T+7, T+5_000_000))
	w.says("D", unread(amy, T+9))
	w.says("S", read(amy, T+9))
	w.says("Lg", extendRead(amy, T, T+9, T+5_000_000))
	w.reads(ben, T+1)
	w.says("E", extendRead(ben, T+1, T+9, T+5_000_000)) // another reader's renewal is not affected
}

func TestAReaderIsNotRepairedAfterAWriter(t *testing.T) {
	w, T := reading(t)
	w.says("D", abortRead(amy, T))
	w.says("D", abortRead(ben, T+1))
	w.says("G0", acquire(ann, T+3))
	w.says("Ll"+ann, extendRead(amy, T, T+5, T+5_000_000))
	w.says("D", abort(ann, T+3))
	w.says("R", extendRead(amy, T, T+6, T+5_000_000)) // ann never had the lease
	w.says("D", abortRead(amy, T+6))
	w.says("G0", acquire(ann, T+8))
	w.says("D", release(ann, T+8))
	w.says("Lg", extendRead(amy, T, T+10, T+5_000_000))
}

func TestExpiredReadersEndWithTheNextWriter(t *testing.T) {
	w, T := reading(t)
	w.at(T + 10_000_001)
	w.says("E", extendRead(amy, T, w.now, w.now)) // nobody came in between
	w.at(w.now + 10_000_000)
	w.says("G0", acquire(ann, w.now))
	w.at(w.now + 10_000_000)
	w.says("Lg", extendRead(amy, T, w.now, w.now+5_000_000)) // ann's lease may have been
	w.says("Lg", extend(bob, T, w.now, w.now+5_000_000))     // and so may amy's
}

func TestAWriterIsNotRepairedAfterReaders(t *testing.T) {
	w, T := reading(t)
	w.says("D", abortRead(ben, T+1))
	w.says("D", unread(amy, T))
	w.says("Lg", extend(ann, T-1, T+4, T+5_000_000))
	w.says("R", extend(ann, T, T+4, T+5_000_000)) // ben never had the lease
}

func TestAReleaseRemovesNoOtherReader(t *testing.T) {
	w, T := reading(t)
	w.says("E", extendRead(ben, T+1, T+2, T+5_000_000))
	w.at(T + 20_000_000) // this clock is ahead: ben's lease seems over
	w.says("D", unread(amy, T))
	w.at(T + 3)
	w.says("Hr", acquire(ann, T+5))
	w.says("R", extendRead(ben, T+1, T+6, T+5_000_000)) // only the plain key was gone
}

func TestAWritersLeaseComesBackThroughReaders(t *testing.T) {
	w, T := reading(t)
	w.says("Hr", queue(cid, T+2, T-1_000_000))
	w.tells("Ll"+amy, extend(ann, T-1, T+3, T+5_000_000), amy, ben) // both hear that their partial grants are wanted
	w.inQueue(ann, cid)
	w.says("Hr", read(cat, T+4)) // no reader comes before it
	w.tells("D", abortRead(amy, T))
	w.tells("D", abortRead(ben, T+1), ann)
	w.says("R", extend(ann, T-1, T+6, T+5_000_000))
}

func TestReadersComeBehindAWriterThatWaits(t *testing.T) {
	w, T := reading(t)
	w.says("Hr", queue(bob, T+2, T-9))
	w.says("G1", readLater(cat, T+3, T-10)) // it came before
	w.says("D", unread(cat, T+3))
	w.says("Hr0000000010000001000001000002"+amy+"\n"+ben, readLater(cat, T+5, T-8))
	w.says("Hr0000000010000001------000002"+amy+"\n"+ben, read("web~k~3~r", T+5))
	w.listen(nodescript.Inbox(client(bob)), false)
	w.says("G0", readLater(cat, T+6, T-8)) // a dead writer keeps nobody out
	w.inQueue()
}

func TestAWriterThatLeavesTheQueueWakesReaders(t *testing.T) {
	w, T := reading(t)
	w.says("Hr", queue(bob, T+2, T-9))
	w.says("Hr", readLater(cat, T+3, T-8))
	w.says("Hr", queue(ann, T+4, T-7))
	w.tells("F", abort(bob, T+2), cat)
	w.inQueue(ann)
	w.says("G1", read(cat, T+6))
}

// A batch beyond the bound never waits for an expiry: a reader that takes its claim lets the next ones in.
func TestReadersAreLetInTogether(t *testing.T) {
	w := voting(t)
	w.listen(nodescript.Inbox("b"), true)
	w.listen(nodescript.Inbox("c"), true)
	T := w.now
	w.says("G0", acquire(ann, T))
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf("web~b~%02d~r", i))
		w.says("Hl", readLater(all[i], T+1, T+int64(i)))
	}
	w.says("Hl", queue(cid, T+1, T+20))
	w.says("Hl", readLater(cat, T+1, T+21))
	w.tells("D", release(ann, T), all[:16]...)
	w.says("Hc0000000001000000000004"+all[0], queue(cid, T+3, T+20)) // claims keep writers out
	w.tells("G1", readLater(all[3], T+4, T+3), all[16:]...)
	w.tells("G1", readLater(all[17], T+5, T+17))
	w.inQueue(cid, cat)
	w.reads(append([]any{all[3], T + 4, all[17], T + 5}, claims(all, 3, 17)...)...)
}

// An answer under readers has their number, and names as many of the first ten as fit. Claims do not count.
func TestAnAnswerNamesTheFirstReaders(t *testing.T) {
	w := voting(t)
	T := w.now
	var all []string
	for i := range 12 {
		all = append(all, fmt.Sprintf("web~b~%02d~r", i))
		w.says("G0", read(all[i], T+int64(i)))
	}
	w.says("Hr0000000010000011------000012"+strings.Join(all[:10], "\n"), acquire(ann, T+20))
	for i, o := range all {
		w.tells("D", unread(o, T+int64(i)))
	}
	var long []string
	for i := range 5 {
		long = append(long, fmt.Sprintf("%s~b~%02d~r", strings.Repeat("x", 240), i))
		w.says("G0", read(long[i], T+30+int64(i)))
	}
	w.says("Hr0000000010000034------000005"+strings.Join(long[:3], "\n"), acquire(ann, T+40))
}

// claims returns what reads expects of claims, without some of them.
func claims(all []string, without ...int) (list []any) {
	for i, o := range all {
		if i != without[0] && i != without[1] {
			list = append(list, o, int64(0))
		}
	}
	return list
}

// A writer becomes a reader: other readers come in, and no late renewal makes it a writer again.
func TestAWriterBecomesAReaderWithoutAGap(t *testing.T) {
	w, T := reading(t)
	w.says("D", abortRead(amy, T))
	w.says("D", abortRead(ben, T+1))
	w.says("G0", acquire(ann, T+5))
	w.says("Hl", read(ben, T+6))
	w.says("G0", nodescript.PassCall(lock, amy, T+7, 10*time.Second, ann))
	w.says("Ll"+amy, extend(ann, T+5, T+8, T+5_000_000))
	w.says("F", release(ann, T+8)) // what is left of ann
	w.says("G0", read(ben, T+10))
	w.reads(amy, T+7, ben, T+10)
	w.says("Hr", acquire(bob, T+11))
}

// Redis permits every write of a script that comes after a permitted one. So if two requests travel together, the first
// one, which a full memory permits, also permits the second one.
func TestAFullMemoryPermitsWhatTravelsBehindAPermittedRequest(t *testing.T) {
	w, T := reading(t)
	other := nodescript.Lock{Name: "y"}
	w.both(func(n *Node) { n.Full, n.Info.MaxMemory = true, 1 }, "CONFIG", "SET", "maxmemory", "1")
	w.says("(OOM)", nodescript.AcquireCall(other, amy, T+2, 10*time.Second))
	var b nodescript.Together
	b.Add(read(amy, T+3))
	b.Add(nodescript.AcquireCall(other, amy, T+4, 10*time.Second))
	real, model := w.together(0, &b)
	granted := fmt.Sprintf("{Verdict:%d ", nodescript.Granted)
	w.check(granted, real, model)
	if strings.Count(real, granted) != 2 {
		t.Errorf("not both were granted: %s", real)
	}
}

// A writer waits, and the key of the queue has another type. The pass of the writer's lease to a reader fails before it
// writes anything: no reader is beside the writer.
func TestAPassThatTheQueueRefusesAddsNoReader(t *testing.T) {
	w, T := waits(t)
	key := queueKey(nodescript.RecordKey(lock.Name))
	w.both(func(n *Node) { n.Set(key, "none", time.Hour) }, "SET", key, "none", "PX", "3600000")
	w.says("(WRONGTYPE)", pass(amy, T+10, ann))
	w.reads()
	if r := w.stored(lock); r.Owner != ann || r.Token != T {
		t.Fatalf("after a pass that failed the node keeps %+v", r)
	}
}

func TestTheMarkerOfReadersIsNotForeign(t *testing.T) {
	w, T := reading(t)
	if v := w.wire.must("GET", lock.Name); v != nodescript.Marker {
		t.Fatalf("the plain key is %v, want the marker", v)
	}
	w.both(func(n *Node) { n.Set(lock.Name, nodescript.Marker, time.Hour) }, "SET", lock.Name, nodescript.Marker, "PX", "3600000")
	w.at(T + 11_000_000) // it outlives the readers
	w.says("G0", acquire(ann, w.now))
	w.says("D", release(ann, w.now))
	w.both(func(n *Node) { n.Set(lock.Name, "theirs", time.Hour) }, "SET", lock.Name, "theirs", "PX", "3600000")
	w.says("Hf0000003600000000------theirs", read(amy, w.now+2))
}

func TestAForeignLockRefusesAReadersRenewal(t *testing.T) {
	w, T := reading(t)
	w.both(func(n *Node) { n.Set(lock.Name, "theirs", time.Hour) }, "SET", lock.Name, "theirs", "PX", "3600000")
	w.says("Lftheirs", extendRead(amy, T, T+2, T+5_000_000))
	w.says("D", unread(amy, T))
	if v := w.wire.must("GET", lock.Name); v != "theirs" {
		t.Fatalf("the plain key is %v, want theirs", v)
	}
}

// The record says that there are readers. If they are gone, the node forgot them.
func TestEvictedReadersEndTheVote(t *testing.T) {
	for _, c := range []func(T int64) nodescript.Call{
		func(T int64) nodescript.Call { return acquire(ann, T) },
		func(T int64) nodescript.Call { return read(cat, T) },
		func(T int64) nodescript.Call { return extend(ann, T, T, T+5_000_000) },
		func(T int64) nodescript.Call { return extendRead(amy, T-2, T, T+5_000_000) },
	} {
		w, T := reading(t)
		key := nodescript.ReadersKey(nodescript.RecordKey(lock.Name))
		w.both(func(n *Node) { n.Del(key) }, "DEL", key)
		w.says("N", c(T+2))
		w.says("N", read(cat, T+3))
		w.vote(0)
		w.says("G0", read(cat, w.now))
		w.reads(cat, w.now)
	}
}

func TestTheMemoryOfReadersEndsWithAWritersLease(t *testing.T) {
	w, T := reading(t)
	key := nodescript.ReadersKey(nodescript.RecordKey(lock.Name))
	w.says("D", unread(amy, T))
	w.says("D", unread(ben, T+1))
	w.says("G0", acquire(ann, T+3))
	w.says("D", abort(ann, T+3))
	if w.wire.must("EXISTS", key) != int64(1) || !w.stored(lock).Shared {
		t.Fatal("an attempt that never won ended the memory of readers")
	}
	w.says("G0", acquire(ann, T+5))
	w.says("D", release(ann, T+5))
	if w.wire.must("EXISTS", key) != int64(0) || w.stored(lock).Shared {
		t.Fatal("the memory of readers is left after a writer's lease")
	}
}

func TestAReaderLeavesTheNameSharedUntilLater(t *testing.T) {
	w, T := reading(t)
	w.says("D", unread(ben, T+1))
	leave := nodescript.LeaveCall(lock, amy, T, T+30_000_000)
	w.says("D", leave)
	w.says("D", leave) // repeated
	w.says("L", nodescript.LeaveCall(lock, ben, T+1, T+30_000_000))
	w.reads(nodescript.LeftOwner(amy), T)
	w.says("S", read(amy, T))
	w.says("G0", read(ben, T+4))
	w.at(T + 20_000_000)
	w.says("Hr0000000010000000------000001"+nodescript.LeftOwner(amy), acquire(ann, w.now))
	w.at(T + 30_000_000)
	w.says("G0", acquire(ann, w.now))
}
