package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// NamesWithValue returns the names of the locks that have a value, sorted, without [holdfast.Config.Prefix]. It reads
// all keys of the nodes, a page at a time. The error matches [holdfast.ErrUnavailable] if too few nodes answered.
func NamesWithValue(ctx context.Context, client *holdfast.Client) ([]string, error) {
	in := inside.Of(client)
	if ctx == nil {
		return nil, fmt.Errorf("holdfast: names with a value: %w", errNoContext)
	}
	if in.Closed() {
		return nil, fmt.Errorf("holdfast: names with a value: %w", holdfast.ErrClosed)
	}
	var lists [][]string
	var errs []error
	strange := in.LookAt(ctx, func() { lists, errs = in.Fan.Valued(ctx) })
	if err := in.Enough(ctx, "", errs, strange); err != nil {
		return nil, fmt.Errorf("holdfast: names with a value: %w", err)
	}
	var names []string
	for _, list := range lists {
		for _, name := range list {
			if name, ok := strings.CutPrefix(name, in.Prefix); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
