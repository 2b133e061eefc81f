package fanout

import (
	"cmp"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// Sweep greets the shard and begins the quarantines of its hash slots, once for each incarnation of its server.
func (f *Fanout) Sweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.senders[0]; !f.closed {
		f.wait.Go(func() {
			s.slots.repeat(func() bool {
				if !s.voter.admitted() {
					return false
				}
				s.slots.sweepOnce(s.voter.view(f.Now()).scripts.Run, "")
				return true
			})
		})
	}
}

// mostSweeps is the number of times that a sweep is tried, about a second apart. A busy server may answer late, or find
// that the stamp of a sweep is off its clock.
const mostSweeps = 10

// repeat calls try until it returns true. It gives up after [mostSweeps] calls, or when the client closes.
func (h *hashSlots) repeat(try func() bool) {
	for range mostSweeps {
		if try() {
			return
		}
		pause := time.NewTimer(quorum.AskAgain)
		select {
		case <-pause.C:
		case <-h.fan.hear.Done(): // a sweep gives nothing back, so it ends early in Close
			pause.Stop()
			return
		}
	}
}

// sweepPause is the pause between two calls of a sweep.
const sweepPause = 5 * time.Millisecond

// sweepEach is the number of slots of one call of a sweep. The server needs about three milliseconds for it.
const sweepEach = 256

// sweepOnce begins the quarantines of all slots of the shard that need one, once for each incarnation of its server.
// Without it, the first lock in each of thousands of slots would wait for a quarantine of its own.
func (h *hashSlots) sweepOnce(run, gone string) {
	h.mu.Lock()
	done := h.swept == run
	h.swept = run
	h.mu.Unlock()
	if done {
		return
	}
	var sum nodescript.Sweep
	var begun []begun
	h.repeat(func() bool {
		part, more, err := h.sweep(gone)
		sum.Left = max(sum.Left, part.Left)
		begun = append(begun, more...)
		return err == nil
	})
	if len(begun) == 0 {
		return
	}
	over := time.NewTimer(time.Duration(sum.Left)*time.Microsecond + sweepPause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-h.fan.hear.Done():
		return
	}
	for _, one := range begun { // the first lock in each slot then finds a slot that votes
		if h.fan.hear.Err() != nil {
			return
		}
		h.eval(func(stamp, w int64, nonce string) node.Call {
			return nodescript.SweepCall(one.slots, stamp, w, one.challenge, nonce, "")
		})
		time.Sleep(sweepPause)
	}
}

// begun are slots whose quarantines this client has begun, and their challenge.
type begun struct {
	slots     []int
	challenge string
}

// swept is the result of a sweep.
type swept struct {
	nodescript.Sweep       // the sum of the answers
	slots            int   // the number of slots
	odd              []int // some slots, of which one has neither a vote nor a quarantine; nil if there is none
	come             []int // some slots, of which one has come from another server; nil if there is none
}

// sweep asks for the admission of all slots of the shard. It returns the result, or the first error.
func (h *hashSlots) sweep(gone string) (sum swept, begins []begun, err error) {
	all := h.shard.Slots()
	sum.slots = len(all)
	for len(all) > 0 {
		n := min(len(all), sweepEach)
		one, challenges, err := h.sweepSome(all[:n], gone)
		if err != nil {
			return sum, begins, err
		}
		for _, challenge := range challenges {
			begins = append(begins, begun{all[:n], challenge})
		}
		sum.Voting, sum.Challenged, sum.Quarantined = sum.Voting+one.Voting, sum.Challenged+one.Challenged, sum.Quarantined+one.Quarantined
		sum.Arrived, sum.Others, sum.Left = sum.Arrived+one.Arrived, sum.Others+one.Others, max(sum.Left, one.Left)
		if one.Others+one.Challenged > 0 && sum.odd == nil {
			sum.odd = all[:n]
		}
		if one.Arrived > 0 && sum.come == nil {
			sum.come = all[:n]
		}
		all = all[n:]
		select { // other calls come between
		case <-time.After(sweepPause):
		case <-h.fan.hear.Done():
			return sum, begins, h.fan.hear.Err()
		}
	}
	return sum, begins, nil
}

var (
	errOffClock   = errors.New("the stamps of the sweep were off the clock of the shard")
	errNotGreeted = errors.New("the client has not greeted the shard")
)

// sweepSome asks for the admission of some slots, and quotes their challenges. There are several if other clients, or an
// earlier call, have noted the loss of some of the slots before.
func (h *hashSlots) sweepSome(slots []int, gone string) (one nodescript.Sweep, challenges []string, err error) {
	challenge := ""
	for range mostAsked {
		r, scripts := h.eval(func(stamp, w int64, nonce string) node.Call {
			return nodescript.SweepCall(slots, stamp, w, challenge, nonce, gone)
		})
		if scripts == nil {
			return one, challenges, cmp.Or(r.Err, errNotGreeted)
		}
		switch one, err = nodescript.ParseSweep(r); {
		case err != nil:
			return one, challenges, err
		case one.OffClock: // the call was late; the next one has a new stamp
		case one.Challenged == 0:
			return one, challenges, nil
		default:
			challenge = one.Challenge
			challenges = append(challenges, challenge)
		}
	}
	if one.OffClock {
		return one, challenges, errOffClock
	}
	return one, challenges, nil // the next use of a slot asks for it
}
