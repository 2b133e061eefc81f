// Package leasetest has what tests do with a client again and again: they take a lock, or wait for votes.
package leasetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// Lock locks name within 30 s, or fails the test.
func Lock(t testing.TB, c *holdfast.Client, name string, opts ...holdfast.Option) *holdfast.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l, err := c.Mutex(name, opts...).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Renewed reports whether l was renewed after its deadline was before. Two calls of Deadline may differ by microseconds
// without a renewal, because each reads two clocks.
func Renewed(l interface{ Deadline() time.Time }, before time.Time) bool {
	return l.Deadline().Sub(before) > 20*time.Millisecond
}

// Standing returns the number of nodes that vote for c, and the reason why the others do not.
func Standing(t testing.TB, c *holdfast.Client) (n int, why string) {
	for _, s := range admin.Nodes(t.Context(), c) {
		if s.Votes() {
			n++
		} else {
			why += s.String() + "\n"
		}
	}
	return n, why
}

// Vote reports whether all nodes vote for c. It also makes c read the nodes' clocks again.
func Vote(ctx context.Context, c *holdfast.Client) bool {
	return !slices.ContainsFunc(admin.Nodes(ctx, c), func(n verdict.Answer) bool { return !n.Votes() })
}

// AllVote waits until all nodes vote for c.
func AllVote(t testing.TB, c *holdfast.Client, within time.Duration) {
	t.Helper()
	redistest.Eventually(t, within, "all nodes to vote", func() bool { return Vote(t.Context(), c) })
}
