package holdfast

import (
	"context"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/verdict"
)

// Status describes the holders of a lock, by the answers of the nodes.
type Status struct {
	Name string // the name of the lock, without [Config.Prefix]

	// Held is true if a majority of the nodes names the same holder. If Status also returned an error, a false Held
	// means nothing: the holder is then unknown.
	Held bool

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int

	// Slots is the number of slots that the caller of [Client.Semaphore] gave. It is 0 for a lock.
	Slots int

	// Holders has one holder for an exclusive lock, and up to 100 readers for a shared one, sorted by token.
	// Readers that have only a claim come last. It is empty if Held is false.
	Holders []verdict.Holder

	// Nodes has the answer of each node, in the order of Config.Nodes: free, held, offered to a waiter, or the reason
	// why the node gave no answer.
	Nodes []verdict.Answer
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (s *Status) Holder() verdict.Holder { return firstOf(s.Holders) }

// Status returns the holder of the lock with this name. It changes no lock. It also asks nodes that do not vote.
//
// A node that does not vote may have forgotten the holder, for example after a restart. If such a node stores no
// holder, its answer has [verdict.ReasonFreeNoVote] and counts as unknown. Status calls a lock free only if a majority
// of the nodes vote and no holder can have a majority.
//
// If a node votes under other settings than the client's, for example in a set with another number of nodes, its answer
// has [verdict.ReasonMisconfigured] and counts as unknown.
//
// If votes are missing, Status asks the nodes for them as [admin.Nodes] does. This begins the quarantine of a node
// that no client has met before.
//
// The error matches [ErrUnavailable] if too few answers are known. Either less than a majority of the nodes answered
// and vote, or a holder that some nodes name may have a majority together with the nodes that are unknown. The Status
// then has the answers of all nodes, and its Held means nothing. If ctx has ended, the error also matches ctx's Err
// and cause.
func (c *Client) Status(ctx context.Context, name string) (*Status, error) {
	m := c.Mutex(name)
	if ctx == nil {
		return nil, m.without("Status", "Context")
	}
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	set, err := c.reach(ctx, m)
	if err != nil {
		return nil, m.prefix(err)
	}
	var s *Status
	strange := set.lookAt(ctx, func() { s = set.inspect(ctx, name, m.lock) })
	s.leaveOut(strange)
	if !s.judge() && slices.ContainsFunc(s.Nodes, func(n verdict.Answer) bool { return n.Unsure }) {
		// A node that nobody used for a while has no guard any more and does not vote. It votes again after a client
		// asks for its vote.
		votes := set.said.Standings(set.fan.AskVotes(ctx))
		s = set.inspect(ctx, name, m.lock)
		s.leaveOut(strange)
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Reason == verdict.ReasonFreeNoVote {
				n.Cause, n.VotesIn = votes[i].Cause, votes[i].VotesIn
			}
		}
	}
	if s.judge() {
		return s, nil
	}
	un := &UnavailableError{Name: name, Nodes: slices.Clone(s.Nodes)}
	if ctx.Err() != nil {
		return s, m.prefix(ended(ctx, un))
	}
	return s, m.prefix(un)
}

// inspect returns the nodes' records of a lock. The caller must still call judge, which sets Held and Holders.
func (t *set) inspect(ctx context.Context, name string, l *nodescript.Exclusive) *Status {
	views, errs := t.fan.Inspect(ctx, l.Lock())
	s := &Status{Name: name}
	for i, v := range views {
		n := answers.View(v)
		if n.Unsure = errs[i] == nil && !v.Votes; errs[i] != nil {
			t.said.Fail(&n, errs[i])
		}
		t.said.Name(&n, i)
		s.Nodes = append(s.Nodes, answers.About(n, nodescript.RecordKey(l.Name())))
	}
	return s
}

// leaveOut replaces the answers of nodes with other settings: see lookAt.
func (s *Status) leaveOut(strange []*verdict.Answer) {
	for i, n := range strange {
		if n != nil {
			s.Nodes[i] = *n
		}
	}
}

// judge sets Held, Holders and Readers. It returns false if the answers do not decide who holds the lock.
func (s *Status) judge() (known bool) {
	j := verdict.Judge(s.Nodes)
	s.Held, s.Holders, s.Readers = j.Held, j.Holders, j.Readers
	return j.Known
}

// This file finds nodes that vote under other settings than this client's, for example in a set with another number of
// nodes. A look must not use what they store. With one node of a set of three, a held lock would seem free.

// lookAt runs look, which asks the nodes about locks. At the same time it asks for their settings. It returns the
// answers of nodes whose settings differ from this client's, by node; the other elements are nil.
func (t *set) lookAt(ctx context.Context, look func()) (strange []*verdict.Answer) {
	var asks sync.WaitGroup
	asks.Go(func() { strange = t.strange(ctx) })
	look()
	asks.Wait()
	return strange
}

// strange returns the answers of nodes that vote under other settings, by node; the other elements are nil. It asks the
// nodes only if this client does not have all votes. It only reads, so a client without the right to lock can call it.
func (t *set) strange(ctx context.Context) []*verdict.Answer {
	out, met := make([]*verdict.Answer, t.fan.N()), true
	for i := range t.fan.N() {
		met = met && t.fan.Votes(i)
	}
	if met {
		return out
	}
	configs, errs := t.fan.Configurations(ctx)
	for i, config := range configs {
		if errs[i] != nil || config == "" || config == t.fan.Set().String() {
			continue
		}
		a := nodescript.Answer{Verdict: nodescript.Misconfigured, Cause: nodescript.OtherSettings, Evidence: &nodescript.Evidence{Value: config}}
		offset, _ := t.fan.Offset(i)
		n := t.said.Of(i, a, offset)
		n.Unsure = true // it counts as unknown
		out[i] = &n
	}
	return out
}

// enough returns an error if less than a majority of the nodes answered. errs has the error of each node, or nil. The
// answers of nodes with other settings do not count: see lookAt.
func (t *set) enough(ctx context.Context, name string, errs []error, strange []*verdict.Answer) error {
	un, ok := &UnavailableError{Name: name}, 0
	for i, err := range errs {
		n := verdict.Answer{Reason: verdict.ReasonDone}
		t.said.Name(&n, i)
		switch {
		case strange[i] != nil:
			n = *strange[i]
		case err != nil:
			t.said.Fail(&n, err)
		default:
			ok++
		}
		un.Nodes = append(un.Nodes, n)
	}
	switch {
	case ok >= quorum.Majority(len(errs)):
		return nil
	case ctx.Err() != nil:
		return ended(ctx, un)
	}
	return un
}
