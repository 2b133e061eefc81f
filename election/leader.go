package election

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/verdict"
)

// Leader is the candidate that leads an election. The zero Leader means that nobody leads.
type Leader struct {
	// Owner is the owner of the lease: "label~client~ticket-random".
	Owner string

	Term  int64     // number of the term, which is its fencing token: see [Term.Fence]; 0 if nobody leads
	Since time.Time // beginning of the term, by the nodes' clocks
	Until time.Time // end of the lease on the nodes if the leader does not renew it, as of the time of the answer

	// Value is the value that the leader published in this term: see [Term.Publish]. It is nil if the leader
	// published none.
	Value []byte
}

// String returns the label of the leader for people, such as "web-3/4711", and "nobody" for the zero Leader.
func (l Leader) String() string {
	if l.Term == 0 {
		return "nobody"
	}
	return verdict.Holder{Owner: l.Owner}.String()
}

// same reports whether both looks at the nodes found the same leader, term and value.
func (l Leader) same(other Leader) bool {
	return l.Owner == other.Owner && l.Term == other.Term && bytes.Equal(l.Value, other.Value) && (l.Value == nil) == (other.Value == nil)
}

// Leader asks all nodes for the present leader. The error matches [ErrNoLeader] if nobody leads. This is so if the
// name is free, or if a waiter has not taken it yet. It is also so if the name is taken but by no candidate: by a
// reader, by another library, or by a client that keeps the name taken after its lease.
//
// The error matches [holdfast.ErrUnavailable] if too few nodes answered, and [holdfast.ErrBadName] and
// [holdfast.ErrClosed] as for [holdfast.Client.Status]. The leader may have changed when the answer arrives. So a
// leader must not use this call to find out whether it still leads; its lease says that.
//
// If a leader dies, it is shown until its lease ends on the nodes. This takes up to its TTL.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	if ctx == nil {
		return Leader{}, e.withoutContext("Leader")
	}
	l, err := e.look(ctx)
	if err == nil && l.Term == 0 {
		err = fmt.Errorf("holdfast: election %q: %w", e.Name(), ErrNoLeader)
	}
	return l, err
}

// errSplit means that nodes name one candidate with different tokens. Such nodes do not make a majority together.
// There are two possible reasons: the candidate is still trying to get the lock, or it leads and some restarted nodes
// do not have its present token yet.
var errSplit = errors.New("the nodes do not name the same term: try again")

// look returns the leader, or the zero Leader if nobody leads. The error matches errSplit if no majority names one
// token.
func (e *Election) look(ctx context.Context) (Leader, error) {
	s, err := e.client.Status(ctx, e.Name())
	if err != nil {
		return Leader{}, err
	}
	h := s.Holder()
	if !s.Held || h.Shared || h.Foreign || h.Offered || h.Left {
		return Leader{}, nil
	}
	l := Leader{Owner: h.Owner, Until: h.Until.UTC()}
	if l.Term = agreed(s, h.Owner); l.Term == 0 {
		return Leader{}, fmt.Errorf("holdfast: %w (%w)", &holdfast.UnavailableError{Name: e.Name(), Nodes: s.Nodes}, errSplit)
	}
	l.Since = time.UnixMicro(l.Term).UTC()
	value, err := e.client.Value(ctx, e.Name())
	if err != nil {
		return Leader{}, err
	}
	if term, v, ok := parsePublished(value); ok && term == l.Term {
		l.Value = bytes.Clone(v) // nil if the leader only announced the election
	}
	return l, nil
}

// agreed returns the token that a majority of the nodes names for this owner, or 0 if there is no such token.
func agreed(s *holdfast.Status, owner string) int64 {
	votes := map[int64]int{}
	for _, n := range s.Nodes {
		if n.Err != nil || n.Owner != owner || n.Fence == 0 {
			continue
		}
		if votes[n.Fence]++; votes[n.Fence] >= quorum.Majority(len(s.Nodes)) {
			return n.Fence
		}
	}
	return 0
}
