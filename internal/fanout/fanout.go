package fanout

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// Config is what a Fanout needs to know; all but Told is required.
type Config struct {
	Nodes   []node.Node
	Set     nodescript.Config
	Timeout time.Duration // of one batch at one node
	Clock   clock.Clock
	Random  func() uint64
	Logger  *slog.Logger

	// Told is called when a node stops voting, when the reason changes, and when the node votes again: then a is Done.
	// offset is how far its clock is from the majority's, 0 if not known. Told must not block. It may be nil.
	Told func(node int, a nodescript.Answer, offset time.Duration)
}

// Fanout is a client's view of its node set. It is safe for concurrent use.
type Fanout struct {
	config Config
	seats  []*seat
	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	hear   context.Context // ends before: subscriptions have nothing to give back
	deaf   context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	time    *quorum.Timebase
	settled chan struct{} // closed when stamps can be drawn for the first time
	reading bool          // the clocks are being read,
	wasRead chan struct{} // which is closed when they are,
	reread  clock.Instant // and were last then
	reader  *time.Timer   // has them read while there is nothing to do; nil until they are known
	homes   homes
	members *members
}

// New returns a Fanout; nothing is sent before the first message.
func New(c Config) *Fanout {
	f := &Fanout{
		config: c, settled: make(chan struct{}), homes: homes{},
		time: quorum.NewTimebase(len(c.Nodes), c.Set.Window, c.Set.MaxTTL),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.hear, f.deaf = context.WithCancel(f.ctx)
	for i, n := range c.Nodes {
		f.seats = append(f.seats, newSeat(f, i, n))
	}
	f.members = f.newMembers()
	for _, s := range f.seats {
		for range f.workers() {
			f.wait.Go(s.work)
		}
	}
	return f
}

// workers is how many pipelines to a node are usually under way.
func (f *Fanout) workers() int {
	if len(f.seats) == 1 {
		return workersOfOne
	}
	return workersOfMany
}

// N is the number of nodes.
func (f *Fanout) N() int { return len(f.seats) }

// Now reads the client's steady clock.
func (f *Fanout) Now() clock.Instant { return f.config.Clock() }

// Draw returns a random duration below d.
func (f *Fanout) Draw(d time.Duration) time.Duration {
	return time.Duration(f.config.Random() % uint64(d))
}

// Set is the node set's configuration.
func (f *Fanout) Set() nodescript.Config { return f.config.Set }

// Timeout is how long one node may take to answer.
func (f *Fanout) Timeout() time.Duration { return f.config.Timeout }

// Addr is the address of a node.
func (f *Fanout) Addr(node int) string { return f.seats[node].node.Addr() }

// SendBy is until when a stamp drawn at sent is worth sending: later it would leave
// the window, or nobody would wait for the answer.
func (f *Fanout) SendBy(sent clock.Instant) clock.Instant {
	return sent.Add(min(f.config.Timeout, f.config.Set.Window))
}

// Send gives m to every node for which to reports true; to == nil means all.
func (f *Fanout) Send(m *Message, to func(node int) bool) {
	for i, s := range f.seats {
		if to == nil || to(i) {
			s.put(m)
		}
	}
}

// Together runs send; what it gives to a node goes there in one piece, with releases last. On
// two connections the second message may overtake the first.
func (f *Fanout) Together(send func()) {
	for _, s := range f.seats {
		s.hold(1)
	}
	defer func() {
		for _, s := range f.seats {
			s.hold(-1)
		}
	}()
	send()
}

// SendTo gives m to one node.
func (f *Fanout) SendTo(node int, m *Message) { f.seats[node].put(m) }

// Hail greets every node and asks for its vote, without sending anything else; it
// returns each node's answer (Done: it votes) when all have answered, or when ctx ends:
// missing ones are Unanswered. A refusal is believed for as long as by a lock. That a node
// voted for the last call does not tell whether it is still there: it is asked, beside the
// calls that go to it.
func (f *Fanout) Hail(ctx context.Context) []nodescript.Answer {
	r := newRoll(f.N())
	f.mu.Lock()
	for i, s := range f.seats {
		if f.closed {
			r.Answered(i, 0, failed(node.ErrClosed))
			continue
		}
		f.wait.Go(func() { r.Answered(i, 0, s.look()) })
	}
	f.mu.Unlock()
	return r.get(ctx, nil)
}

// Settle returns when stamps can be drawn, or when the clocks were read once more. If all nodes have answered and they still
// cannot, it returns the answers.
func (f *Fanout) Settle(ctx context.Context) []nodescript.Answer {
	select {
	case <-f.settled:
		f.catchUp(ctx)
		return nil
	default:
	}
	r := newRoll(f.N())
	f.Send(&Message{hail: true, To: r}, nil)
	answers := r.get(ctx, f.settled)
	select {
	case <-f.settled:
		return nil
	default:
		return answers
	}
}

// Met is closed when stamps can be drawn for the first time.
func (f *Fanout) Met() <-chan struct{} { return f.settled }

// Greeted is when a majority had been greeted, now while a majority answers and that goes on: it takes four round
// trips and more. 0: fewer have answered yet.
func (f *Fanout) Greeted() clock.Instant {
	now := f.Now()
	var when []clock.Instant
	for _, s := range f.seats {
		s.mu.Lock()
		switch {
		case s.greeted != 0:
			when = append(when, s.greeted)
		case s.heard:
			when = append(when, now)
		}
		s.mu.Unlock()
	}
	if len(when) < quorum.Majority(f.N()) {
		return 0
	}
	slices.Sort(when)
	return when[quorum.Majority(f.N())-1]
}

// roll collects one answer per node.
type roll struct {
	mu      sync.Mutex
	answers []nodescript.Answer
	got     int
	done    chan struct{}
}

func newRoll(n int) *roll {
	return &roll{answers: make([]nodescript.Answer, n), done: make(chan struct{})}
}

// get returns the answers when all are there, or enough is closed, or ctx ends.
func (r *roll) get(ctx context.Context, enough <-chan struct{}) []nodescript.Answer {
	select {
	case <-r.done:
	case <-enough:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]nodescript.Answer(nil), r.answers...)
}

// Answered implements [Receiver].
func (r *roll) Answered(node, _ int, a nodescript.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[node] = a
	if r.got++; r.got == len(r.answers) {
		close(r.done)
	}
}

// Close ends the workers, after giving what is queued a last chance until ctx ends,
// and closes the nodes.
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
	for _, s := range f.seats {
		s.close()
	}
	drained := make(chan struct{})
	go func() { f.wait.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-ctx.Done():
	}
	f.cancel()
	for _, s := range f.seats {
		s.node.Close()
	}
	<-drained
}
