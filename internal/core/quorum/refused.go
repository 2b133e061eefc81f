package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// This file is about the time for which a client believes the refusal of a node. Meanwhile it sends the node no calls
// that need its vote. After that it asks the node again. The pause between two tries for a lock is in package bid.

const (
	// AskAgain is the time for which a client believes a refusal that only an operator can end.
	AskAgain = time.Second
	// AskSoon is the time for which a client believes that it cannot reach a node. Calls in this time fail at once.
	// Otherwise each of them would try to connect and wait for the timeout.
	AskSoon = 50 * time.Millisecond
)

// failed makes calls fail for a while, after the node could not be reached or answered with a server error.
func (s *Standing) failed(now clock.Instant, err error) {
	s.refuse(now, AskSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
	s.unreached = node.Code(err) == ""
}

// refuse makes a the answer to all calls for the node during the time d. Those calls are not sent, so refuse marks the
// error of a as not sent. That error may come from an earlier call that was sent.
func (s *Standing) refuse(now clock.Instant, d time.Duration, a nodescript.Answer) {
	a.Err = node.NotSent(a.Err)
	s.step, s.refusal, s.unreached, s.until = Refuse, a, false, now.Add(d)
}
