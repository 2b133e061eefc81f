package fanout

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// voter contains what the client knows about one node's right to vote. It greets the node, asks it for admission, and
// stores the results. It sends its own calls directly, and not through the queue of the sender.
type voter struct {
	fan       *Fanout
	index     int
	node      node.Node
	greeting  longMutex   // held during greeting and admission
	inquiring longMutex   // held while the client asks the node whether it votes: see askVote
	unmet     atomic.Bool // the last greeting failed
	site      site
	heard     atomic.Bool  // the node has answered a greeting
	since     atomic.Int64 // a clock.Instant: when the client first met the server that the node leads to
	denies    atomic.Bool  // the server refuses writes: see heed
	reports   []*underway  // the reports under way, the oldest first; Fanout.mu guards it

	mu          sync.Mutex
	standing    *quorum.Standing
	back        chan struct{}     // closes when the node answers a greeting after one that failed; nil: nobody waits for that
	nextInquiry *inquiry          // the question that will be asked next; nil: no caller waits for one
	trusted     bool              // the node does not let clients read its settings, and this was logged
	refuses     bool              // the node refuses subscriptions, and this was logged
	announced   refused           // the last refusal that was passed to VoteChanged; zero while the node votes
	why         nodescript.Answer // the answer of that refusal
	trip        time.Duration     // the round trip of the last hello; 0: the node answered none
	unsettled   spell             // the present span of time without known clocks
	elsewhere   string            // the incarnation that is known not to be local; the holder of greeting guards it
	greeted     clock.Instant     // the end of the first greeting that the node answered; 0: none has ended yet
}

func newVoter(f *Fanout, i int, n node.Node) *voter {
	v := &voter{fan: f, index: i, node: n, standing: quorum.NewStanding(f.config.Set), greeting: newLongMutex(), inquiring: newLongMutex()}
	v.site.proving = newLongMutex()
	if f.config.Shard == nil { // its driver makes sure of the master, before each call
		v.site.node, _ = n.(node.Identified)
	}
	return v
}

// view is the part of a node's standing that a pipeline needs.
type view struct {
	votes     bool                // the node votes, and no greeting, refresh or proof comes first
	releases  bool                // releases may be sent although the node does not vote
	elsewhere bool                // the last proof led to another server
	scripts   *nodescript.Scripts // nil before the first greeting
	refusal   nodescript.Answer   // the answer for messages that are not sent; it has a verdict, also while the node votes
}

// view returns the node's standing at the instant now.
func (v *voter) view(now clock.Instant) view {
	v.mu.Lock()
	defer v.mu.Unlock()
	run, step := v.standing.Run(), v.standing.Next(now)
	return view{
		votes:     step == quorum.Send && !v.fan.untrusted(v.index, now) && !v.due(now),
		releases:  v.standing.GoesWithoutVote(nodescript.Release),
		elsewhere: v.site.node != nil && v.site.run != run,
		scripts:   v.standing.Scripts(),
		refusal:   v.standing.Refusal(now),
	}
}

// votes reports whether the node votes, as far as the client knows.
func (v *voter) votes() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Next(v.fan.Now()) == quorum.Send
}

// admitted greets the node and asks it for admission, if that is necessary. It returns true if the node votes.
// Otherwise standing contains the reason. Only one goroutine at a time greets a node. While the node votes, admitted
// does not wait for that goroutine.
func (v *voter) admitted() bool {
	step, due := v.next()
	if step == quorum.Send && !due {
		return true
	}
	v.greeting.Lock()
	defer v.greeting.Unlock()
	return v.greetAndAdmit(false)
}

// greetAndAdmit does the work of admitted. looks says that somebody only looks at the node, and wants no lock. The
// caller holds v.greeting.
func (v *voter) greetAndAdmit(looks bool) bool {
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.splitNow(v.fan.Now())
		v.fan.unused.noteStanding(v.index, v.standing.Vote(v.fan.Now()))
		if v.heard.Load() && v.greeted == 0 {
			v.greeted = max(v.fan.Now(), 1)
		}
	}()
	for tries := 0; ; tries++ {
		step, due := v.next()
		switch step {
		case quorum.Send:
			if !v.atSite() {
				if tries > 2 {
					return false
				}
				continue
			}
			if due && v.refreshDue() {
				v.refresh()
			}
			return true
		case quorum.Refuse:
			return false
		case quorum.Greet:
			// Give up after a few tries. Otherwise the loop would ask a node that is down again and again, and the
			// batch would wait for ever.
			if tries > 2 {
				return false
			}
			lost := v.unmet.Load() // dial once until the node answers
			if tries == 0 && !lost {
				v.proveNow() // atSite waits for it
			}
			if !v.greet() {
				return false
			}
			if lost {
				v.proveNow()
			}
		case quorum.Admit:
			if !v.admit(looks) {
				return false
			}
		}
	}
}

// returns returns a channel that closes when the node answers a greeting after one that failed.
func (v *voter) returns() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.back == nil {
		v.back = make(chan struct{})
	}
	return v.back
}

func (v *voter) refreshDue() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.RefreshDue(v.fan.Now())
}

// next returns the next step. due says that the node votes, and a refresh or a proof comes first.
func (v *voter) next() (step quorum.Step, due bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.fan.Now()
	if v.standing.Next(now) == quorum.Send && v.fan.untrusted(v.index, now) {
		v.standing.Doubt()
	}
	step = v.standing.Next(now)
	return step, step == quorum.Send && v.due(now)
}

// due reports whether a refresh or a proof comes before the next calls to a voting node. The caller holds v.mu.
func (v *voter) due(now clock.Instant) bool {
	return v.standing.RefreshDue(now) || v.unproven(now, v.standing.Run())
}

// reconsider removes a refusal, so that the next call asks the node again.
func (v *voter) reconsider() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Reconsider()
}

// doubt makes the client greet a voting node again. Until then the client sends only releases to the node.
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

// askVote asks the node whether it votes, even if it has just voted, and returns the answer. Other calls to a voting
// node continue meanwhile, until the node itself answers that it does not vote. Without this, a client could lose its
// leases because somebody looks at the node.
//
// Only one question at a time is under way. All callers that come meanwhile share the next question, because an answer
// must be newer than its call. So if a node hangs, at most two questions wait for it.
func (v *voter) askVote() nodescript.Answer {
	v.mu.Lock()
	next := v.nextInquiry
	if next != nil {
		v.mu.Unlock()
		<-next.done
		return next.answer
	}
	next = &inquiry{done: make(chan struct{})}
	v.nextInquiry = next
	v.mu.Unlock()
	v.inquiring.Lock()
	v.mu.Lock()
	v.nextInquiry = nil // later callers need a later question
	v.mu.Unlock()
	next.answer = v.askVoteOnce()
	v.inquiring.Unlock()
	close(next.done)
	return next.answer
}

// heed notes the answer to a call that writes, if it shows that the server begins or ends to refuse writes.
func (v *voter) heed(a nodescript.Answer) {
	if !a.Unwritable() && !v.denies.Load() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Wrote(v.fan.Now(), a)
	v.noteRefusal(v.standing.Next(v.fan.Now()) != quorum.Refuse)
}

// inquiry is a question that has not been asked yet, or its answer.
type inquiry struct {
	done   chan struct{} // closes when answer is set
	answer nodescript.Answer
}

// askVoteOnce does the work of askVote.
func (v *voter) askVoteOnce() nodescript.Answer {
	v.greeting.Lock()
	defer v.greeting.Unlock()
	a := v.askAgain()
	if node.Timeout(a.Err) || node.Refused(a.Err) { // otherwise the node answers, or its connection broke
		return a
	}
	several, moved := v.proveOften(a)
	switch {
	case several:
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.standing.Refusal(v.fan.Now())
	case moved:
		return v.askAgain()
	}
	return a
}

// askAgain asks the node whether it votes. The caller holds v.greeting.
func (v *voter) askAgain() nodescript.Answer {
	if step, _ := v.next(); step == quorum.Send {
		if a, answered := v.askVoting(); answered {
			return a
		}
	}
	v.reconsider() // the node may have lost its memory since that refusal
	v.greetAndAdmit(true)
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Vote(v.fan.Now())
}

// askVoting asks a voting node whether it still votes. If answered is false, the caller must greet the node again.
func (v *voter) askVoting() (a nodescript.Answer, answered bool) {
	h, reading, err := v.hello(v.fan.ctx, v.fan.patience())
	if err != nil {
		return v.unanswered(err), true
	}
	v.fan.read(reading)
	twin := v.fan.meet(v.index, h.Run)
	v.mu.Lock()
	scripts, loaded, challenge := v.standing.Scripts(), v.standing.Loaded(), v.standing.Challenge()
	if unfit, _ := h.Unfit(); h.Run != scripts.Run || twin != "" || unfit != nodescript.NoCause {
		defer v.mu.Unlock()
		v.standing.Doubt() // a whole greeting follows. It also finds out which server this is, and whether it is durable.
		return a, false
	}
	v.mu.Unlock()
	stamp, within, err := v.fan.admission()
	if err != nil {
		return failed(err), true
	}
	a, _, received := v.evalAdmit(scripts, loaded, stamp, within, challenge, false)
	if a.Verdict == nodescript.Failed && !a.Unwritable() {
		return v.unanswered(a.Err), true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Asked(received, a)
	v.noteRefusal(v.standing.Next(received) != quorum.Refuse)
	if a.Verdict == nodescript.Done {
		a = v.standing.Vote(received)
	}
	return a, a.Verdict != nodescript.Challenged
}

// unanswered notes that the node did not answer askVoting, and returns that as an answer.
func (v *voter) unanswered(err error) nodescript.Answer {
	if changed(err) {
		v.broke(err)
	}
	return failed(err)
}

// broke notes that a call failed in such a way that another server may be behind the address: see changed.
func (v *voter) broke(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Broke(v.fan.Now(), err)
}

// overdue notes that a call that left at the instant sent had no answer within the node timeout.
func (v *voter) overdue(sent clock.Instant) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.standing.Overdue(sent)
}
