package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// ErrClosed is the end of a lease that Close released.
var ErrClosed = fmt.Errorf("%w: %w", holdfast.ErrClosed, holdfast.ErrReleased)

// Release releases one lock because of why. The error matches [holdfast.ErrReleased] if the lock was released before.
type Release func(ctx context.Context, why error) error

// Close runs all releases at the same time, waits for the background work, and closes the nodes. The releases and the
// work together have twice nodeTimeout. Close returns the errors of the releases. The caller has closed the group.
func Close(group *Tasks, releases []Release, nodeTimeout time.Duration, nodes ...node.Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*nodeTimeout)
	defer cancel()
	results := make(chan error, len(releases))
	for _, release := range releases {
		go func() { results <- release(ctx, ErrClosed) }()
	}
	var failed []error
	for range releases {
		if err := <-results; err != nil && !errors.Is(err, holdfast.ErrReleased) {
			failed = append(failed, err)
		}
	}
	group.Settle(ctx)
	for _, n := range nodes {
		n.Close()
	}
	return errors.Join(failed...)
}
