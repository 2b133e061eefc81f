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

// refuse answers calls for the node with a for the time d. The error of a may say that a call was sent. But calls that
// get this answer were never sent, so refuse marks the error as not sent.
func (s *Standing) refuse(now clock.Instant, d time.Duration, a nodescript.Answer) {
	a.Err = node.NotSent(a.Err)
	s.step, s.refusal, s.unreached, s.until = Refuse, a, false, now.Add(d)
}
