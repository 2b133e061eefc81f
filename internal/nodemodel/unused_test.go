package nodemodel

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// fresh returns a world with a server that has just started.
func fresh(t *testing.T, opts ...redistest.Option) *world {
	w := newWorld(t, opts...)
	w.restart()
	w.eval(nodescript.HelloText(), node.Call{}) // a client greets a server first
	return w
}

// claims asks both sides to vote, as a client that has found all nodes unused.
func (w *world) claims(challenge, want string) {
	w.t.Helper()
	c := nodescript.AdmitCall(w.now, configs[0].Window, challenge, "nonce", true)
	c.Args = append(c.Args, w.named...)
	real, model := w.askFor(w.scripts(0), c)
	if want == "Q" || want[0] != 'Q' {
		w.check(want, real, model)
		return
	}
	w.check("Q", real, model)
	if real[73:] != want[1:] {
		w.t.Fatalf("quarantined because %q, want %q", real[73:], want[1:])
	}
}

// long is a time after which a server has been running for longer than a quarantine, whatever it rounds.
const long = 12_000_000

func TestAServerThatWasNeverUsedVotesIfAllAre(t *testing.T) {
	w := fresh(t)
	w.at(w.now + long)
	w.admits(0, "Qunused")
	w.admits(0, "Qunused") // a client that has not found the others unused gets no vote
	w.claims("", "Qunused")
	w.claims(w.challenge(), "R")
	w.says("G", acquire("a", w.now))
	w.claims(w.challenge(), "R") // it comes again, and changes nothing
	w.says("H", acquire("b", w.now+1))
}

// A server that restarted long ago, and granted nothing since, has nothing to forget either.
func TestAServerThatWasNotUsedSinceItsStartVotesIfAllAre(t *testing.T) {
	w := newWorld(t, redistest.Durable())
	w.data = true
	w.vote(0)
	w.says("G", acquire("a", w.now))
	w.restart()
	w.eval(nodescript.HelloText(), node.Call{})
	w.at(w.now + long)
	w.admits(0, "Qidle")
	w.claims(w.challenge(), "R")
}

// A quarantine that began early ends when the server has been running for long enough.
func TestAServerBecomesUnused(t *testing.T) {
	w := fresh(t)
	w.at(w.now + 5_000_000)
	w.admits(0, "Qnew")
	w.claims(w.challenge(), "Qnew")
	w.at(w.now + 7_000_000)
	w.admits(0, "Qunused")
	w.claims(w.challenge(), "R")
}

// Each of these servers may have granted a lock that is still alive.
func TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"it has just started": {func(w *world) { w.at(w.now + 9_000_000) }, "Qnew"},
		"its uptime is rounded": {func(w *world) {
			w.at(w.now/1_000_000*1_000_000 + 900_000)
			w.restart()
			w.eval(nodescript.HelloText(), node.Call{})
			w.at(w.now + 10_100_000) // it says 11 s
		}, "Qnew"},
		"it has run a script": {func(w *world) {
			w.at(w.now + long)
			w.evalSHA(w.scripts(0), acquire("a", w.now))
		}, "Qnew"},
		"its counts were reset": {func(w *world) {
			w.at(w.now + long)
			w.both(func(*Node) {}, "CONFIG", "RESETSTAT")
			w.eval(nodescript.HelloText(), node.Call{})
		}, "Qnew"},
		"it was flushed": {func(w *world) {
			w.at(w.now + long)
			w.both((*Node).FlushAll, "FLUSHALL")
		}, "Qnew"},
		"its settings were changed": {func(w *world) {
			w.at(w.now + long)
			w.both(func(*Node) {}, "CONFIG", "SET", "maxmemory-samples", "5")
		}, "Qnew"},
		"Sentinel names it": {func(w *world) {
			w.at(w.now + long)
			w.isNamed(1, true)
		}, "Qnew"},
		"Sentinel named it for another client": {func(w *world) {
			w.isNamed(1, true)
			w.admits(0, "Qnew")
			w.at(w.now + long - 2_000_000)
			w.named = nil
		}, "Qnew"},
		"its client has met another master": {func(w *world) {
			w.at(w.now + long)
			w.named = []string{"", "", "1000", "another run"}
		}, "Qnew"},
		"it hides its counts": {func(w *world) { // the last greeting was counted before the reset
			w.at(w.now + long)
			w.both(func(*Node) {}, "CONFIG", "RESETSTAT")
		}, "Qnew"},
		"its clock is behind its start": {func(w *world) { w.at(w.now - long) }, "Qnew"},
	} {
		t.Run(what, func(t *testing.T) {
			w := fresh(t)
			c.do(w)
			w.admits(0, c.want)
			w.claims(w.challenge(), "Q")
		})
	}
	t.Run("it was a replica", func(t *testing.T) {
		w := fresh(t)
		w.linked(w.server, redistest.Start(t))
		w.server.MustDo(t, "REPLICAOF", "NO", "ONE")
		w.model.Info = w.info()
		w.at(w.now + long)
		w.admits(0, "Qnew")
		w.claims(w.challenge(), "Q")
	})
}

// A late request quotes the challenge of an earlier loss. By then the node may have granted locks and lost its memory.
func TestALateClaimSkipsNoLaterQuarantine(t *testing.T) {
	w := fresh(t)
	w.at(w.now + long)
	w.admits(0, "Qunused")
	early := w.challenge()
	w.claims(early, "R")
	w.says("G", acquire("a", w.now))
	w.both((*Node).FlushAll, "FLUSHALL")
	w.claims(early, "C")
	w.admits(0, "Qnew")
	w.claims(early, "Qnew")
	w.claims(w.challenge(), "Qnew")

	w = fresh(t)
	w.at(w.now + long)
	w.admits(0, "Qunused")
	early = w.challenge()
	w.both(func(n *Node) { n.Del(nodescript.AdmissionKey) }, "DEL", nodescript.AdmissionKey)
	w.claims(early, "C")
	w.admits(0, "Qunused")
	w.claims(early, "Qunused")
	// It runs a script during its quarantine: only a client that does not know this asks it to vote at once.
	w.evalSHA(w.scripts(0), acquire("a", w.now))
	w.claims(w.challenge(), "Qnew")
}
