package holdfast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Leader leads an election. The zero Leader is nobody.
type Leader struct {
	// Owner is the owner of the lease: "label~client~random".
	Owner string

	Term  int64     // the fencing token of the term, as [Term.Fence]; 0 for nobody
	Since time.Time // the beginning of the term, by the nodes' clocks
	Until time.Time // the end of the leadership unless it is renewed, as it was when the nodes were asked

	// Value is the value that the leader published in this term: see [Term.Publish]. It is nil if there is none.
	Value []byte
}

// String returns the label of the leader for people, such as "web-3/4711", and "nobody" for the zero Leader.
func (l Leader) String() string {
	if l.Term == 0 {
		return "nobody"
	}
	return Holder{Owner: l.Owner}.String()
}

// same reports whether two looks found the same leader, term and value.
func (l Leader) same(other Leader) bool {
	return l.Owner == other.Owner && l.Term == other.Term && bytes.Equal(l.Value, other.Value) && (l.Value == nil) == (other.Value == nil)
}

// Leader asks all nodes who leads. The error matches [ErrNoLeader] if nobody does: the name is free, a waiter has not
// yet taken it, or the holder is no candidate but a reader, another library, or a client that keeps the name taken after
// its end.
//
// The error matches [ErrUnavailable] if too few nodes answered, and [ErrBadName] and [ErrClosed] as for [Client.Status].
// The answer may be old when it comes: a leader that must be sure needs its lease.
//
// A leader that died is shown until its lease ends on the nodes, which is after its TTL.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	l, err := e.look(ctx)
	if err == nil && l.Term == 0 {
		err = fmt.Errorf("holdfast: election %q: %w", e.Name(), ErrNoLeader)
	}
	return l, err
}

// errSplit means that the nodes have grants of several rounds of one candidate. Such grants do not count together.
// Either the candidate is about to win or to give up, or it leads and some restarted nodes do not have its term yet.
var errSplit = errors.New("the nodes do not name the same term: try again")

// look returns the leader, or the zero Leader if nobody leads.
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
	if l.Term = s.agreed(h.Owner); l.Term == 0 {
		return Leader{}, fmt.Errorf("%w (%w)", e.mutex.prefix(&UnavailableError{Name: e.Name(), Nodes: s.Nodes}), errSplit)
	}
	l.Since = time.UnixMicro(l.Term).UTC()
	value, err := e.client.Value(ctx, e.Name())
	if err != nil {
		return Leader{}, err
	}
	if term, v, ok := parsePublished(value); ok && term == l.Term {
		l.Value = append([]byte{}, v...)
	}
	return l, nil
}

// agreed returns the token of the owner that a majority of the nodes names, 0 if there is none.
func (s *Status) agreed(owner string) int64 {
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
