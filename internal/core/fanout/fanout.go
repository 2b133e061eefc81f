package fanout

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// Config contains the settings of a Fanout. All settings except Delay, Suspect, Woken and VoteChanged are required.
type Config struct {
	Nodes   []node.Node
	Set     nodescript.Config
	Timeout time.Duration // the time limit for one pipeline to one node
	Clock   clock.Clock
	Random  func() uint64
	OneList bool   // the name of the node set says that all its clients have the same list of addresses
	Woken   func() // nil on real platforms; see [environment.Sources]
	Logger  *slog.Logger
	Shard   *Shard // the node is a shard of a Redis Cluster; nil: it is none

	// Delay returns how long goroutines of this process lately had to wait for a processor. The client gives that much
	// more time to a node, because an answer may have come long before its reader could run. Suspect measures the
	// delay anew. nil: the process is never busy.
	Delay   func() time.Duration
	Suspect func()

	// VoteChanged is called when a node stops voting, when the reason for that changes, and when the node votes again.
	// In the last case the verdict of a is Done. offset is the difference between the node's clock and the majority's
	// clock, or 0 if it is unknown. VoteChanged must not block. It may be nil.
	VoteChanged func(node int, a nodescript.Answer, offset time.Duration)
}

// Fanout sends messages to the nodes of one client. It is safe for concurrent use.
type Fanout struct {
	config  Config
	senders []*sender // by node
	voters  []*voter  // by node
	askers  []*asker  // by node
	relay   relay
	ctx     context.Context // ends at Close
	cancel  context.CancelFunc
	waits   context.Context // ends first in Close, and ends the calls that callers carry: see EndWaits
	end     context.CancelFunc
	hear    context.Context // the context of subscriptions and reports; ends early in Close, because they give nothing back
	deaf    context.CancelFunc
	wait    sync.WaitGroup
	left    atomic.Pointer[func(node int)] // see WhenLeft
	spares  atomic.Bool                    // see SpareUnused

	mu      sync.Mutex
	closed  bool
	time    *quorum.Timebase
	settled chan struct{} // closes when a stamp can be drawn for the first time
	reading bool          // a reading of the clocks is under way
	wasRead chan struct{} // closes at the end of that reading
	reread  clock.Instant // the end of the last reading
	reader  *time.Timer   // starts readings while the client has no work; nil until the clocks are known
	homes   homes
	members *members
	unused  *unused
}

// New returns a Fanout. It sends nothing before the first message.
func New(c Config) *Fanout {
	f := &Fanout{
		config: c, settled: make(chan struct{}), homes: homes{},
		time: quorum.NewTimebase(len(c.Nodes), c.Set.Window, c.Set.MaxTTL),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.waits, f.end = context.WithCancel(f.ctx)
	f.hear, f.deaf = context.WithCancel(f.ctx)
	for i, n := range c.Nodes {
		v := newVoter(f, i, n)
		f.voters, f.senders, f.askers = append(f.voters, v), append(f.senders, newSender(f, i, n, v)), append(f.askers, newAsker(f, n))
	}
	f.members, f.unused = f.newMembers(), newUnused(len(c.Nodes))
	for _, s := range f.senders {
		for range f.workers() {
			f.wait.Go(s.work)
		}
	}
	return f
}

// workers returns the number of workers per node, and so the number of pipelines without spares.
func (f *Fanout) workers() int {
	if len(f.senders) == 1 {
		return workersOfOne
	}
	return workersOfMany
}

// N returns the number of nodes.
func (f *Fanout) N() int { return len(f.senders) }

// Now reads the client's steady clock.
func (f *Fanout) Now() clock.Instant { return f.config.Clock() }

// Draw returns a random duration below d.
func (f *Fanout) Draw(d time.Duration) time.Duration {
	return time.Duration(f.config.Random() % uint64(d))
}

// Set returns the node set's configuration.
func (f *Fanout) Set() nodescript.Config { return f.config.Set }

// Timeout returns the time in which a node must answer.
func (f *Fanout) Timeout() time.Duration { return f.config.Timeout }

// Delay returns how long goroutines of this process lately had to wait for a processor, or 0 if it is not busy.
func (f *Fanout) Delay() time.Duration {
	if f.config.Delay == nil {
		return 0
	}
	return f.config.Delay()
}

// Suspect measures the delay of the process anew, unless that was done a moment ago.
func (f *Fanout) Suspect() {
	if f.config.Suspect != nil {
		f.config.Suspect()
	}
}

// slow is the time after which an answer counts as slow: the node may be slow, or this process.
const slow = 10 * time.Millisecond

// patience returns the time limit for one call. The node gets the node timeout, and this process gets the time that it
// lately needed to read an answer.
func (f *Fanout) patience() time.Duration { return f.config.Timeout + f.Delay() }

// Addr returns the address of a node.
func (f *Fanout) Addr(node int) string { return f.config.Nodes[node].Addr() }

// Master returns the address (host:port) of the present master of a shard of a Redis Cluster. It returns "" for other
// nodes, and if the shard has no master.
func (f *Fanout) Master() string {
	if f.config.Shard == nil {
		return ""
	}
	return f.config.Shard.Master()
}

// SendBy returns the last instant at which it is useful to send a stamp that was drawn at the instant sent. A stamp
// that is sent later arrives after its window, or after its caller stopped waiting.
func (f *Fanout) SendBy(sent clock.Instant) clock.Instant {
	return sent.Add(min(f.config.Timeout, f.config.Set.Window))
}

// Send puts m into the queue of each node for which the function to returns true. A nil function means all nodes.
func (f *Fanout) Send(m *Message, to func(node int) bool) {
	for i, s := range f.senders {
		if to == nil || to(i) {
			s.put(m)
		}
	}
}

// Together runs send. For each node, all messages that send puts into the queue then go out in one piece, with the
// releases last. Without Together, the messages could go on two connections, and a release could overtake the question
// before it.
func (f *Fanout) Together(send func()) {
	for _, s := range f.senders {
		s.hold(1)
	}
	defer func() {
		for _, s := range f.senders {
			s.hold(-1)
		}
	}()
	send()
}

// SendTo puts m into the queue of one node.
func (f *Fanout) SendTo(node int, m *Message) { f.senders[node].put(m) }

// AskVotes greets every node and asks whether it votes. It sends nothing else. It returns the answers when all have
// come, or when ctx ends. Done means that the node votes and can grant. If an answer is Unwritable, the server refuses
// writes, although it may vote. Unanswered means that no answer came.
//
// AskVotes asks each node again, even if the node has just voted or refused. Other calls to a voting node continue
// during that question.
func (f *Fanout) AskVotes(ctx context.Context) []nodescript.Answer {
	r := newCollector(f.N())
	f.mu.Lock()
	for i, v := range f.voters {
		if f.closed {
			r.Answered(i, 0, failed(node.ErrClosed))
			continue
		}
		f.wait.Go(func() {
			a := v.askVote()
			if s := f.senders[i].slots; s != nil && a.Verdict == nodescript.Done {
				a = s.vote()
			}
			r.Answered(i, 0, a)
		})
	}
	f.mu.Unlock()
	return r.get(ctx, nil)
}

// Votes reports whether a node votes for this client, as far as the client knows.
func (f *Fanout) Votes(node int) bool { return f.voters[node].votes() }

// Settle waits until a stamp can be drawn, and returns nil then. If all nodes have answered and still no stamp can be
// drawn, or if ctx ends, Settle returns the answers. If stamps could be drawn before, Settle only waits for a new
// reading of the clocks when the last one is too old.
func (f *Fanout) Settle(ctx context.Context) []nodescript.Answer {
	select {
	case <-f.settled:
		f.catchUp(ctx)
		return nil
	default:
	}
	r := newCollector(f.N())
	f.Send(&Message{greetOnly: true, To: r}, nil)
	answers := r.get(ctx, f.settled)
	select {
	case <-f.settled:
		return nil
	default:
		return answers
	}
}

// Met returns a channel that closes when a stamp can be drawn for the first time.
func (f *Fanout) Met() <-chan struct{} { return f.settled }

// Greeted returns the instant at which a majority of nodes had finished their first greeting. A greeting takes four or
// more round trips. Nodes that have answered, and whose greeting continues, count as if they finished now. Greeted
// returns 0 if only a minority has answered.
func (f *Fanout) Greeted() clock.Instant {
	now := f.Now()
	var when []clock.Instant
	for _, v := range f.voters {
		v.mu.Lock()
		switch {
		case v.greeted != 0:
			when = append(when, v.greeted)
		case v.heard.Load():
			when = append(when, now)
		}
		v.mu.Unlock()
	}
	if len(when) < quorum.Majority(f.N()) {
		return 0
	}
	slices.Sort(when)
	return when[quorum.Majority(f.N())-1]
}

// Close stops the workers and closes the nodes. The workers continue to send queued messages until ctx ends.
func (f *Fanout) Close(ctx context.Context) {
	f.mu.Lock()
	f.closed = true
	if f.reader != nil {
		f.reader.Stop()
	}
	if f.members.timer != nil {
		f.members.timer.Stop()
	}
	f.mu.Unlock()
	f.deaf()
	for _, v := range f.voters {
		v.mu.Lock()
		if v.site.timer != nil {
			v.site.timer.Stop() // if a proof starts it again, it finds that f is closed
		}
		v.mu.Unlock()
	}
	for _, s := range f.senders {
		s.close()
	}
	drained := make(chan struct{})
	go func() { f.wait.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-ctx.Done():
	}
	f.cancel()
	for _, s := range f.senders {
		s.node.Close()
	}
	<-drained
}
