package waiting

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// Grant is a lease as it was won.
type Grant struct {
	Owner    string
	Token    int64         // T, the fencing token: µs of stamp time
	Sent     clock.Instant // when T was drawn: belief counts from here
	Deadline clock.Instant
}

// attempt is one attempt under one owner. It is the receiver of its own messages.
type attempt struct {
	fan   *fanout.Fanout
	lock  nodescript.Lock
	owner string
	ttl   time.Duration

	mu      sync.Mutex
	votes   *quorum.Attempt
	message *fanout.Message // of the current round
	stamp   int64           // of the current round: the highest sent under owner
	sent    clock.Instant
	over    bool // nobody waits for it any more
	done    chan struct{}
	won     bool
	cut     bool  // it was ended before the outcome
	err     error // no stamp could be drawn
}

func newAttempt(f *fanout.Fanout, l nodescript.Lock, owner string, ttl time.Duration) *attempt {
	return &attempt{fan: f, lock: l, owner: owner, ttl: ttl, votes: quorum.NewAttempt(f.N()), done: make(chan struct{})}
}

// run makes the attempt. It returns as soon as the outcome is certain, or when ctx ends
// or the client is closed; whatever the nodes hold of a failed attempt is released in the background.
func (a *attempt) run(ctx context.Context, stop <-chan struct{}) (Grant, bool) {
	a.mu.Lock()
	a.begin()
	a.mu.Unlock()
	select {
	case <-a.done:
	case <-ctx.Done():
	case <-stop:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.done:
	default:
		a.cut = true
	}
	deadline := quorum.Deadline(a.sent, a.ttl, a.fan.Set().Window)
	a.over = true
	if a.won && a.fan.Now() < deadline {
		return Grant{Owner: a.owner, Token: a.stamp, Sent: a.sent, Deadline: deadline}, true
	}
	a.undo()
	return Grant{}, false
}

// begin sends a fresh stamp to all nodes. a.mu is held.
func (a *attempt) begin() {
	stamp, sent, err := a.fan.Stamp()
	if err != nil {
		a.err = err
		close(a.done)
		return
	}
	if a.message != nil {
		a.message.Drop() // where the last round was not sent yet, this one takes its place
	}
	a.stamp, a.sent = stamp, sent
	a.message = &fanout.Message{
		Call: nodescript.AcquireCall(a.lock, a.owner, stamp, a.ttl, a.fan.Set().Window),
		To:   a, Tag: a.votes.Begin(), SendBy: a.fan.SendBy(sent),
	}
	a.fan.Send(a.message, nil)
}

// Answered takes a node's answer to the stamp of round tag.
func (a *attempt) Answered(node, tag int, ans nodescript.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.votes.Answer(node, tag, ans)
	if ans.Verdict == nodescript.Stale {
		a.fan.Raise(ans.Seen)
	}
	if a.over || out == quorum.Open {
		return
	}
	switch out {
	case quorum.Again:
		a.begin()
	case quorum.Won:
		a.won = true
		close(a.done)
	case quorum.Failed:
		close(a.done)
	}
}

// undo releases on every node that granted or may yet: a release that overtakes its
// acquire leaves a tombstone that the acquire meets. a.mu is held.
func (a *attempt) undo() {
	if a.message == nil {
		return
	}
	a.message.Drop()
	release(a.fan, a.lock, a.owner, a.stamp, a.sent.Add(a.ttl), nil, a.votes.Touched)
}

// release sends a release that is repeated until the lease is over on the nodes anyway.
func release(f *fanout.Fanout, l nodescript.Lock, owner string, highest int64, over clock.Instant, to fanout.Receiver, where func(int) bool) {
	f.Send(&fanout.Message{
		Call: nodescript.ReleaseCall(l, owner, highest),
		To:   to, Persist: over.Add(f.Set().Window),
	}, where)
}
