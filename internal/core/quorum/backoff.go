package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// The back-off: for these times a client believes a refusal, and sends the node no calls. Then it asks the node again.
const (
	// askAgain is the time for which a client believes a refusal that only an operator can end.
	askAgain = time.Second
	// askSoon is the time for which a client believes that it cannot reach a node. Calls that come in this time get
	// that answer at once. Otherwise they would try, and time out, one after the other.
	askSoon = 50 * time.Millisecond
)

// failed refuses calls for a node that was not reached, or that answered with a server error.
func (s *Standing) failed(now clock.Instant, err error) {
	s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
	s.unreached = node.Code(err) == ""
}

// refuse makes a the answer to all calls for the node during the time d. These calls are never sent. So refuse marks the
// error of a as not sent, although an earlier call may have been sent.
func (s *Standing) refuse(now clock.Instant, d time.Duration, a nodescript.Answer) {
	a.Err = node.NotSent(a.Err)
	s.step, s.refusal, s.unreached, s.until = Refuse, a, false, now.Add(d)
}
