package nodemodel

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// These requests of admission come late or twice. By then the node's clock has gone back to the time at which they were
// drawn.

// losses are the events after which a node lost its memory but kept its run id.
var losses = map[string]func(w *world){
	"FLUSHALL":       func(w *world) { w.both((*Node).FlushAll, "FLUSHALL") },
	"the guard gone": func(w *world) { w.both(func(n *Node) { n.Del(nodescript.GuardKey) }, "DEL", nodescript.GuardKey) },
	"an eviction":    func(w *world) { w.evictsOne() },
}

const full = int64(10_250_000) // the quarantine of configs[0], µs

const trusted = 9 * W // the quarantine after a voucher

// late sends a request that was drawn at an earlier time, while the clock is back at that time.
func (w *world) late(drawn int64, challenge string) (answer string) {
	w.t.Helper()
	now := w.now
	w.at(drawn)
	real, model := w.ask(0, drawn, challenge)
	w.check("", real, model)
	w.at(now)
	return real
}

// votesNot fails if the node votes before an instant.
func (w *world) votesNot(until int64) {
	w.t.Helper()
	lost := w.now
	for _, at := range []int64{lost + 2*W, lost + 2_250_000, until - W} {
		w.at(at)
		if real, model := w.admit(0, at); real[0] == 'R' || model[0] == 'R' {
			w.t.Fatalf("%d ms after its loss the node votes", (at-lost)/1000)
		}
	}
}

func TestALateAdmitDoesNotShortenAQuarantine(t *testing.T) {
	for what, loses := range losses {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			drawn, old := w.now, w.challenge()
			w.at(w.now + 8_000_000)
			loses(w)
			lost := w.now
			w.late(drawn, old)
			w.late(drawn, "") // the same request, repeated
			w.votesNot(lost + full)
		})
		t.Run(what+", when the quarantine has begun", func(t *testing.T) {
			w := voting(t)
			drawn, old := w.now, w.challenge()
			w.at(w.now + 8_000_000)
			loses(w)
			w.admits(0, "Q")
			lost := w.now
			w.late(drawn, "")
			w.late(drawn, old)
			w.votesNot(lost + full)
		})
	}
}

// An answer to the challenge of one loss is no answer to the challenge of the next.
func TestALateAnswerToAChallengeDoesNotShortenTheNextQuarantine(t *testing.T) {
	for what, loses := range losses {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			loses(w)
			if real, _ := w.ask(0, w.now, ""); real[0] != 'C' {
				t.Fatalf("answered %q", real)
			}
			drawn, old := w.now, w.challenge()
			w.at(w.now + 3_000_000)
			w.admits(0, "Q") // another client's answer began the quarantine
			w.at(w.now + full)
			w.admits(0, "R")
			w.at(w.now + 2_000_000)
			loses(w)
			lost := w.now
			for _, challenge := range []string{"", old, ""} {
				w.late(drawn, challenge)
			}
			if w.challenge() == old {
				t.Fatal("the node wrote the same challenge again")
			}
			w.votesNot(lost + full)
		})
	}
}

func TestALateAnswerToItsChallengeDoesNotShortenAQuarantine(t *testing.T) {
	w := voting(t)
	losses["FLUSHALL"](w)
	w.ask(0, w.now, "")
	lost := w.now
	w.at(lost + 1_000_000)
	w.admits(0, "Q")
	if got := w.late(lost, w.challenge()); got[0] != 'Q' {
		t.Fatalf("answered %q", got)
	}
	w.at(lost)
	w.votesNot(lost + full)
}

// Two clients that find a loss at the same time answer one challenge.
func TestTwoThatAskAtOnceBeginOneQuarantine(t *testing.T) {
	w := newWorld(t)
	a, _ := w.ask(0, w.now, "")
	w.at(w.now + 1000)
	b, _ := w.ask(0, w.now, "")
	if a[0] != 'C' || b[0] != 'C' || a[17:] != b[17:] {
		t.Fatalf("answered %q and %q", a, b)
	}
	w.says("N", acquire("a", w.now))
	first, _ := w.ask(0, w.now, a[17:])
	w.at(w.now + 1000)
	second, model := w.ask(0, w.now, b[17:])
	w.check("Q"+nodescript.Micros(w.now)+nodescript.Micros(full-1000), second, model)
	if first[0] != 'Q' {
		t.Fatalf("answered %q", first)
	}
}

// A voucher covers the loss that the operator saw, and no later loss.
func TestALateVoucherDoesNothingToALaterLoss(t *testing.T) {
	for what, loses := range losses {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			loses(w)
			w.admits(0, "Q")
			old := w.challenge()
			w.trusts(0, old, "R")
			w.admits(0, "Qvouched")
			w.at(w.now + trusted)
			w.admits(0, "R")
			w.trusts(0, old, "R") // late: the node votes
			loses(w)
			w.trust(0, old)  // before a client found the loss
			w.admits(0, "Q") // and after
			if w.challenge() == old {
				t.Fatal("the node wrote the same challenge again")
			}
			w.trusts(0, old, "V")
			w.votesNot(w.now + full)
		})
		t.Run(what+", for another configuration", func(t *testing.T) {
			w := voting(t)
			refused, _ := w.admit(2, w.now)
			mark := refused[1:41]
			w.trusts(2, mark, "R")
			loses(w)
			w.trust(2, mark)
			w.admits(0, "Q")
			w.trusts(2, mark, "V")
			w.admits(2, "M")
			w.votesNot(w.now + full)
		})
		t.Run(what+", which the other configuration finds", func(t *testing.T) {
			w := voting(t)
			refused, _ := w.admit(2, w.now)
			mark := refused[1:41]
			w.trusts(2, mark, "R")
			loses(w)
			lost := w.now
			for _, after := range []int64{0, 2 * W, 2_000_000} {
				w.at(lost + after)
				if real, _ := w.admit(2, w.now); real[0] == 'R' || real[0] == 'Q' && real[73:] == "vouched" {
					t.Fatalf("answered %q", real)
				}
			}
		})
	}
}

func TestAVoucherReplacesAConfiguration(t *testing.T) {
	w := voting(t)
	refused, _ := w.admit(1, w.now)
	w.trusts(1, refused[1:41], "R")
	w.admits(1, "Qvouched")
	w.trusts(1, refused[1:41], "V")
	w.at(w.now + trusted - 1)
	w.admits(1, "Qvouched")
	w.at(w.now + 1)
	w.admits(1, "R")
	w.admits(0, "M")
}

// A voucher shortens the quarantine. A repeated voucher does not prolong it.
func TestARepeatedVoucherProlongsNothing(t *testing.T) {
	w := newWorld(t)
	w.admits(0, "Qnew")
	w.trusts(0, w.challenge(), "R")
	w.admits(0, "Qvouched")
	w.at(w.now + W)
	w.trusts(0, w.challenge(), "R")
	w.admits(0, "Qvouched")
	w.at(w.now + trusted - W)
	w.admits(0, "R")
}
