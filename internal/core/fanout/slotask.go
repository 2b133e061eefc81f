package fanout

import (
	"context"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// mostAsked is the number of questions for the admission of a slot, one after the other: where the slot came from, the
// proof, and challenges. Questions for another proof do not count.
const mostAsked = 5

// adopting is the number of admissions of hash slots that a client asks of a shard at the same time. With hundreds of
// them its own crowd would make its proofs late.
const adopting = 64

// askSlot asks the shard to admit a slot, and returns its last answer.
func (h *hashSlots) askSlot(slot int) (a nodescript.Answer) {
	var from origin
	window, challenge, began := h.fan.config.Set.Window, "", false
	for end, asked := h.fan.Now().Add(4*h.fan.patience()), 0; asked < mostAsked; {
		select {
		case h.turns <- struct{}{}:
		case <-h.fan.ctx.Done():
			return failed(node.NotSent(h.fan.ctx.Err()))
		}
		if from.stale(h.fan.Now(), window) && h.fan.Now() < end {
			<-h.turns
			if err := h.find(&from, from.run); err != nil {
				return failed(err)
			}
			continue
		}
		call := func(stamp, w int64, nonce string) node.Call {
			return nodescript.AdmitSlotCall(slot, stamp, w, challenge, nonce, from.text(h.fan.Now(), window, h.shard.Slots()))
		}
		r, scripts := h.eval(call)
		answered := h.fan.Now()
		<-h.turns
		if a = nodescript.ParseAdmit(h.fan.config.Set, r); scripts == nil {
			return a
		}
		if a.Verdict != nodescript.Arrived {
			h.doubt(slot, 0)
			asked++
		}
		switch a.Verdict {
		case nodescript.Challenged:
			challenge, began = a.Names, true
		case nodescript.Arrived:
			switch known := from.asked && from.run == a.Names; {
			case known && from.ok && (from.differs(a, answered, window) || h.doubt(slot, answered)):
				from.ok = false
				continue
			case known && !from.ok, answered > end:
				return nodescript.Answer{Verdict: nodescript.NotAdmitted}
			case known:
				if from.tries++; from.tries > exactTries && clock.Rest(h.fan.ctx, movesAgain) != nil {
					return nodescript.Answer{Verdict: nodescript.NotAdmitted}
				}
			}
			if err := h.find(&from, a.Names); err != nil {
				return failed(err)
			}
		case nodescript.Quarantined:
			if began { // the first to see it: the other slots of the shard have probably lost their memory, too
				gone := ""
				if from.gone {
					gone = from.run
				}
				h.fan.wait.Go(func() { h.sweepOnce(scripts.Run, gone) })
				if a.Cause == nodescript.MemoryNew {
					h.fan.wait.Go(h.shard.New)
				}
			}
			return a
		default:
			return a
		}
	}
	return a
}

// find asks for a proof of the master with a run id.
func (h *hashSlots) find(from *origin, run string) (err error) {
	if from.run != run {
		*from = origin{run: run}
	}
	from.asked = true
	from.proved, from.ok, err = h.prove(run)
	from.gone = !from.ok
	return err
}

// doubt notes that a proof of a slot was not exact enough at the instant now; 0: the slot needs no proof. It returns true
// when that has lasted for MaxTTL: all leases of the slot have ended, so a quarantine ends none.
func (h *hashSlots) doubt(slot int, now clock.Instant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, doubted := h.doubted[slot]
	switch {
	case now == 0:
		delete(h.doubted, slot)
	case !doubted:
		if h.doubted == nil {
			h.doubted = map[int]clock.Instant{}
		}
		h.doubted[slot] = now
	default:
		return now.Sub(first) > h.fan.config.Set.MaxTTL
	}
	return false
}

// eval runs admit on the shard. scripts is nil if that could not be tried. If another server answers than the one that the
// client has greeted, the next message greets it.
func (h *hashSlots) eval(of func(stamp, w int64, nonce string) node.Call) (node.Reply, *nodescript.Scripts) {
	v := h.voter
	v.mu.Lock()
	scripts := v.standing.Scripts()
	v.mu.Unlock()
	stamp, within, err := h.fan.admission()
	if err != nil || scripts == nil {
		return node.Reply{Err: node.NotSent(err)}, nil
	}
	ctx, cancel := context.WithTimeout(h.fan.ctx, h.fan.patience())
	defer cancel()
	r := h.node.Eval(ctx, scripts.Admit, of(stamp, within.Microseconds(), strconv.FormatUint(h.fan.config.Random(), 36)))
	if node.Code(r.Err) == nodescript.OtherRun {
		h.voter.doubt()
	}
	return r, scripts
}

// Unproved is the error of a shard that cannot admit a hash slot yet: it came from another master, and a master that may be
// that one did not answer.
type Unproved struct {
	Master string // its address
	Err    error
}

func (u Unproved) Error() string {
	return fmt.Sprintf("a hash slot came from another master, perhaps %s, which does not answer: %s", u.Master, node.Reason(u.Err))
}
