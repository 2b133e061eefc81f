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
	published *atomic.Bool // true after Publish found that it may use the value of this name
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
		old, err := t.election.client.Value(ctx, t.election.Name())
		if err != nil {
			return err
		}
		if _, _, ok := parsePublished(old); !ok && old != nil {
			return fmt.Errorf("holdfast: publish in election %q: %w", t.election.Name(), ErrNoElection)
		}
		t.published.Store(true)
	}
	return t.lease.Store(ctx, published(t.Fence, value))
}

// publishedHead is the length of the head of a published value: the mark of an election, the token of the term, and a
// new line. The largest int64 has 19 digits.
const publishedHead = len(inside.ElectionMark) + 19 + 1

// published returns the bytes that are stored for a value of the term fence.
func published(fence int64, value []byte) []byte {
	return fmt.Appendf(nil, "%s%019d\n%s", inside.ElectionMark, fence, value)
}

// parsePublished splits stored bytes into the term and its value. ok is false if no leader published these bytes.
func parsePublished(b []byte) (fence int64, value []byte, ok bool) {
	if len(b) < publishedHead || !bytes.HasPrefix(b, []byte(inside.ElectionMark)) || b[publishedHead-1] != '\n' {
		return 0, nil, false
	}
	fence, err := strconv.ParseInt(string(b[len(inside.ElectionMark):publishedHead-1]), 10, 64)
	if err != nil || fence <= 0 {
		return 0, nil, false
	}
	return fence, b[publishedHead:], true
}
