package fanout

import (
	"context"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// mostAsked is the number of questions for the admission of a slot, one after the other: where the slot came from, the
// proof, and challenges.
const mostAsked = 5

// askSlot asks the shard to admit a slot, and returns its last answer.
func (h *hashSlots) askSlot(slot int) (a nodescript.Answer) {
	challenge, proof, gone, began := "", "", "", false
	for range mostAsked {
		call := func(stamp, w int64, nonce string) node.Call {
			return nodescript.AdmitSlotCall(slot, stamp, w, challenge, nonce, proof)
		}
		r, scripts := h.eval(call)
		if a = nodescript.ParseAdmit(h.fan.config.Set, r); scripts == nil {
			return a
		}
		switch a.Verdict {
		case nodescript.Challenged:
			challenge, began = a.Names, true
		case nodescript.Arrived:
			var err error
			if proof, err = h.prove(a.Names); err != nil {
				return failed(err)
			}
			if gone = ""; proof == nodescript.NoProof {
				gone = a.Names
			}
		case nodescript.Quarantined:
			if began { // the first to see it: the other slots of the shard have probably lost their memory, too
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

// proveSlowly is the part of a window that a proof may take. A slow one makes the clocks of both servers seem further
// apart, so it is asked for once more. The second one is used in any case: leases may wait for it.
const proveSlowly = 4

// prove returns the text of a proof about the server with a run id, or [nodescript.NoProof] if no master of the cluster
// has it. An error means that this is not known.
func (h *hashSlots) prove(run string) (string, error) {
	for try := 0; ; try++ {
		ctx, cancel := context.WithTimeout(h.fan.ctx, 2*h.fan.patience())
		p, took, ok, err := h.shard.Prove(ctx, run)
		cancel()
		switch {
		case err != nil:
			return "", err
		case !ok:
			return nodescript.NoProof, nil
		case took <= h.fan.config.Set.Window/proveSlowly || try == 1:
			return p.With(h.shard.Slots()), nil
		}
	}
}
