// Package leasetest has what tests do with a client again and again: they take a lock, or ask who votes.
package leasetest

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
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
