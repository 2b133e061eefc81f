package bids

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// message is one call to several nodes, as in package fanout.
type message struct {
	call    nodescript.Call
	dropped bool
	sendBy  clock.Instant // the last instant for sending it; 0: no limit
	persist clock.Instant // the instant until which the message is sent again if it failed
	answer  func(node int, a nodescript.Answer)
}

var errLost = errors.New("the answer was lost")

// unsent is the answer to a message that was not sent.
var unsent = nodescript.Answer{Verdict: nodescript.Failed, Err: node.NotSent(errors.New("not sent"))}

// send sends messages to a node in one piece. Each gets exactly one answer.
func (w *World) send(i int, piece ...*message) {
	wait := time.Duration(0)
	if !w.calm && w.chance(5) {
		wait = w.below(2 * window) // in the client's queue
	}
	w.after(wait, func() {
		var goes []*message
		for _, m := range piece {
			if m.dropped || m.sendBy != 0 && w.now > m.sendBy {
				w.answered(i, m, unsent)
				continue
			}
			goes = append(goes, m)
		}
		w.travel(i, goes)
	})
}

// travel takes messages to a node and the answers back.
func (w *World) travel(i int, piece []*message) {
	there, back := w.trip(), w.trip()
	if w.slow && !w.calm && w.chance(3) {
		back = w.below(timeout)
	}
	if w.isDead(i) {
		w.after(w.trip(), func() { // the client knows that it cannot reach the node
			for _, m := range piece {
				w.answered(i, m, unsent)
			}
		})
		return
	}
	if w.isCut(i) {
		w.Lost++
		w.after(timeout, func() { w.fail(i, piece) })
		return
	}
	lost := false
	if !w.calm {
		switch w.rng.IntN(12) {
		case 0:
			w.Lost++
			w.after(timeout, func() { w.fail(i, piece) }) // the request is lost
			return
		case 1:
			w.Lost++
			lost = true // the answer is lost
		case 2:
			if w.repeats {
				w.Repeated++
				w.after(there+w.below(window), func() { w.arrive(i, piece) })
			}
		case 3:
			there += w.below(2 * timeout) // it arrives late
		}
	}
	late := lost || there+back > timeout
	if late {
		w.after(timeout, func() { w.fail(i, piece) })
	}
	w.after(there, func() {
		answers := w.arrive(i, piece)
		if late {
			return
		}
		w.after(back, func() {
			for k, m := range piece {
				w.answered(i, m, answers[k])
			}
		})
	})
}

// trip returns the time of a message to a node, or of its answer.
func (w *World) trip() time.Duration {
	if w.calm || !w.chance(4) {
		return time.Millisecond + w.below(4*time.Millisecond)
	}
	return time.Millisecond + w.below(window/4)
}

func (w *World) arrive(i int, piece []*message) (answers []nodescript.Answer) {
	for _, m := range piece {
		answers = append(answers, w.servers[i].call(m.call))
	}
	return answers
}

func (w *World) fail(i int, piece []*message) {
	for _, m := range piece {
		w.answered(i, m, nodescript.Answer{Verdict: nodescript.Failed, Err: errLost})
	}
}

// answered hands an answer to the sender, or sends the message again.
func (w *World) answered(i int, m *message, a nodescript.Answer) {
	if m.answer != nil {
		m.answer(i, a)
	}
	if a.Verdict == nodescript.Failed && w.now < m.persist {
		w.after(time.Second, func() { w.send(i, m) })
	}
}
