package nodemodel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// These tests repeat mistakes of admission that once broke a lock. A node that forgot a lock must not vote. A node that
// forgot nothing must vote.

// A lock is granted just before the guard is due to expire. The clock leaps, deletes both, and comes back. At the due
// time the missing guard looks idle.
func TestLeapJustBeforeTheGuardIsDueIsNotIdleness(t *testing.T) {
	w := voting(t)
	due := w.now + hour
	w.at(due - 500_000)
	w.says("G", acquire("a", w.now))
	w.at(w.now + 3*hour)
	w.at(due + 1000)
	w.says("N", acquire("b", w.now))
	w.admits(0, "Qguard")
}

func TestNodeThatWasIdleForAnHourVotesAtOnce(t *testing.T) {
	for _, later := range []int64{hour + 1000, hour + 10_250_000, hour + 10_251_000, 9 * hour} {
		w := voting(t)
		w.at(w.now + later)
		w.says("N", acquire("a", w.now))
		w.admits(0, "R")
	}
}

func TestGuardThatIsGoneEarlyMeansAmnesia(t *testing.T) {
	w := voting(t)
	w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey)
	w.admits(0, "Qguard")
	w.at(w.now + configs[0].Quarantine().Microseconds() - 1)
	w.admits(0, "Qguard")
	w.at(w.now + 1)
	w.admits(0, "R")
	// The quarantine is over. It does not count for the next loss.
	w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey)
	w.admits(0, "Qguard")
}

// With a full memory, a node after a restart can still renew its leases. A node that may have forgotten begins its
// quarantine in any case.
func TestFullMemoryAdmits(t *testing.T) {
	w := voting(t)
	w.both(func(n *Node) { n.Full, n.Info.MaxMemory = true, 1 }, "CONFIG", "SET", "maxmemory", "1")
	w.admits(0, "R")
	w.both((*Node).ScriptFlush, "SCRIPT", "FLUSH")
	w.admits(0, "R")
	w.says("F", release("a", w.now))
	w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey)
	w.admits(0, "Qguard")
	w.at(w.now + configs[0].Quarantine().Microseconds())
	w.admits(0, "R")
}

func TestFlushDuringQuarantineStartsItAgain(t *testing.T) {
	w := newWorld(t)
	w.admits(0, "Qnew")
	w.at(w.now + 10_000_000)
	w.both((*Node).FlushAll, "FLUSHALL")
	w.admits(0, "Qnew")
	w.at(w.now + 250_000)
	w.admits(0, "Qnew")
}

func TestAnotherConfigurationCannotUseUpTheVoucher(t *testing.T) {
	w := voting(t)
	w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey)
	w.admits(0, "Qguard")
	w.trusts(0, w.challenge(), "R")
	w.admits(2, "M")
	w.admits(0, "Qvouched")
	w.at(w.now + trusted)
	w.admits(0, "R")
}

func TestEvictionMeansAmnesia(t *testing.T) {
	w := voting(t)
	w.evictsOne()
	w.admits(0, "Qevicted")
}

// A server evicts unused keys: the record of an idle lock, but not the guard, which every call reads.
func TestAnEvictedRecordIsNotTakenForOneThatNeverWas(t *testing.T) {
	l := nodescript.Lock{Name: "x"}
	record := nodescript.RecordKey(l.Name)
	holder, other := owners[0], owners[1]
	for what, c := range map[string]func(w *world) nodescript.Call{
		"acquire": func(w *world) nodescript.Call { return nodescript.AcquireCall(l, other, w.now+1, 3*time.Second) },
		"extend": func(w *world) nodescript.Call {
			return nodescript.ExtendCall(l, other, w.now-1, w.now+1, w.now+hour, 3*time.Second, time.Duration(W)*time.Microsecond)
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			w.says("G0", nodescript.AcquireCall(l, holder, w.now, 10*time.Second))
			w.evictsOne()
			w.both(func(n *Node) { n.Del(record); n.Del(l.Name) }, "DEL", record, l.Name)
			w.says("N", c(w))
			w.admits(0, "Qevicted")
		})
	}
	t.Run("after a release by somebody else", func(t *testing.T) { // its tombstone would be a record
		w := voting(t)
		w.says("G0", nodescript.AcquireCall(l, holder, w.now, 10*time.Second))
		w.evictsOne()
		w.both(func(n *Node) { n.Del(record); n.Del(l.Name) }, "DEL", record, l.Name)
		w.says("F", nodescript.AbortCall(l, other, w.now))
		w.says("N", nodescript.AcquireCall(l, other, w.now+1, 3*time.Second))
	})
}

// One of the calls that travel together finds the eviction for all.
func TestNoneOfSeveralCallsIsGrantedAfterAnEviction(t *testing.T) {
	w := voting(t)
	var b nodescript.Together
	names := []string{"x", "y"}
	for _, name := range names {
		w.says("G0", nodescript.AcquireCall(nodescript.Lock{Name: name}, owners[0], w.now, 10*time.Second))
	}
	w.evictsOne()
	for i, name := range names {
		l, r := nodescript.Lock{Name: name}, nodescript.RecordKey(name)
		w.both(func(n *Node) { n.Del(r); n.Del(name) }, "DEL", r, name)
		b.Add(nodescript.AcquireCall(l, owners[1], w.now+int64(i)+1, 3*time.Second))
	}
	real, model := w.together(0, &b)
	refused := fmt.Sprintf("{Verdict:%d ", nodescript.NotAdmitted)
	w.check(refused, real, model)
	if strings.Count(real, refused) != len(names) {
		t.Errorf("not all of them were refused: %s", real)
	}
}

// evictsOne makes the server evict a useless key, and perhaps others.
func (w *world) evictsOne() {
	w.t.Helper()
	before := w.model.Info.Evicted
	w.wire.must("SETRANGE", "victim", strconv.Itoa(1<<20), "v") // no long command: its buffer would also count
	w.wire.must("PEXPIRE", "victim", "1")
	used, _ := strconv.Atoi(w.wire.info()["used_memory"])
	w.model.Info.Ran = true
	w.wire.must("CONFIG", "SET", "maxmemory-samples", "64", "maxmemory-policy", "volatile-ttl", "maxmemory", strconv.Itoa(used-1<<19))
	w.wire.must("PING")
	w.wire.must("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	w.wire.must("DEL", "victim")
	w.model.Info = w.info()
	if w.model.Info.Evicted == before {
		w.t.Fatalf("nothing was evicted of %d bytes; the test does not show what it should", used)
	}
	for _, k := range w.model.Keys() { // the server chose the evicted keys
		if w.wire.must("EXISTS", k.Name) == int64(0) {
			w.model.Del(k.Name)
		}
	}
	if a, err := w.model.remembered(); err == nil && a.run != "" && w.wire.must("EXISTS", nodescript.AdmissionKey) == int64(0) {
		w.t.Fatal("the server evicted a key without a time to live")
	}
}

// linked makes s follow master and waits until it does. The world's clock runs, because replication has timers.
func (w *world) linked(s, master *redistest.Server) {
	w.t.Helper()
	w.server.Step(time.Until(time.UnixMicro(w.now)))
	s.MustDo(w.t, "REPLICAOF", "127.0.0.1", strconv.Itoa(master.Port()))
	redistest.Eventually(w.t, 20*time.Second, "the replica follows", func() bool {
		return strings.Contains(s.MustDo(w.t, "INFO", "replication").(string), "master_link_status:up")
	})
	w.at(w.now + 30_000_000)
	w.model.Info = w.info()
}

// atOnce makes Redis send its data to a replica without waiting for more replicas.
var atOnce = redistest.Args("--repl-diskless-sync-delay", "0")

// The first replica gives a master a new replication id. redis-cli --rdb is such a replica.
func TestBackupOfANodeIsNoAmnesia(t *testing.T) {
	w := voting(t, atOnce)
	w.says("G", acquire("a", w.now))
	before := w.model.Info.ReplID
	w.linked(redistest.Start(t, atOnce), w.server)
	if w.model.Info.ReplID == before {
		t.Fatal("the replication id did not change; the test does not show what it should")
	}
	w.admits(0, "R")
}

// A node follows another server and is promoted again in the same process. It keeps its run id, and may have received
// its own old admission with old data.
func TestFailbackIsAmnesia(t *testing.T) {
	w := voting(t, atOnce)
	other := redistest.Start(t, atOnce, redistest.WithClock())
	other.Step(time.Until(time.UnixMicro(w.now))) // by today's clock the keys that it gets would have expired
	w.linked(other, w.server)
	w.admits(0, "R")
	redistest.Eventually(t, 20*time.Second, "the other has it all", func() bool {
		return other.MustDo(t, "HGET", nodescript.AdmissionKey, "replid") == w.model.Info.ReplID
	})
	other.MustDo(t, "REPLICAOF", "NO", "ONE")
	w.linked(w.server, other)
	w.admits(0, "Urole slave")

	w.wire.must("REPLICAOF", "NO", "ONE")
	w.model.Info = w.info()
	w.admits(0, "Qcopied")
}

// A replica takes the place of its master: another run id, and bytes that came from a master. A master with a replica
// that restarts with its data has a second replication id, too, but it read no such bytes.
func TestPromotionIsNoRestart(t *testing.T) {
	w := voting(t, atOnce)
	other := redistest.Start(t, atOnce)
	w.linked(other, w.server)
	w.admits(0, "R")
	redistest.Eventually(t, 20*time.Second, "the other has it all", func() bool {
		return other.MustDo(t, "HGET", nodescript.AdmissionKey, "replid") == w.model.Info.ReplID
	})
	w.server.Kill()
	other.MustDo(t, "REPLICAOF", "NO", "ONE")
	run := regexp.MustCompile(`run_id:(\w+)`).FindStringSubmatch(other.MustDo(t, "INFO", "server").(string))[1]
	call := nodescript.AdmitCall(time.Now().UnixMicro(), time.Minute, "", "nonce", false)
	args := []any{"EVAL", nodescript.NewScripts(configs[0], run).Admit, 0}
	for _, a := range call.Args {
		args = append(args, a)
	}
	if said := other.MustDo(t, args...).(string); said[0] != 'C' {
		t.Fatalf("admit at the promoted server: %q", said)
	}
	if why := other.MustDo(t, "HGET", nodescript.AdmissionKey, "why"); why != nodescript.Promoted.String() {
		t.Errorf("the promoted server notes %q; want %q", why, nodescript.Promoted)
	}
}

func TestRestartThatKeptItsData(t *testing.T) {
	for _, c := range []struct {
		config int
		want   string
	}{{0, "Qrestarted"}, {1, "R"}} {
		w := newWorld(t, redistest.Durable())
		w.data = true
		w.vote(c.config)
		w.restart()
		w.admits(c.config, c.want)
	}
}

// A request for an ended incarnation gets an error, so no scripts follow it. They would vote by the guard that came
// back with the data. The request changes nothing, whether the node may have forgotten or not.
func TestScriptsOfAnIncarnationThatEndedAreNotLoaded(t *testing.T) {
	for what, call := range map[string]func(w *world) node.Call{
		"admit": func(w *world) node.Call {
			return nodescript.AdmitCall(w.now, configs[0].Window, w.challenge(), "nonce", false)
		},
		"admit, off clock": func(w *world) node.Call {
			return nodescript.AdmitCall(w.now-4*W, configs[0].Window, "", "nonce", false)
		},
		"a load of scripts": func(*world) node.Call { return nodescript.LoadCall() },
	} {
		for config, then := range []string{"Qrestarted", "R"} {
			t.Run(fmt.Sprintf("%s, durable=%v", what, configs[config].Durable), func(t *testing.T) {
				w := newWorld(t, redistest.Durable())
				w.data = true
				w.vote(config)
				before := w.scripts(config)
				w.restart()
				late := func() {
					real, model := w.askFor(before, call(w))
					w.check("(OTHERRUN)", real, model)
					reply, answer := w.evalSHA(before, acquire("a", w.now))
					w.check("(NOSCRIPT)", told(reply), said(answer))
				}
				late()
				w.admits(config, then)
				late()
				w.at(w.now + full)
				w.admits(config, "R")
				late()
				real, model := w.call(config, acquire("a", w.now))
				w.check("G0", real[:2], model[:2])
			})
		}
	}
}

func TestDurableQuarantineGoesOnAfterARestart(t *testing.T) {
	w := newWorld(t, redistest.Durable())
	w.data = true
	w.admits(1, "Qnew")
	w.at(w.now + 4_000_000)
	w.restart()
	real, model := w.admit(1, w.now)
	w.check("Q"+nodescript.Micros(w.now)+nodescript.Micros(6_250_000)+w.challenge()+"new", real, model)
}

// A durable node has all data on disk. If it boots with a clock far ahead, it loads held locks as expired. With the
// right clock again it would vote without these locks.
func TestDurableNodeThatBootedWithAWrongClockHasForgotten(t *testing.T) {
	for _, c := range []struct {
		what string
		boot int64 // by how much the clock is ahead
		down int64
		want string
	}{
		{"in time", 0, 1_000_000, "R"},
		{"ahead by a minute", 60_000_000, 1_000_000, "R"},
		{"ahead by an hour", hour + 2_000_000, 1_000_000, "Qboot-clock"},
		{"behind", -3 * hour, 1_000_000, "R"},
		{"ahead", 3 * hour, 1_000_000, "Qboot-clock"},
		{"in time after an hour", 0, hour, "R"},
		{"in time after all is over", 0, 2 * hour, "R"},
		{"ahead after an hour", 3 * hour, hour, "Qboot-clock"},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t, redistest.Durable())
			w.data = true
			w.vote(1)
			began := w.now
			w.at(began + c.down + c.boot)
			w.restart()
			w.at(began + c.down)
			w.admits(1, c.want)
		})
	}
}

// The clock leapt while the server ran, and was right at its restart. The result is the same.
func TestDurableNodeWhoseClockLeaptBeforeItRestartedHasForgotten(t *testing.T) {
	for _, c := range []struct {
		leap, later int64
		want        string
	}{
		{3 * hour, 1_000_000, "Qguard"},
		{3 * hour, hour, "Qguard"},
		{3 * hour, hour + 10_250_000, "R"}, // every lock is over
		{0, hour, "R"},
	} {
		w := newWorld(t, redistest.Durable())
		w.data = true
		w.vote(1)
		began := w.now
		w.at(began + c.leap)
		w.at(began + c.later)
		w.restart()
		w.admits(1, c.want)
	}
}

// trusts stores a voucher on both sides.
func (w *world) trusts(config int, names, want string) {
	w.t.Helper()
	real, model := w.trust(config, names)
	w.check(want, real, model)
}
