package fanout

import (
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// voter keeps what the client knows of one node's right to vote. It greets the node, has it admitted, and keeps the
// results. It sends its own calls, and does not use the client's queue of messages to that node (sender).
type voter struct {
	fan      *Fanout
	index    int
	node     node.Node
	greeting longMutex   // held during greeting and admission
	looking  longMutex   // held during a look
	unmet    atomic.Bool // the last greeting failed

	mu        sync.Mutex
	standing  *quorum.Standing
	nextLook  *look         // the look that begins next; nil: no look waits
	trusted   bool          // the node does not tell its settings, and this was logged
	refuses   bool          // the node refuses subscriptions, and this was logged
	announced refused       // the last refusal that VoteChanged got; zero while the node votes
	unsettled spell         // the recent refusals because the clocks are not known
	heard     bool          // the node has answered a greeting
	greeted   clock.Instant // the end of the first greeting that the node answered; 0: not yet
}

func newVoter(f *Fanout, i int, n node.Node) *voter {
	return &voter{fan: f, index: i, node: n, standing: quorum.NewStanding(f.config.Set), greeting: newLongMutex(), looking: newLongMutex()}
}

// view is the part of a node's standing that a pipeline needs.
type view struct {
	scripts  *nodescript.Scripts
	refusal  nodescript.Answer // the answer to messages that need the vote, if the node does not vote
	releases bool              // releases go out without the vote
}

func (v *voter) view() view {
	v.mu.Lock()
	defer v.mu.Unlock()
	return view{v.standing.Scripts(), v.standing.Refusal(v.fan.Now()), v.standing.GoesWithoutVote(nodescript.Release)}
}

// takesReleases reports whether releases go out now without the vote.
func (v *voter) takesReleases() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Next(v.fan.Now()) // this call ends a refusal whose time has passed
	return v.standing.GoesWithoutVote(nodescript.Release)
}

// votes reports whether the node voted when it was last met.
func (v *voter) votes() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Next(v.fan.Now()) == quorum.Send
}

// admitted greets and admits the node if necessary. It reports whether the node votes. If the node does not vote,
// standing contains the reason. Only one goroutine at a time greets a node. While the node votes, admitted does not
// wait for that goroutine.
func (v *voter) admitted() bool {
	step, due := v.next()
	if step == quorum.Send && !due {
		return true
	}
	v.greeting.Lock()
	defer v.greeting.Unlock()
	return v.greetAndAdmit()
}

// greetAndAdmit does the work of admitted. The caller holds v.greeting.
func (v *voter) greetAndAdmit() bool {
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.heard && v.greeted == 0 {
			v.greeted = max(v.fan.Now(), 1)
		}
	}()
	for tries := 0; ; tries++ {
		step, due := v.next()
		switch step {
		case quorum.Send:
			if due {
				v.refresh()
			}
			return true
		case quorum.Refuse:
			return false
		case quorum.Greet:
			// A refusal of this call is final for its batch. Otherwise the loop would ask a node that is down again and
			// again.
			if tries > 2 {
				return false
			}
			if !v.greet() {
				return false
			}
		case quorum.Admit:
			if !v.admit() {
				return false
			}
		}
	}
}

func (v *voter) next() (step quorum.Step, refreshDue bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.fan.Now()
	if v.standing.Next(now) == quorum.Send && v.fan.untrusted(v.index) {
		v.standing.Doubt()
	}
	return v.standing.Next(now), v.standing.RefreshDue(now)
}

// reconsider ends a refusal, so that the next call asks the node again.
func (v *voter) reconsider() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Reconsider()
}

// doubt makes the client meet a voting node again. Until then the node gets only releases.
func (v *voter) doubt() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Doubt()
}

// forgot notes that the node has lost its scripts or its guard.
func (v *voter) forgot() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Forgot()
}

// askVote asks the node whether it votes, even if it voted a moment ago, and returns its answer. During the question,
// calls to a voting node continue until the node itself says that it does not vote. So a look makes no client lose a
// lease.
//
// Only one look at a time is under way. Callers that come during a look share the next one, because its question is
// later than their calls. So looks that a hung node does not answer do not pile up.
func (v *voter) askVote() nodescript.Answer {
	v.mu.Lock()
	next := v.nextLook
	if next != nil {
		v.mu.Unlock()
		<-next.done
		return next.answer
	}
	next = &look{done: make(chan struct{})}
	v.nextLook = next
	v.mu.Unlock()
	v.looking.Lock()
	v.mu.Lock()
	v.nextLook = nil // later callers need a later question
	v.mu.Unlock()
	next.answer = v.askVoteOnce()
	v.looking.Unlock()
	close(next.done)
	return next.answer
}

// look is a look that has not begun, or its result.
type look struct {
	done   chan struct{} // this channel closes when answer is set
	answer nodescript.Answer
}

// askVoteOnce does the work of askVote.
func (v *voter) askVoteOnce() nodescript.Answer {
	v.greeting.Lock()
	defer v.greeting.Unlock()
	if step, _ := v.next(); step == quorum.Send {
		if a, answered := v.askVoting(); answered {
			return a
		}
	}
	v.reconsider() // the node may have lost its memory again since its refusal
	if v.greetAndAdmit() {
		return nodescript.Answer{Verdict: nodescript.Done}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Refusal(v.fan.Now())
}

// askVoting asks a voting node whether it still votes. If answered is false, the caller must greet the node again.
func (v *voter) askVoting() (a nodescript.Answer, answered bool) {
	h, reading, err := v.hello(v.fan.ctx, v.fan.config.Timeout)
	if err != nil {
		return v.unanswered(err), true
	}
	v.fan.read(reading)
	twin := v.fan.meet(v.index, h.Run)
	v.mu.Lock()
	scripts, loaded, challenge := v.standing.Scripts(), v.standing.Loaded(), v.standing.Challenge()
	if unfit, _ := h.Unfit(); h.Run != scripts.Run || twin != "" || unfit != nodescript.NoCause {
		defer v.mu.Unlock()
		v.standing.Doubt() // a whole greeting follows: it also notes which server this is, and whether it is durable
		return a, false
	}
	v.mu.Unlock()
	stamp, within, err := v.fan.admission()
	if err != nil {
		return failed(err), true
	}
	a, received := v.evalAdmit(scripts, loaded, stamp, within, challenge)
	if a.Verdict == nodescript.Failed {
		return v.unanswered(a.Err), true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Asked(received, a)
	v.noteRefusal(v.standing.Next(received) != quorum.Refuse)
	return a, a.Verdict != nodescript.Challenged
}

// unanswered returns the answer of askVoting for a node that did not answer.
func (v *voter) unanswered(err error) nodescript.Answer {
	if changed(err) {
		v.broke(err)
	}
	return failed(err)
}

// broke notes that a call failed in a way that makes the node doubtful.
func (v *voter) broke(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Broke(v.fan.Now(), err)
}
