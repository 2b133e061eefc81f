package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// NamesWithValue returns the names of the locks that have a value, sorted, without [holdfast.Config.Prefix]. It reads
// all keys of the nodes, a page at a time. The error matches [holdfast.ErrUnavailable] if too few nodes answered. If
// only some shards of a Redis Cluster or sets of a [holdfast.Sharded] do not answer, NamesWithValue returns the names of
// the other ones and an error.
func NamesWithValue(ctx context.Context, client *holdfast.Client) ([]string, error) {
	in := inside.Of(client)
	if ctx == nil {
		return nil, fmt.Errorf("holdfast: names with a value: %w", errNoContext)
	}
	if in.Closed() {
		return nil, fmt.Errorf("holdfast: names with a value: %w", holdfast.ErrClosed)
	}
	sets, err := in.Sets(ctx)
	if err != nil {
		return nil, fmt.Errorf("holdfast: names with a value: %w", err)
	}
	var names []string
	var failed []error
	for _, set := range sets {
		var lists [][]string
		var errs []error
		strange := set.LookAt(ctx, func() { lists, errs = set.Fan.Valued(ctx) })
		if err := set.Enough(ctx, "", errs, strange); err != nil {
			failed = append(failed, fmt.Errorf("holdfast: names with a value: %w", err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		for _, name := range slices.Concat(lists...) {
			if name, ok := strings.CutPrefix(name, in.Prefix); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), errors.Join(failed...)
}
