package election

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// MostPublished is the size of the largest value that [Term.Publish] accepts, in bytes.
const MostPublished = holdfast.MostValue - publishedHead

// Term is a time in which one candidate leads. Only [Election.Run] makes a usable Term.
type Term struct {
	// Fence is the number of the term, and the fencing token of its lease. It is larger than the number of every
	// earlier term. Send it with every write: see [holdfast.Lease.Fence].
	Fence int64

	election  *Election
	lease     *holdfast.Lease
	published *atomic.Bool // true after Publish or Announce has succeeded, so the value of this name is the election's
}

// Began returns the time at which the term began, by the nodes' clocks.
func (t Term) Began() time.Time { return time.UnixMicro(t.Fence).UTC() }

// String returns the term in one line, for people and logs.
func (t Term) String() string {
	if t.election == nil {
		return "no term"
	}
	return fmt.Sprintf("term %d of election %q", t.Fence, t.election.Name())
}

// errNoTerm is the error of a Term that Election.Run did not make.
var errNoTerm = errors.New("holdfast: publish: this Term was not made by Election.Run")

// Publish shows a value to everybody who looks at the election, for example the address of the leader. It replaces
// the value that was published before in this term. The value is shown until the term ends. It has up to
// [MostPublished] bytes.
//
// Publish returns nil if a majority of the nodes has the value, and the term had not ended. After an error the value
// may or may not be shown.
//
// The error matches [holdfast.ErrLost] or [holdfast.ErrReleased] if the term has ended, [holdfast.ErrUnavailable] if
// too few nodes answered, and [holdfast.ErrBadValue] if the value is too large. It matches [ErrNoElection] if the name
// already has a value that no leader published; Publish then stores nothing. If ctx ends first, the error matches ctx's
// Err and cause.
func (t Term) Publish(ctx context.Context, value []byte) error {
	if t.election == nil {
		return errNoTerm
	}
	if ctx == nil {
		return t.election.withoutContext("Publish")
	}
	if len(value) > MostPublished {
		return fmt.Errorf("holdfast: publish in election %q: %w: it has %d bytes; at most %d are allowed",
			t.election.Name(), holdfast.ErrBadValue, len(value), MostPublished)
	}
	if !t.published.Load() {
		if _, err := t.shown(ctx); err != nil {
			return err
		}
	}
	return t.store(ctx, published(t.Fence, value))
}

// Announce marks the name as an election, without a value: [Leader.Value] stays nil. Without Announce or [Term.Publish]
// nothing on the nodes distinguishes an election from a lock, so holdfast list, holdfast ui and the metrics show it as a
// lock. The mark stays until the nodes forget the name, 30 days after its last use.
//
// Announce does nothing if Publish or Announce has succeeded in this term. Do not call it at the same time as Publish:
// it could replace the value. The errors are those of Publish.
func (t Term) Announce(ctx context.Context) error {
	if t.election == nil {
		return errNoTerm
	}
	if ctx == nil {
		return t.election.withoutContext("Announce")
	}
	if t.published.Load() {
		return nil
	}
	if term, err := t.shown(ctx); err != nil || term == t.Fence {
		return err
	}
	return t.store(ctx, announced(t.Fence))
}

// shown returns the term whose mark or value the name has, 0 if it has none. The error matches ErrNoElection if the name
// has another value.
func (t Term) shown(ctx context.Context) (term int64, err error) {
	old, err := t.election.client.Value(ctx, t.election.Name())
	if err != nil {
		return 0, err
	}
	term, _, ok := parsePublished(old)
	if !ok && old != nil {
		return 0, fmt.Errorf("holdfast: publish in election %q: %w", t.election.Name(), ErrNoElection)
	}
	return term, nil
}

func (t Term) store(ctx context.Context, text []byte) error {
	err := t.lease.Store(ctx, text)
	if err == nil {
		t.published.Store(true)
	}
	return err
}

// publishedHead is the length of the head of a published value: the mark of an election, the token of the term, and a
// new line. The largest int64 has 19 digits.
const publishedHead = len(inside.ElectionMark) + 19 + 1

// published returns the bytes that are stored for a value of the term fence.
func published(fence int64, value []byte) []byte {
	return append(append(announced(fence), '\n'), value...)
}

// announced returns the bytes that are stored for a term without a value.
func announced(fence int64) []byte { return fmt.Appendf(nil, "%s%019d", inside.ElectionMark, fence) }

// parsePublished splits stored bytes into the term and its value. The value is nil if the leader published none. ok is
// false if no leader stored these bytes.
func parsePublished(b []byte) (fence int64, value []byte, ok bool) {
	if !bytes.HasPrefix(b, []byte(inside.ElectionMark)) || len(b) < publishedHead-1 || len(b) >= publishedHead && b[publishedHead-1] != '\n' {
		return 0, nil, false
	}
	fence, err := strconv.ParseInt(string(b[len(inside.ElectionMark):publishedHead-1]), 10, 64)
	if err != nil || fence <= 0 {
		return 0, nil, false
	}
	if len(b) < publishedHead {
		return fence, nil, true
	}
	return fence, b[publishedHead:], true
}
