package fanout

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// noteRefusal calls Config.VoteChanged when the node stops voting, when the reason for that changes, and when the node
// votes again. A node whose server refuses writes counts as not voting here, although calls are sent to it. ok says
// that the node did not refuse. noteRefusal returns ok. The caller holds v.mu.
func (v *voter) noteRefusal(ok bool) bool {
	now := v.fan.Now()
	a := v.standing.Refusal(now)
	if ok {
		if v.standing.Next(now) != quorum.Send || v.unproven(now, v.standing.Run()) { // a proof comes first: see atSite
			return true
		}
		a = v.standing.Vote(now)
		v.unsettled.reset()
	} else if v.unsettled.brief(now, a) {
		return false
	}
	v.denies.Store(ok && a.Unwritable())
	why := refused{}
	if a.Verdict != nodescript.Done {
		why = refusedBy(a)
	}
	if why != v.announced && (ok || v.fan.ctx.Err() == nil) {
		if v.announced, v.why = why, a; a.Verdict == nodescript.Done {
			v.why = nodescript.Answer{}
		}
		v.announce(a)
	}
	return ok
}

// spell is a time in which the client does not know the nodes' clocks well enough, so it does not count the node's
// vote. Each new client has a spell of some milliseconds until it has met a majority. Such short spells are not
// announced.
type spell struct{ since, last clock.Instant }

const (
	// worthTelling is the length of the shortest spell that the client announces.
	worthTelling = time.Second
	// spellPause is the pause after which a refusal begins a new spell. The client asks a refused node again after
	// about a second. So a shorter pause belongs to the same spell.
	spellPause = 3 * time.Second
)

// brief reports whether a refusal belongs to a spell that has not lasted for worthTelling.
func (s *spell) brief(now clock.Instant, a nodescript.Answer) bool {
	var unsettled quorum.Unsettled
	if a.Cause != nodescript.Inexact && !errors.As(a.Err, &unsettled) {
		s.reset()
		return false
	}
	if s.since == 0 || now.Sub(s.last) >= spellPause {
		s.since = now
	}
	s.last = now
	return now.Sub(s.since) < worthTelling
}

func (s *spell) reset() { *s = spell{} }

func (v *voter) announce(a nodescript.Answer) {
	if v.fan.config.VoteChanged != nil {
		offset, _ := v.fan.Offset(v.index)
		v.fan.config.VoteChanged(v.index, a, offset)
	}
}

// refused is a refusal without its times. So two refusals for the same reason are equal, and the second is not
// announced.
type refused struct {
	verdict nodescript.Verdict
	cause   nodescript.Cause
	with    string // the evidence and the error, as text
}

func refusedBy(a nodescript.Answer) refused {
	if a.Verdict == nodescript.Failed && a.Cause == nodescript.NoCause {
		a.Cause = nodescript.RefusedWrite(a.Err) // the answer to a greeting has no cause
	}
	r := refused{verdict: a.Verdict, cause: a.Cause, with: node.Reason(a.Err)}
	if a.Unwritable() { // the server's text names the script
		r.with = ""
	}
	if e := a.Evidence; e != nil {
		r.with += fmt.Sprint(e.Value, e.Theirs, e.Ours)
	}
	return r
}

// deaf logs that a server refuses subscriptions. It logs this only once.
func (v *voter) deaf(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.refuses {
		v.refuses = true
		v.fan.config.Logger.Warn("node refuses subscriptions: waiters of this client cannot queue there and may be overtaken without a bound",
			"node", v.node.Addr(), "error", node.Reason(err))
	}
}
